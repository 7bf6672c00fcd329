"""Elementwise: calls of tensors and arguments (`ext/core`)."""

import math

import autograd_cy as torch
from tests.recorded.inputs import complex_sines, differs, error_name, iota, sines, with_warnings

# A second operand without dimensions
iota(3) + torch.tensor(2.0)
iota(3, dtype=torch.int32) + torch.tensor(2)
torch.tensor(1, dtype=torch.int32) + torch.tensor(2)
torch.tensor(1, dtype=torch.int32) + 2
iota(3, dtype=torch.int32) + 2.5
torch.tensor(1.0, dtype=torch.float16) + torch.tensor(2.0)
iota(3, dtype=torch.float16) + torch.tensor(2.0003)
iota(3) + torch.tensor(True)
iota(3, dtype=torch.bool) + torch.tensor(2)
iota(3, dtype=torch.bool) + torch.tensor(True)
iota(3) + torch.tensor(2.5, dtype=torch.float64)
torch.tensor(1.0) + torch.tensor(2.5, dtype=torch.float64)
torch.tensor(1.0) + 2.5
iota(3) + torch.tensor(2j)
iota(3) + torch.tensor(2j, dtype=torch.complex128)
iota(3, dtype=torch.complex64) + torch.tensor(2.5, dtype=torch.float64)
torch.tensor(5, dtype=torch.uint8) + torch.tensor(3, dtype=torch.int8)
iota(3, dtype=torch.uint8) + torch.tensor(-3, dtype=torch.int8)
iota(3, dtype=torch.int8) + torch.tensor(200, dtype=torch.uint8)
torch.tensor([4]) + torch.tensor(2, dtype=torch.int32)
torch.tensor([4], dtype=torch.int32) + torch.tensor(2)
torch.tensor([4], dtype=torch.int32) + torch.tensor([2])
torch.tensor([[4.0]]) + torch.tensor(2)
torch.tensor([4]) + torch.tensor([[2.0]])
complex_sines(3) * torch.tensor(1 + 2j).conj()
complex_sines(3) * torch.tensor(1 + 2j, dtype=torch.complex128).conj()
sines(3) * torch.tensor(1 + 2j).conj().imag
sines(3).float() * torch.tensor(1 + 2j).conj().imag
complex_sines(3).conj() * torch.tensor(1 + 2j)
complex_sines(3).conj() + complex_sines(3).conj()
complex_sines(3).conj().imag + 1
complex_sines(3).conj().imag + sines(3)
[x := iota(3), error_name(x.add_, x[0]), error_name(x.add_, x[1]), error_name(x.add_, x), x]
[x := iota(3)[1], x.add_(x), x]
[x := iota(3), torch.add(x, x[1]), torch.add(x, x[0]), torch.mul(x[1], x[2]), x]
[x := iota(4), torch.add(x[:1], x[2], out=x[2]), x]

def half_tensor():
    x = iota(3).half()
    return [x + 0.1, x * 0.1, x - 0.1, x / 0.3, 0.1 + x, 0.1 - x, 0.1 * x, x * torch.tensor(0.1),
        x / torch.tensor(0.3), x + torch.tensor(0.1), x - torch.tensor(0.1)]

def bfloat16_tensor():
    x = iota(3).bfloat16()
    return [x + 0.1, x * 0.1, x - 0.1, x / 0.3, 0.1 + x, 0.1 - x, 0.1 * x, x * torch.tensor(0.1),
        x / torch.tensor(0.3), x + torch.tensor(0.1), x - torch.tensor(0.1)]

def alpha_math():
    x = iota(5).half() * 1000 + 1
    return [x * 0.001, x / 999.7, x + math.nan, x * math.nan, x * math.inf, x * 3, x + 4097,
        x * torch.tensor(3), x * torch.tensor(0.001, dtype=torch.float64),
        torch.add(x, x, alpha=0.3), torch.sub(x, x, alpha=0.3)]

