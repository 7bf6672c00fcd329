"""Shared memory: calls of tensors and arguments (`ext/core`)."""

import math

import autograd_cy as torch
from tests.recorded.inputs import differs, error_name, gradients, iota, sines

# Sources and indices in the memory that is written: what certainly is there is refused, what may be is read before.
[error_name(lambda a=a, k=k: (lambda x: x.index_add_(0, torch.tensor([0, 1]), k(x),
    alpha=a))(torch.ones(4))) for a in (1, 2, True)
    for k in (lambda x: x[:2], lambda x: x[2:], lambda x: x[1:3], lambda x: x[::3],
    lambda x: x[:1].expand(2), lambda x: x[2:].clone())]

def index_add_alpha():
    x = torch.ones(4)
    return [error_name(lambda a=a, s=s: torch.index_add(x, 0, torch.tensor([0, 1, 2, 3]),
        x if s is None else s, alpha=a, out=s)) for a in (1, 2) for s in (None, x.clone())] + [x]

def index_add_alpha_2():
    x = iota(2, 2)
    return [error_name(lambda: x.index_add_(0, torch.tensor([0, 1]), x.t(), alpha=3)),
        error_name(lambda: x.index_add_(0, torch.tensor([0, 1]), x, alpha=3)), x]

def index_add_alpha_3():
    x = iota(4)
    return x.index_add_(0, torch.tensor([0, 1]), x[:2], alpha=2)

def index_add_alpha_4():
    x = iota(8)
    return [x[::2].index_add_(0, torch.tensor([0, 1, 2, 3]), x[1::2], alpha=a) for a in (1, 2)], x

def index_copy_scatter_add():
    x, p = iota(4, 2), torch.tensor([2, 0, 3, 1])
    return x[:, 0].index_add_(0, p, x[:, 1]), x[:, 0].index_copy_(0, p, x[:, 1]), x[:,
        0].scatter_(0, p, x[:, 1]), x[:, 0].scatter_add_(0, p, x[:, 1]), x[:, 0].scatter_reduce_(0,
        p, x[:, 1], "prod"), x[:, 0].index_reduce_(0, p, x[:, 1], "amax"), x[:, 0].index_put_((p,),
        x[:, 1], accumulate=True), x

def flip_tensor():
    x = iota(4, 2)
    x[torch.tensor([0, 1, 2]), 0] = x[1:, 1]
    x[0, torch.tensor([1, 0])] = x[0, :].flip(0)
    x[torch.tensor([True, False, True, False]), 1] = x[2:, 0]
    return x

def tensor_float64():
    x = iota(6, 2, dtype=torch.float64).requires_grad_()
    y = x * 1
    y[torch.tensor([0, 2, 4]), 0] = y[::2, 1]
    return torch.autograd.grad((y * y * sines(6, 2)).sum(), x)

@differs("Torch keeps the source, though no gradient needs it.")
def index_add_float64():
    x = iota(6, 2, dtype=torch.float64).requires_grad_()
    y = x * 1
    z = y[:, 0].index_add_(0, torch.tensor([1, 3]), y[2:4, 1])
    return torch.autograd.grad((y * sines(6, 2)).sum() + (z * z).sum(), x)

def index_put_scatter():
    x = iota(4, dtype=torch.int64)
    return [error_name(lambda: x.index_put_((x,), torch.tensor(1))),
        error_name(lambda: x.index_put_((torch.tensor([0, 1]),), x[:2])),
        error_name(lambda: x.__setitem__(x, 1)), error_name(lambda: x.scatter_(0, x, 9)),
        error_name(lambda: x.index_add_(0, x, x + 1, alpha=2)), x]

def int64_index_put():
    x = iota(8, dtype=torch.int64)
    return x[::2].index_put_((x[1::2] // 2,), torch.tensor(9)), x

def int64_scatter():
    x = iota(8, dtype=torch.int64)
    return x[::2].scatter_(0, x[1::2] // 2, 9), x

torch.tensor(1.0).index_add(0, torch.tensor([0]), torch.tensor([1.0]))
torch.tensor(1.0).index_add(0, torch.tensor(0), torch.tensor(1.0), alpha=2)
iota(1).index_add(0, torch.tensor(0), iota(1) + 1)
error_name(lambda: iota(1).index_add(0, torch.tensor(0), torch.tensor(1.0)))
error_name(lambda: torch.tensor(1.0).index_add_(0, torch.tensor([0]), torch.tensor([1.0]), alpha=2))
iota(1, 1).index_add(1, torch.tensor([0]), torch.ones(1, 1), alpha=True)
gradients(lambda x: x.index_select(0, torch.tensor([0])) * 3,
    torch.tensor(2.0, dtype=torch.float64))

def iota_fill():
    x = iota(3, 2)
    x[:] = x[1]
    y = iota(3, 2)
    y[1:] = y[2]
    u = iota(2, 3, dtype=torch.float64).requires_grad_()
    v = u * 2
    v[:, 1:] = v[0, 0]
    return x, y, torch.autograd.grad((v * sines(2, 3)).sum(), u), iota(3, 2).fill_(iota(1)[0])

def fill_copy():
    x = iota(3, 2)
    return x.fill_(x[1, 1]), error_name(lambda: x.copy_(x[1])), torch.tensor(3.0).fill_(
        torch.tensor(3.0)), x[0].fill_(x[1, 0])

iota(0, dtype=torch.int64) % 0
iota(0, dtype=torch.int64).remainder_(False)
iota(0, 3, dtype=torch.int32) // torch.tensor(0)
error_name(lambda: iota(1, dtype=torch.int64) % 0)

def setitem_complex():
    x = iota(3)
    return [error_name(lambda v=v, d=d: iota(3, dtype=d).__setitem__(torch.tensor([True, False,
        True]), torch.tensor(v))) for v in (2 + 1j, 2 + 0j, complex(math.nan, 0))
        for d in (torch.float32, torch.int64, torch.uint8, torch.bool, torch.float16,
        torch.complex64)]

@differs("Torch reads what it has written already; here the operand is copied first.")
def iota_view():
    x = iota(4)
    x.view(2, 2)[:] = x[1:3]
    return x

error_name(lambda: torch.arange(1, start=3))
error_name(lambda: torch.arange(3, start=0))
torch.arange(1, end=3)
error_name(lambda: torch.arange(start=1))

# memory that was replaced
def add_version():
    x = iota(3)
    y = x.detach()
    x.add_(1)
    x.data = iota(3)
    x.add_(1)
    return [x._version, y._version, y.add_(1), x._version, y._version, x]
