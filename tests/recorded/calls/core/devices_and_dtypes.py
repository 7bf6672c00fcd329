"""Devices and dtypes: calls of tensors and arguments (`ext/core`)."""

import numpy as np

import autograd_cy as torch
from tests.recorded.inputs import differs, iota

# devices and dtypes
with differs("torch.device(1) depends on the machine"):
    [str(torch.device(d)) for d in ("cpu", "cuda:1", "cuda", "meta")]
    torch.device("cuda", 2)
    torch.device("cuda:0") == torch.device("cuda")
    torch.device(1)
torch.device("cpu:")
torch.device("cuda:1", 1)
torch.device("nothing")
torch.device(3.5)
(torch.zeros(2, device="meta") + torch.zeros(2)).device
torch.zeros(2, device="meta").tolist()
torch.zeros(1, device="meta").item()
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
torch.from_numpy(np.zeros(2, dtype="U3"))
torch.from_numpy(np.arange(3)[::-1])

# addresses of what has no memory
[torch.empty(n, device=d).untyped_storage().data_ptr()
    for n, d in ((0, "meta"), (2, "meta"), (0, "cpu"))]
torch.empty(2, device="meta").data_ptr()
torch.ones(2).untyped_storage().data_ptr() > 0
