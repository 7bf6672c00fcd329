"""Casts and copies: calls of tensors and arguments (`ext/core`)."""

import math

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
    with_warnings,
)

# Casts and copies that need none
[x := iota(3), x.to(torch.float32) is x, x.float() is x, x.contiguous() is x,
    x.to(torch.float64) is x, x.t() is x, iota(2, 3).t().contiguous().stride(),
    x.to(torch.float32, copy=True) is x]
[x := complex_sines(3), x.conj().contiguous().is_conj(), x.conj().contiguous(),
    x.conj()[::2].contiguous(), x.conj().imag.contiguous().is_neg(),
    x.conj().to(torch.complex64).is_conj(), x.conj().to(torch.complex64)]
[x := iota(2, 3).t(), x.clone().stride(), x.clone(memory_format=torch.preserve_format).stride(),
    x.clone(memory_format=torch.contiguous_format).stride(), x.contiguous(),
    x.to(torch.float64).stride()]
[x := iota(2, 3, 2, 2), x.clone(memory_format=torch.channels_last).stride(),
    x.contiguous(memory_format=torch.channels_last).stride(),
    x.to(memory_format=torch.channels_last).stride(),
    x.to(memory_format=torch.channels_last).contiguous(memory_format=torch.channels_last).stride()]
iota(2, 3).clone(memory_format=torch.channels_last)
iota(2, 3, 2, 2).contiguous(memory_format=torch.channels_last_3d)
iota(2, 3, 2, 2, 2).clone(memory_format=torch.channels_last)
iota(2, 3, 2, 2, 2).clone(memory_format=torch.channels_last_3d).stride()
iota(2, 1, 2, 2).clone(memory_format=torch.channels_last).stride()
iota(1, 3, 1, 1).clone(memory_format=torch.channels_last).stride()
iota(0, 3, 2, 2).clone(memory_format=torch.channels_last).stride()
[x := complex_sines(2, 2).conj(), x.clone(memory_format=torch.contiguous_format),
    x.clone(memory_format=torch.contiguous_format).is_conj(),
    x.clone(memory_format=torch.preserve_format).is_conj(), x.t().clone().stride()]
iota(2, 3).t().to("meta").stride()
iota(2, 3).t().to("meta").dtype == torch.float32
iota(2, 3)[:, ::2].to("meta").stride()
iota(3).to("meta").to("meta").device.type
iota(1).expand(3).to("meta").stride()
iota(2, 3).to("meta", torch.float64).dtype == torch.float64
complex_sines(3).conj().to("meta").shape
torch.empty(3, device="meta").to("meta").shape
iota(0, 3).to("meta").shape
torch.tensor(1.0).to("meta").dim()
iota(3).to("meta").to("cpu")
iota(3).to("meta").cpu()
iota(3).to("meta").tolist()
iota(3).to("meta").numpy()

# Complex numbers become real ones
def set_warn_always_with_warnings():
    torch.set_warn_always(True)
    x = complex_sines(3)
    a = [with_warnings(lambda: x.to(torch.float64)),
        with_warnings(lambda: x.to(torch.complex64))[0], with_warnings(lambda: x.to(torch.bool)),
        with_warnings(lambda: x.to(torch.int64)), with_warnings(lambda: torch.zeros(3).copy_(x)),
        with_warnings(lambda: iota(3).to(torch.complex64))]
    torch.set_warn_always(False)
    return a

# copy_ and what it broadcasts
[x := torch.zeros(2, 3), x.copy_(iota(3)), x.copy_(iota(2, 1)), x.copy_(torch.tensor(7)),
    x.copy_(iota(1, 3)), x.copy_(iota(1, 1)), x._version]
torch.zeros(3).copy_(iota(1, 3))
torch.zeros(3).copy_(iota(2, 3))
torch.zeros(2, 3).copy_(iota(2))
torch.zeros(2, 3).copy_(iota(3, 2))
torch.zeros(2, 3).copy_(iota(2, 2))
torch.zeros(3).copy_(iota(0))
torch.zeros(0, 3).copy_(iota(3))
torch.zeros(0).copy_(iota(1))
torch.zeros(2, 0).copy_(iota(2, 1))
error_name(torch.zeros(0).copy_, iota(2))

def zeros_iota():
    x = torch.zeros(2, 3)
    x[...] = iota(1, 1, 3)
    x[0] = iota(1, 1, 3) + 5
    return x

def zeros_iota_2():
    x = torch.zeros(3)
    x[...] = iota(2, 3)
    return x

def zeros_iota_3():
    x = torch.zeros(2, 3)
    x[:, 1:] = iota(1, 2, 1)
    return x

