"""Arguments: calls of tensors and arguments (`ext/core`)."""

import math

import numpy as np

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import differs, error_name, gradients, iota, sines

# tensors and numbers
torch.mm(iota(2, 2), 3)
torch.mm(3, iota(2, 2))
torch.mm(iota(2, 2), None)
torch.mm(iota(2, 2), np.zeros((2, 2)))
torch.mm(iota(2, 2), mat2=np.float32(1))
torch.cat(iota(2))
torch.cat([iota(2), 3])
torch.cat((None, iota(2)))
torch.cat([iota(2), np.zeros(2)])
torch.cat((iota(2), iota(1)))
torch.cat(3)
torch.cat({iota(2)})
torch.add(iota(2), "x")
torch.add("x", iota(2))
torch.add(iota(2), None)
torch.add(iota(2), [1])
torch.add(iota(2), np.float64(2))
torch.add(iota(2), np.int32(2))
torch.mul(iota(2, dtype=torch.int64), np.float64(2)).dtype == torch.float32
torch.add(iota(2, dtype=torch.int64), np.float32(2)).dtype == torch.float32
torch.add(iota(2), np.bool_(True))
torch.add(2, 3)
torch.add(2.5, 3)
torch.add(True, False)
torch.add(1j, 2)
torch.add(2, iota(2))
torch.add(2, torch.tensor(3)).dtype == torch.int64
torch.mul(2, 3.5)
torch.mul(2, 3)
torch.sub(5, 3)
torch.div(5, 2)
torch.true_divide(5, 2)
torch.pow(2, 3)
torch.pow(2, iota(3))
torch.pow(iota(3), 2)
torch.eq(2, 2)
torch.eq(2, iota(3))
torch.lt(iota(3), 2)
torch.lt(2, 3)
torch.maximum(iota(2), 3)
torch.atan2(iota(2), 3)
torch.fmod(iota(2), 3)
torch.fmod(2, 3)
torch.remainder(2, 3)
torch.remainder(2, iota(3) + 1)
torch.logical_and(iota(2), 1)
torch.bitwise_and(iota(2, dtype=torch.int64), 1)
torch.bitwise_and(1, iota(2, dtype=torch.int64))
torch.bitwise_and(3, 1)
torch.where(iota(2) > 0, 1, 2)
torch.where(iota(2) > 0, 1.5, 2)
torch.where(iota(2) > 0, iota(2), 2j)
torch.where(iota(2) > 0, 1, iota(2))
torch.where(iota(2) > 0, True, False)
torch.where(iota(2) > 0, 1, 2.5).dtype == torch.float32
torch.where(iota(2) > 0, 1j, 2).dtype == torch.complex64

def by_default(dtype, f):
    old = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        return f()
    finally:
        torch.set_default_dtype(old)

by_default(torch.float64, lambda: [torch.add(1.5, 2), torch.add(1j, 2), torch.add(1, 2),
    torch.tensor(1.5), torch.tensor([1j]), torch.full((1,), 1j), torch.full((1,), 1.5),
    torch.arange(1.5), torch.linspace(0, 1, 2), torch.linspace(0, 1j, 2), torch.zeros(1),
    torch.ones(1), torch.eye(1), torch.scalar_tensor(1), torch.Tensor([1]), iota(1).sqrt(),
    torch.tensor([1]).sqrt(), torch.tensor([1]) / 2,],)
by_default(torch.float16, lambda: [torch.tensor(1.5), torch.tensor([1.5, 2]), torch.arange(1.5),
    torch.zeros(1), torch.tensor([1]) / 2, torch.finfo().bits,
    torch.tensor(1).to(float).dtype == torch.float64,
    torch.tensor([1], dtype=float).dtype == torch.float64])

