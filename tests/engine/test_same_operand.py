"""Products of a tensor with itself: the gradient of both operands is computed once."""

import autograd_cy as ag
from autograd_cy import profiler


def products_in_backward(function, *tensors):
    with profiler.profile() as seen:
        ag.autograd.grad(function(*tensors).sum(), tensors)
    return sum(event.count for event in seen.key_averages() if event.key == "aten::mul")


def test_one_product_for_both_operands():
    x = ag.randn(5, requires_grad=True)
    y = ag.randn(5, requires_grad=True)
    # the product forward, and the gradients
    assert products_in_backward(lambda x: x * x, x) == 2
    assert products_in_backward(lambda x, y: x * y, x, y) == 3


def test_derivatives_of_any_order():
    x = ag.tensor([1.5, -2.0, 0.0], dtype=ag.float64, requires_grad=True)
    y = x * x * (x * x)
    for expected in (4 * x**3, 12 * x**2, 24 * x):
        (y,) = ag.autograd.grad(y.sum(), x, create_graph=True)
        assert y.tolist() == expected.tolist()
    z = ag.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    (grad,) = ag.autograd.grad((z * z).real.sum(), z)
    assert grad.tolist() == (2 * z.conj()).tolist()
    v = ag.tensor([2.0, 3.0], requires_grad=True)
    (grad,) = ag.autograd.grad(ag.dot(v, v), v)
    assert grad.tolist() == [4.0, 6.0]


def test_hooks_and_accumulation_see_both():
    x = ag.tensor([3.0], requires_grad=True)
    seen = []
    x.register_hook(lambda grad: seen.append(grad.item()))
    y = x * x
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append([g.item() for g in inputs]))
    y.backward()
    assert seen == [[3.0, 3.0], 6.0] and x.grad.item() == 6.0
    y = x * x
    y.backward()
    assert x.grad.item() == 12.0
    # a gradient that somebody holds isn't changed by the sum of the two
    kept = []
    w = x.clone()
    y = w * w
    y.grad_fn.register_hook(lambda inputs, outputs: kept.extend(inputs))
    y.backward()
    assert [k.item() for k in kept] == [3.0, 3.0]


def test_saved_tensors_that_were_changed_are_seen():
    with ag.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        x = ag.tensor([3.0], requires_grad=True)
        y = x * x
    y.backward()
    assert x.grad.item() == 6.0


def test_a_hook_changes_one_of_both_gradients():
    x = ag.ones(2, requires_grad=True)
    y = x * x

    def hook(grads, _):
        grads[0].mul_(3)

    y.grad_fn.register_hook(hook)
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]
