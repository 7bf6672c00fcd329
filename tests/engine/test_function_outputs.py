"""Outputs of custom Functions: unused, without gradient, views; inputs returned or changed."""

import numpy as np
import pytest
from functions import Double_, leaf, make

import autograd_cy as torch
from autograd_cy.autograd import Function

# --- outputs ----------------------------------------------------------------------------------


def test_unused_output_gets_zeros_or_none():
    seen = []

    def backward(ctx, g, h):
        seen.append((g, h))
        return g

    for materialize in (True, False):

        def forward(ctx, x, keep=materialize):
            ctx.set_materialize_grads(keep)
            return x * 2, x * 3

        make(forward, backward).apply(leaf(1.0, 2.0))[0].sum().backward()
    assert torch.equal(seen[0][1], torch.zeros(2).double())
    assert seen[1][1] is None


def test_non_differentiable_outputs():
    def forward(ctx, x):
        index = x.argmax()
        flat = x * 0
        ctx.mark_non_differentiable(flat)
        return x * 2, index, flat

    seen = []

    def backward(ctx, g, gi, gf):
        seen.append((gi, gf))
        return g * 2

    y, index, flat = make(forward, backward).apply(leaf(1.0, 2.0))
    assert not index.requires_grad
    assert not flat.requires_grad
    assert y.requires_grad
    y.sum().backward()
    assert torch.equal(seen[0][1], torch.zeros(2).double())


def test_input_returned_as_it_is_becomes_a_view():
    F = make(lambda ctx, x: x, lambda ctx, g: g * 5)
    x = leaf(1.0)
    y = F.apply(x)
    assert y is not x
    assert y._is_view()
    y.backward()
    assert x.grad.item() == 5
    with torch.no_grad():
        z = F.apply(x)
    assert z is not x
    assert not z.requires_grad
    with pytest.raises(RuntimeError, match="created inside a custom Function"):
        F.apply(x).mul_(2)


def test_one_tensor_returned_twice():
    def forward(ctx, x):
        y = x * 2
        return y, y

    seen = []

    def backward(ctx, g, h):
        seen.append((g.item(), h.item()))
        return g + h

    a, b = make(forward, backward).apply(leaf(1.0))
    assert a is b
    (a + b).backward()
    assert seen == [(0.0, 2.0)]


def test_views_made_inside():
    x = leaf(1.0, 2.0)
    one = make(lambda ctx, x: x[:1], lambda ctx, g: torch.cat([g, g])).apply(x * 1)
    with pytest.raises(RuntimeError, match="created inside a custom Function"):
        one.mul_(2)
    two = make(lambda ctx, x: (x[:1], x[1:]), lambda ctx, g, h: torch.cat([g, h])).apply(x * 1)
    with pytest.raises(RuntimeError, match="output of a function that returns multiple views"):
        two[0].mul_(2)


# --- in-place ---------------------------------------------------------------------------------


def test_mark_dirty():
    x = leaf(1.0, 3.0)
    y = x * 1
    version = y._version
    z = Double_.apply(y)
    assert z is y
    assert y._version > version
    assert z.grad_fn.name() == "Double_Backward"
    (z * z).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * 2 * 2 * np.array([1.0, 3.0]))


def test_mark_dirty_on_a_view_rewrites_the_base():
    x = leaf(1.0, 3.0, 5.0)
    y = x * 1
    window = y[1:]
    assert Double_.apply(window) is window
    (y * torch.tensor([1.0, 10.0, 100.0]).double()).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [1, 20, 200])


def test_mark_dirty_on_a_view_that_is_not_the_first_argument():
    def forward(ctx, factor, x):
        ctx.mark_dirty(x)
        ctx.save_for_backward(factor)
        ctx.before = x.clone()
        return x.mul_(factor)

    def backward(ctx, grad):
        (factor,) = ctx.saved_tensors
        return (grad * ctx.before).sum(), grad * factor

    x, factor = leaf(1.0, 3.0, 5.0), leaf(4.0)
    y = x * 1
    make(forward, backward).apply(factor[0], y[1:])
    (y * torch.tensor([1.0, 10.0, 100.0]).double()).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [1, 40, 400])
    np.testing.assert_allclose(factor.grad.numpy(), [530])


def test_saving_what_was_changed_in_place():
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.exp_()
        ctx.save_for_backward(x)
        return x

    F = make(forward, lambda ctx, g: g * ctx.saved_tensors[0])
    x = leaf(0.5, 1.0)
    y = F.apply(x * 1)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    np.testing.assert_allclose(g.detach().numpy(), np.exp([0.5, 1.0]))
    np.testing.assert_allclose(h.numpy(), np.exp([0.5, 1.0]))


