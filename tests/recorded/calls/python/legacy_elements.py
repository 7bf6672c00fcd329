"""Legacy elements: calls of the Python layer (`autograd_cy`)."""

import math

import numpy as np

import autograd_cy as torch
from autograd_cy import legacy
from autograd_cy.legacy import Variable
from tests.recorded.inputs import error_name, float_range

DIFFERS = "The namespace for programs of 2017: tensors at their limits. Torch has none of it today."

sorted({*legacy.DoubleTensor([5e-324]).multinomial(40, True).tolist()})
sorted({*legacy.DoubleTensor([0, 5e-324]).multinomial(40, True).tolist()})
error_name(float_range(2, 2).orgqr, 3)
error_name(float_range(2, 2).orgqr, "a")
error_name(float_range(2, 2).ormqr, float_range(2), 3)
error_name(float_range(2, 2).gesv, 3)
legacy.FloatTensor([[math.nan], [1]]).gesv(legacy.eye(2))[0]
error_name(legacy.FloatTensor([[math.nan], [1]]).gels, legacy.eye(2))
error_name(legacy.FloatTensor([[math.nan, 1], [1, 1]]).inverse)

def dist_ormqr():
    a, tau = legacy.FloatTensor([[1, 2], [3, 5]]).geqrf()
    q = a.orgqr(tau)
    return [a.ormqr(tau, float_range(70, 2), False).dist(float_range(70, 2).mm(q)) < 1e-3,
        a.ormqr(tau, float_range(2, 70)).dist(q.mm(float_range(2, 70))) < 1e-3,
        a.ormqr(tau, float_range(2, 1), True, True).dist(q.t().mm(float_range(2, 1))) < 1e-5]

float_range(1).resize_(3)[0]
float_range(2).resize_(4).narrow(0, 0, 2)
float_range(4).narrow(0, 3, 1).resize_(2)[0]
legacy.FloatTensor().resize_(2).size()

def deepcopy_is_set_to():
    import copy
    x = float_range(2, 2)
    a, b, c = copy.deepcopy([x, x, x.t()])
    v = Variable(float_range(2), requires_grad=True)
    d = copy.deepcopy((v, v))
    return [a is b, a is x, c.is_set_to(a.t()), x.is_set_to(a), c, d[0] is d[1], d[0] is v,
        d[0].requires_grad]

error_name(float_range(2).add, "a", float_range(2))
error_name(float_range(2).add, float_range(2), float_range(2))
error_name(float_range(2).add, "a")
error_name(float_range(2).add, 2, 3)
error_name(float_range(2).add)
float_range(2).add(3, float_range(2))
error_name(float_range(2).add, 1, 2, 3)
error_name(float_range(2).add, torch.ones(()))
float_range(2).add(np.float32(2))
float_range(2).add(np.array(2.0))
error_name(float_range(2).add, np.ones(1))
error_name(float_range(2).add, "2")
error_name(float_range(2).add, Variable(float_range(1)))
float_range(2).add(True)
error_name(float_range(2).add, 1j)

def fraction_float_range():
    from fractions import Fraction
    return [error_name(float_range(2).add, Fraction(1, 2)),
        error_name(Variable(float_range(2)).add, Fraction(1, 2)),
        error_name(float_range(2).add, None), Variable(float_range(2)).add(np.int64(2)).data]

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

# How tensors are shown.
[str(legacy.DoubleTensor(x)) for x in ([1e98, 1], [1e99, 1], [1e150, 1], [1e-120, 1.5], [12345, 1],
    [123456, 1], [1234567, 1])]
[str(legacy.FloatTensor(x)) for x in ([1.5, 12345.5], [0.15, 12345.5], [0.0015, 0.0025],
    [123456.5, 123456.5], [12345.5], [1234.5], [0.5, 0.25], [0.05, 0.01], [99.5])]
[str(legacy.FloatTensor(x)) for x in ([math.nan], [math.nan, 1], [math.inf, 0.5], [0], [-1, 1],
    [math.nan, 12])]

def shown(x, **options):
    legacy.set_printoptions(**options)
    found = str(x)
    legacy.set_printoptions(profile="default")
    return found

[shown(x, threshold=5, edgeitems=2) for x in (float_range(4), float_range(5), float_range(6),
    float_range(2, 2), float_range(2, 3), float_range(4, 5), float_range(4, 4), float_range(5, 4),
    float_range(2, 1, 2), float_range(3, 1, 2), float_range(5, 1, 2), float_range(4, 2, 1))]
[shown(float_range(*size), linewidth=n) for size,
    n in (((1, 2, 3), 8), ((2, 3), 8), ((2, 3), 1), ((2, 2), 6), ((2, 3), 6), ((2, 4), 6),
    ((1, 2, 3), 10))]
shown(float_range(2, 1, 1), edgeitems=1)
shown(float_range(3, 1, 1), edgeitems=1, threshold=2)
shown(float_range(2, 1, 2), edgeitems=1, threshold=2)
shown(legacy.FloatTensor([0.5, 1]), precision=0)
shown(legacy.FloatTensor([0.125]), precision=2)
shown(legacy.LongTensor([-100, 20]))
shown(legacy.LongTensor([-1, 200]))
