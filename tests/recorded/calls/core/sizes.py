"""Sizes: calls of tensors and arguments (`ext/core`)."""

import copy
import pickle

import numpy as np

import autograd_cy as torch
from tests.recorded.inputs import differs, iota

# sizes
torch.Size([2, 3]) + (4,)
(1,) + torch.Size([2])
torch.Size([2]) * 2
2 * torch.Size([2])
torch.Size([2, 3])[1:]
torch.Size([2, 3])[0]
torch.Size([2, 3]).numel()
torch.Size().numel()
type(torch.Size([2]) + (4,)).__name__
type((1,) + torch.Size([2])).__name__
type(torch.Size([2]) * 2).__name__
type(torch.Size([2, 3])[1:]).__name__
repr(torch.Size([2, 3]))[-12:]
torch.Size([2]) + [3]
[3] + torch.Size([2])
torch.Size([2.0])
torch.Size(["a"])
with differs("sizes become ints"):
    torch.Size([torch.tensor(2), np.int64(3), True])
pickle.loads(pickle.dumps(torch.Size([2, 3]))) == (2, 3)
type(copy.copy(torch.Size([2]))).__name__
iota(2, 3).size(-1), iota(2, 3).stride(-2), iota(2, 3).size(1)
iota(2, 3).size(2)
iota(2, 3).size(2**70)
iota(2, 3).size(1.0)
iota(2, 3).size(True)
torch.tensor(1.0).size(0)
iota(2, 3).stride(2)
torch.tensor(1.0).stride(-1)
iota(2, 3).dim(), len(iota(2, 3)), iota(2, 3).nelement(), iota(2, 3).element_size()
len(torch.tensor(1.0))