[x := iota(3).half(), x.add_(0.1), x.mul_(0.1), x.div_(0.3), x.sub_(torch.tensor(0.1)),
    torch.mul(x, 0.1, out=torch.zeros(3)), torch.mul(x, 0.1,
    out=torch.zeros(3, dtype=torch.float16))]
[x := iota(3).half(), error_name(x.add_, iota(2, 3).half(), 1),
    error_name(lambda: x.add_(iota(2, 3).half(), alpha=0.1)),
    error_name(lambda: x.addcmul_(iota(2, 3).half(), x, value=0.1)), x]
iota(3).half().addcmul_(iota(2, 3).half(), iota(3).half(), value=0.1)
torch.addcmul(iota(3).half(), iota(3).half(), iota(3).half() * 11, value=0.1)
torch.addcdiv(iota(3).bfloat16(), iota(3).bfloat16(), iota(3).bfloat16() + 3, value=0.3)
torch.lerp(iota(3).half(), iota(3).half() * 7 + 1, 0.3)
torch.mul(iota(3).half(), 0.1, out=torch.zeros(2, 3))
torch.mul(iota(3).half(), 0.1, out=torch.zeros(3, dtype=torch.float64))
error_name(lambda: torch.mul(iota(3).half(), 0.1, out=torch.zeros(3, dtype=torch.int64)))

# Layouts of results
iota(2, 3).t() + 1
iota(2, 3).t() + iota(3, 2)
iota(3, 2) + iota(2, 3).t()
iota(2, 3).t() + iota(2, 3).t()
iota(3, 1) + iota(2, 3).t()
iota(2) + iota(2, 3).t()
iota(3, 1).expand(3, 2) + iota(2, 3).t()
iota(2, 3).t() + iota(3, 1).expand(3, 2)
iota(3, 1).expand(3, 2) + iota(2).expand(3, 2)
iota(2, 3).t() + iota(1, 1).expand(3, 2)
iota(3, 1).expand(3, 2).neg()
iota(1).expand(3).neg()
iota(1, 2).expand(3, 2).neg()
iota(2, 3).t().neg()
iota(3, 4)[:, ::2].neg()
iota(2, 3, 4).permute(2, 0, 1).neg()
iota(2, 3, 4).permute(2, 0, 1) + iota(3)
iota(2, 3, 4).permute(2, 0, 1)[::2] + 1
iota(2, 3, 4, 5).permute(0, 2, 3, 1)[:, ::2].exp().stride()
iota(1, 3, 1).expand(2, 3, 4).exp().stride()
iota(2, 3).t() < 2
torch.isnan(iota(2, 3).t())
iota(2, 3).t().to(torch.float64)
iota(2, 3).t().int() + 0.5
iota(2, 3, dtype=torch.int64).t().sqrt()
torch.isfinite(iota(2, 3))
torch.isfinite(iota(2, 3, dtype=torch.int64))
torch.where(iota(2, 3).t() > 2, iota(3, 2), 0.0)
torch.where(iota(3, 2) > 2, iota(2, 3).t(), iota(2, 3).t())
torch.where(torch.tensor(True), iota(2, 3).t(), iota(3, 2))
iota(1, 3).t() + iota(3, 1)
iota(3, 1).t() + iota(1, 3).t().t()
iota(1, 3)[:, :1].neg().stride()
iota(2, 3)[:, :1].neg().stride()
iota(2, 3)[:1].t().neg().stride()
(iota(2, 0).t() + iota(0, 2)).stride()
iota(2, 0).t().neg().stride()
iota(0, 3).t().exp().stride()
(iota(3, 0, 2) + iota(2)).shape

