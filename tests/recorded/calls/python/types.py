"""Types: calls of the Python layer (`autograd_cy`)."""

import math

import numpy as np

import autograd_cy as torch
from tests.recorded.inputs import (
    complex_sines,
    differs,
    gradients,
    iota,
    metadata,
    sines,
    with_warnings,
)

# tensor types
torch.FloatTensor()
torch.FloatTensor(2, 3).shape == (2, 3)
torch.LongTensor(0, 2).shape == (0, 2)
torch.ByteTensor(torch.Size([1, 2])).shape == (1, 2)
torch.FloatTensor([1, 2])
torch.DoubleTensor((1, 2))
torch.IntTensor([[1], [2]])
torch.BoolTensor([0, 2])
torch.HalfTensor([1.5])
torch.BFloat16Tensor([1.5])
torch.ByteTensor([255])
torch.ShortTensor([-2]), torch.CharTensor([-2]), torch.LongTensor([3])
torch.FloatTensor(3).shape == (3,), torch.FloatTensor(np.int64(3)).shape == (3,)
torch.FloatTensor(2.5)
torch.FloatTensor(True)
torch.FloatTensor(2, 2.5)
torch.FloatTensor(-1)
torch.FloatTensor("a")
torch.FloatTensor(b"a")
torch.FloatTensor({1: 2})
torch.FloatTensor({1})
torch.FloatTensor(None)
torch.FloatTensor([1, "a"])
torch.FloatTensor(sines(2))
torch.DoubleTensor(sines(2))
torch.FloatTensor(np.arange(3.0))
torch.LongTensor([1.5])
torch.FloatTensor([1], device="cpu")
torch.FloatTensor([1], device="meta")
torch.FloatTensor([1], [2])
torch.FloatTensor(data=[1])
torch.FloatTensor(size=(1, 2)).shape == (1, 2)
torch.FloatTensor(3, size=(1, 2))
torch.FloatTensor(deep=[1])

def double_tensor_data_ptr():
    x = sines(3).requires_grad_()
    y = torch.DoubleTensor(x)
    (y * 2).sum().backward()
    return x.grad, y is x, y.data_ptr() == x.data_ptr(), metadata(y)

torch.FloatTensor(iota(3).untyped_storage())
torch.FloatTensor(iota(3).storage())
with differs("wrong types are TypeErrors"):
    torch.DoubleTensor(iota(3).storage())
torch.FloatTensor(iota(4)[1:].storage())
torch.DoubleTensor(iota(3).untyped_storage()).shape == (1,)
isinstance(sines(1), torch.FloatTensor)
isinstance(sines(1), torch.DoubleTensor)
isinstance(3, torch.FloatTensor)
isinstance(iota(1, dtype=torch.bool), torch.BoolTensor)
torch.FloatTensor.is_cuda
torch.FloatTensor.is_sparse
str(torch.FloatTensor.layout).rpartition(".")[2]
str(torch.HalfTensor.dtype).rpartition(".")[2]

def mine_float_tensor():
    class Mine(torch.FloatTensor):
        pass
    return Mine()

iota(2).new()
iota(2).new([3, 4])
iota(2).new(2, 3).shape == (2, 3), iota(2).new(torch.Size([3])).shape == (3,)
iota(2, dtype=torch.int64).new([3, 4])
iota(2).new(sines(2))
iota(2).new(iota(3))
iota(2).new([1], device="cpu")
iota(2).new([1], device="meta")
iota(2).new(data=[1])
iota(2).new(size=(3,)).shape == (3,)
iota(2).new(bad=3)
iota(2).new(iota(3).storage())

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
torch.set_default_tensor_type(3)

# storages
def element_size_rpartition():
    s = iota(3).storage()
    return len(s), s.size(), s.nbytes(), s.element_size(), s.tolist(), s[1], s[-1], str(
        s.dtype).rpartition(".")[2], str(s.device)

def data_ptr_untyped():
    x = iota(4)
    a, b = x[2:].storage(), x.storage()
    return a.data_ptr() == x.data_ptr(), len(a), a.untyped().nbytes()

iota(3).storage()[3]
iota(0).storage().tolist()
iota(2).is_shared(), torch.zeros(2).share_memory_(), torch.zeros(2).share_memory_().is_shared()

def clone_share_memory():
    x = iota(2, 3).t().clone()
    y = x.share_memory_()
    return y is x, x, x.share_memory_() is x

