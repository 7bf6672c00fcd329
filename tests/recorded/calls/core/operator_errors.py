"""Operator errors: calls of tensors and arguments (`ext/core`)."""

import math

import autograd_cy as torch
from autograd_cy.nn import functional as F
from tests.recorded.inputs import complex_sines, iota

# what operators refuse
iota(3, dtype=torch.int64) % torch.tensor([1, 2, 0])
torch.div(iota(3, dtype=torch.int64), 0, rounding_mode="trunc")
torch.fmod(iota(3, dtype=torch.int64), 0)
iota(3, dtype=torch.int64) ** -1
iota(3, dtype=torch.bfloat16) ** 70000.0
torch.where(iota(2), 1, 2)
torch.where(iota(2) > 0, iota(2, dtype=torch.uint8), -1)
torch.clamp(iota(3))
torch.clamp(complex_sines(3), 0)
F.dropout(iota(3), 1.1)
F.dropout(iota(3), math.nan)
torch.dropout(iota(3), 1.5, True)
iota(2, dtype=torch.bool) - 1
iota(2, dtype=torch.bool) - True
torch.sub(iota(2), True)
torch.addmm(iota(2, 2), iota(2, 2), iota(2, 2), alpha=1j)
torch.addmm(complex_sines(2, 2), complex_sines(2, 2), complex_sines(2, 2), alpha=1j)
torch.addmm(iota(2, 2), iota(2, 2), iota(2, 2), beta="x")
torch.addmm(iota(2, 2), iota(2, 2), iota(2, 2), beta=torch.tensor([2]))
torch.addcmul(iota(2), iota(2), iota(2), value=1j)
torch.addcdiv(iota(2), iota(2), iota(2) + 1, value=1j)
torch.lerp(iota(2), iota(2, dtype=torch.float64), 0.5)
torch.lerp(iota(2), iota(2), iota(2, dtype=torch.float64))
torch.lerp(iota(2), iota(2), 1j)
torch.lerp(iota(2, dtype=torch.int64), iota(2, dtype=torch.int64), 0.5)
iota(3).masked_fill(iota(3), 5)
iota(3).masked_fill(iota(3, dtype=torch.uint8), 5)
iota(3).masked_fill(iota(3) > 1, torch.tensor(1j))
torch.complex(iota(2, dtype=torch.int64), iota(2))
torch.complex(iota(2), iota(2, dtype=torch.int64))
iota(2).imag
torch.imag(iota(2))
complex_sines(2).imag
iota(2).real
torch.result_type(iota(2), "x")
torch.result_type(iota(2), None)
torch.tril(iota(2, 2), "x")
