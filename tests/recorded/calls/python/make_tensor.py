"""Make tensor: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch
from tests.recorded.inputs import error_name


# Ranges of random whole numbers are cut to those of their dtype.
def uint8_high():
    def found(dtype, low, high):
        return sorted(set(torch.testing.make_tensor(400, dtype=dtype, device="cpu", low=low,
            high=high).tolist()))
    return [found(torch.uint8, -1, 1), found(torch.uint8, -5, 3), found(torch.bool, -5, 3),
        found(torch.bool, -1, 1), found(torch.int64, -1, 1)]

def int8_high():
    def found(dtype, low, high):
        return sorted(set(torch.testing.make_tensor(4000, dtype=dtype, device="cpu", low=low,
            high=high).tolist()))
    return [x[k] for x in (found(torch.uint8, 240, 400), found(torch.int8, -400, -120))
        for k in (0, -1)]

torch.testing.make_tensor(2, dtype=torch.int8, device="cpu", low=200, high=400)
torch.testing.make_tensor(2, dtype=torch.uint8, device="cpu", low=-300, high=-200)
torch.testing.make_tensor(2, dtype=torch.bool, device="cpu", low=2, high=4)
error_name(lambda: torch.testing.make_tensor(2, dtype=torch.int8, device="cpu", low=127, high=128))