def share_memory_zeros():
    x = torch.zeros(0).share_memory_()
    return x

def share_memory_is_shared():
    x = iota(2, 3).t().clone()[1:].clone().t()
    y = x.clone().share_memory_()
    return y.is_shared(), y

# drawing by weights
torch.multinomial(torch.tensor([0.0, 1.0, 0.0]), 1)
torch.multinomial(torch.tensor([0.0, 1.0, 0.0]), 4, True)
torch.multinomial(torch.tensor([0.0, 0.0, 2.5]), 4, replacement=True)
torch.multinomial(torch.tensor([[0.0, 1.0], [1.0, 0.0]]), 3, True)
torch.multinomial(torch.tensor([[0.0, 1.0], [1.0, 0.0]]), 1)
torch.multinomial(torch.tensor([[0.5, 1.0, 0.2]]), 3).sort(1)[0]
torch.tensor([0.0, 1.0, 1.0]).multinomial(2).sort()[0]
torch.multinomial(torch.tensor([1, 2]), 1)
torch.multinomial(sines(), 1)
torch.multinomial(torch.ones(1, 1, 2), 1)
torch.multinomial(torch.ones(2), 0)
torch.multinomial(torch.ones(2), -1)
torch.multinomial(torch.ones(2), 3)
torch.multinomial(torch.ones(3, 2), 3)
torch.multinomial(torch.ones(2), 1.5)
torch.multinomial(torch.ones(2), 1, generator=3)
torch.multinomial(torch.tensor([1.0, -1.0]), 1)
torch.multinomial(torch.tensor([1.0, math.nan]), 1)
torch.multinomial(torch.tensor([1.0, math.inf]), 1)
torch.multinomial(torch.zeros(2), 1)
torch.multinomial(torch.tensor([[1.0], [0.0]]), 1)
torch.multinomial(torch.zeros(2), 1, True)
torch.multinomial(torch.ones(0, 2), 1)
torch.multinomial(torch.ones(0), 1, True)
torch.multinomial(torch.ones(2, 0), 1, True)
torch.multinomial(torch.ones(2), 1, out=torch.zeros(1))

def multinomial_int64():
    o = torch.zeros(0, dtype=torch.int64)
    r = torch.multinomial(torch.tensor([0.0, 1.0]), 2, True, out=o)
    return r is o, o

torch.multinomial(torch.tensor([0.0, 1.0], dtype=torch.float16), 2, True)
torch.multinomial(torch.tensor([0.0, 1.0], dtype=torch.bfloat16), 1)
torch.multinomial(torch.tensor([0.0, 1.0]).requires_grad_(), 2, True).requires_grad

def generator_multinomial():
    g = torch.Generator()
    g.manual_seed(3)
    a = torch.multinomial(torch.ones(9), 5, generator=g), torch.multinomial(torch.ones(9), 5, True,
        generator=g)
    g.manual_seed(3)
    b = torch.multinomial(torch.ones(9), 5, generator=g), torch.multinomial(torch.ones(9), 5, True,
        generator=g)
    return [x.equal(y) for x, y in zip(a, b)]

def item_multinomial():
    r = torch.manual_seed(0)
    n = torch.multinomial(torch.tensor([1.0, 3.0]), 4000, True).double().mean().item()
    return 0.72 < n < 0.78

def item_multinomial_2():
    r = torch.manual_seed(0)
    n = torch.multinomial(torch.tensor([[1.0, 3.0]]).expand(4000, 2), 1).double().mean().item()
    return 0.72 < n < 0.78

# some eigenvalues
with differs("the argument is named"):
    torch.lobpcg(3)
with differs("as of a matrix that isn't square"):
    torch.lobpcg(sines(2))
torch.lobpcg(sines(2, 3))
torch.lobpcg(iota(3, 3, dtype=torch.int64))
torch.lobpcg(torch.eye(3), 2)

def lobpcg_largest():
    a = torch.diag(torch.tensor([1.0, 2.0, 5.0, 3.0, 0.5, 4.0, 2.5], dtype=torch.float64))
    a[0, 1] = a[1, 0] = 0.3
    b = torch.diag(torch.tensor([1.0, 2.0, 1.0, 1.0, 1.0, 4.0, 1.0], dtype=torch.float64))
    return [torch.lobpcg(a, 2)[0], torch.lobpcg(a, 2, largest=False)[0], torch.lobpcg(a)[0],
        torch.lobpcg(a, 1, b)[0], torch.lobpcg(a, X=sines(7, 2))[0]]

