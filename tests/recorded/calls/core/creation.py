"""Creation: calls of tensors and arguments (`ext/core`)."""

import math

import numpy as np

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import differs, error_name, event_names, iota, metadata, with_warnings

# sizes
torch.zeros(2, 3)
torch.zeros((2, 3))
torch.zeros([2, 3])
torch.zeros(size=(2, 3))
torch.zeros(size=[2])
torch.zeros(())
torch.zeros(0)
torch.zeros(2, 0, 3)
torch.zeros()
torch.zeros(2, size=(2,))
torch.zeros((2,), 3)
torch.zeros([2], [3])
torch.zeros(2, (3,))
torch.zeros(2.0)
torch.zeros(True)
with differs("torch looks at the first size only"):
    torch.zeros((2, True))
torch.zeros(2, 3.0)
torch.zeros("2")
torch.zeros(None)
torch.zeros(np.int64(2), 3)
torch.zeros((np.int32(2), 3))
torch.zeros(np.float32(2))
torch.zeros(torch.tensor(2), 3)
torch.zeros(torch.tensor(2.0), 3)
torch.zeros((torch.tensor([2]),))
torch.zeros(-1)
torch.zeros((2, -3))
torch.zeros(1 << 63)
torch.zeros(-(1 << 63) - 1)
torch.zeros(0, 1 << 62)
torch.zeros(1 << 62, 4)
torch.zeros(1 << 40, 1 << 40)
torch.zeros([1] * 64).dim()
with differs("A tensor has at most 64 dimensions here."):
    torch.zeros([1] * 65)
torch.empty(2, 3).shape == (2, 3)
torch.empty(size=(2, 3)).dtype == torch.float32
torch.empty()
torch.empty(2, -1)
torch.ones(2, 3)
torch.ones(size=(2,), dtype=torch.int64)
torch.ones(())
torch.ones(())[None].shape
torch.ones(2, dtype=torch.bool)
torch.ones(2, dtype=torch.complex64)
torch.ones(2, dtype=torch.float16)
torch.ones(2, dtype=torch.bfloat16)
torch.ones(2, dtype=torch.uint8)
torch.ones(2, dtype=torch.float64)
torch.ones(2, dtype=torch.complex128)
torch.ones(2, -1)
torch.ones()
torch.full((2, 3), 7)
torch.full([2], 7.0)
torch.full((2,), True)
torch.full((2,), 1j)
torch.full((), 2.5)
torch.full(2, 7)
torch.full((2,), 7, dtype=torch.float16)
torch.full((2,), 7.9, dtype=torch.int64)
torch.full((2,), -7.9, dtype=torch.int32)
torch.full((2,), 2.5, dtype=torch.bool)
torch.full((2,), 0.0, dtype=torch.bool)
torch.full((2,), math.nan, dtype=torch.bool)
torch.full((2,), torch.tensor(3))
torch.full((2,), torch.tensor(3.5, dtype=torch.float64)).dtype == torch.float32
torch.full((2,), torch.tensor(2 + 1j))
torch.full((2,), torch.tensor([3]))
torch.full((2,), torch.tensor(3.0, requires_grad=True))
torch.full((2,), "3")
torch.full((2,), None)
torch.full((2,), np.float64(3)).dtype == torch.float32
torch.full((2,), np.int32(3)).dtype == torch.int64
torch.full((2,), np.bool_(True)).dtype == torch.bool
torch.full((2,), 255, dtype=torch.uint8)
torch.full((2,), 256, dtype=torch.uint8)
torch.full((2,), -1, dtype=torch.uint8)
torch.full((2,), -256, dtype=torch.uint8)
torch.full((2,), 127, dtype=torch.int8)
torch.full((2,), 128, dtype=torch.int8)
torch.full((2,), -128, dtype=torch.int8)
torch.full((2,), -129, dtype=torch.int8)
torch.full((2,), 1 << 31, dtype=torch.int32)
torch.full((2,), (1 << 31) - 1, dtype=torch.int32)
torch.full((2,), 1 << 63)
torch.full((2,), 70000.0, dtype=torch.float16)
torch.full((2,), math.inf, dtype=torch.float16)
torch.full((2,), 1e39, dtype=torch.float32)
torch.full((2,), 1e39, dtype=torch.bfloat16)
torch.full((2,), math.inf, dtype=torch.int64)
torch.full((2,), 2 + 0j, dtype=torch.float32)
torch.full((2,), 2 + 1j, dtype=torch.float32)
torch.full((2,), 2 + 1j, dtype=torch.int64)
torch.full((2,), 0 + 1j, dtype=torch.bool)
torch.full((2,), 2, dtype=torch.complex64)
torch.full((2,), 1e39 + 1j, dtype=torch.complex64)
torch.full((2, -1), 7)
torch.full((2,), 7, layout="strided")
torch.full((2,), 7, requires_grad=True)
torch.full((2,), 7.0, requires_grad=True)

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
torch.zeros(2, dtype=torch.complex64, requires_grad=True).requires_grad
torch.zeros(2, dtype=torch.int64, requires_grad=True)
torch.empty(2, dtype=torch.bool, requires_grad=True)
torch.zeros(2, requires_grad=1)
with differs("as `tensor` and the methods do in torch"):
    torch.zeros(2, requires_grad=None)
