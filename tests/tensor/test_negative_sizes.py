"""Sizes below -1 are errors, whatever they are asked for."""

import pytest

import autograd_cy as torch


@pytest.mark.parametrize("size", [(-2,), (5, -3), (-2, 1), (0, -2)])
@pytest.mark.parametrize("form", ["expand", "broadcast_to", "view", "reshape", "repeat"])
def test_negative_sizes_are_refused(form, size):
    x = torch.zeros(1)
    with pytest.raises(RuntimeError, match=r"-\d"):
        getattr(x, form)(*([size] if form == "broadcast_to" else size))


@pytest.mark.parametrize("make", [torch.zeros, torch.empty, torch.rand, torch.Tensor])
@pytest.mark.parametrize("first", [3, 0])
def test_negative_sizes_of_new_tensors_are_refused(make, first):
    with pytest.raises(RuntimeError, match="-2"):
        make(first, -2)
