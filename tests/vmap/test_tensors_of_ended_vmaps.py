"""Tensors that left their vmap: what is done with them is an error that says so."""

import pytest

import autograd_cy as ag
from autograd_cy.func import vmap


def escaped():
    kept = []
    vmap(lambda x: kept.append(x * 2) or x)(ag.ones(2, 3))
    return kept[0]


@pytest.mark.parametrize(
    "use",
    [
        lambda t: t + 1,
        lambda t: ag.cat([t, t]),
        lambda t: t.view(3, 1),
        lambda t: t.mul_(2),
        lambda t: t.tolist(),
        lambda t: t.numpy(),
        lambda t: t[0].item(),
        lambda t: bool(t[0]),
    ],
)
def test_a_tensor_that_left_its_vmap_is_refused(use):
    with pytest.raises(RuntimeError, match="your tensor may have escaped from inside"):
        use(escaped())


def test_numbers_of_tensors_that_left_their_vmap_are_refused():
    kept = []
    vmap(lambda x: kept.append(x) or x)(ag.ones(2))
    for look in (bool, float, lambda t: t.item()):
        with pytest.raises(RuntimeError, match="your tensor may have escaped from inside"):
            look(kept[0])


def test_a_tensor_that_left_its_vmap_is_shown():
    assert "BatchedTensor(lvl=1" in repr(escaped())
