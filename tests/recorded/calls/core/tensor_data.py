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
torch.tensor(1.5)
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
torch.tensor(0.0, dtype=torch.bool)
torch.tensor(7, dtype=torch.float32)
torch.tensor(7, dtype=torch.uint8)
torch.tensor(256, dtype=torch.uint8)
torch.tensor(-1, dtype=torch.uint8)
torch.tensor(-1, dtype=torch.int8)
torch.tensor(128, dtype=torch.int8)
torch.tensor(1 << 31, dtype=torch.int32)
torch.tensor(1 << 63)
torch.tensor(-(1 << 63))
torch.tensor(-(1 << 63) - 1)
torch.tensor(1 << 63, dtype=torch.float32)
torch.tensor(1 << 70, dtype=torch.float32)
torch.tensor(1 << 63, dtype=torch.int64)
torch.tensor(1 << 63, dtype=torch.uint8)
torch.tensor(1 << 63, dtype=torch.bool)
torch.tensor(1j, dtype=torch.float32)
torch.tensor(1j, dtype=torch.int64)
torch.tensor(1j, dtype=torch.bool)
torch.tensor(0j, dtype=torch.bool)
torch.tensor(1 + 0j, dtype=torch.float32)
torch.tensor(True, dtype=torch.float32)
torch.tensor(math.inf, dtype=torch.int64)
torch.tensor(math.nan, dtype=torch.int64)
torch.tensor(1e39)
torch.tensor(1e5, dtype=torch.float16)
torch.tensor(np.float64(1.5)).dtype == torch.float64
torch.tensor(np.float32(1.5)).dtype == torch.float32
torch.tensor(np.float16(1.5)).dtype == torch.float16
torch.tensor(np.int8(3)).dtype == torch.int8
torch.tensor(np.bool_(True))
torch.tensor(np.complex64(1j))
torch.tensor(np.uint8(200))
torch.tensor(np.str_("3"))
torch.tensor(None)
torch.tensor("3")
torch.tensor(b"3")
torch.tensor({})
torch.tensor({1: 2})
torch.tensor({1})
torch.tensor(object())
torch.tensor(lambda: 0)
torch.tensor(np.float64(1.5), dtype=torch.int64)
with differs("not cut off in silence"):
    torch.tensor(np.complex64(1j), dtype=torch.float32)
torch.tensor(np.int64(300), dtype=torch.uint8)

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
torch.tensor([True, 2.5])
torch.tensor([1, 2j])
torch.tensor([1.5, 2j])
torch.tensor([1.5, 2, True])
torch.tensor([2, 1.5, True, 3])
torch.tensor([[1, 2], [3, 4]])
torch.tensor([[1, 2], [3.5, 4]])
torch.tensor(((1, 2), [3, 4]))
torch.tensor([[1, 2], [3]])
torch.tensor([[1], [2, 3]])
torch.tensor([[1, 2], 3])
torch.tensor([1, [2, 3]])
torch.tensor([[1, 2], [3, [4]]])
torch.tensor([[[1]], [[2]]])
torch.tensor([[1, 2], []])
with differs("torch looks at nothing behind an empty one"):
    torch.tensor([[], [1]])