# Shapes and dtypes together
iota(2, 3) + iota(2)
iota(2, 3) + iota(4, 1, 2)
iota(2, 1, 3) * iota(4, 1)
iota(1, 3) * iota(0, 1)
[iota(1) + iota(0), (iota(0, 1) + iota(3)).shape, error_name(lambda: iota(0) + iota(2))]
torch.where(iota(2, 3) > 1, iota(3), iota(2))
torch.where(iota(4) > 1, iota(2, 1, dtype=torch.int32), iota(3, 1, 1, dtype=torch.float64))
torch.where(iota(3), iota(3), iota(3))
torch.where(iota(3, dtype=torch.uint8), iota(3), -iota(3))
torch.where(iota(3) > 0, 1, 2.5)
torch.where(iota(3) > 0, torch.tensor(1), 2.5)
torch.where(iota(3) > 0, torch.tensor(1), torch.tensor(2))
torch.where(torch.tensor(True), 1, 2)
torch.where(iota(3) > 0, iota(3, dtype=torch.float16), 0.1)
[str(torch.result_type(a, b)).rpartition(".")[2]
    for a in (1, True, 2.5, torch.tensor(1), torch.tensor([1]), torch.tensor(1.5),
    torch.tensor([1.5], dtype=torch.bfloat16), torch.tensor(True),
    torch.tensor([1j], dtype=torch.complex64)) for b in (torch.tensor(1, dtype=torch.int32),
    torch.tensor([1], dtype=torch.uint8), torch.tensor(2.5, dtype=torch.float64),
    torch.tensor([True]), torch.tensor([2.0], dtype=torch.bfloat16))]
[str((a + b).dtype).rpartition(".")[2] for a in (1, True, 2.5, 2j)
    for b in (torch.tensor(1, dtype=torch.uint8), torch.tensor([1], dtype=torch.int32),
    torch.tensor(2.5, dtype=torch.float32), torch.tensor([True]),
    torch.tensor([2.0], dtype=torch.float64), torch.tensor(1j))]
torch.tensor(True) + True
torch.tensor([True]) + True
torch.tensor(True) + 1
torch.tensor([True]) + 1.5
torch.tensor(3, dtype=torch.uint8) + True
torch.tensor([3], dtype=torch.uint8) + 1.5
torch.tensor([3], dtype=torch.uint8) * 1j
torch.addcmul(torch.tensor([1], dtype=torch.int32), torch.tensor([2], dtype=torch.int32),
    torch.tensor(3))
torch.addcmul(torch.tensor(1.0), torch.tensor([2.0], dtype=torch.float64), torch.tensor([3.0]))
torch.addcmul(torch.tensor([1.0]), torch.tensor(2.0, dtype=torch.float64), torch.tensor(3))
iota(3, dtype=torch.int64).sqrt()
iota(3, dtype=torch.uint8).exp()
iota(3, dtype=torch.bool).sin()
torch.tensor(2).sqrt()
iota(3, dtype=torch.int64) / 2
iota(3, dtype=torch.int64) / iota(3, dtype=torch.int32)
torch.tensor(True) / torch.tensor(2)
iota(3, dtype=torch.int64).atan2(iota(3, dtype=torch.int32))
torch.complex(iota(3), iota(3) + 1)
torch.polar(iota(3), iota(3) + 1)
torch.abs(complex_sines(3))
torch.abs(complex_sines(3).to(torch.complex64))
torch.angle(complex_sines(3))
torch.angle(iota(3, dtype=torch.int64) - 1)

def set_default_dtype_sqrt():
    torch.set_default_dtype(torch.float64)
    try:
        y = [iota(3, dtype=torch.int64).sqrt(), iota(3, dtype=torch.int64) / 2,
            torch.tensor(2).exp(), torch.tensor([1]) + 1.5, torch.tensor([1]) * 1j,
            torch.tensor([True]) + 2.5, torch.angle(iota(3, dtype=torch.int64) - 1),
            torch.tensor(2.5), torch.tensor([1], dtype=torch.int32).atan2(torch.tensor(2))]
    finally:
        torch.set_default_dtype(torch.float32)
    return y

error_name(torch.bitwise_and, iota(3), 1)
error_name(torch.lgamma, complex_sines(3))
error_name(torch.atan2, complex_sines(3), complex_sines(3))
error_name(torch.floor, complex_sines(3))
error_name(lambda: complex_sines(3) < complex_sines(3))
torch.atan2(complex_sines(3), complex_sines(3))
torch.bitwise_and(iota(3), iota(3))