# the factor of the second operand
torch.add(iota(2), iota(2), alpha=2)
torch.add(iota(2), iota(2), alpha=0.5)
torch.add(iota(2), 1, alpha=3)
torch.add(iota(2, dtype=torch.int64), iota(2, dtype=torch.int64), alpha=2)
torch.add(iota(2, dtype=torch.int64), iota(2, dtype=torch.int64), alpha=2.0)
torch.add(iota(2, dtype=torch.int64), iota(2), alpha=0.5)
torch.add(iota(2, dtype=torch.int64), iota(2, dtype=torch.int64), alpha=True)
torch.add(iota(2, dtype=torch.bool), iota(2, dtype=torch.bool), alpha=True)
torch.add(iota(2, dtype=torch.bool), iota(2, dtype=torch.bool), alpha=False)
torch.add(iota(2, dtype=torch.bool), iota(2, dtype=torch.bool), alpha=2)
torch.add(iota(2, dtype=torch.bool), iota(2, dtype=torch.bool), alpha=0)
torch.add(iota(2, dtype=torch.bool), iota(2, dtype=torch.bool), alpha=0.5)
torch.add(iota(2), iota(2), alpha=True)
torch.add(iota(2), iota(2), alpha=1j)
torch.add(iota(2), iota(2, dtype=torch.complex64), alpha=1j)
torch.add(iota(2), iota(2), alpha="2")
torch.add(iota(2), iota(2), alpha=torch.tensor(2))
torch.add(iota(2), iota(2), alpha=torch.tensor([2]))
torch.add(iota(2), iota(2), alpha=None)
torch.sub(iota(2), iota(2), alpha=2)
torch.sub(iota(2, dtype=torch.int64), iota(2, dtype=torch.int64), alpha=0.5)
torch.sub(iota(2), 1, alpha=True)
torch.add(iota(2), 2, alpha=True)
torch.add(2, iota(2), alpha=3)
torch.rsub(iota(2), iota(2), alpha=2)
torch.rsub(iota(2), 3, alpha=2)
torch.rsub(iota(2, dtype=torch.int64), 3, alpha=0.5)
iota(2).add_(iota(2), alpha=2)
iota(2, dtype=torch.int64).add_(iota(2, dtype=torch.int64), alpha=0.5)
gradients(lambda x, y: torch.add(x, y, alpha=torch.tensor(3)), sines(2), sines(2))

# truth values
iota(2, 3).sum(0, keepdim=True)
iota(2, 3).sum(0, True)
iota(2, 3).sum(0, False)
iota(2, 3).sum(0, keepdim=1)
iota(2, 3).sum(0, keepdim=None)
iota(2, 3).sum(0, keepdim="x")
iota(2, 3).sum(0, keepdim=np.bool_(True))
iota(2, 3).argmax(0, 1)
iota(2, 3).triu(True)

# whole numbers
iota(6).chunk(2.0)
iota(6).chunk(True)
iota(6).chunk("2")
iota(6).chunk(None)
iota(6).chunk(torch.tensor(2))
with differs("what Python takes for an index is an int"):
    iota(6).chunk(torch.tensor([2]))
    iota(6).chunk(torch.tensor([[2]]))
iota(6).chunk(torch.tensor([2, 3]))
iota(6).chunk(torch.tensor(2.0))
iota(6).chunk(torch.tensor(True))
iota(6).chunk(np.int64(2))
iota(6).chunk(np.float64(2))
iota(6).chunk(np.array(2))
iota(6).chunk(np.bool_(True))
iota(6).chunk(1 << 63)
iota(6).chunk(-(1 << 63) - 1)
iota(6).chunk(chunks=1 << 64)
iota(6).chunk(1 << 62)

@differs("What Python takes for an index is an int.")
def index_chunk():
    class Index:
        def __index__(self):
            return 2
    return iota(6).chunk(Index())

def index_view():
    class Index:
        def __index__(self):
            return 2
    return iota(6).view(Index(), 3)

@differs("What Python takes for an index is an int.")
def index_chunk_2():
    class Index:
        def __index__(self):
            raise ValueError("mine")
    return error_name(lambda: iota(6).chunk(Index()))

