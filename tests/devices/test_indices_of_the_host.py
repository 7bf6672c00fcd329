"""Index tensors, lists and arrays of the CPU, for a tensor of a device: they are moved there."""

import numpy as np
import pytest
from proof import NAME

import autograd_cy as ag

INDICES = {
    "list": [0, 2],
    "array": np.array([0, 2]),
    "tensor": ag.tensor([0, 2]),
    "mask": ag.tensor([True, False, True, False]),
    "list of truths": [True, False, True, False],
    "array of truths": np.array([True, False, True, False]),
    "truth": True,
    "no truth": ag.tensor(False),
    "new dimension": (None, ag.tensor([0, -1])),
    "two": (ag.tensor([[0, 1]]), ag.tensor([2, 3])),
}


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_what_is_selected_and_written_is_that_of_the_cpu(late, index):
    def all_of(x):
        x = x.clone().requires_grad_()
        taken = x[index]
        (taken * 3).sum().backward()
        filled, more, put = x.detach().clone(), x.detach().clone(), x.detach().clone()
        filled[index] = 7.0
        more[index] += 1
        put[index] = taken.detach() * 2
        return [t.tolist() for t in (taken, x.grad, filled, more, put)]

    x = ag.arange(16.0).reshape(4, 4)
    assert all_of(x.to(NAME)) == all_of(x)


def test_operators_take_them_too(late):
    x, i = ag.arange(4.0, device=NAME), ag.tensor([0, 2])
    ones = ag.ones(2, device=NAME)
    assert x.index_put((i,), ones).tolist() == [1.0, 1.0, 1.0, 3.0]
    assert x.index_put_((i,), ones, accumulate=True).tolist() == [1.0, 1.0, 3.0, 3.0]
    assert x[[-1]].device == x.device


def test_bad_ones_are_the_errors_of_the_cpu(late):
    x = ag.arange(4.0, device=NAME)
    for index in ([9], ag.tensor([-(1 << 63)])):
        with pytest.raises(IndexError, match="is out of bounds for dimension 0 with size 4"):
            x[index].tolist()
    with pytest.raises(RuntimeError, match="indices should be either on cpu or on the same device"):
        x[ag.tensor([0], device=f"{NAME}:1")]
    with pytest.raises(RuntimeError, match="indices should be either on cpu or on the same device"):
        ag.arange(4.0)[ag.tensor([0], device=NAME)]
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0]
