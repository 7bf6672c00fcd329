"""Shared memory: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from tests.recorded.inputs import error_name, iota

# Sources and indices in the memory that is written: what certainly is there is refused, what may be is read before.
[error_name(lambda a=a, k=k: (lambda x: x.index_add_(0, torch.tensor([0, 1]), k(x),
    alpha=a))(torch.ones(4))) for a in (1, 2, True)
    for k in (lambda x: x[:2], lambda x: x[2:], lambda x: x[1:3], lambda x: x[::3],
    lambda x: x[:1].expand(2), lambda x: x[2:].clone())]

def index_add_alpha():
    x = iota(2, 2)
    return [error_name(lambda: x.index_add_(0, torch.tensor([0, 1]), x.t(), alpha=3)),
        error_name(lambda: x.index_add_(0, torch.tensor([0, 1]), x, alpha=3)), x]

def index_add_alpha_2():
    x = iota(4)
    return x.index_add_(0, torch.tensor([0, 1]), x[:2], alpha=2)

def flip_tensor():
    x = iota(4, 2)
    x[torch.tensor([0, 1, 2]), 0] = x[1:, 1]
    x[0, torch.tensor([1, 0])] = x[0, :].flip(0)
    x[torch.tensor([True, False, True, False]), 1] = x[2:, 0]
    return x

def int64_scatter():
    x = iota(8, dtype=torch.int64)
    return x[::2].scatter_(0, x[1::2] // 2, 9), x

torch.tensor(1.0).index_add(0, torch.tensor(0), torch.tensor(1.0), alpha=2)
iota(1).index_add(0, torch.tensor(0), iota(1) + 1)
error_name(lambda: iota(1).index_add(0, torch.tensor(0), torch.tensor(1.0)))
error_name(lambda: torch.tensor(1.0).index_add_(0, torch.tensor([0]), torch.tensor([1.0]), alpha=2))
iota(1, 1).index_add(1, torch.tensor([0]), torch.ones(1, 1), alpha=True)
iota(0, dtype=torch.int64) % 0
iota(0, dtype=torch.int64).remainder_(False)
iota(0, 3, dtype=torch.int32) // torch.tensor(0)
error_name(lambda: iota(1, dtype=torch.int64) % 0)
error_name(lambda: torch.arange(1, start=3))
error_name(lambda: torch.arange(3, start=0))
torch.arange(1, end=3)
error_name(lambda: torch.arange(start=1))