# Where results go
[o := torch.empty(0), torch.add(iota(2, 3), 1, out=o), o, torch.add(iota(2, 3), 1, out=o) is o]
with_warnings(lambda: torch.add(iota(3), 1, out=torch.zeros(2)))
with_warnings(lambda: torch.add(iota(3), 1, out=torch.zeros(3)))
with_warnings(lambda: torch.add(iota(3), 1, out=torch.zeros(0, 2)))
with_warnings(lambda: torch.add(iota(3), 1, out=torch.zeros(1, 3)))
with_warnings(lambda: torch.exp(torch.tensor(1.0), out=torch.zeros(1)))
with_warnings(lambda: torch.exp(torch.tensor([1.0]), out=torch.zeros(())))
with_warnings(lambda: torch.exp(iota(2, 3), out=torch.zeros(3, 2)))
with_warnings(lambda: torch.exp(iota(0, 3), out=torch.zeros(2)))
[o := torch.zeros(2, 3).t(), torch.add(iota(3, 2), 1, out=o), o.stride(),
    torch.exp(iota(3, 2), out=o), o.stride()]
[o := torch.zeros(4), torch.add(iota(2), 1, out=o[1:3]), o, torch.neg(iota(2), out=o[::2]), o,
    torch.exp(iota(2) * 0, out=o[1::2]), o]
torch.add(iota(3), 1, out=torch.zeros(3, dtype=torch.float64))
torch.add(iota(3, dtype=torch.int64), 1, out=torch.zeros(3))
torch.lt(iota(3), 1, out=torch.zeros(3))
torch.lt(iota(3), 1, out=torch.zeros(3, dtype=torch.uint8))
torch.add(iota(3), 1, out=torch.zeros(3, dtype=torch.complex64))
torch.abs(complex_sines(3), out=torch.zeros(3))
torch.abs(complex_sines(3), out=torch.zeros(3, dtype=torch.float64))
torch.add(iota(3), 1, out=torch.zeros(3, dtype=torch.int64))
torch.add(iota(3), 1j, out=torch.zeros(3))
torch.add(iota(3, dtype=torch.int64), 1, out=torch.zeros(3, dtype=torch.bool))
torch.sqrt(iota(3, dtype=torch.int64), out=torch.zeros(3, dtype=torch.int64))
iota(3, dtype=torch.int64).add_(1.5)
iota(3, dtype=torch.bool).add_(1)
iota(3).mul_(1j)
iota(3, dtype=torch.int64).div_(2)
iota(3).add_(iota(2, 3))
iota(3).add_(iota(4))
iota(1, 3).add_(iota(2, 3))
iota(2, 1).mul_(iota(3))
torch.tensor(1.0).add_(iota(1))
torch.tensor(1.0).add_(iota(3))
iota(1).add_(torch.tensor(2.0))
iota(3).lt_(iota(2, 3))
[x := iota(3), error_name(x.add_, iota(2, 3)), error_name(x.lt_, iota(2, 3)),
    error_name(x.add_, 1j), x, x._version]
[x := iota(3), torch.add(x, x, out=x), torch.add(x, 1, out=x), torch.sub(1, x, out=x),
    torch.addcmul(x, x, x, out=x), x._version]
[x := iota(3, dtype=torch.int64), torch.add(x, x, out=x),
    error_name(lambda: torch.add(x, 0.5, out=x)),
    error_name(lambda: torch.add(iota(2, 3), x, out=x)), x]

# Operands that share memory with the result
[x := iota(6), error_name(lambda: torch.add(x[:5], 1, out=x[1:])),
    error_name(lambda: torch.add(x[1:], 1, out=x[:5])), x]
[x := iota(6), error_name(lambda: torch.add(x[:3], 1, out=x[3:])),
    error_name(lambda: torch.add(x[:4], x[2:], out=x[1:5])), x]
[x := iota(6), error_name(lambda: torch.add(iota(5), x[1:], out=x[:5])),
    error_name(lambda: torch.where(iota(5) > 2, iota(5), x[1:], out=x[:5])), x]
