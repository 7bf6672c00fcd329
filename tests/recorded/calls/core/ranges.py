"""Ranges: calls of tensors and arguments (`ext/core`)."""

import math

import autograd_cy as torch
from tests.recorded.inputs import error_name

torch.arange(5, 4)
torch.arange(4, 5, 0)
torch.arange(1, 3, 1, step=1)
torch.arange(1, 3, 1, 1)
torch.arange("3")
torch.arange(0, 3, 1 + 0j)
torch.arange(torch.tensor([3]))
torch.arange(3, dtype=torch.bool)
torch.arange(3, dtype=torch.complex64)
torch.arange(0, 3, 0.5, dtype=torch.int64)
torch.arange(math.inf)
torch.arange(0, math.nan)
torch.arange(-math.inf, 0)
torch.arange(0, 1e300, 1e-10)
torch.arange(1 << 63)
torch.arange(0, 1 << 64)
torch.arange(-(1 << 63) - 1, 0)
torch.arange(0, 5, 1 << 64)
torch.arange(3, layout="x")
error_name(lambda: torch.arange(3, pin_memory=True))

# from the first to the last
torch.linspace(0, 1, "2")
torch.linspace(0, 1j, 3)
torch.linspace(1 + 2j, 3 - 1j, 4, dtype=torch.complex128)
torch.linspace(0, None, 3)
torch.linspace(0, 1, 3, device="meta").shape
torch.linspace(0, 1, 3, layout=3)
torch.linspace(0, 1 << 64, 3)
torch.linspace(-(1 << 63) - 1, 0, 3)
torch.logspace(0, 2j, 3, dtype=torch.float64)
torch.logspace(torch.tensor(0.0), torch.tensor([2.0]), 3)
torch.logspace(0, 2, 3, device="meta").shape

# numbers alone
torch.scalar_tensor(1j)
torch.scalar_tensor(torch.tensor(3))
torch.scalar_tensor(torch.tensor([3]))
torch.scalar_tensor(3, layout="x")
error_name(lambda: torch.scalar_tensor(3, pin_memory=True))

# numbers at the ends
torch.arange(-(1 << 63), (1 << 63) - 1)
error_name(torch.arange, 4.5e18)

# ranges
torch.arange(0, math.inf)
torch.arange(math.nan, 3)
torch.arange(1 + 0j)
torch.arange(3j)
