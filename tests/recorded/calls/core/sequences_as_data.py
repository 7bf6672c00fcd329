"""Sequences as data: calls of tensors and arguments (`ext/core`)."""

import math

import numpy as np

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import differs, error_name, iota, metadata, with_warnings


# data of odd kinds, and the device that it goes to
def len_tensor():
    class L:
        def __len__(self):
            return 2
    return torch.tensor(L())

@differs("What has items and no length is no sequence.")
def getitem_index_error():
    class L:
        def __getitem__(self, i):
            raise IndexError
    return torch.tensor(L())

@differs("This never ends in torch, which reads until an error comes.")
def outer_getitem():
    class Outer:
        def __len__(self):
            return 2
        def __getitem__(self, i):
            return [i, i + 0.5]
    return torch.tensor(Outer())

@differs("This never ends in torch, which reads until an error comes.")
def outer_getitem_2():
    class Outer:
        def __len__(self):
            return 2
        def __getitem__(self, i):
            return i if i < 2 else 1j
    return torch.tensor([Outer(), [5, 6]])

torch.tensor([1, np.array([1, 2])])
torch.tensor([[1], np.array([1, 2])])
torch.tensor(iota(2), dtype=torch.bool)
torch.tensor(np.arange(3), dtype=torch.bool)
with differs("Torch has other classes of errors for integers."):
    torch.tensor([iota(2)[1]], dtype=torch.bool)
torch.as_tensor(iota(2), dtype=torch.bool, device="meta").dtype == torch.bool
torch.as_tensor(iota(2), dtype=torch.bool)
torch.asarray(iota(2), dtype=torch.bool)
torch.asarray(iota(2), dtype=torch.bool, copy=False)
torch.asarray(iota(2), dtype=torch.bool, copy=True)
vmap(lambda x: torch.asarray(x, dtype=torch.int64))(iota(3, 2))

def device_asarray():
    with torch.device("meta"):
        x = [torch.asarray([1], device="cpu"), torch.as_tensor([1], device="cpu"),
            torch.tensor([1], device="cpu"), torch.asarray(3, device="cpu")]
    return [str(y.device) for y in x]

def device_as_tensor():
    with torch.device("cpu"):
        x = [torch.asarray([1], device="meta"), torch.as_tensor([1], device="meta"),
            torch.asarray([1]), error_name(torch.as_tensor, torch.zeros(1, device="meta"))]
    return [*[str(y.device) for y in x[:3]], x[3]]

torch.frombuffer(bytearray(5), dtype=torch.int32, offset=1)
torch.frombuffer(bytearray(10), dtype=torch.float64, offset=2)
torch.frombuffer(memoryview(bytearray(range(16)))[1:], dtype=torch.int32, offset=3, count=1)

@differs("Torch has none for truth values.")
def by_default_to_complex():
    def by_default(dtype, f):
        old = torch.get_default_dtype()
        torch.set_default_dtype(dtype)
        try:
            return f()
        finally:
            torch.set_default_dtype(old)
    return by_default(torch.float64, lambda: [k.to_complex() == torch.complex64
        for k in (torch.float16, torch.bfloat16, torch.float32, torch.complex64)]
        + [k.to_complex() == torch.complex128 for k in (torch.bool, torch.int64, torch.float64,
        torch.complex128)])

with differs("Torch has none for truth values."):
    [k.to_complex() == torch.complex64 for k in (torch.bool, torch.uint8, torch.int64,
        torch.float16, torch.bfloat16, torch.float32, torch.complex64)]

# devices of what is taken over
torch.asarray(torch.zeros(2, device="meta")).device.type
torch.asarray(torch.zeros(2)).device.type

def device_asarray_2():
    torch.set_default_device(None)
    return [torch.asarray(torch.zeros(2, device="meta")).device.type, torch.zeros(1).device.type]

# from data
torch.tensor([[1, 2], [3]])
torch.tensor([[1, 2], 3])
torch.tensor([1, [2]])
torch.tensor([[1], [2, 3]])
torch.tensor([[], []]).shape
with differs("torch forgets the 1"):
    torch.tensor([[], [1]])
