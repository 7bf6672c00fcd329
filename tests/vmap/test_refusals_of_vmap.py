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


@pytest.mark.parametrize("source", [(4,), (), (3, 4), (2,), (4, 2)])
@pytest.mark.parametrize("places", [(2,), (), (1, 2)])
def test_rows_are_refused_with_examples_as_without(source, places):
    a, i, s = ag.zeros(2, 3, 4), ag.zeros(2, *places, dtype=ag.int64), ag.ones(2, *source)
    said = []
    for add in (
        lambda: a[0].index_add(0, i[0], s[0]),
        lambda: ag.func.vmap(lambda a, i, s: a.index_add(0, i, s))(a, i, s),
    ):
        with pytest.raises((RuntimeError, IndexError)) as caught:
            add()
        said.append((caught.type, str(caught.value)))
    assert said[0] == said[1]
    if len(places) == 2:
        with pytest.raises(IndexError, match="Index is supposed to be a vector"):
            ag.func.vmap(lambda a, i: a.index_select(0, i))(a, i)