torch.tensor([1, None])
torch.tensor([None])
torch.tensor([1, "2"])
torch.tensor(["a"])
torch.tensor([["a", 1]])
torch.tensor([1, {}])
torch.tensor([1 << 63])
torch.tensor([1, 1 << 63])
torch.tensor([1.0, 1 << 63])
torch.tensor([1.0, 1 << 70])
torch.tensor([1, 2.5], dtype=torch.int64)
torch.tensor([1, 2], dtype=torch.float16)
torch.tensor([300], dtype=torch.uint8)
torch.tensor([-1], dtype=torch.uint8)
torch.tensor([1 << 40], dtype=torch.int32)
torch.tensor([1j], dtype=torch.float32)
torch.tensor([1, 2], dtype=torch.bool)
torch.tensor([0, 0.5], dtype=torch.bool)
torch.tensor([1, 0], dtype=torch.complex64)
torch.tensor([1, 2.5, True], dtype=torch.float64)
torch.tensor([True, 1, 2.5], dtype=torch.float64)
torch.tensor([1, 2, True], dtype=torch.int64)
torch.tensor([True, 1, 2], dtype=torch.int64)
torch.tensor([1, 2, 2.7], dtype=torch.int64)
torch.tensor([1, 2, 3.0, 4], dtype=torch.int64)
torch.tensor((1, 2, 2.5), dtype=torch.float32)
torch.tensor((1, 2, 3), dtype=torch.int64)
torch.tensor((1, 2, 1 << 64), dtype=torch.int64)
torch.tensor([1, 2, 1 << 64], dtype=torch.float64)
torch.tensor([10**400], dtype=torch.float64)
torch.tensor([10**400], dtype=torch.float32)
torch.tensor(range(3))
torch.tensor([range(2), range(2)])
torch.tensor([range(2), range(3)])
torch.tensor([range(0)])
torch.tensor("12")
torch.tensor([bytes(2)])
torch.tensor([torch.tensor(1), torch.tensor(2)])
torch.tensor([torch.tensor(1), 2.5])
torch.tensor([torch.tensor(1.5, dtype=torch.float64), 2])
torch.tensor([torch.tensor(1, dtype=torch.uint8), torch.tensor(1, dtype=torch.int8)])
torch.tensor([torch.tensor([1]), torch.tensor([2])])
with differs("torch has other classes of errors for integers"):
    torch.tensor([torch.tensor([1, 2])])
torch.tensor([[torch.tensor(1)], [torch.tensor(2)]])
with differs("Torch has other classes of errors for integers."):
    torch.tensor([torch.tensor(1j)], dtype=torch.float32)
    torch.tensor([torch.tensor([1, 2]), torch.tensor([3, 4])])
torch.tensor([np.float64(1), np.float32(2)]).dtype == torch.float64
torch.tensor([np.float32(1), 2]).dtype == torch.float32
torch.tensor([np.int32(1), 2]).dtype == torch.int64
torch.tensor([np.int8(1), np.int16(2)]).dtype == torch.int16
torch.tensor([np.arange(2), np.arange(2)])
torch.tensor([np.arange(2), [5, 6]])
torch.tensor([[5, 6], np.arange(2)])
torch.tensor([np.arange(2), np.arange(3)])
torch.tensor([np.arange(2), np.zeros((1, 2))])
torch.tensor([np.zeros((2, 3)), np.ones((2, 3))])
torch.tensor([np.zeros((2, 3)), np.ones((3, 2))])
with differs("arrays of one element are numbers"):
    torch.tensor([np.float32(2), np.array([1.0])])
    torch.tensor([[np.array(1.0)], [2]])
torch.tensor([np.arange(4)[::2], np.arange(4)[::-2]])
torch.tensor([np.arange(2, dtype=">i4"), [1, 2]])
torch.tensor([np.arange(2), [1, 2.5]])
torch.tensor([np.arange(2)], dtype=torch.float32)
torch.tensor(list(range(5000)))[[0, 4094, 4095, 4096, 4999]]
torch.tensor([1] * 4095 + [2.5]).sum()
torch.tensor([1] * 4096 + [2.5]).sum()
torch.tensor([1] * 5000 + [2.5])[-1]
torch.tensor([True] * 300 + [2])[-1]
torch.tensor([[k, 0.5] for k in range(600)])[[0, 254, 255, 256, 599], 0]
torch.tensor([[k] for k in range(600)]).sum()
torch.tensor([2j] * 300).sum()
torch.tensor(__import__("functools").reduce(lambda x, _: [x], range(63), [])).dim()
torch.tensor(__import__("functools").reduce(lambda x, _: [x], range(64), 1)).dim()
with differs("A tensor has at most 64 dimensions here."):
    torch.tensor(__import__("functools").reduce(lambda x, _: [x], range(65), 1))
    torch.tensor(__import__("functools").reduce(lambda x, _: [x], range(63), np.zeros((1, 2))))
torch.tensor(__import__("functools").reduce(lambda x, _: [x], range(62), np.zeros((1, 2)))).dim()

def length_index_error():
    class Row:
        def __init__(self, n, length=None):
            self.n, self.length = n, n if length is None else length
        def __len__(self):
            return self.length
        def __getitem__(self, i):
            if i >= self.n:
                raise IndexError(i)
            return i + 0.5
    return torch.tensor(Row(3))

@differs("This never ends in torch, which reads until an error comes.")
def len_getitem():
    class Row:
        def __len__(self):
            return 2
        def __getitem__(self, i):
            return i
    return torch.tensor([Row(), Row()])

