"""The values that hooks of tensors and nodes may return: count, kind, shape and dtype."""

import warnings

import pytest

import autograd_cy as ag

VALUES = {
    "None": lambda m: None,
    "tensor": lambda m: m.ones(2),
    "tuple": lambda m: (m.ones(2),),
    "list": lambda m: [m.ones(2)],
    "two": lambda m: (m.ones(2), m.ones(2)),
    "empty": lambda m: (),
    "int": lambda m: 3,
    "text": lambda m: "a",
    "dict": lambda m: {},
    "False": lambda m: False,
    "tuple of int": lambda m: (3,),
    "tuple of None": lambda m: (None,),
    "tensor and None": lambda m: (m.ones(2), None),
    "shape": lambda m: (m.ones(3),),
    "one element": lambda m: (m.ones(1),),
    "double": lambda m: (m.ones(2).double(),),
    "long": lambda m: (m.ones(2).long(),),
    "complex": lambda m: (m.ones(2).to(m.complex64),),
    "tensor shape": lambda m: m.ones(3),
    "tensor double": lambda m: m.ones(2).double(),
    "tensor complex": lambda m: m.ones(2).to(m.complex64),
}
OPERATIONS = {
    "one edge": lambda m, x: x.exp(),
    "a number": lambda m, x: x * 2,
    "two edges": lambda m, x: x * m.ones(2).requires_grad_(),
    "several outputs": lambda m, x: m.stack([x, x]).unbind(0)[0],
}
KINDS = ("prehook", "posthook", "tensor", "post-accumulate", "multi")


def run(m, kind, operation, value):
    """The gradient, or the class of the error."""
    x = m.ones(2, requires_grad=True)
    y = OPERATIONS[operation](m, x)
    made = VALUES[value](m)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "prehook":
            y.grad_fn.register_prehook(lambda grads: made)
        elif kind == "posthook":
            y.grad_fn.register_hook(lambda grads, before: made)
        elif kind == "tensor":
            y.register_hook(lambda grad: made)
        elif kind == "post-accumulate":
            x.register_post_accumulate_grad_hook(lambda x: made)
        else:
            m.autograd.graph.register_multi_grad_hook([x], lambda grads: made)
        try:
            y.sum().backward()
        except (TypeError, RuntimeError) as error:
            return type(error)
    return None if x.grad is None else [round(v, 4) for v in x.grad.tolist()]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_returned_values_mean_what_they_mean_in_torch(kind, operation):
    torch = pytest.importorskip("torch")
    for value in VALUES:
        found, wanted = run(ag, kind, operation, value), run(torch, kind, operation, value)
        assert found == wanted, (value, found, wanted)


@pytest.mark.parametrize("kind", ["prehook", "posthook"])
def test_a_node_hook_returns_a_tuple_never_a_tensor(kind):
    assert run(ag, kind, "one edge", "tensor") is TypeError
    assert run(ag, kind, "one edge", "list") is TypeError
    assert run(ag, kind, "one edge", "two") is RuntimeError


def test_a_post_accumulate_hook_returns_nothing():
    assert run(ag, "post-accumulate", "one edge", "tensor") is RuntimeError
    assert run(ag, "post-accumulate", "one edge", "int") is TypeError
