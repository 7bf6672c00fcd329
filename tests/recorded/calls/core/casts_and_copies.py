"""Casts and copies: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import (
    complex_sines,
    differs,
    error_name,
    gradients,
    iota,
    metadata,
    sines,
)

# Casts and copies that need none
complex_sines(3).conj().to("meta").shape
torch.empty(3, device="meta").to("meta").shape
iota(0, 3).to("meta").shape
torch.tensor(1.0).to("meta").dim()
iota(3).to("meta").to("cpu")
iota(3).to("meta").cpu()
iota(3).to("meta").tolist()
iota(3).to("meta").numpy()

# Overlapping copies
def copy_2():
    x = iota(3, 3)
    return x.copy_(x.t())

def copy_3():
    x = iota(3, 3)
    return [error_name(lambda: x.copy_(x.t())), x]

[x := iota(2, 2), error_name(x[:, :1].expand(2, 2).copy_, iota(2, 2)),
    error_name(x[0].expand(3, 2).copy_, iota(2)), x[:1].expand(1, 2).copy_(iota(2) + 7), x]

# Fills
torch.zeros(3, dtype=torch.int64).fill_(1j)
repr([(d, n) for d in (torch.uint8, torch.float32, torch.complex128) for b in (1 << 20, 1 << 21)
    for n in [b // torch.empty(0, dtype=d).itemsize + k for k in (-1, 0, 1)]
    if not (torch.full((n,), 3, dtype=d) == 3).all() or torch.zeros(n, dtype=d).any()])
[x := iota(300), x.zero_(), x.sum(), x[::2].fill_(1), x.sum(), x[1:299].zero_(), x.sum()]
gradients(lambda x: x.mean(), complex_sines(3))
F.mse_loss(sines(3).requires_grad_(True), sines(3) + 1)
gradients(lambda x: x.sum() * 3, sines(3))
gradients(lambda x: x.float().sum(), iota(3).half())
error_name(lambda: gradients(lambda x: x.mean(), complex_sines(3)))
gradients(lambda x: x.sum(), iota(3, dtype=torch.bfloat16))

# expand
iota(2, 3).expand(3)
[x := iota(2, 1, 3), x.expand(2, 4, 3).stride(), x.expand(5, 2, 4, 3).stride(),
    x.expand(5, -1, 0, 3).shape, metadata(x.expand(2, 4, 3)), torch.broadcast_to(iota(3), (2, 3)),
    error_name(torch.broadcast_to, iota(3), (2, 4))]
torch.broadcast_shapes((3, 1), (2,))
torch.broadcast_shapes((0,), (1,))
error_name(torch.broadcast_shapes, (3,), (2,))
torch.broadcast_shapes()
error_name(torch.broadcast_shapes, (0,), (2,))

# Other devices: shapes that meet are all that matters
[torch.empty(2, 3, device="meta").copy_(x).shape
    for x in (iota(3), iota(2, 3), torch.tensor(1), iota(2, 1), iota(2, 3, dtype=torch.int64),
    torch.empty(3, device="meta"), torch.empty(2, 1, device="meta", dtype=torch.float64),
    complex_sines(3))]
torch.empty(2, 3, device="meta").copy_(iota(2, 2, 3))
torch.zeros(3).copy_(torch.empty(3, device="meta"))

def empty_device():
    x = torch.empty(2, 3, device="meta")
    x[...] = iota(2, 2, 3)
    return x.shape

# the values of a pickle
@differs("What a pickle holds is ours.")
def args_reduce_ex():
    args = iota(6).__reduce_ex__(4)
    return [args[0].__name__, args[1][2:]]

@differs("What a pickle holds is ours.")
def float32_torch():
    f, (cls, storage, *_) = iota(6).__reduce_ex__(4)
    return f(cls, storage, torch.float32, 0, (2,), (6,), False)

@differs("What a pickle holds is ours.")
def float32_torch_2():
    f, (cls, storage, *_) = iota(6).__reduce_ex__(4)
    return f(cls, storage, torch.float32, -1, (1,), (1,), False)

@differs("What a pickle holds is ours.")
def float32_torch_3():
    f, (cls, storage, *_) = iota(6).__reduce_ex__(4)
    return f(cls, storage, torch.float32, 0, (1, 1), (1,), False)

@differs("What a pickle holds is ours.")
def int32_torch():
    f, (cls, storage, *_) = iota(6).__reduce_ex__(4)
    return f(cls, storage, torch.int32, 0, (1,), (1,), True)
