"""Sequences as data: calls of tensors and arguments (`ext/core`)."""

import math

import numpy as np

import autograd_cy as torch
from autograd_cy.func import vmap
from tests.recorded.inputs import differs, error_name, iota, with_warnings


# data of odd kinds, and the device that it goes to
def tensor_torch():
    class L:
        def __len__(self):
            return 2
    return torch.tensor(L())

@differs("What has items and no length is no sequence.")
def tensor_index_error():
    class L:
        def __getitem__(self, i):
            raise IndexError
    return torch.tensor(L())

torch.tensor([1, np.array([1, 2])])
torch.tensor(iota(2), dtype=torch.bool)
torch.as_tensor(iota(2), dtype=torch.bool)
torch.asarray(iota(2), dtype=torch.bool, copy=False)
vmap(lambda x: torch.asarray(x, dtype=torch.int64))(iota(3, 2))

def device_as_tensor():
    with torch.device("cpu"):
        x = [torch.asarray([1], device="meta"), torch.as_tensor([1], device="meta"),
            torch.asarray([1]), error_name(torch.as_tensor, torch.zeros(1, device="meta"))]
    return [*[str(y.device) for y in x[:3]], x[3]]

@differs("Torch has none for truth values.")
def complex128_to_complex():
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

# from data
torch.tensor([1, [2]])
torch.tensor(["x"])
torch.tensor("x")
torch.tensor(b"x")
torch.tensor([1, 2j], dtype=torch.float32)
torch.tensor([1.5, 2j], dtype=torch.bool)
torch.tensor([-(2**63) - 1])
torch.tensor([1e40], dtype=torch.float64)
torch.tensor([1.9, -1.9], dtype=torch.int64)
torch.tensor([math.nan, 0.0, 2.0], dtype=torch.bool)
torch.tensor([70000.0], dtype=torch.float16)
torch.tensor([1, torch.tensor(2), torch.tensor([3])])
torch.tensor([torch.tensor(1), torch.tensor(2.5)]).dtype
torch.tensor([np.int8(1), 2]).dtype
torch.tensor([np.int32(1), np.int32(2)]).dtype
torch.tensor([np.array([[1, 2]]), np.array([3, 4])])
torch.tensor([range(2), range(2, 4)])

def list_tensor():
    class Seq(list):
        pass
    return torch.tensor(Seq([1, 2])), torch.tensor([Seq([1]), (2,)])

@differs("The length is what the sequence says.")
def list_tensor_2():
    class Short(list):
        def __len__(self):
            return 2
    return torch.tensor(Short([1, 2, 3]))

torch.tensor([1, 2], dtype=torch.float32, requires_grad=True).requires_grad
torch.tensor([1.0], requires_grad=1)
with_warnings(lambda: torch.tensor(iota(2)))
torch.asarray(bytearray(8)).dtype
torch.asarray(bytearray(3), dtype=torch.int16)
torch.frombuffer(bytearray(range(8)), dtype=torch.uint8, count=3)
torch.frombuffer(bytearray(range(8)), dtype=torch.uint8, count=1, offset=7)
torch.frombuffer(bytearray(range(8)), dtype=torch.uint8, offset=8)
torch.frombuffer(bytearray(range(8)), dtype=torch.int16, count=5)
