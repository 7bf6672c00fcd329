"""Gradients that a node doesn't give: hooks see None, and can't make something of it."""

import pytest

import autograd_cy as torch
from autograd_cy.autograd import Function, graph


class NoGradient(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return None


class Pair(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, first, second):
        return first * 2 + second * 3


def leaf():
    return torch.ones(2, requires_grad=True)


def plain(grad):
    if isinstance(grad, tuple):
        return tuple(map(plain, grad))
    return None if grad is None else grad.tolist()


def note(seen, name):
    return lambda *gradients: seen.append((name, *map(plain, gradients)))


def test_every_hook_of_a_chain_without_a_gradient_is_called_with_none():
    x, seen = leaf(), []
    y = x * 2
    for name, t in (("y", y), ("x", x)):
        t.register_hook(note(seen, name))
        node = graph.get_gradient_edge(t).node
        node.register_prehook(note(seen, f"before {name}"))
        node.register_hook(note(seen, f"after {name}"))
    y.retain_grad()
    x.register_post_accumulate_grad_hook(lambda t: seen.append(("accumulated", plain(t.grad))))
    NoGradient.apply(y).sum().backward()
    assert seen == [
        ("y", None),
        ("before y", (None,)),
        ("after y", (None, None), (None,)),
        ("x", None),
        ("before x", (None,)),
        ("accumulated", None),
        ("after x", (), (None,)),
    ]
    assert x.grad is None and y.grad is None


def first_of_a_function(x):
    return Pair.apply(x)


MANY = {
    "unbind": lambda x: (x * 1).unbind(),
    "split": lambda x: (x * 1).split(1),
    "a Function": first_of_a_function,
}


@pytest.mark.parametrize("name", MANY)
def test_outputs_that_were_not_differentiated_get_none_in_the_order_of_registration(name):
    seen = []
    a, b = MANY[name](leaf())
    b.register_hook(lambda grad: seen.append(("b", grad)))
    a.register_hook(lambda grad: seen.append(("a", grad is not None)))
    b.retain_grad()
    a.sum().backward()
    assert seen == [("b", None), ("a", True)] and b.grad is None


def give_ones(*gradients):
    return torch.ones(2)


def give_tuple(*gradients):
    return (torch.ones(2),) + (None,) * (len(gradients[0]) - 1)


REPLACING = {
    "hook of a tensor": lambda x, y: y.register_hook(give_ones),
    "hook of a leaf": lambda x, y: x.register_hook(give_ones),
    "before a node": lambda x, y: y.grad_fn.register_prehook(give_tuple),
    "after a node": lambda x, y: y.grad_fn.register_hook(give_tuple),
    "before an accumulator": lambda x, y: y.grad_fn.next_functions[0][0].register_prehook(
        give_tuple
    ),
}


@pytest.mark.parametrize("place", REPLACING)
def test_none_cannot_be_replaced_by_a_gradient(place):
    x = leaf()
    y = x * 2
    REPLACING[place](x, y)
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        NoGradient.apply(y).sum().backward()
    assert x.grad is None


def test_a_gradient_that_a_prehook_takes_away_is_none_from_there_on():
    x, seen = leaf(), []
    y = x * 2
    x.register_hook(note(seen, "x"))
    y.grad_fn.register_prehook(lambda gradients: (None,))
    y.sum().backward()
    assert seen == [("x", None)] and x.grad is None


@pytest.mark.parametrize(
    ("mode", "expected"), [("all", [[None, [3.0, 3.0]]]), ("any", [[3.0] * 2])]
)
def test_a_hook_on_several_tensors_counts_undefined_gradients(mode, expected):
    x, w, seen = leaf(), leaf(), []

    def collect(grads):
        seen.append([plain(g) for g in grads] if mode == "all" else plain(grads))

    graph.register_multi_grad_hook([x, w], collect, mode=mode)
    (NoGradient.apply(x) * 1 + w * 3).sum().backward()
    assert seen == expected


# --- saved inputs that were detached in place -------------------------------------------------


@pytest.mark.parametrize(
    "operation", [lambda a: a.sin(), lambda a: a * a, lambda a: a**3, lambda a: a.cos_().sin()]
)
def test_backward_refuses_an_input_that_was_detached_in_place(operation):
    x = leaf()
    a = x * 2
    b = operation(a)
    a.detach_()
    with pytest.raises(RuntimeError, match="a saved tensor that has been detached in-place"):
        b.sum().backward()
    assert x.grad is None


def test_results_leaves_and_copies_of_old_values_may_be_detached_in_place():
    x = leaf()
    a = x * 2
    b = a.exp()
    a.detach_()
    b.sum().backward()
    assert torch.allclose(x.grad, 2 * a.exp())
    w = leaf()
    y = w.sin()
    w.detach_()
    y.sum().backward()
    # In place, cos_ saves a copy of what was there.
    x = leaf()
    a = x * 2
    c = a.cos_() * 1
    a.detach_()
    c.sum().backward()
    assert torch.allclose(x.grad, -2 * torch.sin(2 * x.detach()))


def test_a_saved_tensor_can_be_looked_at_after_it_was_detached_in_place():
    a = leaf() * 2
    b = a.sin()
    a.detach_()
    assert b.grad_fn._saved_self.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="detached in-place"):
        b.sum().backward()