def zeros_iota_4():
    x = torch.zeros(2, 3)
    x[:, 1:] = iota(1, 3)
    return x

def zeros_iota_5():
    x = torch.zeros(2, 3)
    x[1] = iota(3, 1)
    return x

def tensor_int64():
    x = torch.zeros(3, dtype=torch.int64)
    x[1:] = torch.tensor([1.7, -1.7])
    x[0] = torch.tensor(True)
    return x

[torch.zeros(3, dtype=d).copy_(torch.tensor([1.7, -1.7, 300.0]))
    for d in (torch.int64, torch.int32, torch.int16, torch.float16, torch.bfloat16, torch.float64,
    torch.bool, torch.complex64)]
[torch.zeros(3, dtype=d).copy_(torch.tensor([1, 0, 255], dtype=torch.uint8))
    for d in (torch.int64, torch.int8, torch.float16, torch.bfloat16, torch.float64, torch.bool,
    torch.complex64)]
torch.zeros(2, 3).t().copy_(iota(3, 2))
torch.zeros(2, 3).t().copy_(iota(2, 3).t())
torch.zeros(3, 2).copy_(iota(2, 3).t())
torch.zeros(3, 2, dtype=torch.float64).copy_(iota(2, 3).t())
torch.zeros(2, 6)[:, ::2].copy_(iota(2, 3))
torch.zeros(2, 6)[:, ::2].copy_(iota(3, dtype=torch.int32))

# Overlapping copies
[x := iota(6), error_name(x[1:].copy_, x[:-1]), error_name(x[:-1].copy_, x[1:]),
    error_name(x.copy_, x), error_name(x.copy_, x.view(2, 3).view(6)), x, x[:3].copy_(x[3:]), x]
iota(6)[0:0].copy_(iota(6)[0:0])
[x := iota(6), x[:-1].copy_(x[5:]), x]
[x := iota(6), x[:4:2].copy_(x[2::2]), x, x.view(2, 3)[:, 0].copy_(x.view(2, 3)[:, 2]), x]
with differs("Torch reads what it has written already; here the operand is copied first."):
    [x := iota(6), x[2::2].copy_(x[:4:2]), x, x[1:4].copy_(x[::2]), x]

def iota_copy():
    x = iota(3, 3)
    return x.copy_(x.t())

def error_name_copy():
    x = iota(3, 3)
    return [error_name(lambda: x.copy_(x.t())), x]

[x := iota(3, 3), error_name(x[1:].copy_, x[0]), x, error_name(x[1:].copy_, x[:2]), x]
[x := iota(3, 3), error_name(lambda: x.view(-1)[1:].view(2, 4).copy_(x.view(-1)[:8].view(2, 4))), x]
[x := iota(4), error_name(lambda: x.view(torch.int32)[1:3].copy_(x[:2])),
    x.view(torch.int32).copy_(x), x.view(torch.int32)]
[x := iota(4), x.view(torch.int32)[:2].copy_(x[2:]), x.view(torch.int32)]
[x := iota(2, 2), error_name(x[:, :1].expand(2, 2).copy_, iota(2, 2)),
    error_name(x[0].expand(3, 2).copy_, iota(2)), x[:1].expand(1, 2).copy_(iota(2) + 7), x]

# Turned values
[x := complex_sines(3), y := x.clone().conj(), y.copy_(x), y.is_conj(), y.conj(), y.copy_(x.conj()),
    y.conj(), y.copy_(iota(3)), y.conj()]
[x := complex_sines(3), y := x.conj().imag, y.copy_(iota(3)), y.is_neg(), x, y.copy_(y + 1), x,
    y.copy_(x.real), x]

def complex_sines_conj():
    x = complex_sines(3)
    y = x.conj()
    y[1] = 2 + 3j
    y[2:] = complex_sines(1)
    return [x, y]

[x := complex_sines(3), x.copy_(x.conj()), x, error_name(x[1:].conj().copy_, x[:-1]), x]
[x := complex_sines(3), x.conj().fill_(1 + 2j), x, x.conj().imag.fill_(5), x, x.conj()[1:].zero_(),
    x, x.conj().imag.fill_(torch.tensor(4)), x, x.conj().fill_(torch.tensor(4j)), x]
[x := complex_sines(2).to(torch.complex64), x.conj().fill_(1 + 2j), x, x.conj().imag.fill_(5), x]

# Fills
[x := torch.zeros(2, 3), x.fill_(2), x.t().fill_(3.5), x[:, ::2].fill_(4), x,
    x.fill_(torch.tensor(5)), x[0].fill_(True), x, x.fill_(torch.tensor(2.5, dtype=torch.float64)),
    x._version]