def lobpcg_largest_2():
    a = torch.diag(torch.tensor([1.0, 2.0, 5.0, 3.0, 0.5, 4.0, 2.5], dtype=torch.float64))
    a[0, 1] = a[1, 0] = 0.3
    return [abs(torch.lobpcg(a, 2)[1]), abs(torch.lobpcg(a, 2, largest=False)[1])]

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
torch.linalg.cross(sines(3, 2), sines(3, 2, phase=1.0), dim=0)
torch.linalg.cross(sines(3, 2), sines(3, 2))
torch.linalg.diagonal(sines(2, 3, 3))
torch.linalg.diagonal(sines(3, 3), offset=1)
torch.linalg.diagonal(sines(2, 3, 2), dim1=0)
torch.linalg.vecdot(complex_sines(3), complex_sines(3, phase=1.0))
torch.linalg.vecdot(sines(2, 3), sines(3))
torch.linalg.vecdot(sines(2, 3), sines(2, 1), dim=0)
torch.linalg.vecdot(iota(2, dtype=torch.int64), iota(2, dtype=torch.int64))
torch.linalg.vander(sines())
torch.linalg.vander(iota(3))
torch.linalg.vander(iota(3), N=2)
torch.linalg.vander(iota(3), N=4)
torch.linalg.vander(iota(3), N=1)
torch.linalg.vander(iota(1))
torch.linalg.vander(iota(2, 2, dtype=torch.int64))
torch.linalg.multi_dot([sines(2)])
torch.linalg.multi_dot([])
torch.linalg.multi_dot(3)
torch.linalg.multi_dot([sines(2, 3), sines(3, 2)])
torch.linalg.multi_dot([sines(3), sines(3)])
torch.linalg.multi_dot([sines(3), sines(3, 2)])
torch.linalg.multi_dot([sines(2, 3), sines(3)])
torch.linalg.multi_dot([sines(3), sines(3, 2), sines(2)])
torch.linalg.multi_dot([sines(3), sines(3, 2), sines(2, 1)])
torch.linalg.multi_dot([sines(1, 3), sines(3, 2), sines(2)])
torch.linalg.multi_dot([sines(2, 3), sines(3, 2), sines(2, 4), sines(4, 1)])
torch.linalg.multi_dot([sines(2, 3), sines(3), sines(3, 2)])
torch.linalg.multi_dot([sines(), sines(3)])
torch.linalg.multi_dot([sines(3), sines(1, 3, 2)])
torch.linalg.multi_dot([sines(3), sines(2, 3)])
torch.linalg.multi_dot([sines(2, 3), sines(3, 2), sines(3, 2)])
torch.linalg.multi_dot([sines(2, 3), iota(3, 2)])
torch.linalg.multi_dot([sines(2, 3), sines(3, 2)], out=torch.zeros(2, 2))

def multi_dot_linalg():
    o = [torch.zeros(0, dtype=torch.float64) for k in range(4)]
    r = [torch.linalg.multi_dot(x, out=y) is y for x,
        y in zip(([sines(3), sines(3)], [sines(3), sines(3, 2)], [sines(2, 3), sines(3)],
        [sines(2, 3), sines(3, 2)]), o)]
    return r, o

torch.linalg.vector_norm(sines(2, 3))
torch.linalg.vector_norm(sines(2, 3), 1)
torch.linalg.vector_norm(sines(2, 3), 3, 1)
torch.linalg.vector_norm(sines(2, 3), 0, (0, 1), True)
torch.linalg.vector_norm(iota(2, 3), dtype=torch.float64)
torch.linalg.vector_norm(iota(2, dtype=torch.int64))
[torch.linalg.matrix_norm(sines(2, 3), ord) for ord in ("fro", "nuc", 1, -1, math.inf, -math.inf, 2,
    -2)]
[torch.linalg.matrix_norm(sines(2, 3, 4), ord, (0, 2))
    for ord in ("fro", "nuc", 1, -1, math.inf, -math.inf, 2, -2)]
[torch.linalg.matrix_norm(sines(2, 3, 4), ord, (2, 0), True)
    for ord in ("fro", "nuc", 1, -1, math.inf, -math.inf, 2, -2)]
