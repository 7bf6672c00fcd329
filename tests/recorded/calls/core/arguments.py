"""Arguments: calls of tensors and arguments (`ext/core`)."""

import math

import numpy as np

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import differs, error_name, gradients, iota, sines

# tensors and numbers
torch.mm(iota(2, 2), 3)
torch.mm(iota(2, 2), None)
torch.mm(iota(2, 2), np.zeros((2, 2)))
torch.mm(iota(2, 2), mat2=np.float32(1))
torch.cat(iota(2))
torch.cat((None, iota(2)))
torch.cat([iota(2), np.zeros(2)])
torch.cat(3)
torch.cat({iota(2)})
torch.add(iota(2), "x")
torch.add(iota(2), None)
torch.add(iota(2), [1])
torch.add(True, False)
torch.mul(2, 3.5)
torch.sub(5, 3)
torch.true_divide(5, 2)
torch.pow(2, 3)
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
torch.bitwise_and(1, iota(2, dtype=torch.int64))
torch.bitwise_and(3, 1)

# the factor of the second operand
torch.add(iota(2), iota(2), alpha=1j)
torch.add(iota(2), iota(2), alpha="2")
torch.add(iota(2), iota(2), alpha=torch.tensor([2]))
torch.add(iota(2), iota(2), alpha=None)
torch.sub(iota(2, dtype=torch.int64), iota(2, dtype=torch.int64), alpha=0.5)
torch.sub(iota(2), 1, alpha=True)
torch.add(iota(2), 2, alpha=True)
torch.rsub(iota(2), 3, alpha=2)
torch.rsub(iota(2, dtype=torch.int64), 3, alpha=0.5)
iota(2, dtype=torch.int64).add_(iota(2, dtype=torch.int64), alpha=0.5)
gradients(lambda x, y: torch.add(x, y, alpha=torch.tensor(3)), sines(2), sines(2))

# truth values
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
iota(6).chunk(torch.tensor(True))
iota(6).chunk(np.float64(2))
iota(6).chunk(np.array(2))
iota(6).chunk(np.bool_(True))
iota(6).chunk(chunks=1 << 64)

def int_sum():
    class Number(int):
        pass
    return iota(2, 3).sum(Number(1))

iota(2, 3).softmax(64)
iota(2, 3).softmax(1 << 63)
iota(2, 3).cumsum(1 << 32)
iota(2, 3).cumsum(1.0)
iota(2, 3).cumsum(None)
iota(2, 3).cumsum(True)

# fractions
F.leaky_relu(iota(2) - 1, True)
F.leaky_relu(iota(2) - 1, "x")
F.leaky_relu(iota(2) - 1, 1j)
F.leaky_relu(iota(2) - 1, None)
F.elu(iota(2) - 1, torch.tensor([0.5]))
F.elu(iota(2) - 1, torch.tensor(1j))
torch.isclose(iota(2), iota(2), rtol=torch.tensor([0.5]))
torch.isclose(iota(2), iota(2), rtol="x")
torch.isclose(iota(2), iota(2), atol=1j)

# words
torch.searchsorted(iota(3), iota(2), side="middle")
torch.searchsorted(iota(3), iota(2), side=3)
torch.div(iota(2), 2, rounding_mode="floor")
torch.div(iota(2), 2, rounding_mode="x")
torch.div(iota(2), 2, rounding_mode=3)
F.gelu(iota(2), approximate="tanh")
F.gelu(iota(2), approximate="none")
F.gelu(iota(2), approximate="x")
F.gelu(iota(2), approximate=3)
iota(2, 3).scatter_reduce(0, torch.zeros(1, 3, dtype=torch.int64), torch.ones(1, 3), "x")

# dtypes, formats, devices
iota(2).sum(dtype="x")
iota(2).sum(dtype=3)
iota(2).softmax(0, "x")
iota(2, 3, 4, 5).clone(memory_format=torch.channels_last).stride()
iota(2).clone(memory_format=3)
iota(2).clone(memory_format=None)
iota(2).clone(torch.channels_last)
iota(2).contiguous(memory_format="x")
iota(2).to("nowhere")
iota(2).to(device="cpu").shape
iota(2).to(device=3.5)
iota(2).to(device=True)

# sizes and dimensions
iota(6).reshape((2, 3.0))
with differs("truth values are no sizes"):
    iota(6).reshape((2, True))