[x := torch.zeros(1), x.expand(3).fill_(2), x, x.expand(2, 3).zero_(), x,
    torch.zeros(4).as_strided((2, 2), (1, 1)).fill_(3), torch.tensor(1.0).fill_(2),
    torch.zeros(0).fill_(2), torch.zeros(0, 3).t().fill_(1)]
torch.zeros(3).fill_(iota(3))
torch.zeros(3).fill_(iota(1))
torch.zeros(3, dtype=torch.int64).fill_(2.7)
torch.zeros(3, dtype=torch.int64).fill_(math.nan)
torch.zeros(3, dtype=torch.int64).fill_(1j)
torch.zeros(3).fill_(1j)
torch.zeros(3).fill_(2 + 0j)
torch.zeros(3, dtype=torch.uint8).fill_(256)
torch.zeros(3, dtype=torch.uint8).fill_(-255)
torch.zeros(3, dtype=torch.uint8).fill_(-256)
torch.zeros(3, dtype=torch.int8).fill_(128)
torch.zeros(3, dtype=torch.float16).fill_(65505)
torch.zeros(3, dtype=torch.float16).fill_(65504)
torch.zeros(3, dtype=torch.float16).fill_(math.inf)
torch.zeros(2).fill_("a")
[error_name(torch.zeros(2).fill_, x) for x in (None, [1], "1", torch.tensor([1.0, 2.0]), 10**400,
    2**63)]
torch.empty(2, 3, device="meta").fill_(1).shape
torch.empty(2, 3, device="meta").t().fill_(torch.tensor(2)).shape
complex_sines(3).to("meta").conj().fill_(1j).shape
torch.empty(3, device="meta").zero_().shape
with differs("torch fails at reading the tensor afterwards only"):
    torch.empty(3, device="meta").fill_(1j)
[torch.full((3,), v, dtype=d) for d in (torch.float32, torch.float64, torch.int64, torch.int32,
    torch.uint8, torch.bool, torch.float16, torch.bfloat16, torch.complex64, torch.complex128)
    for v in (0, 1, 3)]
torch.full((2,), 2.5)
torch.full((2,), 2)
torch.full((2,), True)
torch.full((2,), 1 + 2j)
torch.full((2,), 2.5, dtype=torch.int64)
torch.full((), 3.0)
torch.full((0, 2), 3.0)
repr([(d, n) for d in (torch.uint8, torch.float16, torch.int32, torch.float64, torch.complex128)
    for n in [*range(70), 127, 128, 129, 255, 256, 257, 1000, 2047, 2048, 2049, 4095, 4097, 9001]
    if not (torch.full((n,), 3, dtype=d) == 3).all() or not (torch.ones(n, dtype=d) == 1).all()])
