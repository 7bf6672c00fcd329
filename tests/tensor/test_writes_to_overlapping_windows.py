"""Windows whose elements share memory: one value may fill them, unless a stride is 0."""

import pytest

import autograd_cy as torch


@pytest.mark.parametrize("value", [5.0, torch.tensor(5.0)])
def test_one_value_may_fill_windows_that_overlap(value):
    x = torch.zeros(4)
    x.unfold(0, 2, 1)[...] = value
    assert x.tolist() == [5.0] * 4
    x.unfold(0, 2, 1).fill_(6.0)
    assert x.tolist() == [6.0] * 4


@pytest.mark.parametrize("value", [5.0, torch.tensor(5.0), torch.ones(3)])
def test_expanded_windows_are_refused_and_unchanged(value):
    x = torch.zeros(1)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x.expand(3)[...] = value
    if isinstance(value, torch.Tensor):
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
            x.expand(3).copy_(value)
    assert x.tolist() == [0.0]
    assert x._version == 0
