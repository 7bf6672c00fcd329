"""Devices and dtypes: calls of tensors and arguments (`ext/core`)."""

import copy
import pickle

import numpy as np

import autograd_cy as torch
from tests.recorded.inputs import differs, iota

# devices and dtypes
with differs("torch.device(1) depends on the machine"):
    [str(torch.device(d)) for d in ("cpu", "cuda:1", "cuda", "meta")]
    torch.device("cuda", 2)
    torch.device("cuda:0") == torch.device("cuda")
    torch.device(1)
torch.device("cpu:x")
torch.device("cpu:")
torch.device("cuda:1", 1)
torch.device("nothing")
torch.device(3.5)
torch.device(torch.device("cuda:1")).index
torch.device("cpu") == "cpu"
hash(torch.device("cpu")) == hash(torch.device("cpu"))
torch.device("cuda:1") != torch.device("cuda:2")
pickle.loads(pickle.dumps(torch.device("cuda:1"))), copy.copy(torch.device("meta"))

def device_ones():
    with torch.device("meta"):
        x = torch.ones(2)
        y = torch.tensor([1.0])
    return [x.device, y.device, torch.ones(2).device]

def device_ones_2():
    with torch.device("meta"):
        with torch.device("cpu"):
            x = torch.ones(2)
        y = torch.ones(2)
    return [x.device, y.device]

(torch.zeros(2, 3, device="meta").t() + torch.zeros(3, 2, device="meta")).stride()
(torch.zeros(2, device="meta") + torch.zeros(2)).device
(torch.zeros(2, device="meta") + torch.tensor(1.0)).device
(torch.zeros(2, device="meta") + 1).device
torch.zeros(2, device="meta").tolist()
torch.zeros(1, device="meta").item()
torch.zeros(2, device="meta").numpy()
torch.zeros(2).copy_(torch.zeros(2, device="meta"))
torch.zeros(2, device="meta").copy_(iota(2)).device
torch.zeros(2, device="meta").copy_(iota(3))
torch.zeros(2, device="meta").to("cpu")
[torch.promote_types(a, b) for a in (torch.bool, torch.uint8, torch.int8, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128)
    for b in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.float16, torch.bfloat16,
    torch.float64, torch.complex64)]
[torch.can_cast(a, b) for a in (torch.bool, torch.uint8, torch.float16, torch.complex64)
    for b in (torch.bool, torch.uint8, torch.float16, torch.complex64)]
torch.promote_types(torch.float32, 3)
[d.is_floating_point for d in (torch.float16, torch.int64, torch.complex64)]
[d.is_complex for d in (torch.complex64, torch.float64)]
[d.is_signed for d in (torch.bool, torch.uint8, torch.int8, torch.float32)]
[d.itemsize for d in (torch.bool, torch.float16, torch.complex128)]
[d.to_real() for d in (torch.complex64, torch.complex128, torch.float16, torch.float32)]
[d.to_complex() for d in (torch.float32, torch.float64, torch.complex64)]
[torch.zeros(1, dtype=d).dtype for d in (float, int, bool, complex)]
torch.float32 == "float32"
torch.float32 == torch.float32
hash(torch.float32) == hash(torch.float64)
pickle.loads(pickle.dumps(torch.float16)) is torch.float16
[(torch.finfo(d).bits, torch.finfo(d).max, torch.finfo(d).eps, torch.finfo(d).tiny,
    torch.finfo(d).min, torch.finfo(d).resolution, torch.finfo(d).dtype)
    for d in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64,
    torch.complex128)]
[(torch.iinfo(d).bits, torch.iinfo(d).max, torch.iinfo(d).min, torch.iinfo(d).dtype)
    for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)]
repr(torch.finfo(torch.float16))
repr(torch.iinfo(torch.uint8))
torch.finfo() == torch.finfo(torch.float32)
torch.finfo(torch.float16) == torch.finfo(torch.float32)
torch.iinfo(torch.uint8) == torch.iinfo(torch.int64)
torch.finfo(torch.int64)
torch.iinfo(torch.float32)
torch.iinfo(torch.bool)
torch.set_default_dtype(torch.int64)
torch.set_default_dtype(float)

def set_default_dtype_finfo():
    torch.set_default_dtype(torch.float64)
    try:
        found = [torch.tensor(1.5).dtype, torch.tensor(1j).dtype,
            (iota(2, dtype=torch.int64) / 2).dtype, (iota(2, dtype=torch.int64) * 1j).dtype,
            torch.finfo().bits, torch.get_default_dtype(),
            torch.complex(torch.tensor(1.0), torch.tensor(2.0)).dtype]
    finally:
        torch.set_default_dtype(torch.float32)
    return found

np.asarray(iota(2, dtype=torch.int64)).dtype, iota(2, dtype=torch.float16).numpy().dtype
torch.from_numpy(np.zeros(2, dtype="U3"))
torch.from_numpy(np.arange(3)[::-1])

# addresses of what has no memory
[torch.empty(n, device=d).untyped_storage().data_ptr()
    for n, d in ((0, "meta"), (2, "meta"), (0, "cpu"))]
torch.empty(2, device="meta").data_ptr()
torch.ones(2).untyped_storage().data_ptr() > 0