def number_chunk():
    class Number(int):
        pass
    return iota(6).chunk(Number(2))

def number_int():
    class Number(int):
        pass
    return iota(2, 3).sum(Number(1))

def number_view():
    class Number(int):
        pass
    return iota(6).view(Number(2), 3)

def number_leaky_relu():
    class Number(float):
        pass
    return F.leaky_relu(iota(2) - 1, Number(0.5))

iota(2, 3).softmax(1)
iota(2, 3).softmax(2)
iota(2, 3).softmax(-3)
iota(2, 3).softmax(63)
iota(2, 3).softmax(64)
iota(2, 3).softmax(-64)
iota(2, 3).softmax(-65)
iota(2, 3).softmax(1 << 32)
iota(2, 3).softmax(1 << 63)
iota(2, 3).cumsum(1 << 32)
iota(2, 3).cumsum(-(1 << 40))
iota(2, 3).cumsum(1.0)
iota(2, 3).cumsum(None)
iota(2, 3).cumsum(True)

# fractions
F.leaky_relu(iota(2) - 1, 2)
F.leaky_relu(iota(2) - 1, 0.5)
F.leaky_relu(iota(2) - 1, True)
F.leaky_relu(iota(2) - 1, "x")
F.leaky_relu(iota(2) - 1, 1j)
F.leaky_relu(iota(2) - 1, None)
F.leaky_relu(iota(2) - 1, np.float64(0.5))
F.leaky_relu(iota(2) - 1, np.float32(0.5))
F.elu(iota(2) - 1, torch.tensor(0.5))
F.elu(iota(2) - 1, torch.tensor([0.5]))
F.elu(iota(2) - 1, torch.tensor(1j))
torch.isclose(iota(2), iota(2), rtol=torch.tensor(0.5))
torch.isclose(iota(2), iota(2), rtol=torch.tensor([0.5]))
torch.isclose(iota(2), iota(2), rtol="x")
torch.isclose(iota(2), iota(2), atol=1j)

# words
torch.searchsorted(iota(3), iota(2), side="right")
torch.searchsorted(iota(3), iota(2), side="middle")
torch.searchsorted(iota(3), iota(2), side=3)
torch.div(iota(2), 2, rounding_mode="floor")
torch.div(iota(2), 2, rounding_mode="x")
torch.div(iota(2), 2, rounding_mode=3)
torch.div(iota(2), 2, rounding_mode=None)
F.gelu(iota(2), approximate="tanh")
F.gelu(iota(2), approximate="none")
F.gelu(iota(2), approximate="x")
F.gelu(iota(2), approximate=3)
iota(2, 3).scatter_reduce(0, torch.zeros(1, 3, dtype=torch.int64), torch.ones(1, 3), "x")
iota(2, 3).scatter_reduce(0, torch.zeros(1, 3, dtype=torch.int64), torch.ones(1, 3), reduce="amax")

# dtypes, formats, devices
iota(2).sum(dtype=torch.float64)
iota(2).sum(dtype=None)
iota(2).sum(dtype="x")
iota(2).sum(dtype=3)
iota(2).sum(dtype=float).dtype == torch.float64
iota(2).sum(dtype=int).dtype == torch.int64
iota(2).sum(dtype=complex)
iota(2).softmax(0, dtype=torch.float64)
iota(2).softmax(0, torch.float64)
iota(2).softmax(0, "x")
iota(2, 3, 4, 5).clone(memory_format=torch.channels_last).stride()
iota(2).clone(memory_format=3)
iota(2).clone(memory_format=None)
iota(2).clone(torch.channels_last)
iota(2, 3, 4, 5).contiguous(memory_format=torch.channels_last).stride()
iota(2).contiguous(memory_format="x")
iota(2).to("nowhere")
iota(2).to(device="cpu").shape
iota(2).to(device=3.5)
iota(2).to(device=None).shape
iota(2).to(device=True)

