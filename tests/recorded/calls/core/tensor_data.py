"""Tensor data: calls of tensors and arguments (`ext/core`)."""

import math

import numpy as np

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import (
    differs,
    error_name,
    iota,
    metadata,
    sines,
    tangents,
    with_warnings,
)

# numbers
torch.tensor(1)
torch.tensor(True)
torch.tensor(1j)
torch.tensor(1.5, dtype=torch.float64)
torch.tensor(1.5, dtype=torch.int64)
torch.tensor(-1.5, dtype=torch.int32)
torch.tensor(1.5, dtype=torch.float16)
torch.tensor(1.5, dtype=torch.bfloat16)
torch.tensor(1.5, dtype=torch.complex64)
torch.tensor(1.5, dtype=torch.bool)
torch.tensor(7, dtype=torch.float32)
torch.tensor(7, dtype=torch.uint8)
torch.tensor(-1, dtype=torch.uint8)
torch.tensor(128, dtype=torch.int8)
torch.tensor(1j, dtype=torch.float32)
torch.tensor(1j, dtype=torch.bool)
torch.tensor(True, dtype=torch.float32)
torch.tensor(math.inf, dtype=torch.int64)
torch.tensor(math.nan, dtype=torch.int64)
torch.tensor(np.float16(1.5)).dtype == torch.float16
torch.tensor(np.bool_(True))
torch.tensor(np.complex64(1j))
torch.tensor(np.uint8(200))
torch.tensor(np.str_("3"))
torch.tensor("3")
torch.tensor(b"3")
torch.tensor(lambda: 0)
torch.tensor(np.float64(1.5), dtype=torch.int64)

# nested sequences
torch.tensor([])
torch.tensor([[]])
torch.tensor([[], []])
torch.tensor([], dtype=torch.int64)
torch.tensor(())
torch.tensor([1])
torch.tensor([1, 2.5])
torch.tensor([1, True])
torch.tensor([True, False])
torch.tensor([True, 2])
torch.tensor([1, 2j])
torch.tensor([1.5, 2, True])
torch.tensor([2, 1.5, True, 3])
torch.tensor([[1, 2], [3, 4]])
torch.tensor(((1, 2), [3, 4]))
torch.tensor([[1, 2], [3]])
torch.tensor([1, [2, 3]])
torch.tensor([[1, 2], [3, [4]]])
torch.tensor([[[1]], [[2]]])
torch.tensor([[1, 2], []])
with differs("torch looks at nothing behind an empty one"):
    torch.tensor([[], [1]])
torch.tensor(["a"])
torch.tensor([1, 2.5], dtype=torch.int64)
torch.tensor([1, 2], dtype=torch.float16)
torch.tensor([-1], dtype=torch.uint8)
torch.tensor([1 << 40], dtype=torch.int32)
torch.tensor([1, 2], dtype=torch.bool)
torch.tensor([1, 0], dtype=torch.complex64)
torch.tensor([1, 2.5, True], dtype=torch.float64)
torch.tensor([True, 1, 2.5], dtype=torch.float64)
torch.tensor([1, 2, True], dtype=torch.int64)
torch.tensor([True, 1, 2], dtype=torch.int64)
torch.tensor([1, 2, 2.7], dtype=torch.int64)
torch.tensor([1, 2, 3.0, 4], dtype=torch.int64)
torch.tensor((1, 2, 2.5), dtype=torch.float32)
torch.tensor((1, 2, 3), dtype=torch.int64)
torch.tensor([10**400], dtype=torch.float64)
torch.tensor(range(3))
torch.tensor([range(2), range(2)])
torch.tensor([range(0)])
torch.tensor([bytes(2)])
torch.tensor([torch.tensor(1), torch.tensor(2)])
torch.tensor([torch.tensor(1), 2.5])
torch.tensor([torch.tensor(1.5, dtype=torch.float64), 2])
torch.tensor([torch.tensor(1, dtype=torch.uint8), torch.tensor(1, dtype=torch.int8)])
torch.tensor([torch.tensor([1]), torch.tensor([2])])
torch.tensor([[torch.tensor(1)], [torch.tensor(2)]])
torch.tensor([np.arange(2), [5, 6]])
torch.tensor([[5, 6], np.arange(2)])
torch.tensor([np.arange(2), np.zeros((1, 2))])
with differs("arrays of one element are numbers"):
    torch.tensor([np.float32(2), np.array([1.0])])