iota(6).reshape(2, "3")
iota(6).reshape((2, None))
iota(6).reshape(6.0)
iota(6).reshape(np.array([2, 3]))
iota(6).reshape((1 << 64,))
iota(6).reshape((1, 6, -(1 << 64)))
iota(6).reshape((2, 3), 1)
iota(6).reshape({})
iota(2, 3).permute(1.0, 0)
iota(2, 3).flip((0,), 1)
iota(2, 3).flip(1.0)
iota(2, 3).tile(2)
iota(2, 3).repeat(1, 2)
iota(2, 3).repeat((1, 2), 1)
iota(2, 3).repeat(2.0)
iota(3).expand((2, 3), 1)
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
iota(2, 3).sum((0, 0))
iota(2, 3).roll(1, 1)
iota(2, 3).roll("x", 0)
with differs("A TypeError, as of other ints beyond 64 bits."):
    iota(2, 3).roll(1 << 64, 0)
F.pad(iota(3), 1)
F.pad(iota(3), "x")
F.pad(iota(3), (1.0, 1))
F.avg_pool2d(iota(1, 1, 4, 4), 2.0)
F.avg_pool2d(iota(1, 1, 4, 4), "2")
F.conv2d(iota(1, 1, 3, 3), iota(1, 1, 2, 2), padding="same")
F.conv2d(iota(1, 1, 3, 3), iota(1, 1, 2, 2), padding=b"same")

# one of several types
iota(6).split("x")
iota(6).split(2.0)
iota(6).split((2, "x"))
iota(6).split(True)
iota(6).split(torch.tensor(2))
iota(6).tensor_split(torch.tensor([2, 4]))
iota(6).tensor_split(torch.tensor(2))
iota(6).tensor_split("x")
iota(6).tensor_split(2.0)
iota(2, 3).var(correction="x")
iota(2, 3).norm("nuc")
iota(2, 3).norm(-math.inf, 1)
iota(2, 3).norm("x")
iota(2, 3).norm([1])
with differs("A TypeError, as of all that is of a wrong type."):
    iota(2, 3).norm(1j)
iota(2, 3).norm(torch.tensor(1.0))
iota(2, 3).norm(torch.tensor([1.0]))
iota(3).index_put(torch.tensor([0]), torch.tensor(5.0))
iota(3).index_put((3,), torch.tensor(5.0))
iota(3).index_put(("x",), torch.tensor(5.0))
iota(3).index_put((torch.tensor([0.0]),), torch.tensor(5.0))

# complex numbers that are real, where a real tensor takes a number
torch.ones(2).masked_fill(torch.tensor([True, False]), torch.tensor(3 + 0j))
torch.ones(2).masked_fill(torch.tensor([True, False]), torch.tensor(3 + 1j))
torch.ones(2).index_fill(0, torch.tensor([0]), 1 + 0j)
torch.ones(2).scatter_(0, torch.tensor([0]), 3 + 1j)
torch.ones(2).scatter(0, torch.tensor([0]), 3 + 0j, reduce="add")
torch.clamp(torch.ones(2), 0.0, 1 + 1j)
torch.addmm(torch.ones(2, 2), torch.ones(2, 2), torch.ones(2, 2), beta=2 + 1j)
torch.addcdiv(torch.ones(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64),
    torch.ones(2, dtype=torch.float64), value=2 + 1j)
F.threshold(torch.ones(2), 1 + 0j, 3 + 0j)
F.threshold(torch.ones(2), 1, 3 + 1j)
gradients(lambda x: F.elu(x, 2 + 0j), -torch.ones(2))

# the factor of add and sub, where it is one
torch.rsub(torch.ones(2), 1, alpha=1 + 0j)
torch.add(torch.tensor([True]), torch.tensor([True]), alpha=1.0)

# complex tensors as numbers
int(torch.tensor(complex(math.nan, 0)))
int(torch.tensor(complex(math.inf, 0)))
int(torch.tensor(complex(1e30, 0)))
int(torch.tensor(complex(2.5, 0)))

# dtypes that are refused by a RuntimeError
-torch.tensor(True)
torch.tensor([True]).neg_()
torch.isin(torch.tensor([True]), torch.tensor([True]))
torch.mean(torch.tensor([[1]]), 0)

# alpha in its place
error_name(torch.add, iota(2), 2, "3")
error_name(torch.add, iota(2), 2, 3, 4)
error_name(torch.mul, iota(2), 2, 3)