# sizes and dimensions
iota(6).reshape((2, 3.0))
with differs("truth values are no sizes"):
    iota(6).reshape((2, True))
iota(6).reshape(2, "3")
iota(6).reshape((2, None))
iota(6).reshape([2, 3])
iota(6).reshape(torch.tensor(2), torch.tensor(3))
iota(6).reshape((torch.tensor(2), 3))
iota(6).reshape((np.int64(2), np.int32(3)))
iota(6).reshape(6.0)
iota(6).reshape(np.array([2, 3]))
iota(6).reshape((1 << 64,))
iota(6).reshape((1, 6, -(1 << 64)))
iota(6).reshape(shape=(2, 3))
iota(6).reshape((2, 3), 1)
iota(6).reshape()
iota(6).reshape({})
torch.reshape(iota(6), (2, 3))
with differs("one int stands for a sequence of one"):
    torch.reshape(iota(6), 6)
torch.reshape(iota(6), shape=(2, 3))
iota(2, 3).permute(1, 0)
iota(2, 3).permute((1, 0))
iota(2, 3).permute(dims=(1, 0))
with differs("One int stands for a sequence of one."):
    torch.permute(iota(2, 3), 1)
iota(2, 3).permute(1.0, 0)
iota(2, 3).flip(0, 1)
iota(2, 3).flip([0, 1])
iota(2, 3).flip(dims=[1])
iota(2, 3).flip((0,), 1)
iota(2, 3).flip()
iota(2, 3).flip(1.0)
iota(2, 3).tile(2)
iota(2, 3).tile((2, 1))
iota(2, 3).repeat(1, 2)
iota(2, 3).repeat((1, 2), 1)
iota(2, 3).repeat()
iota(2, 3).repeat(2.0)
iota(3).expand(size=(2, 3))
iota(3).expand((2, 3), 1)
iota(3).expand()
iota(2, 3).sum((0, 1))
iota(2, 3).sum([0])
iota(2, 3).sum(())
iota(2, 3).sum("x")
iota(2, 3).sum((0, 1.0))
with differs("Truth values are no dimensions."):
    iota(2, 3).sum((0, True))
iota(2, 3).sum([0, "x"])
iota(2, 3).sum(1.0)
iota(2, 3).sum(True)
iota(2, 3).sum(1 << 64)
iota(2, 3).sum((1 << 64,))
iota(2, 3).sum(-(1 << 64))
iota(2, 3).sum(torch.tensor(1))
iota(2, 3).sum((torch.tensor(1), 0))
iota(2, 3).sum(np.int64(1))
iota(2, 3).sum(dim=None)
iota(2, 3).sum(2)
iota(2, 3).sum((0, 0))
iota(2, 3).sum((0, -2))
iota(2, 3).sum((0, 2))
iota(2, 3).mean(1)
iota(2, 3).amax(())
iota(2, 3).amax((0, 1))
iota(2, 3).roll(1, 1)
iota(2, 3).roll((1, 1), (0, 1))
iota(2, 3).roll(1)
iota(2, 3).roll((1, 2))
iota(2, 3).roll("x", 0)
with differs("A TypeError, as of other ints beyond 64 bits."):
    iota(2, 3).roll(1 << 64, 0)
F.pad(iota(3), (1, 1))
F.pad(iota(3), 1)
F.pad(iota(3), "x")
F.pad(iota(3), (1.0, 1))
F.avg_pool2d(iota(1, 1, 4, 4), 2)
F.avg_pool2d(iota(1, 1, 4, 4), (2, 1))
F.avg_pool2d(iota(1, 1, 4, 4), (2,))
F.avg_pool2d(iota(1, 1, 4, 4), (2, 2, 2))
F.avg_pool2d(iota(1, 1, 4, 4), 2.0)
F.avg_pool2d(iota(1, 1, 4, 4), "2")
F.max_pool2d(iota(1, 1, 4, 4), [2, 1])
F.conv2d(iota(1, 1, 3, 3), iota(1, 1, 2, 2), padding="same")
F.conv2d(iota(1, 1, 3, 3), iota(1, 1, 2, 2), padding="valid")
F.conv2d(iota(1, 1, 3, 3), iota(1, 1, 2, 2), padding="x")
F.conv2d(iota(1, 1, 3, 3), iota(1, 1, 2, 2), padding=b"same")
F.conv2d(iota(1, 1, 3, 3), iota(1, 1, 2, 2), padding=1.0)
F.conv2d(iota(1, 1, 3, 3), iota(1, 1, 2, 2), stride=(2, 1))
F.conv2d(iota(1, 1, 3, 3), iota(1, 1, 2, 2), stride=(2, 1, 1))