MISUSES = [
    ("not returned as output", lambda ctx, x: (ctx.mark_dirty(x), x * 2)[1]),
    ("mark_dirty can only accept variables", lambda ctx, x: (ctx.mark_dirty(3), x * 2)[1]),
    (
        "mark_non_differentiable only accepts variable arguments",
        lambda ctx, x: (ctx.mark_non_differentiable("a"), x * 2)[1],
    ),
    (
        "save_for_backward can only save variables, but argument 0 is of type int",
        lambda ctx, x: (ctx.save_for_backward(3), x * 2)[1],
    ),
    ("save_for_forward expects", lambda ctx, x: (ctx.save_for_forward(3), x * 2)[1]),
]


@pytest.mark.parametrize(("message", "forward"), MISUSES, ids=[m[0][:20] for m in MISUSES])
def test_misuse_in_forward(message, forward):
    x = leaf(1.0)
    wanted = (AssertionError,) if "forward" in message else (RuntimeError, TypeError)
    with pytest.raises(wanted, match=message):
        make(forward, lambda ctx, g: g).apply(x * 1)
    assert torch.is_grad_enabled()
    (x * 2).backward()
    assert x.grad.item() == 2


def test_dirty_leaf_and_dirty_view_with_two_outputs():
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        Double_.apply(leaf(1.0))
    F = make(lambda ctx, x: (ctx.mark_dirty(x), (x.mul_(2), x * 2))[1], lambda ctx, g, h: g)
    with pytest.raises(RuntimeError, match="cannot return more than one Tensor"):
        F.apply((leaf(1.0, 2.0) * 1)[:1])


def test_dirty_tensor_that_is_no_input_warns():
    def forward(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    with pytest.warns(UserWarning, match="was not an input"):
        make(forward, lambda ctx, g: g * 2).apply(leaf(1.0)).backward()


# --- inputs that are passed through or changed --------------------------------------------------


class PassedThrough(Function):
    """Return its input, and save it or the output in setup_context."""

    @staticmethod
    def forward(x, which):
        return x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0] if which_is_input(inputs) else output)

    @staticmethod
    def backward(ctx, grad):
        return grad, None


def which_is_input(inputs):
    return inputs[1] == "input"


@pytest.mark.parametrize("which", ["input", "output"])
@pytest.mark.parametrize("needed", [True, False])
def test_setup_context_cannot_save_an_input_that_is_returned(which, needed):
    x = torch.ones(2, requires_grad=needed)
    with pytest.raises(RuntimeError, match=r"returned as-is as output is being saved.*view_as"):
        PassedThrough.apply(x, which)


@pytest.mark.parametrize("others", [(None,), ("text",), (None, "text")])
def test_a_changed_view_must_be_the_only_output(others):
    class Doubled(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return (x.mul_(2), *others)

        @staticmethod
        def backward(ctx, *grads):
            return grads[0] * 2

    base = torch.ones(4, requires_grad=True) * 1
    with pytest.raises(RuntimeError, match="cannot return more than one Tensor"):
        Doubled.apply(base[:2])
    plain = torch.ones(4, requires_grad=True)
    Doubled.apply(plain * 1)[0].sum().backward()
    assert plain.grad.tolist() == [2.0] * 4


def test_a_view_made_by_a_function_without_grad_mode_is_a_view():
    class Flat(Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(-1)

        @staticmethod
        def backward(ctx, grad):
            return grad.view(2, 2)

    x = torch.ones(2, 2, requires_grad=True)
    with torch.no_grad():
        y = Flat.apply(x)
    assert y._is_view() and y.requires_grad and y.grad_fn is None
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        y.mul_(2)


class Doubled(Function):
    """Twice its input, in its memory."""

    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Shown(Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return grad


class Rows(Function):
    @staticmethod
    def forward(ctx, x):
        return x[0], x[1]

    @staticmethod
    def backward(ctx, *grads):
        return torch.stack(grads)


def unrecorded(x):
    with torch.no_grad():
        return x[0]


def of_inference(x):
    with torch.inference_mode():
        return torch.ones(3)


UNCHANGEABLE = [
    (lambda x: x.unbind()[0], "Output 0 of Unbind"),
    (lambda x: x.split(1)[0], "Output 0 of Split"),
    (lambda x: x.split(1)[0][:, 1:], "Output 0 of Slice"),
    (Shown.apply, "created inside a custom Function"),
    (lambda x: Rows.apply(x)[0], "Output 0 of Rows"),
    (of_inference, "inference tensor"),
]


@pytest.mark.parametrize(("view", "words"), UNCHANGEABLE)
def test_a_function_may_not_mark_what_no_operator_may_change(view, words):
    x = leaf([1.0, 2], [3, 4]) * 1
    target = view(x)
    with pytest.raises(RuntimeError, match=words):
        Doubled.apply(target)


def test_a_function_may_not_mark_a_view_of_a_leaf_or_one_made_without_a_graph():
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        Doubled.apply(leaf([1.0, 2], [3, 4])[0])
    with pytest.raises(RuntimeError, match="created in no_grad mode"):
        Doubled.apply(unrecorded(leaf([1.0, 2], [3, 4])))
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used"):
        Doubled.apply(leaf([1.0, 2], [3, 4]))
