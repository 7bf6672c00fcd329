"""Numbers: calls of tensors and arguments (`ext/core`)."""

import math

import numpy as np

import autograd_cy as torch
from tests.recorded.inputs import complex_sines, differs, error_name, iota

# Numbers that fit
[error_name(lambda d=d, v=v: torch.zeros(2, dtype=d).fill_(v))
    for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
    for v in (127, 128, -128, -129, 255, 256, -255, -256, 2**15, -(2**15) - 1, 2**31, -(2**31) - 1,
    2**63 - 1)]
[error_name(lambda d=d, v=v: torch.zeros(2, dtype=d).fill_(v))
    for d in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64,
    torch.complex128, torch.bool) for v in (59999.0, 65504.0, 65505.0, -65520.0, 3.38e38, 3.39e38,
    3.41e38, -3.5e38, 1e300, math.inf, -math.inf, math.nan, 2**63, 2**64 - 1, 2**64, -(2**63),
    -(2**63) - 1)]
[error_name(lambda d=d, v=v: torch.zeros(2, dtype=d).fill_(v))
    for d in (torch.complex64, torch.complex128, torch.float32, torch.int64, torch.bool)
    for v in (1e300j, 1e300 + 1j, 1 + 1e38j, 4e38j, complex(math.nan, math.inf), 1 + 0j,
    np.float32(2.5), np.int64(3), np.bool_(True), True)]
torch.zeros(2, dtype=torch.uint8).fill_(-1)
torch.zeros(2, dtype=torch.uint8).fill_(-255)
torch.zeros(2, dtype=torch.uint8).fill_(2.9)
torch.zeros(2, dtype=torch.int8).fill_(-2.9)
torch.zeros(2, dtype=torch.bool).fill_(0.5)
torch.zeros(2, dtype=torch.bool).fill_(-1)
torch.zeros(2, dtype=torch.complex64).fill_(True)
torch.zeros(2, dtype=torch.float16).fill_(1e-9)
torch.zeros(2, dtype=torch.bfloat16).fill_(1 + 2**-8)
torch.zeros(2, dtype=torch.complex64).fill_(complex(-0.0, math.inf))
torch.zeros(2, dtype=torch.uint8).fill_(-1.0)
torch.zeros(2, dtype=torch.int8).fill_(1e10)
torch.zeros(2, dtype=torch.float16).fill_(1e5)
torch.zeros(2, dtype=torch.complex64).fill_(1e39j)
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
torch.tensor([1, 2.5])
torch.tensor([True, 2])
torch.tensor([1, 2j])
torch.tensor([[1], [2.5]])
torch.tensor([True, False])
torch.tensor(2**40)
error_name(torch.tensor, 2**63)
error_name(torch.tensor, [2**64])
error_name(lambda: torch.tensor([300], dtype=torch.uint8))
torch.tensor([-1], dtype=torch.uint8)
error_name(lambda: torch.tensor([1.5], dtype=torch.bool))
error_name(lambda: torch.tensor([1j], dtype=torch.float32))
error_name(lambda: torch.tensor([math.nan], dtype=torch.int64))
torch.tensor([1e5], dtype=torch.float16)
[iota(3).masked_fill(iota(3) > 1, v) for v in (5, 2.5, True,
    torch.tensor(7))] + [error_name(lambda v=v: iota(3, dtype=d).masked_fill(iota(3) > 1, v))
    for d in (torch.int64, torch.uint8, torch.float16, torch.float32) for v in (2.5, 300, 1e39, 1j)]
with differs("torch drops the imaginary part of NumPy's numbers"):
    [error_name(lambda d=d: torch.zeros(2, dtype=d).fill_(np.complex64(1j)))
        for d in (torch.complex64, torch.float32, torch.int64, torch.bool)]

# Numbers used again
[(a := torch.tensor(1.0) + 2.5, b := torch.tensor(1.0) + 3.5, a, b), (iota(2) * 3 + iota(2) * 4),
    [x * 2.0 for x in (iota(2), iota(2) + 1)], torch.add(iota(2), 2, alpha=3),
    torch.where(iota(2) > 0, 2.0, 3.0), torch.where(iota(2) > 0, 2, 3), torch.clamp(iota(5), 1, 3),
    torch.clamp(iota(5), 1.0, 3.0), torch.addcmul(iota(2), iota(2), iota(2), value=3)]

def inference_mode_is_inference():
    with torch.inference_mode():
        x = iota(2) + 2.5
    y = iota(2) + 2.5
    return [x.is_inference(), y.is_inference(), y.requires_grad_(True).requires_grad]

[x := iota(2).requires_grad_(True), (y := x * 2.5, z := x * 3.5, y.sum() + z.sum())[2],
    torch.autograd.grad((x * 2.5 + x * 3.5 * x).sum(), x),
    torch.autograd.grad((x**2 + x**3).sum(), x), (x * 2 * 3 * 4).sum().backward(), x.grad.tolist()]

# numbers
[torch.tensor(v, dtype=d).item() for d in (torch.bool, torch.uint8, torch.int8, torch.int16,
    torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64,
    torch.complex64, torch.complex128) for v in (0, 1, 100)]
[x.tolist() for d in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128)
    for x in [iota(2, 2).to(d).t()]]
