"""Overlapping operands: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from tests.recorded.inputs import differs, error_name, metadata, sines


# Operands that lie where the result does, and such that lie there in part.
def sines_2():
    x = sines(3)
    x[None] = x
    return x

def grad_metadata():
    a = sines(3).requires_grad_()
    x = a * 3
    x[None] = x
    return [x, metadata(x)[2:], torch.autograd.grad(x.sum(), a)]

def copy_squeeze():
    x = sines(2, 1, 3)
    return x.copy_(x.squeeze(1).unsqueeze(1))

@differs("torch looks at the memory of both before the result has its new shape")
def add_out():
    x = sines(2, 3)
    return [torch.add(x, 1, out=x[None]) is x, x]

def mul_out():
    x = sines(2, 3)
    return torch.mul(x[None], x, out=x[None])

def mul_out_2():
    x = sines(2, 3)
    return [error_name(lambda: torch.mul(x[None], x, out=x[None])), x]

def sines_add():
    x = sines(2, 2)
    return x.add_(x.t())

def error_name_add():
    x = sines(2, 2)
    return [error_name(lambda: x.add_(x.t())), x]

def add_out_2():
    x = sines(2, 2)
    return torch.add(x.t(), 1, out=x)

@differs("torch reads what it has written; here the operand is copied first")
def add_out_3():
    x = sines(2, 3)
    return torch.add(x[:, :2], 1, out=x[:, 1:])

def add_out_4():
    x = sines(6)
    return torch.add(x[:3], 1, out=x[1:4])

def sines_copy():
    x = sines(6)
    return x[1:4].copy_(x[:3])

def add_out_5():
    x = sines(4)
    return torch.add(x[:3], 1, out=x[:3])

@differs("torch looks at the memory of both before the result has its new shape")
def add_out_6():
    x = sines(3, 3)
    return torch.add(x[0], 1, out=x[:1])

def add_out_7():
    x = sines(3, 3)
    return torch.add(x[:, 0], 1, out=x[:1])

def copy_reshape():
    x = sines(3, 1)
    return [torch.add(x, x.t(), out=torch.ones(3, 3, dtype=torch.float64)),
        x.copy_(x.t().reshape(3, 1))]

def sines_mul():
    x = sines(4)
    return x[:3].mul_(x[1:])

def copy_reshape_2():
    x = sines(2, 3)
    return x.t().copy_(x.reshape(3, 2))

def add_reshape():
    x = sines(1, 3, 1)
    return x[0, :, 0].add_(x.reshape(3))

def copy_view():
    x = sines(3)
    return x.view(torch.int64).copy_(x)
