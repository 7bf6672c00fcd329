"""Values with more dimensions than their place, the leading ones of 1: they are assigned."""

import numpy as np
import pytest

import autograd_cy as ag

PLACES = {
    "all": (lambda x: ..., (4,)),
    "part": (lambda x: slice(0, 2), (2,)),
    "one": (lambda x: 1, ()),
    "list": (lambda x: [0, 3], (2,)),
    "mask": (lambda x: x < 5, (4,)),
    "two lists": (lambda x: (ag.tensor([1, 1, 2]),), (3,)),
}


def test_gradients_of_values_with_leading_ones():
    for name, (index, shape) in PLACES.items():
        for ones in (1, 2):
            values = ag.ones((1,) * ones + shape, requires_grad=True)
            x = ag.zeros(4)
            x[index(x)] = values * 3
            expected = np.zeros(4)
            expected[np.asarray(index(x.detach() * 0)) if name == "mask" else index(x)] = 3
            assert x.tolist() == expected.tolist(), name
            (grad,) = ag.autograd.grad(x.sum(), values)
            assert grad.shape == values.shape, name
            # Of places that are written twice each value counts: which one stays isn't said.
            assert grad.tolist() == np.full(values.shape, 3.0).tolist(), name


def test_values_of_other_leading_sizes_are_refused():
    for shape in ((2, 4), (1, 2, 4)):
        x = ag.zeros(4)
        for index in (..., slice(None), [0, 1, 2, 3]):
            with pytest.raises(RuntimeError, match="shape|size"):
                x[index] = ag.ones(shape)
            assert x.tolist() == [0, 0, 0, 0], (shape, index)