def row_list():
    class Row(list):
        pass
    return torch.tensor(Row([1, 2.5]))

def row_list_2():
    class Row(list):
        pass
    return torch.tensor([Row([1, 2.5]), (3, 4)])

def number_float():
    class Number(float):
        pass
    return torch.tensor([Number(2), 3])

def number_int():
    class Number(int):
        pass
    return torch.tensor([Number(2), 3])

def number_complex():
    class Number(complex):
        pass
    return torch.tensor([Number(2), 3])

@differs("What gives an array is one.")
def array_arange():
    class Array:
        def __array__(self, dtype=None, copy=None):
            return np.arange(3.0)
    return torch.tensor(Array())

@differs("What gives an array is one.")
def array_arange_2():
    class Array:
        def __array__(self, dtype=None, copy=None):
            return np.arange(3.0)
    return torch.tensor(Array(), dtype=torch.int64)

def list_array():
    class List(list):
        def __array__(self, dtype=None, copy=None):
            return np.arange(3.0)
    return torch.tensor(List([1, 2]))

# tensors and arrays as data
torch.tensor(iota(2))
torch.tensor(iota(2), dtype=torch.int64)
torch.tensor(iota(2, 3).t())
torch.tensor(iota(2, 3).t()).stride()
with_warnings(torch.tensor, iota(2))
with_warnings(torch.tensor, [iota(1)])[1]
len(with_warnings(torch.tensor, np.arange(2))[0])
len(with_warnings(torch.as_tensor, iota(2))[0])
[x := iota(2), y := torch.tensor(x), y.data_ptr() == x.data_ptr()]
metadata(torch.tensor(iota(2).requires_grad_()))
metadata(torch.tensor(iota(2), requires_grad=True))
torch.tensor([1], requires_grad=True)
torch.tensor(1.0, requires_grad=2)
torch.tensor(np.arange(3))
torch.tensor(np.arange(6).reshape(2, 3).T)
with differs("arrays that torch can't take are copied, as `tensor` copies anyway"):
    torch.tensor(np.arange(6)[::-2])
torch.tensor(np.arange(6)[::2])
with differs("Arrays that torch can't take are copied, as `tensor` copies anyway."):
    torch.tensor(np.arange(6).reshape(2, 3)[:, ::-1])
torch.tensor(np.array(1.5))
torch.tensor(np.zeros((0, 3)))
torch.tensor(np.zeros((0, 3))[:, ::-1])
with differs("Arrays that torch can't take are copied, as `tensor` copies anyway."):
    torch.tensor(np.arange(3, dtype=">f8"))
    torch.tensor(np.arange(3, dtype=">f8"), dtype=torch.float32)
torch.tensor(np.array(["a"]))
torch.tensor(np.array([None]))
with differs("There are no uint16 and uint32 here."):
    torch.tensor(np.array([1], dtype=np.uint16))
torch.tensor(np.arange(3), dtype=torch.uint8)
torch.tensor(np.frombuffer(bytes(range(9)), dtype=np.uint8)[1:].view("<i4"))
torch.tensor(np.array([(1, 2.5)], dtype=[("a", "<i4"), ("b", "<f8")])["a"])
with differs("Arrays that torch can't take are copied, as `tensor` copies anyway."):
    torch.tensor(np.zeros(2, dtype=[("a", "u1"), ("b", "<i4")])["b"])
[x := np.arange(3.0), y := torch.tensor(x), y.add_(1), x[0]]
torch.tensor([1.0, 2.0], device="cpu")
str(torch.tensor([1.0, 2.0], device="meta").device)
str(torch.tensor(torch.zeros(2, device="meta")).device)
torch.tensor([1.0], device="nowhere")
error_name(lambda: torch.tensor([1.0], pin_memory=True))
torch.tensor([1.0], dtype="float")
torch.tensor()
torch.tensor([1.0], [2.0])
vmap(lambda x: torch.tensor([1.0, 2.0]) + x)(iota(3, 2))

# without a copy
torch.as_tensor([1, 2.5])
torch.as_tensor(3)
torch.as_tensor(3, dtype=torch.float32)
torch.as_tensor([1, 2], dtype=torch.float32)
with differs("What is meant is clear."):
    torch.as_tensor([1, 2], torch.float32)
[x := iota(2), torch.as_tensor(x) is x, torch.as_tensor(x, dtype=torch.float32) is x,
    torch.as_tensor(x, dtype=torch.float64) is x]
