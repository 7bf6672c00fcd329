"""What can't be done to a tensor with examples is refused, by its name."""

import pytest

import autograd_cy as ag

CALLS = {
    "resize_": lambda t: t.clone().resize_(5),
    "resize_as_": lambda t: t.clone().resize_as_(ag.ones(4)),
    "set_": lambda t: t.clone().set_(ag.ones(4)),
    "data": lambda t: setattr(t.clone(), "data", ag.ones(2)),
    "item": lambda t: t.sum().item(),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_on_a_batch_are_refused(name):
    with pytest.raises(RuntimeError, match=f"vmap.*{name}|{name}.*vmap"):
        ag.func.vmap(CALLS[name])(ag.ones(3, 2))
    assert ag.func.vmap(ag.sin)(ag.zeros(3, 2)).shape == (3, 2)
