"""Functions that are wrong in one way only: gradcheck must say so, and in which."""

import pytest

import autograd_cy as torch
from autograd_cy.autograd import Function, gradcheck
from autograd_cy.autograd.gradcheck import GradcheckError


def function(backward, forward=lambda x: (x * 2, x * 3), jvp=None):
    """The Function of one tensor with such a backward, or such a jvp."""

    class Made(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return forward(x)

    Made.backward = staticmethod(lambda ctx, *grads: backward(*grads))
    if jvp:
        Made.jvp = staticmethod(lambda ctx, tangent: jvp(tangent))
    return Made.apply


def right(g, h):
    if g is None and h is None:
        return None
    return (0 if g is None else g * 2) + (0 if h is None else h * 3)


def start():
    return torch.tensor([0.5, -1.5], dtype=torch.float64, requires_grad=True)


def three(wrong_without):
    """A gradient of three outputs that is wrong where just these have none."""

    def backward(*grads):
        missing = tuple(i for i, g in enumerate(grads) if g is None)
        if len(missing) == 3:
            return torch.ones(2, dtype=torch.float64) if missing == wrong_without else None
        total = sum(g * (i + 2) for i, g in enumerate(grads) if g is not None)
        return total * 1.5 if missing == wrong_without else total

    return function(backward, forward=lambda x: (x * 2, x * 3, x * 4))


@pytest.mark.parametrize("missing", [(0,), (1,), (2,), (0, 1, 2)])
def test_what_differs_without_a_gradient(missing):
    assert gradcheck(three(None), (start(),))
    assert gradcheck(three(missing), (start(),), check_undefined_grad=False)
    with pytest.raises(GradcheckError, match="undefined"):
        gradcheck(three(missing), (start(),))
    assert not gradcheck(three(missing), (start(),), raise_exception=False)


def test_each_wrong_factor_is_found():
    for backward in (
        lambda g, h: right(g, h) * 1.01,
        lambda g, h: right(g, None if h is None else h * 1.01),
        lambda g, h: right(None if g is None else g * 1.01, h),
        lambda g, h: right(g, h).flip(0),
    ):
        for fast in (False, True):
            assert not gradcheck(
                function(backward), (start(),), raise_exception=False, fast_mode=fast,
                check_undefined_grad=False,
            )  # fmt: skip


def test_a_gradient_that_ignores_what_comes_in():
    wrong = function(
        lambda g: torch.full((2,), 2.0, dtype=torch.float64), forward=lambda x: (x * 2).sum()
    )
    with pytest.raises(GradcheckError, match="backward not multiplied by grad_output"):
        gradcheck(wrong, (start(),), check_undefined_grad=False)


def test_wrong_tangents_are_found():
    options = {"check_forward_ad": True, "check_backward_ad": False, "check_undefined_grad": False}
    assert gradcheck(function(right, jvp=lambda m: (m * 2, m * 3)), (start(),), **options)
    for jvp in (
        lambda m: (m * 2, m * 3.01),
        lambda m: (m * 2.01, m * 3),
        lambda m: (m.flip(0) * 2, m * 3),
    ):
        for fast in (False, True):
            with pytest.raises(GradcheckError):
                gradcheck(function(right, jvp=jvp), (start(),), fast_mode=fast, **options)


def test_gradients_that_differ_in_a_batch():
    def backward(g):
        return g * (3 if "BatchedTensor" in repr(g) else 2)

    wrong = function(backward, forward=lambda x: x * 2)
    assert gradcheck(wrong, (start(),), check_undefined_grad=False)
    with pytest.raises(GradcheckError, match="atched"):
        gradcheck(wrong, (start(),), check_batched_grad=True, check_undefined_grad=False)


def test_nothing_to_check_is_an_error():
    with pytest.raises(ValueError, match="at least one"):
        gradcheck(lambda x: x * 2, (torch.ones(2, dtype=torch.float64),))
    with pytest.raises(ValueError, match="at least one"):
        gradcheck(lambda x: x * 2, ())


def test_numbers_that_depend_on_more_than_the_inputs():
    calls = iter(range(10_000))
    wrong = function(lambda g: g * (2 + next(calls) * 1e-3), forward=lambda x: x * 2)
    with pytest.raises(GradcheckError, match="not reentrant|Jacobian mismatch"):
        gradcheck(wrong, (start(),), check_undefined_grad=False)
    with pytest.raises(GradcheckError, match="not reentrant"):
        gradcheck(wrong, (start(),), check_undefined_grad=False, nondet_tol=0.0, atol=100.0)
    calm = function(lambda g: g * (2 + next(calls) * 1e-9), forward=lambda x: x * 2)
    assert gradcheck(calm, (start(),), check_undefined_grad=False, nondet_tol=1e-3, atol=1e-3)