iota(2).item()
torch.zeros(0).item()
iota(1, 1, 1).item()
torch.tensor(2 + 1j).item()
torch.tensor(2 + 1j).conj().item()
torch.tensor(2 + 1j).conj().imag.item()
torch.tensor(2 + 1j).conj().tolist()
complex_sines(2).conj().imag.tolist() == (-complex_sines(2).imag).tolist()
torch.zeros(0).tolist(), torch.zeros(2, 0).tolist(), torch.tensor(3).tolist()
[len(iota(300, 2).tolist()), sum(iota(70000).tolist()[-2:])]
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
bool(iota(2))
bool(torch.zeros(0))
int(iota(2))
[1, 2, 3][torch.tensor(1)]
[1, 2, 3][torch.tensor([2])]
list(range(5))[torch.tensor(1) : torch.tensor(3)]
[1, 2][torch.tensor(1.0)]
[1, 2][torch.tensor(True)]
[1, 2, 3][iota(2, dtype=torch.int64)]
abs(torch.tensor(-2)), -torch.tensor(True, dtype=torch.uint8)
[iota(2).fill_(v) for v in (True, 3, 2.5)]
iota(2, dtype=torch.uint8).fill_(256)
iota(2, dtype=torch.uint8).fill_(-255), iota(2, dtype=torch.uint8).fill_(255)
iota(2, dtype=torch.uint8).fill_(-256)
iota(2, dtype=torch.uint8).fill_(-1.0)
iota(2, dtype=torch.int8).fill_(128)
iota(2, dtype=torch.int8).fill_(-128), iota(2, dtype=torch.int8).fill_(127)
iota(2, dtype=torch.int16).fill_(2**15)
iota(2, dtype=torch.int32).fill_(2**31)
iota(2, dtype=torch.int32).fill_(-(2**31)), iota(2, dtype=torch.int64).fill_(2**63 - 1)
with differs("no number of 64 bits"):
    iota(2, dtype=torch.int64).fill_(2**63)
iota(2, dtype=torch.int64).fill_(2**64)
iota(2, dtype=torch.int64).fill_(math.nan)
iota(2, dtype=torch.int64).fill_(2.9), iota(2, dtype=torch.int64).fill_(3 + 0j)
iota(2, dtype=torch.int64).fill_(3 + 1j)
iota(2, dtype=torch.float16).fill_(65504.0)
iota(2, dtype=torch.float16).fill_(math.inf)
iota(2, dtype=torch.float16).fill_(60000)
iota(2, dtype=torch.float16).fill_(65505.0)
iota(2, dtype=torch.float16).fill_(-70000)
iota(2).fill_(3.5e38)
iota(2).fill_(-3.4e38), iota(2).fill_(math.nan)
iota(2, dtype=torch.bfloat16).fill_(3.4e38)
iota(2, dtype=torch.complex64).fill_(1e39)
iota(2, dtype=torch.complex64).fill_(1e39j)
iota(2, dtype=torch.complex128).fill_(1e39j)
iota(2, dtype=torch.float64).fill_(1e308)
iota(2, dtype=torch.bool).fill_(2j)
iota(2, dtype=torch.bool).fill_(math.nan)
iota(2, dtype=torch.float64).fill_(2**70)
iota(2).fill_(torch.tensor(3)), iota(2, dtype=torch.int64).fill_(torch.tensor(2.5))
iota(2).fill_(torch.tensor([3]))
iota(2).fill_("x")
with differs("torch takes the real part of np.complex64"):
    iota(2) + np.float64(1)
    iota(2) + np.int32(1)
    iota(2) + np.bool_(True)
    iota(2) + np.complex64(1j)
    iota(2, dtype=torch.int64) + np.float32(1.5)
iota(2) + 2**63
iota(2) + 2**64
iota(2, dtype=torch.int64) - 2**63
[iota(2) + 1 + 2 + 3.5 + 2.5, (iota(2) + 1) * (iota(2) + 2)]
iota(2) == np.array([0.0, 5.0]), iota(2) == "x", iota(2) != None

# truth values of NumPy
[torch.tensor(v).dtype for v in (np.bool_(True), np.array(True))]
iota(2, dtype=torch.int64) * np.bool_(True)
iota(2, dtype=torch.int64) ** np.bool_(False)
torch.where(torch.tensor([True, False]), np.bool_(True), 0)
torch.full((2,), np.bool_(True))
torch.add(iota(2), 1, alpha=np.bool_(True))
np.bool_(True) - iota(2)
torch.isin(iota(3), np.bool_(True))
torch.arange(np.bool_(True))
torch.result_type(iota(2, dtype=torch.int64), np.bool_(True))
[error_name(lambda f=f: f(np.bool_(True))) for f in (lambda v: torch.tensor([True, False]) & v,
    lambda v: v | torch.tensor([True, False]), lambda v: torch.bitwise_and(torch.tensor([1, 2]), v),
    lambda v: torch.tensor([1, 2]) << v, lambda v: torch.add(torch.tensor([1, 2]), 1, alpha=v),
    lambda v: torch.tensor([True]) == v, lambda v: torch.tensor([True, False]).logical_and(v),
    lambda v: iota(2, dtype=torch.int64).fill_(v))]

# complex numbers of NumPy without imaginary part
[torch.zeros(2, dtype=d).fill_(np.complex64(2))
    for d in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64, torch.bool,
    torch.complex64)]
