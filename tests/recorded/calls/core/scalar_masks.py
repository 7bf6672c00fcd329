"""Scalar masks: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from tests.recorded.inputs import sines

# numbers as masks, each of which index_put counts as a dimension; x[True, mask] does not
sines(3).index_put((torch.tensor(True), torch.tensor([True, False, True])), sines())
sines(3).index_put((torch.tensor(True), torch.tensor([True, False])), sines())
sines(2, 3).index_put((torch.tensor(True), torch.tensor([True, False]), torch.tensor([1])),
    sines(1))
sines(2, 3).index_put((torch.tensor([True, False, True]), torch.tensor(True)), sines(1))
sines(2, 2).index_put((torch.tensor(True), torch.tensor([[True, False], [False, True]])), sines(2))
sines(2, 2).index_put((torch.tensor(True), torch.tensor([[True, False, True],
    [False, True, True]])), sines(2))

# refused dtypes
torch.tensor([True, False]).kthvalue(1)
torch.tensor([1j, 2]).kthvalue(1)
torch.tensor([3, 1, 2]).kthvalue(2)
