"""Make tensor: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch
from tests.recorded.inputs import error_name

# Ranges of random whole numbers are cut to those of their dtype.
torch.testing.make_tensor(2, dtype=torch.bool, device="cpu", low=2, high=4)
error_name(lambda: torch.testing.make_tensor(2, dtype=torch.int8, device="cpu", low=127, high=128))