[x := iota(6), error_name(lambda: torch.exp(x[1:], out=x[:5])),
    error_name(lambda: torch.exp(x[:5].double(), out=x[:5])),
    error_name(lambda: torch.lt(x[:3], 1, out=x.view(torch.bool)[:3])), x[3:]]
[x := iota(8), torch.add(x[2:6:2], 1, out=x[0:4:2]), x, torch.neg(x[4:8:2], out=x[2:6:2]), x]
with differs("Torch reads what it has written already; here the operand is copied first."):
    [x := iota(8), torch.add(x[0:4:2], 1, out=x[2:6:2]), x, torch.neg(x[::2], out=x[:4]), x,
        torch.add(iota(4), x[1::2], out=x[:4]), x]

def iota_add():
    x = iota(3, 3)
    return x.add_(x.t())

def error_name_add():
    x = iota(3, 3)
    return [error_name(lambda: x.add_(x.t())), x]

def add_out():
    x = iota(3, 3)
    return torch.add(x.t(), 1, out=x)

def add_out_2():
    x = iota(3, 3)
    return [error_name(lambda: torch.add(x.t(), 1, out=x)), x]

[x := iota(4), error_name(lambda: torch.add(iota(4), 1, out=x[1:2].expand(4))), x]
[x := iota(4), torch.add(x[2:3], 0.5, out=x[2:3]), torch.add(x[3], x[2], out=x[2]), x]
with differs("windows that overlap: refused, where torch finds out about strides of 0 alone"):
    [x := iota(2, 2), error_name(lambda: x[:, :1].expand(2, 2).add_(1)),
        error_name(lambda: x.as_strided((2, 2), (1, 1)).add_(1)),
        error_name(lambda: x.as_strided((2, 2), (1, 2)).add_(1)), x]
    [x := iota(9), error_name(lambda: x.as_strided((3, 3), (2, 1)).add_(1)),
        error_name(lambda: x.as_strided((2, 3), (3, 2)).add_(1)),
        error_name(lambda: x.as_strided((2, 2), (3, 2)).mul_(2)), x]
[x := iota(1), x.expand(1).add_(1), x.as_strided((1, 1), (0, 0)).add_(1),
    error_name(lambda: x.as_strided((2, 1), (0, 0)).add_(1)),
    error_name(lambda: x.as_strided((2, 0), (0, 1)).add_(1)), x]

# Values that are turned when they are read
[z := complex_sines(3), z.conj() + 1, z.conj().imag.exp(), z.conj().real.exp(), torch.abs(z.conj()),
    z.conj() == z, z.conj().imag == -z.imag]
[z := complex_sines(3), o := z.clone().conj(), torch.mul(z, 2, out=o), o.is_conj(), o.conj()]
[z := complex_sines(3), o := z.clone().conj(), o.mul_(z), o.is_conj(), o.conj(), o.add_(1),
    o.conj()]
[z := complex_sines(3), y := z.conj().imag, y.add_(1), y.is_neg(), z, y.mul_(z.real), z]
[z := complex_sines(3), torch.add(z.real, 1, out=z.conj().imag), z,
    torch.add(iota(3, dtype=torch.int64), 1, out=z.conj().imag), z]
[z := complex_sines(2), error_name(lambda: z.conj().add_(complex_sines(3, 2))),
    error_name(lambda: torch.add(z, 1, out=z.conj().imag)),
    error_name(lambda: z.conj().imag.add_(sines(3, 2))), z]
[z := complex_sines(2), o := complex_sines(3).conj(),
    with_warnings(lambda: torch.mul(z, 2, out=o))[0][:1], o, o.is_conj()]
[z := complex_sines(2), torch.mul(z, z.conj(), out=z), z, z.conj().mul_(z), z]
[z := complex_sines(3).to(torch.complex64), z.conj() * 2, z.conj().imag * 2.5, -z.conj().imag,
    z.conj().imag.neg_(), z.conj().imag.int(), z.conj().imag.clone().is_neg(),
    z.conj().clone().is_conj()]
