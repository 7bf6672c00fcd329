"""Legacy elements: calls of the Python layer (`autograd_cy`)."""

from autograd_cy import legacy
from tests.recorded.inputs import error_name, float_range

DIFFERS = "The namespace for programs of 2017: tensors at their limits. Torch has none of it today."

error_name(float_range(2, 2).orgqr, 3)
error_name(float_range(2, 2).orgqr, "a")
error_name(float_range(2, 2).ormqr, float_range(2), 3)
error_name(float_range(2, 2).gesv, 3)

def dist_ormqr():
    a, tau = legacy.FloatTensor([[1, 2], [3, 5]]).geqrf()
    q = a.orgqr(tau)
    return [a.ormqr(tau, float_range(70, 2), False).dist(float_range(70, 2).mm(q)) < 1e-3,
        a.ormqr(tau, float_range(2, 70)).dist(q.mm(float_range(2, 70))) < 1e-3,
        a.ormqr(tau, float_range(2, 1), True, True).dist(q.t().mm(float_range(2, 1))) < 1e-5]

legacy.DoubleTensor([[3, 4]]).renorm(2, 0, 5)
legacy.DoubleTensor([[3, 4], [1, 1]]).renorm(2, 0, 5).equal(legacy.DoubleTensor([[3, 4], [1, 1]]))
legacy.DoubleTensor([[6, 8], [1, 1]]).renorm(2, 0, 5)[0][0] < 3
legacy.FloatTensor([k % 2 for k in range(99)] + [1, 1]).mode()[1]
legacy.FloatTensor([k % 3 for k in range(300)] + [1]).mode()[1]
legacy.utils.data.DataLoader([1, 2], num_workers=-1)
legacy.utils.data.DataLoader([1, 2], batch_size=0)
legacy.utils.data.DataLoader([1, 2], pin_memory=True).pin_memory
legacy.utils.data.DataLoader([1, 2]).pin_memory
legacy.utils.data.DataLoader([1, 2], num_workers=0).num_workers
