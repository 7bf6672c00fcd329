"""Creation names: calls of tensors and arguments (`ext/core`)."""

import math

import autograd_cy as torch

# names in any order
torch.arange(1, start=0)
torch.arange(1, 2, 3, step=3)
torch.range(3, 0)
torch.range(2, 2)
torch.range(0, math.inf)
torch.range(math.nan, 1)
torch.range(3, 0, -2, dtype=torch.int64)
torch.range(0, 3, dtype=torch.bool)
torch.range(0, 3, out=torch.zeros(1))
torch.linspace(0, 1, -1)
torch.linspace(0, 1, 2.0)
torch.linspace(0, 1, True)
torch.linspace(0, 1)
torch.linspace(0, 1, 3, dtype=torch.bool)
torch.linspace(0, 1j, 3)
torch.linspace(0, 1j, 3, dtype=torch.float32)
torch.linspace(torch.tensor([0.0]), 1, 3)
torch.linspace(0, torch.tensor([1.0]), 3)
torch.linspace("x", 1, 3)
torch.linspace(0, 1, 3, out=torch.zeros(1))
torch.linspace(0, 1, 3, dtype=torch.int64, requires_grad=True)
torch.logspace(0, 2, -1)
torch.logspace(0, 1, 3, dtype=torch.bool)
torch.logspace(0, 2, 3, out=torch.zeros(1))
torch.scalar_tensor("x")
