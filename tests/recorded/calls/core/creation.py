"""Creation: calls of tensors and arguments (`ext/core`)."""

import math

import numpy as np

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import differs, error_name, event_names, iota, metadata, with_warnings

# sizes
torch.zeros((2,), 3)
torch.zeros(2, (3,))
with differs("torch looks at the first size only"):
    torch.zeros((2, True))
torch.zeros("2")
torch.zeros(np.float32(2))
torch.zeros((2, -3))
torch.zeros(1 << 63)
torch.zeros(-(1 << 63) - 1)
torch.zeros(1 << 62, 4)
with differs("A tensor has at most 64 dimensions here."):
    torch.zeros([1] * 65)
torch.ones(2, -1)
torch.full(2, 7)
torch.full((2,), torch.tensor([3]))
torch.full((2,), "3")
torch.full((2,), None)
torch.full((2,), 128, dtype=torch.int8)
torch.full((2,), -129, dtype=torch.int8)
torch.full((2,), 1 << 31, dtype=torch.int32)
torch.full((2,), 1 << 63)
torch.full((2,), 1e39, dtype=torch.bfloat16)
torch.full((2,), math.inf, dtype=torch.int64)
torch.full((2,), 2 + 1j, dtype=torch.float32)
torch.full((2,), 2 + 1j, dtype=torch.int64)
torch.full((2, -1), 7)
torch.full((2,), 7, layout="strided")

# options
metadata(torch.zeros(2, requires_grad=True))
metadata(torch.ones(2, requires_grad=True))
metadata(torch.full((2,), 1.0, requires_grad=True))
metadata(torch.eye(2, requires_grad=True))
metadata(torch.arange(2.0, requires_grad=True))
metadata(torch.linspace(0, 1, 2, requires_grad=True))
metadata(torch.logspace(0, 1, 2, requires_grad=True))
metadata(torch.scalar_tensor(1, requires_grad=True))
metadata(torch.empty_strided((2, 3), (1, 2), requires_grad=True))
metadata(torch.empty(2, requires_grad=True))
metadata(torch.tensor([1.0], requires_grad=True))
metadata(torch.zeros_like(iota(2), requires_grad=True))
metadata(torch.empty_like(iota(2), requires_grad=True))
metadata(torch.full_like(iota(2), 2, requires_grad=True))
metadata(torch.ones_like(iota(2).requires_grad_()))
metadata(iota(2).new_zeros(2, requires_grad=True))
metadata(iota(2).new_tensor([1.0], requires_grad=True))
metadata(iota(2).new_empty_strided((2,), (2,), requires_grad=True))
torch.zeros(2, requires_grad=1)
with differs("as `tensor` and the methods do in torch"):
    torch.zeros(2, requires_grad=None)
torch.zeros(2, dtype="float32")
torch.zeros(2, layout="strided")
torch.zeros(2, device="nowhere")
error_name(lambda: torch.zeros(2, pin_memory=True))
torch.zeros(2, names=3)

# out=
torch.zeros(2, out=torch.ones(2))
torch.zeros(2, out=torch.ones(3))
torch.zeros(2, out=torch.ones(2, dtype=torch.int64))
torch.zeros(2, out=torch.ones(2), device="meta")
torch.zeros(2, out=torch.ones(2, requires_grad=True))
torch.zeros(2, out=3)
with differs("what lies on itself is refused as by all other operators"):
    torch.zeros(2, out=torch.ones(1).expand(2))
torch.ones(2, out=torch.zeros(2, dtype=torch.bool))
torch.eye(2, out=torch.ones(3))
torch.eye(2, out=torch.zeros(2, 2))._version
torch.linspace(0, 1, 3, out=torch.zeros(1))
torch.linspace(0, 1, 3, out=torch.ones(3, requires_grad=True))
torch.arange(3, out=torch.ones(3, requires_grad=True))
torch.arange(3, out=torch.ones(1).expand(3))

# eye
torch.eye(-1)
torch.eye(2, -1)
torch.eye(2.0)
torch.eye()
torch.eye(1 << 64)

# empty with formats and strides
torch.empty(2, 3, 4, 5, memory_format=torch.channels_last_3d)
torch.empty(2, 3, 4, 5, memory_format=torch.preserve_format)
torch.empty(2, 3, 4, 5, memory_format="last")
torch.empty_strided((2, 3), (1,))
torch.empty_strided((2, 3), (1, -2))
torch.empty_strided((2, -3), (1, 2))
torch.empty_strided((2, 3), (1, 2.0))
torch.empty_strided((1 << 40,), (1 << 40,))

# like another tensor
torch.ones_like(iota(2, 3).t())
torch.zeros_like(iota(2, 3), memory_format=3)
torch.zeros_like(iota(2, 3)[:, ::2], device="meta").stride()
torch.full_like(iota(2), 1 + 0j)
torch.full_like(iota(2), torch.tensor([3]))
torch.full_like(iota(2), "3")
torch.full_like(iota(2))
torch.zeros_like([1])
torch.empty_like(3)
torch.ones_like(3.0)
torch.zeros_like(iota(2), layout="x")
error_name(lambda: torch.zeros_like(iota(2), pin_memory=True))
vmap(lambda x: torch.full_like(x, 2, dtype=torch.int64))(iota(2, 3))
vmap(lambda x: torch.ones_like(x), in_dims=1)(iota(2, 3))

# methods that begin with new_
iota(2).new_zeros(-1)
iota(2, dtype=torch.int64).new_ones(2)
iota(2).new_full((2,), torch.tensor(4))
iota(2).new_full((2,), "4")
iota(2).new_full(2, 4)
iota(2).new_empty(2, 3).shape
iota(2).new_empty_strided((2, 3), (1,))
with_warnings(iota(2).new_tensor, iota(2))
str(iota(2).new_zeros(2, device="meta").device)
error_name(lambda: iota(2).new_ones(2, pin_memory=True))
vmap(lambda x: x.new_ones(2, 2))(iota(3, 2))
vmap(lambda x: x.new_full((2,), 5, dtype=torch.int64), in_dims=1)(iota(3, 2))

# a RuntimeError, as in PyTorch, and a MemoryError too
[issubclass(torch.OutOfMemoryError, RuntimeError)]
with differs("To have no memory is a RuntimeError, too, of the same name on all devices."):
    [error_name(f, 1 << 60) for f in (torch.empty, torch.zeros, torch.ones, torch.arange,
        torch.rand, torch.randperm, torch.ones(1).new_empty, torch.ones(1).repeat)]

# what the profiler calls what makes tensors
[event_names(f)[0] for f in (lambda: torch.zeros(2), lambda: torch.ones(2),
    lambda: torch.full((2,), 1), lambda: torch.empty(2), lambda: torch.empty_strided((2,), (1,)),
    lambda: torch.eye(2), lambda: torch.arange(3), lambda: torch.linspace(0, 1, 3),
    lambda: torch.logspace(0, 1, 3), lambda: torch.scalar_tensor(1.0))]

def full_like_new_empty():
    x = iota(2)
    return [event_names(f, x)[0] for f in (torch.empty_like, torch.zeros_like, torch.ones_like,
        lambda x: torch.full_like(x, 2), lambda x: x.new_empty(2), lambda x: x.new_zeros(2),
        lambda x: x.new_ones(2), lambda x: x.new_full((2,), 1),
        lambda x: x.new_empty_strided((2,), (1,)))]
