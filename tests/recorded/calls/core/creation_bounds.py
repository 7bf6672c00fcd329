"""Creation bounds: calls of tensors and arguments (`ext/core`)."""

import math

import numpy as np

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import differs, iota, metadata, with_warnings

# what makes tensors, at its bounds
torch.zeros((1,) * 64).dim()
with differs("A tensor has at most 64 dimensions here."):
    torch.zeros((1,) * 65)
torch.zeros()
torch.zeros(2, size=(3,))
torch.zeros((2,), 3)
with differs("one size is a shape"):
    torch.zeros(size=3)
torch.zeros(size=(2, 3)).shape
torch.zeros(size=[2]).shape
torch.zeros(2.0)
torch.zeros((2, 3.0))
with differs("a bool is no size"):
    torch.zeros((2, True)).shape
torch.zeros("2")
torch.zeros((2, None))
torch.zeros(np.int64(2), np.int32(3)).shape
torch.zeros(torch.tensor(2), torch.tensor(3)).shape
torch.zeros(torch.tensor(2.0))
torch.zeros(torch.tensor([2, 3]))
torch.zeros(2**70)
torch.zeros(-1)
torch.zeros(2, -3)
torch.ones((0, 3)).shape
torch.ones(()).shape
torch.full(2, 1)
torch.full((2,), "x")
torch.full((2,), None)
torch.full((2,), torch.tensor(3))
torch.full((2,), torch.tensor([3]))
torch.full((2,), torch.tensor(3.0, requires_grad=True))
torch.full((2,), True).dtype
torch.full((2,), 1).dtype
torch.full((2,), 1.0).dtype
torch.full((2,), 1j).dtype
torch.full((2,), 1 + 0j, dtype=torch.float32)
torch.full((2,), 1 + 2j, dtype=torch.float32)
torch.full((2,), 1 + 2j, dtype=torch.bool)
torch.full((2,), 0j, dtype=torch.bool)
torch.full((2,), 300, dtype=torch.uint8)
torch.full((2,), -1, dtype=torch.uint8)
torch.full((2,), 2.7, dtype=torch.int64)
torch.full((2,), math.nan, dtype=torch.bool)
torch.full((2,), 1e300)
torch.full((2,), 70000.0, dtype=torch.float16)
torch.full((2,), math.inf, dtype=torch.float16)
torch.full((2,), 5, out=torch.zeros(3))
torch.full((2,), 2.5, out=torch.zeros(2, dtype=torch.int64))
torch.full((2,), 2.5, out=torch.zeros(2), dtype=torch.float64)
torch.full((2,), 2.5, out=torch.zeros(2), dtype=torch.float32)
[x := torch.zeros(2), torch.full((2,), 2.5, out=x) is x, x._version, x]
[x := torch.zeros(2, 2).t(), torch.full((2, 2), 2.5, out=x) is x, x.stride()]
torch.zeros(2, out=torch.zeros(2, requires_grad=True))
torch.zeros(2, out=torch.zeros(2), device="meta")
with differs("what lies in one place can't be written element by element"):
    torch.zeros(2, out=torch.ones(1).expand(2))
[x := torch.ones(3), torch.zeros(2, out=x) is x, x._version, x]
[x := torch.zeros(3, dtype=torch.int64), torch.ones(2, out=x) is x, x._version, x]
torch.zeros(2, out=3)
torch.zeros(2, layout=3)
torch.zeros(2, layout=torch.strided)
torch.zeros(2, device="cpu", dtype=torch.float64)
torch.zeros(2, device="nowhere")
torch.zeros(2, device=3.5)
torch.zeros(2, requires_grad=1)
with differs("None is no bool"):
    torch.zeros(2, requires_grad=None)
metadata(torch.zeros(2, requires_grad=True))
torch.zeros(2, dtype=torch.int64, requires_grad=True)
torch.zeros(2, dtype=torch.complex64, requires_grad=True).requires_grad
torch.zeros(2, dtype=3)
torch.zeros(2, device="meta").device
torch.zeros(2, device="meta", dtype=torch.int64).dtype
torch.ones(2, device="meta").dtype
torch.full((2,), 3, device="meta").dtype
torch.eye(2, device="meta").shape
torch.eye(3, 2)
torch.eye(2, 3, dtype=torch.int64)
torch.eye(0).shape
torch.eye(2, 0).shape
torch.eye(-1)
torch.eye(2, -1)
torch.eye(2.0)
torch.eye(2, m=3)
torch.eye(2, out=torch.zeros(1))
[x := torch.ones(2, 3), torch.eye(2, 3, out=x) is x, x._version > 0, x]
torch.eye(2, out=torch.zeros(2, dtype=torch.int64))
torch.eye(2, dtype=torch.float64, out=torch.zeros(2))
torch.eye(2, dtype=torch.bool)
torch.eye(2, dtype=torch.complex64)
torch.empty(2, 3, memory_format=torch.channels_last)
torch.empty(2, 3, 4, 5, memory_format=torch.channels_last).stride()
torch.empty(2, 3, 4, 5, 6, memory_format=torch.channels_last_3d).stride()
torch.empty(2, 3, 4, 5, memory_format=torch.preserve_format)
torch.empty(2, memory_format=3)
torch.empty_strided((2, 3), (1, 2)).stride()
torch.empty_strided((2, 3), (1,))
torch.empty_strided((2, 3), (-1, 2))
torch.empty_strided((2, -3), (1, 2))
torch.empty_strided((2, 3), (0, 0)).untyped_storage().nbytes()
torch.empty_strided((2, 3), (4, 1)).untyped_storage().nbytes()
torch.empty_strided((0, 3), (4, 1)).untyped_storage().nbytes()
torch.empty_strided((), ()).untyped_storage().nbytes()
with differs("as one size is"):
    torch.empty_strided(2, 3).stride()
