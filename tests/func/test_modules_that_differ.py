"""Models that cannot be stacked, and pieces that are not equal."""

import pytest

import autograd_cy as ag
from autograd_cy.func import stack_module_state


def models(*training):
    return [ag.nn.Linear(2, 1).train(mode) for mode in training]


@pytest.mark.parametrize("mode", [True, False])
def test_models_of_one_mode_are_stacked(mode):
    params, buffers = stack_module_state(models(mode, mode, mode))
    assert params["weight"].shape == (3, 1, 2)
    assert buffers == {}


@pytest.mark.parametrize("modes", [(True, False), (False, True), (False, False, True)])
def test_models_of_several_modes_are_refused(modes):
    with pytest.raises(RuntimeError, match="same training/eval mode"):
        stack_module_state(models(*modes))


def test_models_of_several_classes_are_refused():
    with pytest.raises(RuntimeError, match="same class"):
        stack_module_state([ag.nn.Linear(2, 1), ag.nn.ReLU()])
    with pytest.raises(RuntimeError, match="at least one model"):
        stack_module_state([])


@pytest.mark.parametrize("split", ["hsplit", "vsplit", "dsplit"])
@pytest.mark.parametrize("sections", [0, -1, 3, 5])
def test_pieces_that_are_not_equal_are_refused(split, sections):
    said = "must be larger than 0, got -1" if sections < 0 else "not divisible"
    with pytest.raises(RuntimeError, match=said):
        getattr(ag, split)(ag.zeros(4, 4, 4), sections)
