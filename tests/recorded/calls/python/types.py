"""Types: calls of the Python layer (`autograd_cy`)."""

import math

import autograd_cy as torch
from tests.recorded.inputs import complex_sines, differs, gradients, iota, sines, with_warnings

# tensor types
torch.IntTensor([[1], [2]])
torch.BoolTensor([0, 2])
torch.HalfTensor([1.5])
torch.BFloat16Tensor([1.5])
torch.ByteTensor([255])
torch.ShortTensor([-2]), torch.CharTensor([-2]), torch.LongTensor([3])
torch.FloatTensor(2, 2.5)
torch.FloatTensor({1})
torch.FloatTensor(sines(2))
torch.DoubleTensor(sines(2))
torch.LongTensor([1.5])
torch.FloatTensor([1], device="meta")
torch.FloatTensor([1], [2])
torch.FloatTensor(deep=[1])
with differs("wrong types are TypeErrors"):
    torch.DoubleTensor(iota(3).storage())
torch.FloatTensor(iota(4)[1:].storage())
isinstance(sines(1), torch.FloatTensor)
isinstance(sines(1), torch.DoubleTensor)
isinstance(3, torch.FloatTensor)
isinstance(iota(1, dtype=torch.bool), torch.BoolTensor)

def float_tensor_torch():
    class Mine(torch.FloatTensor):
        pass
    return Mine()

iota(2).new(sines(2))
iota(2).new(iota(3))
iota(2).new([1], device="meta")
iota(2).new(bad=3)

def get_default_dtype_set_default_tensor_type():
    before = torch.get_default_dtype()
    found = with_warnings(torch.set_default_tensor_type, torch.DoubleTensor)[0]
    made = torch.zeros(1), torch.tensor([1.0]).type(torch.Tensor)
    torch.set_default_dtype(before)
    return found, made

torch.set_default_tensor_type(torch.LongTensor)
torch.set_default_tensor_type("torch.IntTensor")
with differs("nothing is imported by that name"):
    torch.set_default_tensor_type("none")

# storages
iota(3).storage()[3]
iota(2).is_shared(), torch.zeros(2).share_memory_(), torch.zeros(2).share_memory_().is_shared()

def share_memory_zeros():
    x = torch.zeros(0).share_memory_()
    return x

# drawing by weights
torch.multinomial(torch.tensor([0.0, 1.0, 0.0]), 1)
torch.multinomial(torch.tensor([[0.0, 1.0], [1.0, 0.0]]), 1)
torch.multinomial(torch.tensor([[0.5, 1.0, 0.2]]), 3).sort(1)[0]
torch.tensor([0.0, 1.0, 1.0]).multinomial(2).sort()[0]
torch.multinomial(torch.tensor([1, 2]), 1)
torch.multinomial(sines(), 1)
torch.multinomial(torch.ones(2), 0)
torch.multinomial(torch.ones(2), -1)
torch.multinomial(torch.ones(3, 2), 3)
torch.multinomial(torch.ones(2), 1.5)
torch.multinomial(torch.ones(2), 1, generator=3)
torch.multinomial(torch.tensor([1.0, math.nan]), 1)
torch.multinomial(torch.zeros(2), 1)
torch.multinomial(torch.tensor([[1.0], [0.0]]), 1)
torch.multinomial(torch.zeros(2), 1, True)
torch.multinomial(torch.ones(0), 1, True)
torch.multinomial(torch.ones(2), 1, out=torch.zeros(1))

def multinomial_int64():
    o = torch.zeros(0, dtype=torch.int64)
    r = torch.multinomial(torch.tensor([0.0, 1.0]), 2, True, out=o)
    return r is o, o

torch.multinomial(torch.tensor([0.0, 1.0], dtype=torch.bfloat16), 1)

# some eigenvalues
with differs("the argument is named"):
    torch.lobpcg(3)
with differs("as of a matrix that isn't square"):
    torch.lobpcg(sines(2))
torch.lobpcg(iota(3, 3, dtype=torch.int64))
torch.lobpcg(torch.eye(3), 2)

def lobpcg_largest():
    a = torch.diag(torch.tensor([1.0, 2.0, 5.0, 3.0, 0.5, 4.0, 2.5], dtype=torch.float64))
    a[0, 1] = a[1, 0] = 0.3
    b = torch.diag(torch.tensor([1.0, 2.0, 1.0, 1.0, 1.0, 4.0, 1.0], dtype=torch.float64))
    return [torch.lobpcg(a, 2)[0], torch.lobpcg(a, 2, largest=False)[0], torch.lobpcg(a)[0],
        torch.lobpcg(a, 1, b)[0], torch.lobpcg(a, X=sines(7, 2))[0]]

