"""Graphs in which it matters which of several: outputs of a node, inputs of a Function, tasks."""

import weakref

import pytest

import autograd_cy as torch
from autograd_cy.autograd import Function, graph
from autograd_cy.autograd import forward_ad as fw


def leaf(*values):
    return torch.tensor(values or [1.0, 1.0], dtype=torch.float64, requires_grad=True)


# --- outputs of one node ----------------------------------------------------------------------


def test_a_hook_may_unpack_another_output_with_the_same_content():
    x = leaf(3.0, 3.0)
    outputs = (x * 1).unbind()
    a, b = outputs

    def other(nr):
        return outputs[1 - nr]

    with graph.saved_tensors_hooks(lambda t: t.output_nr, other):
        total = a * b
    (made,) = torch.autograd.grad(total, x, create_graph=True)
    assert made.tolist() == [3.0, 3.0]
    # The history is that of the tensor that was saved: the first derivative of a b is (b, a).
    assert torch.autograd.grad(made[0], x, retain_graph=True)[0].tolist() == [0.0, 1.0]
    assert torch.autograd.grad(made[1], x)[0].tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("tangent", "expected"), [((1.0, 0.0), [0.0, 10.0]), ((0.0, 1.0), [10.0, 4.0])]
)
def test_reverse_over_forward_through_several_outputs(tangent, expected):
    x = leaf(2.0, 5.0)
    with fw.dual_level():
        a, b = fw.make_dual(x, torch.tensor(tangent, dtype=torch.float64)).unbind()
        tangent_of_product = fw.unpack_dual(a * b * b).tangent
        # d(a b^2) is b^2 along a and 2 a b along b.
        assert torch.autograd.grad(tangent_of_product, x)[0].tolist() == expected


# --- a Function that changes a view in place --------------------------------------------------


class Scale(Function):
    """v *= w, in place; other arguments come first."""

    @staticmethod
    def forward(ctx, name, w, v):
        ctx.save_for_backward(w, v.clone())
        ctx.mark_dirty(v)
        return v.mul_(w)

    @staticmethod
    def backward(ctx, grad):
        w, before = ctx.saved_tensors
        return None, grad * before, grad * w


def test_a_function_changes_a_view_that_is_not_its_first_argument():
    x, w = leaf(1.0, 2.0, 5.0), leaf(3.0, 4.0)
    base = x * 1
    Scale.apply("a name", w, base[:2])
    assert base.tolist() == [3.0, 8.0, 5.0]
    of_x, of_w = torch.autograd.grad((base**2).sum(), (x, w), create_graph=True)
    assert of_x.tolist() == [18.0, 64.0, 10.0] and of_w.tolist() == [6.0, 32.0]
    # 2 w^2 x, differentiated by w: what was saved leads to w, not to the view.
    assert torch.autograd.grad(of_x.sum(), w)[0].tolist() == [12.0, 32.0]


def test_a_view_may_begin_before_its_base():
    factor = leaf(1.0, 2.0, 3.0, 4.0)
    base = torch.ones(6, dtype=torch.float64)[2:].data
    base.mul_(factor)
    base.as_strided((3,), (1,), 1).mul_(3)
    assert base.tolist() == [3.0, 6.0, 3.0, 4.0]
    base.sum().backward()
    assert factor.grad.tolist() == [3.0, 3.0, 1.0, 1.0]


# --- tasks ------------------------------------------------------------------------------------


def unpacked_by_grad_of_one_factor():
    """Count the saved tensors that backward unpacks, for the gradient of a in a b."""
    a, b, seen = leaf(), leaf(), []
    with graph.saved_tensors_hooks(lambda t: t, lambda t: seen.append(t) or t):
        total = (a * b).sum()
    torch.autograd.grad(total, a)
    return len(seen)


def test_unwanted_gradients_are_not_computed_whatever_ran_before():
    class Fails(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            raise KeyError

    assert unpacked_by_grad_of_one_factor() == 1
    with pytest.raises(KeyError):
        Fails.apply(leaf()).sum().backward()
    x = leaf()
    torch.autograd.grad((x * x).sum(), x)
    assert unpacked_by_grad_of_one_factor() == 1


def test_what_an_outer_backward_holds_is_not_reached_by_an_inner_one():
    seen, t = [], leaf()
    a, b = t * 2, t * 3
    handle = graph.register_multi_grad_hook([a, b], lambda grads: seen.append(grads))

    class Inner(Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            with torch.enable_grad():
                # Both nodes belong to the outer backward; this one reaches a only.
                torch.autograd.grad((a * 5).sum(), t, retain_graph=True)
            return grad

    out = Inner.apply(a * b).sum()
    out.backward()
    handle.remove()
    inner, outer = seen
    assert inner[0].tolist() == [5.0, 5.0] and inner[1] is None
    assert [g.tolist() for g in outer] == [[3.0, 3.0], [2.0, 2.0]]


def test_a_backward_that_failed_leaves_nothing_with_hooks_on_several_tensors():
    refs = []

    class Fails(Function):
        failing = True

        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            if Fails.failing:
                raise KeyError
            return grad

    x = leaf()
    late = x * 2
    fails = Fails.apply(late)
    early = x * 3  # newer, so its gradient is there before the failure
    early.register_hook(lambda grad: refs.append(weakref.ref(grad)))
    graph.register_multi_grad_hook([late, early], lambda grads: None)
    total = (fails * early).sum()
    with pytest.raises(KeyError):
        total.backward(retain_graph=True)
    Fails.failing = False
    total.backward()
    assert len(refs) == 2 and [ref() for ref in refs] == [None, None]


# --- small refusals ---------------------------------------------------------------------------


def test_keyword_only_arguments_of_forward_are_refused():
    class Named(Function):
        @staticmethod
        def forward(ctx, x, *, factor=2):
            return x * factor

    with pytest.raises(TypeError, match="keyword-only arguments"):
        Named.apply(leaf(), factor=3)


def test_a_once_differentiable_gradient_that_depends_on_nothing_needs_no_refusal():
    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, grad):
            return grad * 2

    x = leaf()
    (made,) = torch.autograd.grad(Once.apply(x).sum(), x, create_graph=True)
    assert not made.requires_grad and made.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("name", "arguments", "strategy"),
    [("hvp", 2, "strategy"), ("hessian", 1, "outer_jacobian_strategy")],
)
def test_strict_mode_checks_with_the_automatic_strategy(name, arguments, strategy):
    function = getattr(torch.autograd.functional, name)
    given = [torch.ones(2) for _ in range(arguments)]
    with pytest.raises(RuntimeError, match="independent of the input"):
        function(lambda x: x.sum(), *given, strict=True, **{strategy: "auto"})