# one of several types
iota(6).split("x")
iota(6).split(2.0)
iota(6).split((2, "x"))
iota(6).split(True)
iota(6).split(torch.tensor(2))
with differs("What Python takes for an index is an int."):
    iota(6).split(np.int64(2))
iota(6).tensor_split(torch.tensor([2, 4]))
iota(6).tensor_split(torch.tensor(2))
iota(6).tensor_split((2, 4))
iota(6).tensor_split(4)
iota(6).tensor_split("x")
iota(6).tensor_split(2.0)
iota(2, 3).var()
iota(2, 3).var(correction=0)
iota(2, 3).var(correction=None)
iota(2, 3).var(correction=0.5)
iota(2, 3).var(correction="x")
iota(2, 3).var(1, correction=2)
iota(2, 3).norm()
iota(2, 3).norm(1)
iota(2, 3).norm("fro")
iota(2, 3).norm("nuc")
iota(2, 3).norm(math.inf)
iota(2, 3).norm(-math.inf, 1)
iota(2, 3).norm("x")
iota(2, 3).norm(None)
iota(2, 3).norm([1])
with differs("A TypeError, as of all that is of a wrong type."):
    iota(2, 3).norm(1j)
iota(2, 3).norm(torch.tensor(1.0))
iota(2, 3).norm(torch.tensor([1.0]))
iota(3).index_put((torch.tensor([0, 1]),), torch.tensor(5.0))
iota(3).index_put([torch.tensor([0, 1])], torch.tensor(5.0))
with differs("None stands for `:`; torch's method takes tensors only."):
    iota(2, 3).index_put((None, torch.tensor([0, 1])), torch.tensor(5.0))
iota(3).index_put(torch.tensor([0]), torch.tensor(5.0))
iota(3).index_put((3,), torch.tensor(5.0))
iota(3).index_put(("x",), torch.tensor(5.0))
iota(3).index_put((torch.tensor([0.0]),), torch.tensor(5.0))

# complex numbers that are real, where a real tensor takes a number
torch.ones(2).masked_fill_(torch.tensor([True, False]), 3 + 0j)
torch.ones(2).masked_fill(torch.tensor([True, False]), 3 + 1j)
torch.ones(2).masked_fill(torch.tensor([True, False]), torch.tensor(3 + 0j))
torch.ones(2).masked_fill(torch.tensor([True, False]), torch.tensor(3 + 1j))
torch.ones(2, dtype=torch.int64).masked_fill_(torch.tensor([True, False]), 3.5 + 0j)
torch.ones(2, dtype=torch.bool).masked_fill_(torch.tensor([True, False]), 0j)
torch.ones(2, dtype=torch.bool).masked_fill_(torch.tensor([True, False]), 1j)
torch.ones(2, dtype=torch.float16).masked_fill_(torch.tensor([True, False]), 1e9 + 0j)
torch.ones(2).index_fill(0, torch.tensor([0]), 1 + 0j)
torch.ones(2).scatter_(0, torch.tensor([0]), 3 + 0j)
torch.ones(2).scatter_(0, torch.tensor([0]), 3 + 1j)
torch.ones(2, dtype=torch.bool).scatter_(0, torch.tensor([0]), 0j)
torch.ones(2).scatter(0, torch.tensor([0]), 3 + 0j, reduce="add")
torch.clamp(torch.ones(2), 0.0, 0.5 + 0j)
torch.clamp(torch.ones(2), 0.0, 1 + 1j)
torch.clamp(torch.ones(2), 2 + 0j)
torch.addmm(torch.ones(2, 2), torch.ones(2, 2), torch.ones(2, 2), alpha=2 + 0j)
torch.addmm(torch.ones(2, 2), torch.ones(2, 2), torch.ones(2, 2), beta=2 + 1j)
torch.addcmul(torch.ones(2), torch.ones(2), torch.ones(2), value=2 + 0j)
torch.addcdiv(torch.ones(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64),
    torch.ones(2, dtype=torch.float64), value=2 + 1j)
