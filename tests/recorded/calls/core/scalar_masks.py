"""Scalar masks: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from tests.recorded.inputs import sines

# numbers as masks, each of which index_put counts as a dimension; x[True, mask] does not
sines(3).index_put((torch.tensor(True), torch.tensor([True, False])), sines())
sines(2, 2).index_put((torch.tensor(True), torch.tensor([[True, False], [False, True]])), sines(2))
sines(2, 2).index_put((torch.tensor(True), torch.tensor([[True, False, True],
    [False, True, True]])), sines(2))
