"""Numbers: calls of tensors and arguments (`ext/core`)."""

import math

import numpy as np

import autograd_cy as torch
from tests.recorded.inputs import differs, error_name, iota

# Numbers that fit
torch.zeros(2, dtype=torch.int64).fill_(2**63)
torch.zeros(2, dtype=torch.float64).fill_(2**64)
[error_name(lambda d=d, v=v: iota(2, dtype=d).mul_(v))
    for d in (torch.uint8, torch.int8, torch.int32, torch.float16, torch.float32, torch.complex64)
    for v in (300, -1, 2**31, 2**63 - 1, 1e39, 1e300)]
[error_name(lambda d=d, v=v: iota(2, dtype=d) * v)
    for d in (torch.uint8, torch.float16, torch.float32, torch.complex64, torch.bool)
    for v in (300, -(2**63) - 1, 1e300, True, np.float64(1e300), np.uint8(3), np.complex128(1j),
    "a", None, [1])]
[torch.full((2,), v, dtype=d) if error_name(lambda d=d, v=v: torch.full((2,), v, dtype=d)) is None
    else 0 for d in (torch.uint8, torch.int32, torch.float16, torch.float32, torch.complex64,
    torch.bool) for v in (255, 256, -1, 70000.0, 1e39, 1e39j, 2 + 0j, True, math.nan)]
[iota(3).masked_fill(iota(3) > 1, v) for v in (5, 2.5, True,
    torch.tensor(7))] + [error_name(lambda v=v: iota(3, dtype=d).masked_fill(iota(3) > 1, v))
    for d in (torch.int64, torch.uint8, torch.float16, torch.float32) for v in (2.5, 300, 1e39, 1j)]
with differs("torch drops the imaginary part of NumPy's numbers"):
    [error_name(lambda d=d: torch.zeros(2, dtype=d).fill_(np.complex64(1j)))
        for d in (torch.complex64, torch.float32, torch.int64, torch.bool)]

# numbers
[x.tolist() for d in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128)
    for x in [iota(2, 2).to(d).t()]]
iota(2).item()
torch.zeros(0).item()
iota(1, 1, 1).item()
int(torch.tensor(2.7)), int(torch.tensor(-2.7)), int(torch.tensor(True)), int(torch.tensor(3 + 0j))
int(torch.tensor(3 + 1j))
float(torch.tensor(3 + 1j))
float(torch.tensor(3 + 0j))
complex(torch.tensor(3.0))
complex(torch.tensor(2))
float(torch.tensor(2))
bool(torch.tensor(0.0))
bool(torch.tensor(math.nan))
bool(torch.tensor(1j))
bool(torch.tensor(0j).conj())
int(torch.tensor(math.nan))
int(torch.tensor(math.inf))
bool(torch.zeros(0))
int(iota(2))
iota(2, dtype=torch.int8).fill_(128)
iota(2, dtype=torch.int16).fill_(2**15)
iota(2, dtype=torch.int64).fill_(math.nan)
iota(2, dtype=torch.int64).fill_(3 + 1j)
iota(2, dtype=torch.bfloat16).fill_(3.4e38)
iota(2, dtype=torch.complex64).fill_(1e39)
iota(2) + 2**64
iota(2, dtype=torch.int64) - 2**63

# truth values of NumPy
[error_name(lambda f=f: f(np.bool_(True))) for f in (lambda v: torch.tensor([True, False]) & v,
    lambda v: v | torch.tensor([True, False]), lambda v: torch.bitwise_and(torch.tensor([1, 2]), v),
    lambda v: torch.tensor([1, 2]) << v, lambda v: torch.add(torch.tensor([1, 2]), 1, alpha=v),
    lambda v: torch.tensor([True]) == v, lambda v: torch.tensor([True, False]).logical_and(v),
    lambda v: iota(2, dtype=torch.int64).fill_(v))]

# complex numbers of NumPy without imaginary part
[torch.zeros(2, dtype=d).fill_(np.complex64(2))
    for d in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64, torch.bool,
    torch.complex64)]
