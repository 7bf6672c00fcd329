"""in_dims and out_dims have the structure of arguments and results."""

import pytest

import autograd_cy as ag
from autograd_cy import func


def test_structures_of_dims_fit_those_of_arguments():
    x = ag.ones(2, 3)
    refused = [
        ("in_dims", lambda: func.vmap(lambda t: t, in_dims=([0],))(x)),
        ("in_dims", lambda: func.vmap(lambda t: t, in_dims=({"a": 0},))([x])),
        ("in_dims", lambda: func.vmap(lambda t: t[0], in_dims=([0, 1],))([x])),
        ("in_dims", lambda: func.vmap(lambda t: t[0], in_dims=((),))([x])),
        ("in_dims", lambda: func.vmap(lambda t: t, in_dims=((),))(x)),
        ("in_dims", lambda: func.vmap(lambda t, u: t, in_dims=(0, ()))(x, x)),
        ("out_dims", lambda: func.vmap(lambda t: (t, t), out_dims=(0, 1, 2))(x)),
        ("out_dims", lambda: func.vmap(lambda t: t, out_dims=(0, 1))(x)),
    ]
    for name, call in refused:
        with pytest.raises(ValueError, match=f"{name} is not compatible with the structure"):
            call()
    assert func.vmap(lambda t: t[0], in_dims=([0, None],))([x, 5]).shape == (2, 3)
    assert func.vmap(lambda t: {"a": t}, out_dims={"a": 1})(x)["a"].shape == (3, 2)
    assert func.vmap(lambda t: (t, t), out_dims=(0, 1))(x)[1].shape == (3, 2)


def a_function(seen, **members):
    class Twice(ag.autograd.Function):
        @staticmethod
        def forward(x, rest):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, grad):
            return grad * 2, None

    for name, member in members.items():
        setattr(Twice, name, staticmethod(member) if callable(member) else member)
    return Twice


def test_dims_of_a_function_have_the_structure_of_its_arguments():
    seen = []

    def vmap(info, in_dims, x, rest):
        seen.append((in_dims, rest))
        return x * 2, in_dims[0]

    twice = a_function(seen, vmap=vmap)
    x = ag.arange(6.0).view(2, 3)
    func.vmap(lambda t: twice.apply(t, [1, (2, None)]), in_dims=1)(x)
    assert seen.pop() == ((1, [None, (None, None)]), [1, (2, None)])
    func.vmap(lambda t: twice.apply(t, {"a": t, "b": "text"}))(x)
    in_dims, rest = seen.pop()
    assert in_dims == (0, {"a": 0, "b": None}) and rest["a"].shape == (2, 3)
    func.vmap(lambda t: twice.apply(t, None))(x)
    assert seen.pop() == ((0, None), None)


def test_a_generated_rule_leaves_containers_as_they_are():
    twice = a_function([], generate_vmap_rule=True, forward=lambda x, rest: x * rest[0])
    x = ag.arange(3.0)
    assert func.vmap(lambda t: twice.apply(t, [2, "text"]))(x).tolist() == [0, 2, 4]
    assert func.vmap(lambda t: twice.apply(t, [t]))(x).tolist() == [0, 1, 4]