torch.zeros(2, dtype="float32")
torch.zeros(2, dtype=float)
torch.zeros(2, dtype=int)
torch.zeros(2, dtype=bool)
torch.zeros(2, dtype=complex)
with differs("types of NumPy stand for dtypes everywhere"):
    torch.zeros(2, dtype=np.float32)
torch.zeros(2, dtype=None)
torch.zeros(2, layout=torch.strided)
torch.zeros(2, layout=None)
torch.zeros(2, layout="strided")
torch.zeros(2, device="cpu")
str(torch.zeros(2, device="meta").device)
torch.zeros(2, device="nowhere")
torch.zeros(2, device="cpu:0").shape
torch.zeros(2, pin_memory=False)
error_name(lambda: torch.zeros(2, pin_memory=True))
torch.zeros(2, names=3)

# out=
torch.zeros(2, out=torch.ones(2))
torch.zeros(2, out=torch.ones(3))
torch.zeros(2, 3, out=torch.ones(6))
torch.zeros(2, out=torch.ones(2, dtype=torch.int64))
torch.zeros(2, out=torch.ones(2), dtype=torch.float64)
torch.zeros(2, out=torch.ones(2), dtype=torch.float32)
torch.zeros(2, out=torch.ones(2), device="cpu")
torch.zeros(2, out=torch.ones(2), device="meta")
torch.zeros(2, out=torch.ones(2, requires_grad=True))
torch.zeros(2, out=3)
with differs("what lies on itself is refused as by all other operators"):
    torch.zeros(2, out=torch.ones(1).expand(2))
torch.zeros(2, 3, out=torch.ones(3, 2).t())
torch.zeros(2, 3, out=torch.ones(3, 2).t()).stride()
torch.ones(2, out=torch.zeros(2, dtype=torch.bool))
torch.ones(2, out=torch.zeros(2, dtype=torch.complex64))
torch.ones(2, out=torch.zeros(2), dtype=torch.float64)
torch.ones(2, 3, out=torch.zeros(3, 2).t())
torch.full((2,), 3, out=torch.zeros(2))
torch.full((2,), 3.5, out=torch.zeros(2, dtype=torch.int64))
torch.full((2,), 300, out=torch.zeros(2, dtype=torch.uint8))
torch.full((2,), 3.5, out=torch.zeros(2), dtype=torch.float64)
torch.full((2,), 3.5, out=torch.zeros(4)[::2])
[x := torch.zeros(4), torch.full((2,), 3.5, out=x[::2]), x]
[x := torch.zeros(2), torch.full((2,), 3.5, out=x) is x]
torch.empty(3, out=torch.zeros(2)).shape
torch.empty(3, out=torch.zeros(2), dtype=torch.float64)
[x := torch.ones(2), torch.empty(2, out=x) is x, x]
torch.eye(2, out=torch.ones(3))
torch.eye(2, 3, out=torch.ones(3, 2).t())
torch.eye(2, out=torch.ones(2, 2, dtype=torch.int64))
torch.eye(2, out=torch.ones(2, 2), dtype=torch.float64)
[x := torch.zeros(2), torch.zeros(2, out=x), x._version]
[x := torch.zeros(2), torch.full((2,), 1.0, out=x), x._version]
torch.eye(2, out=torch.zeros(2, 2))._version
torch.arange(2, out=torch.zeros(2))._version > 0
torch.arange(3, out=torch.zeros(2))
torch.arange(3, out=torch.zeros(3, dtype=torch.uint8))
torch.arange(3, out=torch.zeros(3), dtype=torch.int64)
torch.arange(2.5, out=torch.zeros(3, dtype=torch.int64))
[x := torch.zeros(6), torch.arange(3, out=x[::2]), x]
torch.linspace(0, 1, 3, out=torch.zeros(3, dtype=torch.float64))
torch.linspace(0, 1, 3, out=torch.zeros(1))
torch.linspace(0, 1, 3, out=torch.zeros(1), dtype=torch.float64)
torch.linspace(0.9, 5.9, 6, out=torch.zeros(1, dtype=torch.int64))
torch.logspace(0, 1, 3, out=torch.zeros(3, dtype=torch.float64))
torch.logspace(0, 1, 3, out=torch.zeros(3, dtype=torch.float64))._version > 0
torch.linspace(0, 1, 3, out=torch.ones(3, requires_grad=True))
torch.arange(3, out=torch.ones(3, requires_grad=True))
torch.arange(3, out=torch.ones(1).expand(3))