[x := np.arange(3.0), y := torch.as_tensor(x), y.add_(1), x[0]]
[x := np.arange(3.0), y := torch.as_tensor(x, dtype=torch.float64), y.add_(1), x[0]]
[x := np.arange(3.0), y := torch.as_tensor(x, dtype=torch.float32), y.add_(1), x[0]]
torch.as_tensor(np.arange(4)[::-1])
torch.as_tensor(np.arange(3, dtype=">f8"))
metadata(torch.as_tensor(iota(2).requires_grad_(), dtype=torch.float64))
metadata(torch.as_tensor(iota(2), dtype=torch.float64))
str(torch.as_tensor(iota(2), device="meta").device)
torch.as_tensor(iota(2), dtype=torch.int64, device="meta").dtype == torch.int64
str(torch.as_tensor([1.0], device="meta").device)
str(torch.as_tensor(np.arange(2), device="meta").device)
torch.as_tensor(np.arange(2), dtype=torch.float32, device="meta").dtype == torch.float32
torch.as_tensor(torch.zeros(2, device="meta")).shape
torch.as_tensor("12")
torch.as_tensor(None)
vmap(lambda x: torch.as_tensor(x, dtype=torch.int64))(iota(3, 2))
tangents(lambda x: torch.as_tensor(x, dtype=torch.float32).to(torch.float64), sines(2))
torch.asarray([1, 2.5])
torch.asarray(3)
torch.asarray(True)
torch.asarray(np.float32(3)).dtype == torch.float32
torch.asarray(np.float32(3), copy=False)
[x := iota(2), torch.asarray(x) is x, torch.asarray(x, copy=True).data_ptr() == x.data_ptr()]
[x := iota(2), torch.asarray(x, copy=False).data_ptr() == x.data_ptr(),
    torch.asarray(x, copy=False) is x]
[x := iota(2), torch.asarray(x, dtype=torch.float64).dtype == torch.float64,
    torch.asarray(x, dtype=torch.float32) is x]
torch.asarray(iota(2), dtype=torch.float64, copy=False)
torch.asarray(iota(2), dtype=torch.float32, copy=False)
torch.asarray(iota(2), dtype=torch.int64, copy=True)
torch.asarray([1, 2], copy=False)
torch.asarray([1, 2], copy=True)
torch.asarray([1, 2], dtype=torch.float16)
torch.asarray(3, copy=False)
metadata(torch.asarray([1.0], requires_grad=True))
metadata(torch.asarray([1.0], requires_grad=False))
torch.asarray([1], requires_grad=True)
with differs("torch makes a view of it, and changes its operand"):
    metadata(torch.asarray(iota(2), requires_grad=True))
    [x := iota(2), metadata(torch.asarray(x, requires_grad=True)), x.requires_grad]
metadata(torch.asarray(iota(2).requires_grad_()))
[x := iota(2).requires_grad_(), torch.asarray(x, requires_grad=True) is x, torch.asarray(x) is x]
with differs("Torch makes a view of it, and changes its operand."):
    metadata(torch.asarray(iota(2).requires_grad_(), requires_grad=False))
    [x := iota(2).requires_grad_(), torch.asarray(x,
        requires_grad=False).data_ptr() == x.data_ptr(), x.requires_grad]
metadata(torch.asarray(iota(2).requires_grad_(), requires_grad=True, copy=True))
metadata(torch.asarray(iota(2).requires_grad_(), requires_grad=True, dtype=torch.float64))
metadata(torch.asarray(iota(2).requires_grad_(), requires_grad=False, dtype=torch.float64))
metadata(torch.asarray(iota(2).requires_grad_(), requires_grad=False, copy=True))
metadata(torch.asarray(iota(2).requires_grad_() * 1))
metadata(torch.asarray(iota(2).requires_grad_() * 1, requires_grad=True, copy=True))
[x := np.arange(3.0), y := torch.asarray(x), y.add_(1), x[0]]
[x := np.arange(3.0), y := torch.asarray(x, copy=True), y.add_(1), x[0]]
[x := np.arange(3.0), y := torch.asarray(x, copy=False), y.add_(1), x[0]]
[x := np.arange(3.0), y := torch.asarray(x, dtype=torch.float32), y.add_(1), x[0]]
with differs("Arrays that torch can't take are copied, as `tensor` copies anyway."):
    torch.asarray(np.arange(4)[::-1], copy=True)