def diag_item():
    a = torch.diag(torch.tensor([1.0, 2.0, 5.0, 3.0, 0.5, 4.0], dtype=torch.float64))
    b = torch.diag(torch.tensor([1.0, 2.0, 1.0, 1.0, 1.0, 4.0], dtype=torch.float64))
    b[2, 3] = b[3, 2] = 0.5
    e, x = torch.lobpcg(a, 2, b)
    return (x.mT @ b @ x), (a @ x - b @ x * e).abs().max().item() < 1e-6

with differs("Torch says so in backward only."):
    torch.lobpcg(torch.eye(3), 1, torch.eye(3).requires_grad_())
with differs("Torch's is a RuntimeError, too, of the step inside."):
    torch.lobpcg(torch.eye(3), 1, -torch.eye(3))
with differs("No steps are made here that could be followed."):
    torch.lobpcg(torch.eye(3), tracker=print)

# linalg
torch.linalg.cross(iota(3), torch.tensor([1.0, 0.0, 0.0]))
torch.linalg.vecdot(complex_sines(3), complex_sines(3, phase=1.0))
torch.linalg.vecdot(iota(2, dtype=torch.int64), iota(2, dtype=torch.int64))
torch.linalg.vander(iota(3))
torch.linalg.vander(iota(1))
torch.linalg.multi_dot([sines(2)])
torch.linalg.multi_dot(3)
torch.linalg.multi_dot([sines(3), sines(3)])
torch.linalg.multi_dot([sines(3), sines(3, 2), sines(2)])
torch.linalg.multi_dot([sines(2, 3), sines(3), sines(3, 2)])
torch.linalg.multi_dot([sines(), sines(3)])
torch.linalg.multi_dot([sines(3), sines(1, 3, 2)])
torch.linalg.multi_dot([sines(3), sines(2, 3)])
torch.linalg.multi_dot([sines(2, 3), iota(3, 2)])
torch.linalg.multi_dot([sines(2, 3), sines(3, 2)], out=torch.zeros(2, 2))

def multi_dot_linalg():
    o = [torch.zeros(0, dtype=torch.float64) for k in range(4)]
    r = [torch.linalg.multi_dot(x, out=y) is y for x,
        y in zip(([sines(3), sines(3)], [sines(3), sines(3, 2)], [sines(2, 3), sines(3)],
        [sines(2, 3), sines(3, 2)]), o)]
    return r, o

torch.linalg.vector_norm(sines(2, 3), 3, 1)
torch.linalg.vector_norm(iota(2, dtype=torch.int64))
[torch.linalg.matrix_norm(iota(2, 3), ord, dtype=torch.float64)
    for ord in ("fro", "nuc", 1, math.inf, 2)]
torch.linalg.matrix_norm(sines(2))
with differs("as of a tuple of one"):
    torch.linalg.matrix_norm(sines(2, 3), dim=0)
torch.linalg.matrix_norm(sines(2, 3), dim=(0,))
torch.linalg.matrix_norm(sines(2, 3), dim=(0, 2))
torch.linalg.matrix_norm(sines(2, 3), dim=(0, 0))
torch.linalg.matrix_norm(sines(2, 3), 3)
torch.linalg.matrix_norm(sines(2, 3), "no")
torch.linalg.matrix_norm(iota(2, 3, dtype=torch.int64))
torch.linalg.matrix_norm(iota(2, 3, dtype=torch.float16), 2)
torch.linalg.matrix_norm(iota(2, 3, dtype=torch.bfloat16), "nuc")
torch.linalg.norm(sines(2, 3, 4), 1)
torch.linalg.norm(sines(2, 3, 4), 1, (1,))
torch.linalg.norm(iota(2, 3), 1, dtype=torch.float64)
torch.linalg.norm(iota(2, 3), dtype=torch.float64)
gradients(lambda x: torch.linalg.matrix_norm(x, 2), sines(2, 3))

# rarer ways
torch.lobpcg(torch.eye(3), 1, torch.eye(2))
torch.lobpcg(torch.eye(3), 1, sines(3))

@differs("Torch computes with what isn't positive definite.")
def lobpcg_diag():
    a, b = torch.diag(torch.tensor([1.0, 2.0, 4.0])), torch.diag(torch.tensor([1.0, 0.0, 1.0]))
    return torch.lobpcg(a, 1, b)

def lobpcg_largest_2():
    a = torch.diag(torch.tensor([1.0, 2.0, 4.0]))
    return torch.lobpcg(a, 1, largest=True)[0], torch.lobpcg(a, 1,
        largest=False)[0], torch.lobpcg(a, 1, largest=None)[0], torch.lobpcg(torch.stack([a,
        a * 2]), 1)[0]

iota(3).storage() == iota(3).storage()
iota(3).storage() == 3
(lambda s: s == s)(iota(3).storage())
with differs("Storages of the same memory are equal here, and name this package."):
    len({x.storage() for x in [iota(3)] * 2}), repr(iota(3).storage())
