"""Nested modes: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from tests.recorded.inputs import differs

# Memory given from outside, of more dimensions than before and of fewer
with differs("We have at most 64 dimensions"):
    torch.zeros([1] * 65)
torch.ones(1).expand(2**40, 2**40)
torch.empty(2**40, 2**40)
torch.empty(-1)