[torch.linalg.matrix_norm(sines(2, 3, 4), ord, (-1, 1), True)
    for ord in ("fro", "nuc", 1, -1, math.inf, -math.inf, 2, -2)]
[torch.linalg.matrix_norm(iota(2, 3), ord, dtype=torch.float64)
    for ord in ("fro", "nuc", 1, math.inf, 2)]
torch.linalg.matrix_norm(sines(2))
with differs("as of a tuple of one"):
    torch.linalg.matrix_norm(sines(2, 3), dim=0)
torch.linalg.matrix_norm(sines(2, 3), dim=(0,))
torch.linalg.matrix_norm(sines(2, 3), dim=[0, 1])
torch.linalg.matrix_norm(sines(2, 3), dim=(0, 2))
torch.linalg.matrix_norm(sines(2, 3), dim=(-3, 0))
torch.linalg.matrix_norm(sines(2, 3), dim=(0, 0))
torch.linalg.matrix_norm(sines(2, 3), dim=(0, -2))
torch.linalg.matrix_norm(sines(2, 3), 3)
torch.linalg.matrix_norm(sines(2, 3), "no")
torch.linalg.matrix_norm(iota(2, 3, dtype=torch.int64))
torch.linalg.matrix_norm(iota(2, 3, dtype=torch.float16), 2)
torch.linalg.matrix_norm(iota(2, 3, dtype=torch.bfloat16), "nuc")
torch.linalg.matrix_norm(sines(0, 3), 2)
torch.linalg.matrix_norm(sines(0, 3), "nuc")
torch.linalg.matrix_norm(sines(0, 3))
torch.linalg.norm(sines(2, 3))
torch.linalg.norm(sines(2, 3, 4))
torch.linalg.norm(sines(2, 3), dim=1)
torch.linalg.norm(sines(2, 3), 1)
torch.linalg.norm(sines(3), 1)
torch.linalg.norm(sines(2, 3), "fro")
torch.linalg.norm(sines(3), "fro")
torch.linalg.norm(sines(2, 3), "nuc", (1, 0), True)
torch.linalg.norm(sines(2, 3, 4), 1)
torch.linalg.norm(sines(), 1)
torch.linalg.norm(sines(2, 3, 4), 1, 1)
torch.linalg.norm(sines(2, 3, 4), 1, (1,))
torch.linalg.norm(sines(2, 3, 4), 1, (1, 2))
torch.linalg.norm(sines(2, 3, 4), math.inf, (0, 1), True)
torch.linalg.norm(iota(2, 3), 1, dtype=torch.float64)
torch.linalg.norm(iota(2, 3), dtype=torch.float64)
torch.linalg.norm(iota(2, 3), "fro", dtype=torch.float64)
gradients(lambda x: torch.linalg.matrix_norm(x, 2), sines(2, 3))
gradients(lambda x: torch.linalg.norm(x, 1), sines(2, 3))

# rarer ways
torch.FloatTensor([]), torch.FloatTensor(()), torch.FloatTensor([[]]).shape == (1, 0)
torch.FloatTensor(np.float32(2.5))
torch.FloatTensor("12")
torch.lobpcg(torch.eye(3), 1, torch.eye(2))
torch.lobpcg(torch.eye(3), 1, sines(3))

@differs("Torch computes with what isn't positive definite.")
def lobpcg_diag():
    a, b = torch.diag(torch.tensor([1.0, 2.0, 4.0])), torch.diag(torch.tensor([1.0, 0.0, 1.0]))
    return torch.lobpcg(a, 1, b)

def lobpcg_largest_3():
    a = torch.diag(torch.tensor([1.0, 2.0, 4.0]))
    return torch.lobpcg(a, 1, largest=True)[0], torch.lobpcg(a, 1,
        largest=False)[0], torch.lobpcg(a, 1, largest=None)[0], torch.lobpcg(torch.stack([a,
        a * 2]), 1)[0]

iota(3).storage() == iota(3).storage()
iota(3).storage() == 3
(lambda s: s == s)(iota(3).storage())
with differs("Storages of the same memory are equal here, and don't show elements."):
    len({x.storage() for x in [iota(3)] * 2}), repr(iota(3).storage())

def multinomial_sorted():
    r = torch.manual_seed(0)
    x = torch.multinomial(torch.tensor([0.0, 1.0, 0.0, 1.0]), 2000, True)
    return sorted(set(x.tolist()))