repr([(d, n) for d in (torch.uint8, torch.float32, torch.complex128) for b in (1 << 20, 1 << 21)
    for n in [b // torch.empty(0, dtype=d).itemsize + k for k in (-1, 0, 1)]
    if not (torch.full((n,), 3, dtype=d) == 3).all() or torch.zeros(n, dtype=d).any()])
[torch.zeros(4, dtype=d)[1:3].fill_(3).sum() + torch.zeros(5, dtype=d).zero_().sum()
    for d in (torch.bool, torch.uint8, torch.float16, torch.float32, torch.float64,
    torch.complex64)]
torch.zeros_like(iota(2, 3).t())
torch.ones_like(iota(2, 3).t(), dtype=torch.int64)
torch.full_like(iota(2, 3)[:, ::2], 2.5)
torch.zeros_like(iota(3), device="meta").shape
torch.full_like(iota(3, dtype=torch.int64), 7, dtype=torch.complex64)
torch.zeros_like(iota(1).expand(3)).stride()
[x := iota(300), x.zero_(), x.sum(), x[::2].fill_(1), x.sum(), x[1:299].zero_(), x.sum()]
gradients(lambda x: x.mean(), complex_sines(3))
F.mse_loss(sines(3).requires_grad_(True), sines(3) + 1)
gradients(lambda x: x.sum() * 3, sines(3))
gradients(lambda x: x.float().sum(), iota(3).half())
error_name(lambda: gradients(lambda x: x.mean(), complex_sines(3)))
gradients(lambda x: x.sum(), iota(3, dtype=torch.bfloat16))

# expand
[x := iota(1, 3), x.expand(2, 3), x.expand(-1, 3).shape, x.expand(4, -1, -1).shape,
    x.expand(2, 1, 3).stride(), x.expand(0, 3).shape, iota(1).expand(0).shape,
    torch.tensor(1.0).expand(2, 3).stride(), x.expand(1, 3).stride(), x.expand(2, -1).stride(),
    iota(3, 1)[:, :].expand(3, 1).stride()]
iota(3).expand(-1, 3)
iota(3).expand(0, 3)
iota(3).expand(-2)
iota(2, 3).expand(3)
iota(2, 3).expand(2, 4)
iota(2, 3).expand(4, 3)
iota(3).expand(2, -2)
iota(3).expand(0)
iota(1, 3).expand(-1, -1).stride()
[x := iota(2, 1, 3), x.expand(2, 4, 3).stride(), x.expand(5, 2, 4, 3).stride(),
    x.expand(5, -1, 0, 3).shape, metadata(x.expand(2, 4, 3)), torch.broadcast_to(iota(3), (2, 3)),
    error_name(torch.broadcast_to, iota(3), (2, 4))]
[x.shape for x in torch.broadcast_tensors(iota(3, 1), iota(2),
    torch.tensor(1.0))] + [error_name(torch.broadcast_tensors, iota(3), iota(2))]
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
torch.empty(2, 3, device="meta").copy_(iota(4))
torch.empty(2, 3, device="meta").copy_(iota(2, 2, 3))
torch.empty(2, 3, device="meta").copy_(torch.empty(4, device="meta"))
torch.zeros(3).copy_(torch.empty(3, device="meta"))
torch.zeros(3, dtype=torch.int64).copy_(torch.empty(3, device="meta"))

def empty_device():
    x = torch.empty(2, 3, device="meta")
    x[...] = iota(1, 2, 3)
    x[0] = torch.empty(1, 1, 3, device="meta")
    return x.shape

def empty_device_2():
    x = torch.empty(2, 3, device="meta")
    x[...] = iota(2, 2, 3)
    return x.shape

with differs("as on the CPU"):
    [x := torch.empty(6, device="meta"), error_name(x[1:].copy_, x[:-1]),
        error_name(x[:3].copy_, x[3:]), x.copy_(x).shape, x[::2].copy_(x[1::2]).shape][1:]

# the values of a pickle
@differs("What a pickle holds is ours.")
def args_reduce_ex():
    args = iota(6).__reduce_ex__(4)
    return [args[0].__name__, args[1][2:]]

@differs("What a pickle holds is ours.")
def reduce_ex_storage():
    f, (cls, storage, *_) = iota(6).__reduce_ex__(4)
    return [f(cls, storage, torch.float32, 1, (2, 2), (2, 1), False),
        f(cls, storage, torch.float32, 5, (), (), False),
        f(cls, storage, torch.float32, 6, (0,), (1,), False),
        f(cls, storage, torch.float32, 0, (2,), (5,), True).requires_grad]

@differs("What a pickle holds is ours.")
def reduce_ex_storage_2():
    f, (cls, storage, *_) = iota(6).__reduce_ex__(4)
    return f(cls, storage, torch.float32, 0, (2,), (6,), False)

@differs("What a pickle holds is ours.")
def reduce_ex_storage_3():
    f, (cls, storage, *_) = iota(6).__reduce_ex__(4)
    return f(cls, storage, torch.float32, 6, (), (), False)

@differs("What a pickle holds is ours.")
def reduce_ex_storage_4():
    f, (cls, storage, *_) = iota(6).__reduce_ex__(4)
    return f(cls, storage, torch.float32, 7, (0,), (1,), False)

@differs("What a pickle holds is ours.")
def reduce_ex_storage_5():
    f, (cls, storage, *_) = iota(6).__reduce_ex__(4)
    return f(cls, storage, torch.float32, -1, (1,), (1,), False)

@differs("What a pickle holds is ours.")
def reduce_ex_storage_6():
    f, (cls, storage, *_) = iota(6).__reduce_ex__(4)
    return f(cls, storage, torch.float32, 0, (-1,), (1,), False)

@differs("What a pickle holds is ours.")
def reduce_ex_storage_7():
    f, (cls, storage, *_) = iota(6).__reduce_ex__(4)
    return f(cls, storage, torch.float32, 0, (1,), (-1,), False)

@differs("What a pickle holds is ours.")
def reduce_ex_storage_8():
    f, (cls, storage, *_) = iota(6).__reduce_ex__(4)
    return f(cls, storage, torch.float32, 0, (1, 1), (1,), False)

@differs("What a pickle holds is ours.")
def storage_int32():
    f, (cls, storage, *_) = iota(6).__reduce_ex__(4)
    return f(cls, storage, torch.int32, 0, (1,), (1,), True)

@differs("What a pickle holds is ours.")
def reduce_ex_storage_9():
    f, (cls, storage, *_) = iota(6).__reduce_ex__(4)
    return f(cls, storage, torch.float32, 0, (2**62,), (2**62,), False)