# eye
torch.eye(3)
torch.eye(2, 3)
torch.eye(3, 2)
torch.eye(0, 2)
torch.eye(2, 0)
torch.eye(1, 4)
torch.eye(2, dtype=torch.bool)
torch.eye(2, dtype=torch.complex64)
torch.eye(-1)
torch.eye(2, -1)
torch.eye(2.0)
torch.eye(2, 3.0)
with differs("None stands for what isn't said."):
    torch.eye(2, None)
torch.eye(np.int64(2))
torch.eye(2, m=3)
torch.eye(n=2)
torch.eye()
torch.eye(1 << 64)

# empty with formats and strides
torch.empty(2, 3, 4, 5, memory_format=torch.channels_last).stride()
torch.empty(2, 3, 4, 5, memory_format=torch.contiguous_format).stride()
torch.empty(2, 3, 4, memory_format=torch.channels_last)
torch.empty(2, 3, 4, 5, 6, memory_format=torch.channels_last_3d).stride()
torch.empty(2, 3, 4, 5, memory_format=torch.channels_last_3d)
torch.empty(2, 3, 4, 5, memory_format=torch.preserve_format)
torch.empty(2, 3, 4, 5, memory_format="last")
torch.empty(2, 3, 4, 5, memory_format=torch.channels_last, dtype=torch.float64,
    requires_grad=True).requires_grad
torch.empty_strided((2, 3), (1, 2)).stride()
torch.empty_strided((2, 3), (0, 1)).stride()
torch.empty_strided((2, 3), (1, 2), dtype=torch.int64).dtype == torch.int64
torch.empty_strided((2, 3), (1,))
torch.empty_strided((2, 3), (1, 2, 3))
torch.empty_strided((2, 3), (1, -2))
torch.empty_strided((2, -3), (1, 2))
torch.empty_strided((2, 3), (1, 2.0))
torch.empty_strided((2.0, 3), (1, 2))
torch.empty_strided((2, 3), [1, 2]).stride()
torch.empty_strided((), ()).dim()
torch.empty_strided((0,), (5,)).stride()
torch.empty_strided((2, 3), (10, 2)).untyped_storage().nbytes()
torch.empty_strided((2, 0), (10, 2)).untyped_storage().nbytes()
torch.empty_strided((2, 3), (1, 2), requires_grad=True).requires_grad
torch.empty_strided((2, 3), (1, 2), dtype=torch.int64, requires_grad=True)
torch.empty_strided((1 << 40,), (1 << 40,))

# like another tensor
torch.zeros_like(iota(2, 3, dtype=torch.int64))
torch.ones_like(iota(2, 3).t())
torch.ones_like(iota(2, 3).t()).stride()
torch.zeros_like(iota(2, 3).t()).stride()
torch.empty_like(iota(2, 3).t()).stride()
torch.full_like(iota(2, 3).t(), 4).stride()
torch.zeros_like(iota(2, 3).t(), memory_format=torch.contiguous_format).stride()
torch.zeros_like(iota(2, 3).t(), memory_format=torch.preserve_format).stride()
torch.zeros_like(iota(2, 3, 4, 5), memory_format=torch.channels_last).stride()
torch.zeros_like(iota(2, 3, 4), memory_format=torch.channels_last)
torch.zeros_like(iota(2, 3), memory_format=3)
torch.zeros_like(iota(2, 3), dtype=torch.uint8)
torch.zeros_like(iota(2, 3)[:, ::2]).stride()
torch.zeros_like(iota(3).expand(2, 3)).stride()
torch.zeros_like(iota(2, 3, 4).permute(2, 0, 1)).stride()
torch.zeros_like(iota(2, 3).t(), device="meta").stride()
torch.zeros_like(iota(2, 3, 4).permute(2, 0, 1), device="meta").stride()
torch.zeros_like(iota(2, 3)[:, ::2], device="meta").stride()
torch.ones_like(iota(2, 3).t(), device="meta", memory_format=torch.contiguous_format).stride()
str(torch.zeros_like(iota(2), device="meta").device)
str(torch.empty_like(torch.zeros(2, device="meta")).device)
str(torch.full_like(torch.zeros(2, device="meta"), 1).device)
torch.zeros_like(torch.zeros(2, device="meta"), device="cpu")
torch.ones_like(torch.zeros(2, 3, device="meta").t(), device="cpu")
torch.ones_like(torch.zeros(2, 3, device="meta").t(), device="cpu").stride()
torch.full_like(iota(2), 1j)
torch.full_like(iota(2), 1 + 0j)
torch.full_like(iota(2), 1j, dtype=torch.complex64)
torch.full_like(iota(2), 300, dtype=torch.uint8)
torch.full_like(iota(2, dtype=torch.int64), 2.7)
torch.full_like(iota(2), torch.tensor(3))
torch.full_like(iota(2), torch.tensor([3]))
torch.full_like(iota(2), "3")
torch.full_like(iota(2))
torch.zeros_like([1])
torch.empty_like(3)
torch.ones_like(3.0)
torch.zeros_like(iota(2), layout="x")
error_name(lambda: torch.zeros_like(iota(2), pin_memory=True))
torch.zeros_like(iota(2, dtype=torch.int64), requires_grad=True)
metadata(torch.zeros_like(iota(2).requires_grad_()))
vmap(lambda x: torch.zeros_like(x) + x)(iota(2, 3))
vmap(lambda x: torch.ones_like(x))(iota(2, 3))
vmap(lambda x: torch.full_like(x, 2, dtype=torch.int64))(iota(2, 3))
vmap(lambda x: torch.ones_like(x), in_dims=1)(iota(2, 3))
vmap(vmap(lambda x: torch.ones_like(x)))(iota(2, 3))
vmap(lambda x: torch.zeros_like(x, memory_format=torch.contiguous_format))(iota(2, 3, 4)).stride()