torch.empty_strided((2,), (1,), dtype=torch.int64, requires_grad=True)

# like another
torch.zeros_like(iota(2, 3).t()).stride()
torch.zeros_like(iota(2, 3).t(), memory_format=torch.contiguous_format).stride()
torch.zeros_like(iota(3).expand(2, 3)).stride()
torch.zeros_like(iota(2, 6)[:, ::2]).stride()
torch.empty_like(iota(2, 3, 4).permute(2, 0, 1)).stride()
torch.empty_like(iota(2, 3, 4, 5), memory_format=torch.channels_last).stride()
torch.empty_like(iota(2, 3), memory_format=torch.channels_last)
torch.ones_like(iota(2, 3).t(), dtype=torch.int64).stride()
torch.full_like(iota(2), 3.5, dtype=torch.int64)
torch.full_like(iota(2), 1j)
torch.full_like(iota(2), "x")
torch.full_like(iota(2, dtype=torch.uint8), 256)
torch.zeros_like(3)
torch.full_like([1], 2)
torch.ones_like(iota(2), requires_grad=True).requires_grad
torch.ones_like(iota(2).requires_grad_()).requires_grad
torch.ones_like(iota(2, dtype=torch.int64), requires_grad=True)
torch.zeros_like(iota(2, 3).t(), device="meta").stride()
torch.zeros_like(iota(2), device="meta").device
torch.zeros_like(torch.zeros(2, device="meta"), device="cpu")
torch.zeros_like(torch.zeros(2, 3, device="meta").t(), device="cpu").stride()
torch.ones_like(torch.zeros(2, device="meta")).device
vmap(lambda x: torch.ones_like(x) + x)(iota(2, 3))
vmap(lambda x: torch.zeros_like(x, dtype=torch.int64))(iota(2, 3))
vmap(lambda x: torch.full_like(x, 2.0).add_(x))(iota(2, 3))
vmap(lambda x: x.new_zeros(3).add_(x))(iota(2, 3))
vmap(lambda x: x.new_ones(2) * x.sum())(iota(2, 3))
vmap(lambda x: vmap(lambda y: x.new_full((2,), 3.0) * y)(x))(iota(2, 3))
vmap(lambda x: vmap(lambda y: x.new_full((2,), 3.0).add_(x.sum()))(x))(iota(2, 3))
vmap(lambda x: x.new_empty(3).copy_(x), in_dims=1)(iota(3, 2))
vmap(lambda x: x.new_tensor([1.0, 2.0]) * x.sum())(iota(2, 3))
iota(2).new_full(2, 3)
iota(2).new_full((2,), 3)
iota(2, dtype=torch.int64).new_full((2,), 2.5)
iota(2, dtype=torch.int64).new_full((2,), 2.5, dtype=torch.float32)
iota(2).new_full((2,), "x")
iota(2).new_zeros((2, 3), dtype=torch.int64)
iota(2).new_zeros(2, size=(2,))
iota(2).new_zeros()
iota(2).new_ones(-1)
iota(2).new_ones(2, requires_grad=True).requires_grad
iota(2).new_ones(2, device="meta").device
torch.zeros(2, device="meta").new_ones(2).device
iota(2).new_empty(2, 3).shape
iota(2).new_empty_strided((2, 3), (1, 2)).stride()
iota(2, dtype=torch.int64).new_empty_strided((2,), (3,)).dtype
iota(2).new_tensor([1, 2])
iota(2, dtype=torch.int64).new_tensor([1, 2.5])
iota(2).new_tensor([1, 2], dtype=torch.int64)
with_warnings(lambda: iota(2).new_tensor(iota(2)))
iota(2).new_tensor([1.0], requires_grad=True).requires_grad
iota(2).new_tensor([1.0], device="meta").device
