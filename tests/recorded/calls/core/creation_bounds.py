"""Creation bounds: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import differs, iota, with_warnings

# what makes tensors, at its bounds
with differs("A tensor has at most 64 dimensions here."):
    torch.zeros((1,) * 65)
torch.zeros((2, 3.0))
torch.zeros((2, None))
torch.zeros(torch.tensor([2, 3]))
torch.full((2,), 1 + 0j, dtype=torch.float32)
torch.zeros(2, layout=3)
torch.zeros(2, device=3.5)
torch.zeros(2, dtype=3)
torch.ones(2, device="meta").dtype
torch.eye(2, device="meta").shape
torch.eye(0).shape
torch.eye(-1)
torch.eye(2, -1)
torch.eye(2, out=torch.zeros(1))
torch.empty(2, memory_format=3)
with differs("as one size is"):
    torch.empty_strided(2, 3).stride()

# like another
torch.zeros_like(3)
torch.full_like([1], 2)
vmap(lambda x: torch.zeros_like(x, dtype=torch.int64))(iota(2, 3))
vmap(lambda x: x.new_ones(2) * x.sum())(iota(2, 3))
vmap(lambda x: vmap(lambda y: x.new_full((2,), 3.0).add_(x.sum()))(x))(iota(2, 3))
vmap(lambda x: x.new_empty(3).copy_(x), in_dims=1)(iota(3, 2))
iota(2).new_ones(-1)
iota(2).new_empty_strided((2, 3), (1, 2)).stride()
with_warnings(lambda: iota(2).new_tensor(iota(2)))
iota(2).new_tensor([1.0], device="meta").device