# methods that begin with new_
iota(2, dtype=torch.int64).new_zeros(2, 3)
iota(2, dtype=torch.int64).new_zeros((2, 3))
iota(2, dtype=torch.int64).new_zeros(size=(2,), dtype=torch.float64)
iota(2).new_zeros()
iota(2).new_zeros(2, size=(2,))
iota(2).new_zeros(-1)
iota(2, dtype=torch.int64).new_ones(2)
iota(2).new_ones((2,), dtype=torch.bool)
iota(2, dtype=torch.int64).new_full((2,), 2.5)
iota(2, dtype=torch.uint8).new_full((2,), 300)
iota(2).new_full((2,), 1j)
iota(2).new_full((2,), 2.5, dtype=torch.int64)
iota(2).new_full((2,), torch.tensor(4))
iota(2).new_full((2,), "4")
iota(2).new_full(2, 4)
iota(2).new_empty(2, 3).shape
iota(2, dtype=torch.int64).new_empty((2,)).dtype == torch.int64
iota(2, dtype=torch.int64).new_empty_strided((2, 3), (1, 2)).stride()
iota(2, dtype=torch.int64).new_empty_strided((2, 3), (1, 2)).dtype == torch.int64
iota(2).new_empty_strided((2, 3), (1,))
iota(2, dtype=torch.int64).new_tensor([1.5, 2.5])
iota(2, dtype=torch.int64).new_tensor([1.5, 2.5], dtype=torch.float64)
iota(2).new_tensor([1, 2])
iota(2).new_tensor(1j)
iota(2).new_tensor([[1], [2, 3]])
with_warnings(iota(2).new_tensor, iota(2))
len(with_warnings(iota(2).new_tensor, [1])[0])
str(iota(2).new_zeros(2, device="meta").device)
str(torch.zeros(2, device="meta").new_zeros(2).device)
str(torch.zeros(2, device="meta").new_tensor([1.0]).device)
str(torch.zeros(2, device="meta").new_empty_strided((1,), (1,)).device)
torch.zeros(2, device="meta").new_full((2,), 3, device="cpu")
error_name(lambda: iota(2).new_ones(2, pin_memory=True))
iota(2, dtype=torch.int64).new_ones(2, requires_grad=True)
vmap(lambda x: x.new_zeros(2) + x)(iota(3, 2))
vmap(lambda x: x.new_ones(2, 2))(iota(3, 2))
vmap(lambda x: x.new_full((2,), 5, dtype=torch.int64), in_dims=1)(iota(3, 2))
vmap(vmap(lambda x: x.new_ones(2)))(iota(3, 2, 4))
vmap(lambda x, y: vmap(lambda z: x.new_ones(2) + z)(y))(iota(3), iota(3, 2))
vmap(lambda x: x.new_empty(4).shape[0] + x)(iota(3))

# a RuntimeError, as in PyTorch, and a MemoryError too
[issubclass(torch.OutOfMemoryError, RuntimeError)]
with differs("To have no memory is a MemoryError as well."):
    [issubclass(torch.OutOfMemoryError, MemoryError), torch.OutOfMemoryError.__module__]
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
