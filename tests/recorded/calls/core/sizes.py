"""Sizes: calls of tensors and arguments (`ext/core`)."""

import numpy as np

import autograd_cy as torch
from tests.recorded.inputs import differs, iota

# sizes
[3] + torch.Size([2])
torch.Size(["a"])
with differs("sizes become ints"):
    torch.Size([torch.tensor(2), np.int64(3), True])
iota(2, 3).size(-1), iota(2, 3).stride(-2), iota(2, 3).size(1)
len(torch.tensor(1.0))
