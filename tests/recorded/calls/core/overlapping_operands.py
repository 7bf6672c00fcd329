"""Overlapping operands: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from tests.recorded.inputs import differs, metadata, sines


# Operands that lie where the result does, and such that lie there in part.
def grad_sum():
    a = sines(3).requires_grad_()
    x = a * 3
    x[None] = x
    return [x, metadata(x)[2:], torch.autograd.grad(x.sum(), a)]

def mul_out():
    x = sines(2, 3)
    return torch.mul(x[None], x, out=x[None])

@differs("torch reads what it has written; here the operand is copied first")
def add_out():
    x = sines(2, 3)
    return torch.add(x[:, :2], 1, out=x[:, 1:])

def add_out_2():
    x = sines(3, 3)
    return torch.add(x[:, 0], 1, out=x[:1])

def copy_reshape():
    x = sines(3, 1)
    return [torch.add(x, x.t(), out=torch.ones(3, 3, dtype=torch.float64)),
        x.copy_(x.t().reshape(3, 1))]

def mul():
    x = sines(4)
    return x[:3].mul_(x[1:])

def copy_reshape_2():
    x = sines(2, 3)
    return x.t().copy_(x.reshape(3, 2))
