"""Copy in place: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import complex_sines, differs, error_name, iota, metadata, with_warnings

# copies
torch.zeros(2, 3).copy_(iota(3))
torch.zeros(2, 3).copy_(iota(1, 2, 3))
torch.zeros(2, 3).copy_(iota(2, 2, 3))
torch.zeros(2, 3).copy_(iota(2))
torch.zeros(2, 3).copy_(iota(2, 1))
torch.zeros(3).copy_(iota(1, 1, 3))
torch.zeros(()).copy_(iota(1))
torch.zeros(()).copy_(iota(2))
torch.zeros(0).copy_(iota(1)).shape
torch.zeros(0).copy_(iota(2))
torch.zeros(2).copy_(torch.tensor(3))
torch.zeros(2).expand(3, 2).copy_(iota(2))
torch.zeros(1).expand(2).fill_(1)
torch.zeros(1).expand(2).zero_()
with differs("what lies in one place can't be written element by element"):
    torch.zeros(4).as_strided((2, 2), (1, 1)).copy_(iota(2, 2))

def error_name_copy():
    x = iota(6)
    return [error_name(lambda: x[1:].copy_(x[:-1])), x]

[x := iota(6), x[::2].copy_(x[1::2]), x]

def error_name_copy_2():
    x = iota(2, 2)
    return [error_name(lambda: x.copy_(x.t())), x]

def error_name_copy_3():
    x = iota(3, 3)
    return [error_name(lambda: x.copy_(x.t())), x]

[x := iota(4), x.copy_(x) is x, x._version]
[x := iota(4), x[:2].copy_(x[:2]), x._version]
[x := iota(3, 2).t(), x.copy_(x), x._version]

def error_name_add():
    x = iota(4)
    return [error_name(lambda: x.add_(x[:1])), x]

def error_name_add_2():
    x = iota(4)
    return [error_name(lambda: x.add_(x[3])), x]

def error_name_add_3():
    x = iota(4)
    return [error_name(lambda: x[1:].add_(x[:-1])), x]

def error_name_add_4():
    x = iota(2, 2)
    return [error_name(lambda: x.add_(x.t())), x]

def error_name_add_5():
    x = iota(3, 3)
    return [error_name(lambda: x.add_(x[1])), x]

[x := iota(3, 3), x.mul_(x[:, 2:]), x]
[x := iota(4), torch.add(x[:2], 1, out=x[2:]), x]

def add_out():
    x = iota(4)
    return [error_name(lambda: torch.add(x[:3], 1, out=x[1:])), x]

[x := iota(4), torch.add(x[:2], x[2:], out=x[:2]), x]

def add_out_2():
    x = iota(4)
    return [error_name(lambda: torch.add(x[:2], x[1:3], out=x[:2])), x]

with differs("torch reads what it has written already"):
    [x := iota(4), torch.sum(x.view(2, 2), 0, out=x[:2]), x]
    [x := iota(2, 2), torch.mm(x, x, out=x), x]
[x := iota(2, 2), torch.cumsum(x, 1, out=x), x]
[x := iota(4, dtype=torch.float64), x.copy_(x.view(torch.int64)), x.view(torch.int64)]
torch.zeros(2, dtype=torch.int64).copy_(iota(2) + 0.75)
torch.zeros(2, dtype=torch.bool).copy_(iota(2) * 0.5)
with_warnings(lambda: torch.zeros(2).copy_(complex_sines(2)).shape)[1]
torch.zeros(2, dtype=torch.complex64).copy_(complex_sines(2))
torch.zeros(2, dtype=torch.complex64).conj().copy_(complex_sines(2))
[x := torch.zeros(2, dtype=torch.complex128), x.conj().copy_(complex_sines(2)), x]
[x := torch.zeros(2, dtype=torch.complex128), x.conj().imag.copy_(iota(2)), x]
[x := torch.zeros(2, dtype=torch.complex128), x.conj().fill_(1 + 2j), x]
[x := torch.zeros(2, dtype=torch.complex128), x.conj().imag.fill_(3), x]
[x := complex_sines(2), x.conj().add_(1j), x]
[x := complex_sines(2), x.conj().mul_(x), x]
[x := complex_sines(3), x.copy_(x.conj()), x]
[x := complex_sines(2), torch.add(x, 1j, out=x.conj()), x]
torch.add(complex_sines(2), 1, out=torch.zeros(3, dtype=torch.complex128).conj())
torch.add(complex_sines(2), 1, out=torch.zeros(2).to(torch.complex128).conj().imag)
iota(2).to(torch.complex64).conj().add_(iota(2, 2))
complex_sines(2).conj().contiguous().is_conj()
complex_sines(2, 2).t().conj().contiguous().is_conj()
complex_sines(2).conj().clone().is_conj()
[complex_sines(2, 2).t().conj().contiguous(), complex_sines(2, 2).t().conj().imag.contiguous()]
complex_sines(2).conj() + complex_sines(2), complex_sines(2).conj().imag * 2
torch.where(iota(2) > 0, complex_sines(2).conj(), complex_sines(2).conj())
metadata(iota(2, 3).t().clone())
metadata(iota(2, 3).t().clone(memory_format=torch.contiguous_format))
metadata(iota(3).expand(2, 3).clone())
iota(2, 3).t().contiguous().stride(), iota(2, 3).contiguous().stride()
[x := iota(2, 3), x.contiguous() is x, x.t().contiguous() is x, x.to(torch.float32) is x,
    x.to(torch.float32, copy=True) is x, x.float() is x]
iota(2, 3, 4, 5).contiguous(memory_format=torch.channels_last).stride()
iota(2, 1, 4, 5).contiguous(memory_format=torch.channels_last).stride()
iota(2, 3, 1, 1).contiguous(memory_format=torch.channels_last).stride()
iota(2, 3, 4).contiguous(memory_format=torch.channels_last)
iota(2, 3, 4, 5).contiguous(memory_format=torch.channels_last_3d)
iota(2, 3, 4, 5).is_contiguous(memory_format=torch.channels_last)
iota(2, 1, 4, 5).is_contiguous(memory_format=torch.channels_last)
iota(2, 3, 1, 1).is_contiguous(memory_format=torch.channels_last)
iota(2, 3, 4, 5).contiguous(memory_format=torch.channels_last).is_contiguous()
iota(2, 3).is_contiguous(memory_format=torch.channels_last)
iota(2, 3, 4, 5, 6).contiguous(memory_format=torch.channels_last_3d).stride()
iota(2, 1, 4, 5, 6).is_contiguous(memory_format=torch.channels_last_3d)
iota(2).contiguous(memory_format=3)
[F.conv2d(x, iota(3, 2, 1, 1)).stride() for x in (iota(2, 2, 4,
    4).contiguous(memory_format=torch.channels_last), iota(2, 2, 4, 4))]
[F.max_pool2d(x, 2).stride() for x in (iota(2, 3, 4,
    4).contiguous(memory_format=torch.channels_last), iota(1, 1, 4, 4), iota(2, 3, 4, 4),
    iota(3, 4, 4))]
[F.avg_pool2d(iota(*s).contiguous(memory_format=torch.channels_last), 2).stride()
    for s in ((1, 3, 4, 4), (2, 1, 4, 4), (2, 3, 2, 2), (0, 3, 4, 4))]
F.max_pool3d(iota(1, 2, 4, 4, 4).contiguous(memory_format=torch.channels_last_3d), 2).stride()
F.avg_pool3d(iota(1, 2, 4, 4, 4).contiguous(memory_format=torch.channels_last_3d), 2).stride()
F.avg_pool2d(iota(1, 3, 4, 1).expand(1, 3, 4, 4), (1, 2)).stride()
F.max_pool2d(iota(2, 4, 4, 3).permute(0, 3, 1, 2)[:, 1:], 2).stride()
F.max_pool2d(iota(2, 4, 4, 3).permute(0, 3, 1, 2)[:, 1:], 2)
torch.cat([iota(1, 2, 2, 2).contiguous(memory_format=torch.channels_last)] * 2, 1).stride()
torch.cat([iota(1, 2, 2, 2).contiguous(memory_format=torch.channels_last), iota(1, 2, 2, 2)],
    1).stride()
