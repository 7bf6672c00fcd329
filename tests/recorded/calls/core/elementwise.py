"""Elementwise: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from tests.recorded.inputs import complex_sines, differs, error_name, iota, with_warnings


# A second operand without dimensions
def bfloat16_tensor():
    x = iota(3).bfloat16()
    return [x + 0.1, x * 0.1, x - 0.1, x / 0.3, 0.1 + x, 0.1 - x, 0.1 * x, x * torch.tensor(0.1),
        x / torch.tensor(0.3), x + torch.tensor(0.1), x - torch.tensor(0.1)]

[x := iota(3).half(), error_name(x.add_, iota(2, 3).half(), 1),
    error_name(lambda: x.add_(iota(2, 3).half(), alpha=0.1)),
    error_name(lambda: x.addcmul_(iota(2, 3).half(), x, value=0.1)), x]
iota(3).half().addcmul_(iota(2, 3).half(), iota(3).half(), value=0.1)
torch.lerp(iota(3).half(), iota(3).half() * 7 + 1, 0.3)
torch.mul(iota(3).half(), 0.1, out=torch.zeros(3, dtype=torch.float64))
error_name(lambda: torch.mul(iota(3).half(), 0.1, out=torch.zeros(3, dtype=torch.int64)))

# Layouts of results
iota(3, 1).expand(3, 2).neg()
iota(1).expand(3).neg()
iota(1, 2).expand(3, 2).neg()
iota(2, 3).t().neg()
iota(3, 4)[:, ::2].neg()
iota(2, 3, 4).permute(2, 0, 1).neg()

# Shapes and dtypes together
error_name(torch.bitwise_and, iota(3), 1)
error_name(torch.lgamma, complex_sines(3))
error_name(torch.atan2, complex_sines(3), complex_sines(3))
error_name(torch.floor, complex_sines(3))
error_name(lambda: complex_sines(3) < complex_sines(3))
torch.bitwise_and(iota(3), iota(3))

# Where results go
with_warnings(lambda: torch.add(iota(3), 1, out=torch.zeros(2)))
with_warnings(lambda: torch.add(iota(3), 1, out=torch.zeros(3)))
with_warnings(lambda: torch.add(iota(3), 1, out=torch.zeros(0, 2)))
with_warnings(lambda: torch.add(iota(3), 1, out=torch.zeros(1, 3)))
with_warnings(lambda: torch.exp(torch.tensor(1.0), out=torch.zeros(1)))
with_warnings(lambda: torch.exp(torch.tensor([1.0]), out=torch.zeros(())))
with_warnings(lambda: torch.exp(iota(2, 3), out=torch.zeros(3, 2)))
with_warnings(lambda: torch.exp(iota(0, 3), out=torch.zeros(2)))
torch.add(iota(3, dtype=torch.int64), 1, out=torch.zeros(3, dtype=torch.bool))
iota(3, dtype=torch.bool).add_(1)
iota(3).lt_(iota(2, 3))
[x := iota(3), error_name(x.add_, iota(2, 3)), error_name(x.lt_, iota(2, 3)),
    error_name(x.add_, 1j), x, x._version]

# Operands that share memory with the result
[x := iota(6), error_name(lambda: torch.add(x[:3], 1, out=x[3:])),
    error_name(lambda: torch.add(x[:4], x[2:], out=x[1:5])), x]
[x := iota(6), error_name(lambda: torch.exp(x[1:], out=x[:5])),
    error_name(lambda: torch.exp(x[:5].double(), out=x[:5])),
    error_name(lambda: torch.lt(x[:3], 1, out=x.view(torch.bool)[:3])), x[3:]]

def add():
    x = iota(3, 3)
    return x.add_(x.t())

def add_out():
    x = iota(3, 3)
    return torch.add(x.t(), 1, out=x)

with differs("windows that overlap: refused, where torch finds out about strides of 0 alone"):
    [x := iota(2, 2), error_name(lambda: x[:, :1].expand(2, 2).add_(1)),
        error_name(lambda: x.as_strided((2, 2), (1, 1)).add_(1)),
        error_name(lambda: x.as_strided((2, 2), (1, 2)).add_(1)), x]
