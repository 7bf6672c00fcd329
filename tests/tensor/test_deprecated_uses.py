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


@pytest.mark.parametrize(
    "use",
    [
        lambda x, mask: x[mask],
        lambda x, mask: x.__setitem__(mask, 2),
    ],
)
def test_masks_of_bytes_warn_of_the_line_that_has_them(use):
    mask = ag.tensor([1, 0], dtype=ag.uint8)
    with pytest.warns(UserWarning, match="use a dtype bool instead") as seen:
        use(ag.ones(2), mask)
    assert seen[0].filename == __file__
    ag.set_warn_always(False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        use(ag.ones(2), mask)
        warnings.simplefilter("error")
        use(ag.ones(2), mask)  # once in a process


def test_what_is_not_deprecated_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ag.ones(2, 3).T.shape == (3, 2)
        assert ag.ones(2, 3, 4).mT.shape == (2, 4, 3)
        assert ag.ones(2)[ag.tensor([True, False])].tolist() == [1]


def test_masks_of_the_variable_era_are_silent():
    import autograd_cy.legacy as torch

    x = torch.ones(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x[x > 0] = 2
        assert list(x[torch.ByteTensor([1, 0, 1])]) == [2, 2]
        v = torch.autograd.Variable(x)
        assert v[torch.autograd.Variable(torch.ByteTensor([1, 0, 1]))].size() == (2,)