torch.tensor([np.arange(2)], dtype=torch.float32)
torch.tensor([1] * 4095 + [2.5]).sum()
torch.tensor([1] * 4096 + [2.5]).sum()
torch.tensor([1] * 5000 + [2.5])[-1]
torch.tensor(__import__("functools").reduce(lambda x, _: [x], range(62), np.zeros((1, 2)))).dim()

@differs("This never ends in torch, which reads until an error comes.")
def tensor_torch():
    class Row:
        def __len__(self):
            return 2
        def __getitem__(self, i):
            return i
    return torch.tensor([Row(), Row()])

def list_tensor():
    class Row(list):
        pass
    return torch.tensor([Row([1, 2.5]), (3, 4)])

# tensors and arrays as data
torch.tensor(iota(2))
torch.tensor(iota(2), dtype=torch.int64)
torch.tensor(iota(2, 3).t())
with_warnings(torch.tensor, iota(2))
[x := iota(2), y := torch.tensor(x), y.data_ptr() == x.data_ptr()]
metadata(torch.tensor(iota(2), requires_grad=True))
torch.tensor(1.0, requires_grad=2)
torch.tensor(np.arange(6).reshape(2, 3).T)
torch.tensor(np.array(["a"]))
torch.tensor(np.array([None]))
torch.tensor(np.array([1], dtype=np.uint16))
torch.tensor([1.0, 2.0], device="cpu")
str(torch.tensor([1.0, 2.0], device="meta").device)
torch.tensor([1.0], device="nowhere")
error_name(lambda: torch.tensor([1.0], pin_memory=True))
torch.tensor([1.0], dtype="float")
torch.tensor()
torch.tensor([1.0], [2.0])

# without a copy
torch.as_tensor(np.arange(4)[::-1])
torch.as_tensor(np.arange(3, dtype=">f8"))
metadata(torch.as_tensor(iota(2).requires_grad_(), dtype=torch.float64))
torch.as_tensor(np.arange(2), dtype=torch.float32, device="meta").dtype == torch.float32
vmap(lambda x: torch.as_tensor(x, dtype=torch.int64))(iota(3, 2))
tangents(lambda x: torch.as_tensor(x, dtype=torch.float32).to(torch.float64), sines(2))
torch.asarray(np.float32(3)).dtype == torch.float32
torch.asarray(np.float32(3), copy=False)
torch.asarray(iota(2), dtype=torch.float64, copy=False)
torch.asarray(3, copy=False)
metadata(torch.asarray(iota(2).requires_grad_(), requires_grad=False, dtype=torch.float64))
torch.asarray(np.arange(4)[::-1])
torch.asarray(np.arange(3.0), dtype=torch.float32, copy=False)
torch.asarray(bytes([0, 0, 128, 63]))
str(torch.asarray(iota(2), device="meta").device)
torch.asarray(iota(2), device="meta", copy=False)
torch.asarray("12")

# bytes as they are
torch.frombuffer(bytearray([1, 0, 2]), dtype=torch.float64)
torch.frombuffer(b"", dtype=torch.uint8)
torch.frombuffer(3, dtype=torch.uint8)
torch.frombuffer(bytearray(8))
torch.frombuffer(bytearray(8), dtype=None)
torch.frombuffer(memoryview(bytearray(8))[::2], dtype=torch.uint8)
torch.frombuffer(bytearray(16), dtype=torch.int32, offset=1, count=1)
with differs("Torch doesn't know which memory is read-only."):
    torch.frombuffer(bytes(4), dtype=torch.uint8).add_(1)

# the class
torch.Tensor(2, 3).shape
torch.Tensor().shape
torch.Tensor([1, [2]])
