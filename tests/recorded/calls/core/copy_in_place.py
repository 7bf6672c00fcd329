"""Copy in place: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import complex_sines, differs, error_name, iota, metadata

# copies
torch.zeros(1).expand(2).fill_(1)
torch.zeros(1).expand(2).zero_()
with differs("what lies in one place can't be written element by element"):
    torch.zeros(4).as_strided((2, 2), (1, 1)).copy_(iota(2, 2))

def copy_2():
    x = iota(2, 2)
    return [error_name(lambda: x.copy_(x.t())), x]

def copy_3():
    x = iota(3, 3)
    return [error_name(lambda: x.copy_(x.t())), x]

[x := iota(3, 3), x.mul_(x[:, 2:]), x]
torch.add(complex_sines(2), 1, out=torch.zeros(3, dtype=torch.complex128).conj())
metadata(iota(2, 3).t().clone())
metadata(iota(2, 3).t().clone(memory_format=torch.contiguous_format))
metadata(iota(3).expand(2, 3).clone())
iota(2, 3, 4, 5).contiguous(memory_format=torch.channels_last_3d)
iota(2).contiguous(memory_format=3)
F.max_pool2d(iota(2, 4, 4, 3).permute(0, 3, 1, 2)[:, 1:], 2).stride()
F.max_pool2d(iota(2, 4, 4, 3).permute(0, 3, 1, 2)[:, 1:], 2)
torch.cat([iota(1, 2, 2, 2).contiguous(memory_format=torch.channels_last)] * 2, 1).stride()
torch.cat([iota(1, 2, 2, 2).contiguous(memory_format=torch.channels_last), iota(1, 2, 2, 2)],
    1).stride()
