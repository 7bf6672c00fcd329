"""Testing: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch
from tests.recorded.inputs import error_name

# Values that are close, and what is said of those that aren't.
error_name(lambda: torch.testing.assert_close(torch.tensor([1.0]),
    torch.tensor([1.000001], dtype=torch.float64), check_dtype=False))
error_name(lambda: torch.testing.assert_close(torch.tensor([1.0], dtype=torch.float64),
    torch.tensor([1.000001], dtype=torch.float64)))
error_name(lambda: torch.testing.assert_close(torch.tensor([1.0], dtype=torch.float16),
    torch.tensor([1.0005]), check_dtype=False))
[torch.testing.make_tensor(n, dtype=torch.float32, device="cpu", noncontiguous=True).stride()
    for n in (0, 1, 2)]

def int8_complex64():
    def ends(dtype, **how):
        torch.manual_seed(0)
        x = torch.testing.make_tensor(4000, dtype=dtype, device="cpu", **how)
        x = torch.view_as_real(x) if x.is_complex() else x
        return x.min().item(), x.max().item()
    return [*[low < -limit and limit < high < 9.0001
        for dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128,
        torch.float16) for limit in [8.9] for low, high in [ends(dtype)]],
        *[ends(dtype) for dtype in (torch.int64, torch.int32, torch.uint8, torch.bool, torch.int8)],
        *[low < -1.6e308 and 1.6e308 < high < 1.7e308
        for low, high in [ends(torch.float64, low=-1.7e308, high=1.7e308)]],
        *[ends(torch.uint8, low=250, high=300), ends(torch.int8, low=-300, high=-126),
        ends(torch.int64, low=3, high=4)], *[1.0 <= low < 1.01 and 2.99 < high <= 3.0
        for dtype in (torch.float32, torch.float64, torch.complex64)
        for low, high in [ends(dtype, low=1.0, high=3.0)]]]
