"""Operator errors: calls of tensors and arguments (`ext/core`)."""

import math

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import complex_sines, iota

# what operators refuse
iota(3, dtype=torch.int64) // 0
iota(3, dtype=torch.int64) % 0
iota(3, dtype=torch.int64) // torch.zeros(3, dtype=torch.int64)
iota(3, dtype=torch.int64) // iota(3, dtype=torch.int64)
iota(3, dtype=torch.int64) % torch.tensor([1, 2, 0])
iota(3, dtype=torch.int64) // torch.tensor([1, 2, 3])
iota(3, dtype=torch.int64) // torch.tensor(0)
iota(3, dtype=torch.int64) // 0.0
iota(3) // 0
iota(0, dtype=torch.int64) // torch.zeros(0, dtype=torch.int64)
torch.div(iota(3, dtype=torch.int64), 0, rounding_mode="trunc")
torch.div(iota(3, dtype=torch.int64), 0)
torch.fmod(iota(3, dtype=torch.int64), 0)
(iota(3, dtype=torch.int64).to("meta") // torch.zeros(3, dtype=torch.int64, device="meta")).shape
iota(3, dtype=torch.int64) ** -1
iota(3, dtype=torch.int64) ** 0
iota(3, dtype=torch.int64) ** torch.tensor(-1)
iota(3, dtype=torch.int64) ** -1.0
iota(3, dtype=torch.float16) ** 70000.0
iota(3, dtype=torch.float16) ** 2.0
iota(3, dtype=torch.bfloat16) ** 70000.0
iota(3) ** 70000.0
2 ** iota(3, dtype=torch.float16)
70000.0 ** iota(2, dtype=torch.float16)
torch.where(iota(2), 1, 2)
torch.where(iota(2, dtype=torch.uint8), 1, 2)
torch.where(iota(2) > 0, iota(2, dtype=torch.float16), 1e9)
torch.where(iota(2) > 0, iota(2, dtype=torch.bfloat16), -1e9)
torch.where(iota(2) > 0, iota(2), 1e40)
torch.where(iota(2) > 0, 1e40, iota(2))
torch.where(iota(2) > 0, iota(2, dtype=torch.float64), 1e40)
torch.where(iota(2) > 0, iota(2, dtype=torch.uint8), 300)
torch.where(iota(2) > 0, 300, iota(2, dtype=torch.uint8))
torch.where(iota(2) > 0, iota(2, dtype=torch.uint8), -1)
torch.clamp(iota(3))
torch.clamp(iota(3), 1)
torch.clamp(iota(3), max=1)
torch.clamp(iota(3), 1, 1.5)
torch.clamp(iota(3), None, 1)
torch.clamp(complex_sines(3), 0)
torch.clamp(iota(3, dtype=torch.uint8), 300)
torch.clamp(iota(3, dtype=torch.uint8), -1, 300)
torch.clamp(iota(3, dtype=torch.uint8), max=300)
torch.clamp(iota(3, dtype=torch.uint8), -1)
torch.clamp(iota(3, dtype=torch.int64), 0.5)
torch.clamp(iota(3, dtype=torch.float16), 70000.0)
torch.clamp(iota(3, dtype=torch.float16), max=70000.0)
torch.clamp(iota(3, dtype=torch.float16), 1, 2)
torch.clamp(iota(3), min=torch.tensor([1.0, 5.0, 0.0]))
torch.clamp(iota(3), min=1, max=torch.tensor(1.5))
torch.clamp(iota(3), min=torch.tensor(1.0), max=torch.tensor(1.5))
F.dropout(iota(3), 0.0)
F.dropout(iota(3), 1.0)
F.dropout(iota(3), -0.1)
F.dropout(iota(3), 1.1)
F.dropout(iota(3), math.nan)
F.dropout(iota(3), 0.5, False)
torch.dropout(iota(3), 1.5, True)
torch.dropout(iota(3), 1.0, True)
iota(2, dtype=torch.bool) - iota(2, dtype=torch.bool)
iota(2, dtype=torch.bool) - 1
1 - iota(2, dtype=torch.bool)
iota(2) - iota(2, dtype=torch.bool)
iota(2, dtype=torch.bool) - iota(2)
iota(2, dtype=torch.bool) - True
torch.sub(iota(2), True)
torch.addmm(iota(2, 2), iota(2, 2), iota(2, 2), beta=0.5)
torch.addmm(iota(2, 2), iota(2, 2), iota(2, 2), alpha=1j)
torch.addmm(iota(2, 2), iota(2, 2), iota(2, 2), beta=1j)
torch.addmm(iota(2, 2, dtype=torch.int64), iota(2, 2, dtype=torch.int64),
    iota(2, 2, dtype=torch.int64), alpha=2.7)
torch.addmm(iota(2, 2, dtype=torch.int64), iota(2, 2, dtype=torch.int64),
    iota(2, 2, dtype=torch.int64), beta=2.7)
torch.addmm(iota(2, 2, dtype=torch.int64), iota(2, 2, dtype=torch.int64),
    iota(2, 2, dtype=torch.int64), beta=-2.7, alpha=2)
torch.addmm(complex_sines(2, 2), complex_sines(2, 2), complex_sines(2, 2), alpha=1j)
torch.addmm(iota(2, 2), iota(2, 2), iota(2, 2), beta=torch.tensor(2))
torch.addmm(iota(2, 2), iota(2, 2), iota(2, 2), beta="x")
torch.addmm(iota(2, 2), iota(2, 2), iota(2, 2), beta=torch.tensor([2]))
torch.addcmul(iota(2), iota(2), iota(2), value=2)
torch.addcmul(iota(2, dtype=torch.int64), iota(2, dtype=torch.int64), iota(2, dtype=torch.int64),
    value=2.5)
torch.addcmul(iota(2, dtype=torch.int64), iota(2, dtype=torch.int64), iota(2, dtype=torch.int64),
    value=2)
torch.addcmul(iota(2), iota(2), iota(2), value=1j)
torch.addcmul(iota(2, dtype=torch.int64), iota(2, dtype=torch.int64), iota(2), value=2.5)
torch.addcdiv(iota(2), iota(2), iota(2) + 1, value=0.5)
torch.addcdiv(iota(2), iota(2), iota(2) + 1, value=1j)
torch.lerp(iota(2), iota(2) + 1, 0.5)
torch.lerp(iota(2), iota(2, dtype=torch.float64), 0.5)
torch.lerp(iota(2), iota(2), iota(2, dtype=torch.float64))
torch.lerp(iota(2), iota(2) + 1, torch.tensor(0.5, dtype=torch.float64))
torch.lerp(iota(2), iota(2) + 1, iota(2))
torch.lerp(iota(2), iota(2), 1j)
torch.lerp(complex_sines(2), complex_sines(2) + 1, 1j)
torch.lerp(iota(2, dtype=torch.int64), iota(2, dtype=torch.int64), 0.5)
iota(3).masked_fill(iota(3) > 1, 5)
iota(3).masked_fill(iota(3), 5)
iota(3).masked_fill(iota(3, dtype=torch.uint8), 5)
iota(3).masked_fill(iota(3) > 1, torch.tensor(5.0))
iota(3).masked_fill(iota(3) > 1, torch.tensor([5.0]))
iota(3).masked_fill(iota(3) > 1, 1j)
complex_sines(2).masked_fill(complex_sines(2).real > 0.5, 1j)
iota(3).masked_fill(iota(3) > 1, torch.tensor(1j))
iota(3).masked_select(iota(3) > 1)
iota(3).masked_select(iota(3))
torch.complex(iota(2), iota(2))
torch.complex(iota(2), iota(2, dtype=torch.float64))
torch.complex(iota(2, dtype=torch.int64), iota(2))
torch.complex(iota(2), iota(2, dtype=torch.int64))
torch.complex(iota(2, dtype=torch.float64), iota(2, dtype=torch.float64))
iota(2).imag
torch.imag(iota(2))
complex_sines(2).imag
iota(2).real
str(torch.result_type(iota(2, dtype=torch.int64), 1.5))[-7:]
str(torch.result_type(1, 1.5))[-7:]
str(torch.result_type(iota(2, dtype=torch.int64), iota(2, dtype=torch.uint8)))[-5:]
str(torch.result_type(iota(2), 1j))[-9:]
torch.result_type(iota(2), "x")
torch.result_type("x", iota(2))
torch.result_type(iota(2), None)
torch.bitwise_and(iota(2), iota(2))
torch.tril(iota(2, 2), "x")