torch.asarray(np.arange(4)[::-1])
torch.asarray(np.arange(4)[::-1], copy=False)
torch.asarray(np.arange(3.0), dtype=torch.float32, copy=False)
torch.asarray(bytearray([1, 0, 2, 0]), dtype=torch.int16)
torch.asarray(bytes([0, 0, 128, 63]))
torch.asarray(bytearray([1, 0, 2]), dtype=torch.int16)
[x := bytearray(4), y := torch.asarray(x, dtype=torch.uint8), y.add_(1), x[0]]
torch.asarray(bytearray(4), dtype=torch.uint8, requires_grad=True)
torch.asarray(__import__("array").array("i", [1, 2]), dtype=torch.int32)
str(torch.asarray(iota(2), device="meta").device)
torch.asarray(iota(2), device="meta", copy=False)
torch.asarray([1.0], device="meta", copy=False)
str(torch.asarray([1.0], device="meta").device)
metadata(torch.asarray([1.0], device="meta", requires_grad=True))
torch.asarray(iota(2), device="cpu").shape
torch.asarray("12")
torch.asarray(None)
torch.asarray(range(3))
[x := iota(2, 3).t(), torch.asarray(x, copy=True).stride()]
vmap(lambda x: torch.asarray(x, copy=True) + 1)(iota(3, 2))

# bytes as they are
torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.int16)
torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.uint8)
torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.int16, count=1)
torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.int16, count=2)
torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.int16, count=3)
torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.int16, count=0)
torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.int16, count=-1)
torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.int16, offset=2)
torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.uint8, offset=3)
torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.uint8, offset=4)
torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.uint8, offset=5)
torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.uint8, offset=-1)
torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.uint8, offset=0, count=4)
torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.uint8, offset=1, count=3)
torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.uint8, offset=1, count=4)
torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.int16, offset=2, count=2)
torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.int16, offset=3)
torch.frombuffer(bytearray([1, 0, 2, 0]), dtype=torch.int16, offset=3, count=1)
torch.frombuffer(bytearray([1, 0, 2]), dtype=torch.int16)
torch.frombuffer(bytearray([1, 0, 2]), dtype=torch.int16, count=1)
torch.frombuffer(bytearray([1, 0, 2]), dtype=torch.float64)
torch.frombuffer(bytearray(), dtype=torch.uint8)
torch.frombuffer(b"", dtype=torch.uint8)
torch.frombuffer(3, dtype=torch.uint8)
torch.frombuffer([1], dtype=torch.uint8)
torch.frombuffer(bytearray(4), dtype=torch.uint8)[1:].storage_offset()
torch.frombuffer(bytearray(16), dtype=torch.int32, offset=4).storage_offset()
torch.frombuffer(bytearray(16), dtype=torch.int32, offset=4).untyped_storage().nbytes()
torch.frombuffer(bytearray(8), dtype=torch.float32, requires_grad=True).requires_grad
torch.frombuffer(bytearray(8), dtype=torch.int32, requires_grad=True)
torch.frombuffer(bytearray(8))
torch.frombuffer(bytearray(8), dtype=None)
torch.frombuffer(memoryview(bytearray(8))[::2], dtype=torch.uint8)
torch.frombuffer(memoryview(bytearray(range(8)))[2:6], dtype=torch.uint8)
torch.frombuffer(bytearray(16), dtype=torch.int32, offset=1, count=1)
torch.frombuffer(bytearray(32), dtype=torch.complex128, offset=8, count=1)
torch.frombuffer(bytearray(32), dtype=torch.complex128, offset=4, count=1)
[x := bytearray(4), y := torch.frombuffer(x, dtype=torch.uint8), y.add_(1), x[0]]
with differs("Torch doesn't know which memory is read-only."):
    torch.frombuffer(bytes(4), dtype=torch.uint8).add_(1)

# the class
torch.Tensor([1, 2])
torch.Tensor([1.5])
torch.Tensor([True])
torch.Tensor([[1], [2]])
torch.Tensor(2, 3).shape
torch.Tensor().shape
torch.Tensor(np.arange(2))
torch.Tensor(iota(2)).dtype == torch.float32
torch.Tensor([1, [2]])
torch.Tensor("12")
