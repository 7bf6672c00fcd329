"""The older options size_average and reduce, in every loss that has them."""

import inspect
import itertools

import pytest

import autograd_cy as ag
from autograd_cy import nn
from autograd_cy.nn import functional as F

X = (ag.arange(6.0) / 8).reshape(2, 3) + 0.125
Y = (ag.arange(6.0).flip(0) / 8).reshape(2, 3) + 0.125
SIGNS = ag.tensor([[1.0, -1, 1], [-1, -1, 1]])
CLASSES = ag.tensor([2, 0])

ARGUMENTS = {
    "cosine_embedding_loss": (X, Y, SIGNS[:, 0]),
    "cross_entropy": (X, CLASSES),
    "hinge_embedding_loss": (X, SIGNS),
    "margin_ranking_loss": (X, Y, SIGNS),
    "multi_margin_loss": (X, CLASSES),
    "multilabel_margin_loss": (X, ag.tensor([[0, 2, -1], [1, -1, 0]])),
    "nll_loss": (X, CLASSES),
    "soft_margin_loss": (X, SIGNS),
    "triplet_margin_loss": (X, Y, SIGNS),
}
NAMES = [
    name
    for name, function in vars(F).items()
    if inspect.isroutine(function) and "size_average" in inspect.signature(function).parameters
]
MODULES = [
    name
    for name, cls in vars(nn).items()
    if inspect.isclass(cls) and "size_average" in inspect.signature(cls).parameters
]
# Every spelling but the one that says nothing.
OLDER = [*itertools.product((None, True, False), repeat=2)][1:]


def meaning(size_average, reduce):
    return "none" if reduce is False else "sum" if size_average is False else "mean"


def spelled(call, size_average, reduce):
    """Return the result of a call, which warns of the older option alone."""
    with pytest.warns() as found:
        result = call(size_average=size_average, reduce=reduce)
    (text,) = [str(warning.message) for warning in found]
    assert text.endswith(f"please use reduction='{meaning(size_average, reduce)}' instead.")
    return result


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")
@pytest.mark.parametrize("name", NAMES)
def test_functions(name):
    function, args = getattr(F, name), ARGUMENTS.get(name, (X, Y))
    for older in OLDER:
        wanted = function(*args, reduction=meaning(*older))
        for reduction in ("mean", "sum", "none"):
            found = spelled(lambda **k: function(*args, reduction=reduction, **k), *older)
            assert found.shape == wanted.shape and found.equal(wanted), (older, reduction)


@pytest.mark.parametrize("name", MODULES)
def test_modules(name):
    for older in OLDER:
        assert spelled(getattr(nn, name), *older).reduction == meaning(*older)


def test_all_are_there():
    assert len(NAMES) >= 17 and len(MODULES) >= 17


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")
@pytest.mark.parametrize("name", [n for n in NAMES if n != "multilabel_soft_margin_loss"])
def test_the_mean_of_2018(name):
    function, args = getattr(F, name), ARGUMENTS.get(name, (X, Y))
    with pytest.warns(UserWarning, match="'elementwise_mean' is deprecated") as found:
        result = function(*args, reduction="elementwise_mean")
    assert len(found) == 1 and result.equal(function(*args, reduction="mean"))
    with pytest.raises(ValueError, match="Mean is not a valid value for reduction"):
        function(*args, reduction="Mean")


def test_the_number_of_a_reduction():
    assert [nn._reduction.get_enum(name) for name in ("none", "mean", "sum")] == [0, 1, 2]
    with pytest.warns(UserWarning, match="'elementwise_mean' is deprecated"):
        assert nn._reduction.get_enum("elementwise_mean") == 1
    with pytest.raises(ValueError, match="is not a valid value for reduction"):
        nn._reduction.get_enum(1)
