"""Operations that are impossible for a tensor with examples are refused, by its name."""

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


# --- messages know the user's class -----------------------------------------------------------


def function(**methods):
    plain = {
        "forward": lambda x: x * 2,
        "setup_context": lambda ctx, inputs, output: None,
        "backward": lambda ctx, g: g * 2,
        "generate_vmap_rule": True,
    }
    members = {k: staticmethod(v) if callable(v) else v for k, v in {**plain, **methods}.items()}
    return type("Mine", (ag.autograd.Function,), members)


def mapped(cls):
    return ag.vmap(cls.apply)(ag.ones(3, requires_grad=True))


def pulled(cls):
    mapped(cls).sum().backward()


def pushed(cls):
    return ag.func.jvp(ag.vmap(cls.apply), (ag.ones(3),), (ag.ones(3),))


FAULTS = {
    "no setup_context": (mapped, {"setup_context": ag.autograd.Function.setup_context}, "Mine has"),
    "no rule": (mapped, {"generate_vmap_rule": False}, "vmap over Mine"),
    "two rules": (mapped, {"vmap": lambda *args: None}, "vmap over Mine"),
    "few gradients": (pulled, {"backward": lambda ctx, g: ()}, r"MineBackward .*expected 1, got 0"),
    "no gradient": (pulled, {"backward": lambda ctx, g: 3}, r"MineBackward: .*\(got int\)"),
    "a wrong gradient": (pulled, {"backward": lambda ctx, g: ag.ones(5)}, "VmappedMineBackward"),
    "an attribute": (pulled, {"backward": lambda ctx, g: ctx.nope}, "VmappedMineBackward"),
    "no jvp": (pushed, {}, "Mine has none"),
    "no tangent": (pushed, {"jvp": lambda ctx, t: 3}, r"\(got int\).*Mine.jvp"),
    "a wrong tangent": (pushed, {"jvp": lambda ctx, t: ag.ones(5)}, r"VmappedMine\.jvp"),
    "no tensor": (mapped, {"forward": lambda x: 3}, r"vmap\(apply, ...\): `apply` must only"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_messages_name_the_class_of_the_user(name):
    call, methods, text = FAULTS[name]
    with pytest.raises((RuntimeError, ValueError, AttributeError), match=text) as caught:
        call(function(**methods))
    assert not any(word in str(caught.value) for word in ("_Vmapped", "_Context", "function_apply"))
    assert type(mapped(function()).grad_fn).__name__ == "VmappedMineBackward"
    # Its class lives as long as the user's.
    ours = function()
    assert type(mapped(ours).grad_fn) is type(mapped(ours).grad_fn)
