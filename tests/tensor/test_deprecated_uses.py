"""Uses of tensors that still work, and say what replaced them."""

import warnings

import pytest

import autograd_cy as ag


@pytest.fixture(autouse=True)
def always():
    before = ag.is_warn_always_enabled()
    ag.set_warn_always(True)
    yield
    ag.set_warn_always(before)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((2, 3, 4), "other than 2 to reverse their shape is deprecated.*x.mT"),
        ((2,), "other than 2"),
        ((), "deprecated on 0-D tensors"),
    ],
)
def test_reversed_dimensions_warn_of_the_line_that_asks_for_them(shape, message):
    x = ag.ones(shape)
    with pytest.warns(UserWarning, match=message) as seen:
        assert x.T.shape == shape[::-1]
    assert seen[0].filename == __file__
    ag.set_warn_always(False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert x.T.shape == shape[::-1]  # once in a process


def test_transposes_of_matrices_are_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ag.ones(2, 3).T.shape == (3, 2)
        assert ag.ones(2, 3, 4).mT.shape == (2, 4, 3)