torch.addr(torch.ones(2, 2), torch.ones(2), torch.ones(2), beta=2 + 0j)
F.threshold(torch.ones(2), 1 + 0j, 3 + 0j)
F.threshold(torch.ones(2), 1, 3 + 1j)
F.elu(-torch.ones(2), 2 + 0j)
F.celu(-torch.ones(2), 2 + 0j)
F.leaky_relu(-torch.ones(2), 2 + 0j)
F.softplus(torch.ones(2, dtype=torch.float64), 2 + 0j)
F.hardshrink(torch.ones(2), 2 + 0j)
F.softshrink(torch.ones(2), 0.5 + 0j)
[error_name(f, -torch.ones(2), 2 + 1j) for f in (F.elu, F.celu, F.leaky_relu, F.softplus,
    F.hardshrink, F.softshrink)]
gradients(lambda x: x.masked_fill(torch.tensor([True, False]), 3 + 0j), torch.ones(2))
gradients(lambda x: F.elu(x, 2 + 0j), -torch.ones(2))

# the factor of add and sub, where it is one
torch.add(torch.ones(2, dtype=torch.int64), 1, alpha=1.0)
torch.sub(torch.ones(2, dtype=torch.int64), 1, alpha=1.0)
torch.rsub(torch.ones(2, dtype=torch.int64), 1, alpha=1.0)
torch.ones(2, dtype=torch.int64).add_(1, alpha=np.float32(1))
torch.add(torch.ones(2), 1, alpha=1.0)
torch.add(torch.ones(2), 1, alpha=1 + 0j)
torch.rsub(torch.ones(2), 1, alpha=1 + 0j)
torch.add(torch.ones(2, dtype=torch.complex64), 1, alpha=1 + 0j)
torch.add(torch.tensor([True]), torch.tensor([True]), alpha=1.0)
torch.add(torch.ones(2, dtype=torch.int64), 1, alpha=np.int64(1))
torch.ones(2).index_add(0, torch.tensor([0]), torch.ones(1), alpha=1 + 0j)

# complex tensors as numbers
int(torch.tensor(complex(math.nan, 0)))
int(torch.tensor(complex(math.inf, 0)))
int(torch.tensor(complex(1e30, 0)))
int(torch.tensor(complex(2.5, 0)))

# dtypes that are refused by a RuntimeError
-torch.tensor(True)
torch.tensor([True]).neg_()
torch.isin(torch.tensor([True]), torch.tensor([True]))
torch.mean(torch.tensor([1]))
torch.mean(torch.tensor([[1]]), 0)

# alpha in its place
torch.add(iota(2), 2, 3)
torch.add(iota(2), 2, 1.5)
iota(2).add(2, 3)
iota(2).add_(2, 3)
torch.sub(iota(2), 2, 3)
iota(2).sub(2, 3)
iota(2).sub_(2, 3)
torch.rsub(iota(2), 2, 3)
torch.add(iota(2), 2, 3, out=torch.zeros(2))
error_name(torch.add, iota(2), 2, "3")
error_name(torch.add, iota(2), 2, 3, 4)
error_name(torch.mul, iota(2), 2, 3)