torch.tensor([]).dtype
torch.tensor(())
torch.tensor([[[]]]).shape
torch.tensor(["x"])
torch.tensor("x")
torch.tensor(b"x")
torch.tensor([None])
torch.tensor(None)
torch.tensor({})
torch.tensor({1: 2})
torch.tensor([1, 2.5, True])
torch.tensor([True, 2])
torch.tensor([True, False]).dtype
torch.tensor([1, 2j])
torch.tensor([1, 2j], dtype=torch.float32)
torch.tensor([1.5, 2j], dtype=torch.bool)
torch.tensor(1j, dtype=torch.int64)
torch.tensor([2**63])
torch.tensor([2**63], dtype=torch.int64)
torch.tensor([-(2**63)])
torch.tensor([-(2**63) - 1])
torch.tensor([2**63 - 1])
torch.tensor([1.5, 2**63])
torch.tensor([2**70], dtype=torch.float64)
torch.tensor([1, 2**63, 3])
torch.tensor([1e40])
torch.tensor([1e40], dtype=torch.float64)
torch.tensor([1e300 * 10, 2])
torch.tensor([300], dtype=torch.uint8)
torch.tensor([-1], dtype=torch.uint8)
torch.tensor([1.9, -1.9], dtype=torch.int64)
torch.tensor([math.nan, 0.0, 2.0], dtype=torch.bool)
torch.tensor([70000.0], dtype=torch.float16)
torch.tensor([1, torch.tensor(2), torch.tensor([3])])
with differs("the type of error as of other lengths"):
    torch.tensor([torch.tensor([1, 2])])
    torch.tensor([torch.tensor([1, 2]), torch.tensor([3, 4])])
torch.tensor([torch.tensor(1.5, dtype=torch.float64), 2])
torch.tensor([torch.tensor(1), torch.tensor(2.5)]).dtype
torch.tensor([np.float64(1), 2]).dtype
torch.tensor([np.float32(1), np.float64(2)]).dtype
torch.tensor([np.int8(1), 2]).dtype
torch.tensor([np.int32(1), np.int32(2)]).dtype
torch.tensor([np.bool_(True), np.bool_(False)]).dtype
torch.tensor([np.array([1, 2]), np.array([3, 4])])
torch.tensor([np.array([1, 2]), [3, 4]])
torch.tensor([np.array([1, 2]), [3, 4.5]])
torch.tensor([[1, 2], np.array([3, 4])])
torch.tensor([np.array([1, 2]), np.array([3])])
torch.tensor([np.array([[1, 2]]), np.array([3, 4])])
torch.tensor([np.array([1, 2], dtype=">i4"), np.array([3, 4], dtype=">i4")])
with differs("what torch can't show is copied"):
    torch.tensor(np.arange(3, dtype=">f8"))
    torch.tensor(np.arange(6.0)[::-1])
torch.tensor(np.arange(6.0).reshape(2, 3).T).stride()
torch.tensor(np.arange(6.0).reshape(2, 3)[:, ::2])
torch.tensor(np.float64(2)).dtype
torch.tensor(np.array(2.0))
torch.tensor(range(3))
torch.tensor([range(2), range(2, 4)])

def seq_list():
    class Seq(list):
        pass
    return torch.tensor(Seq([1, 2])), torch.tensor([Seq([1]), (2,)])

def len_getitem():
    class Odd:
        def __len__(self):
            return 2
        def __getitem__(self, i):
            return [3, 4][i]
    return torch.tensor(Odd())

@differs("The length is what the sequence says.")
def short_len():
    class Short(list):
        def __len__(self):
            return 2
    return torch.tensor(Short([1, 2, 3]))

@differs("objects that give arrays")
def old_array():
    class Old:
        def __array__(self, dtype=None, copy=None):
            return np.array([1.0, 2.0])
    return torch.tensor(Old())

torch.tensor([1.0] * 300).sum()
torch.tensor([[1, 2.0]] * 300).sum()
torch.tensor([True] * 5000).sum()
torch.tensor([[True]] * 600).sum()
torch.tensor([1] * 4096 + [2.5]).dtype, torch.tensor([1.0] * 4096 + [2j]).dtype
torch.tensor([1, 2], dtype=torch.float32, requires_grad=True).requires_grad
torch.tensor([1, 2], requires_grad=True)
torch.tensor([1.0], requires_grad=1)
torch.tensor([1.0], device="meta").device
with_warnings(lambda: torch.tensor(iota(2)))
metadata(torch.tensor(iota(2).requires_grad_()))
with differs("torch detaches in place"):
    vmap(lambda x: torch.tensor(x) * 2)(iota(2, 3))
