"""Hooks of a tensor beside those of its node: whose they are, what their errors say."""

import pytest

import autograd_cy as ag


class Hook:
    """A callable without a name of its own."""

    def __init__(self, answer):
        self.answer = answer

    def __call__(self, *args):
        return self.answer


@pytest.mark.parametrize("answer", ["a", ag.ones(3), (ag.ones(3),), (ag.ones(3), ag.ones(2))])
@pytest.mark.parametrize("kind", ["tensor", "node", "before the node"])
def test_errors_of_hooks_name_their_class(kind, answer):
    y = ag.ones(2, requires_grad=True) * 2
    add = {
        "tensor": y.register_hook,
        "node": y.grad_fn.register_hook,
        "before the node": y.grad_fn.register_prehook,
    }[kind]
    add(Hook(answer))
    with pytest.raises((TypeError, RuntimeError), match="hook 'Hook'"):
        y.sum().backward()


def test_hooks_of_a_tensor_whose_node_has_others():
    x = ag.ones(2, requires_grad=True)
    for give in (
        lambda node: node.metadata.update(a=1),
        lambda node: node.register_hook(lambda a, b: None),
        lambda node: node.register_prehook(lambda a: None),
    ):
        y = x * 2
        give(y.grad_fn)
        assert y._backward_hooks is None
        handle = y.register_hook(lambda g: g)
        assert len(y._backward_hooks) == 1
        handle.remove()
        assert not y._backward_hooks
    y = x * 2
    y.retain_grad()
    assert y._backward_hooks is None


def test_hooks_of_a_tensor_are_replaced_by_those_that_are_given():
    x, calls = ag.ones(2, requires_grad=True), []
    for name in "abc":
        x.register_hook(lambda g, name=name: calls.append(name))
    x._backward_hooks = {1: lambda g: calls.append("new")}
    x.sum().backward()
    assert calls == ["new"]
    assert len(x._backward_hooks) == 1


def test_hooks_of_any_gradient_keep_nothing_of_passes_that_are_over():
    x = ag.ones(2, requires_grad=True)
    y = ag.ones(2, requires_grad=True)
    calls = []
    ag.autograd.graph.register_multi_grad_hook([x, y], calls.append, mode="any")
    hook = next(iter(x._backward_hooks.values()))
    (seen,) = (c.cell_contents for c in hook.__closure__ if isinstance(c.cell_contents, set))
    for count in range(1, 9):
        (x * y).sum().backward()
        assert len(calls) == count
        assert len(seen) == 1