torch.as_tensor(np.arange(3.0))
[x := np.zeros(2), torch.as_tensor(x).fill_(1), x.tolist()]
[x := np.zeros(2), torch.as_tensor(x, dtype=torch.float32).fill_(1), x.tolist()]
[x := iota(2), torch.as_tensor(x) is x, torch.as_tensor(x, dtype=torch.float32) is x,
    torch.as_tensor(x, dtype=torch.float64) is x]
metadata(torch.as_tensor(iota(2).requires_grad_(), dtype=torch.float64))
torch.as_tensor([1, 2], dtype=torch.float64)
torch.as_tensor(iota(2), device="meta").device
torch.asarray([1, 2])
torch.asarray([1, 2], copy=False)
torch.asarray([1.0], requires_grad=True).requires_grad
[x := iota(2), torch.asarray(x) is x, torch.asarray(x, copy=True) is x,
    torch.asarray(x, copy=False) is x]
torch.asarray(iota(2), dtype=torch.float64, copy=False)
[x := np.zeros(2), torch.asarray(x, copy=False).fill_(1), x.tolist()]
[x := np.zeros(2), torch.asarray(x, copy=True).fill_(1), x.tolist()]
[x := np.zeros(2), torch.asarray(x).fill_(1), x.tolist()]
metadata(torch.asarray(iota(2).requires_grad_()))
metadata(torch.asarray(iota(2).requires_grad_() * 1, requires_grad=False))
[x := torch.asarray(iota(2), requires_grad=True), x.is_leaf, x.requires_grad, x.grad_fn]
metadata(torch.asarray(iota(2).requires_grad_() * 1, requires_grad=True))
metadata(torch.asarray(iota(2).requires_grad_(), requires_grad=True, dtype=torch.float64))
metadata(torch.asarray(iota(2).requires_grad_() * 1, requires_grad=True, copy=True))
torch.asarray(iota(2), device="meta", copy=False)
torch.asarray(iota(2), device="meta").device
torch.asarray(bytearray(4), dtype=torch.int16)
torch.asarray(bytearray(8)).dtype
torch.asarray(bytearray(3), dtype=torch.int16)
torch.frombuffer(bytearray(range(8)), dtype=torch.uint8, count=3)
torch.frombuffer(bytearray(range(8)), dtype=torch.uint8, offset=6)
torch.frombuffer(bytearray(range(8)), dtype=torch.uint8, count=2, offset=7)
torch.frombuffer(bytearray(range(8)), dtype=torch.uint8, count=1, offset=7)
torch.frombuffer(bytearray(range(8)), dtype=torch.uint8, offset=8)
torch.frombuffer(bytearray(range(8)), dtype=torch.uint8, offset=-1)
torch.frombuffer(bytearray(range(8)), dtype=torch.uint8, count=0)
torch.frombuffer(bytearray(range(8)), dtype=torch.uint8, count=-5)
torch.frombuffer(bytearray(range(7)), dtype=torch.int16)
torch.frombuffer(bytearray(range(8)), dtype=torch.int16, count=5)
torch.frombuffer(bytearray(range(8)), dtype=torch.int16, count=4)
torch.frombuffer(bytearray(range(8)), dtype=torch.int16, offset=2)
torch.frombuffer(bytearray(range(8)), dtype=torch.int32, offset=2)
torch.frombuffer(bytearray(range(8)), dtype=torch.int16, offset=1, count=2)
torch.frombuffer(bytearray(), dtype=torch.uint8)
torch.frombuffer([1, 2], dtype=torch.uint8)
torch.frombuffer(bytearray(4), dtype=torch.float32, requires_grad=True).requires_grad
torch.frombuffer(bytearray(4), dtype=torch.int32, requires_grad=True)
[x := bytearray(4), torch.frombuffer(x, dtype=torch.uint8).fill_(7).sum(), list(x)]
torch.Tensor([1, 2]).dtype, torch.Tensor(2, 3).shape, torch.Tensor(torch.tensor([1.5])).dtype
