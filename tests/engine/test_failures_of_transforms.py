"""A Function's jvp or vmap, or the function being transformed, raises: nothing else has changed."""

import pytest
from failures import (
    Planned,
    are_gone,
    assert_engine_works,
    fail,
    failing,
    nothing_stays_behind,
    weak,
    with_failing_allocations,
)

import autograd_cy as torch
from autograd_cy import func
from autograd_cy.autograd import Function, forward_ad
from autograd_cy.autograd.functional import hessian, hvp, jacobian


class Square(Function):
    """``x * x`` with a derivative of each kind."""

    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.saved_tensors[0] * grad

    @staticmethod
    def jvp(ctx, tangent):
        return 2 * ctx.saved_tensors[0] * tangent

    @staticmethod
    def vmap(info, in_dims, x):
        return Square.apply(x), in_dims[0]


class Generated(Square):
    generate_vmap_rule = True
    vmap = Function.vmap


def ones():
    return torch.ones(3)


def through_jvp(function):
    return func.jvp(function.apply, (ones(),), (ones(),))[1]


def through_vmap(function):
    return func.vmap(function.apply)(ones())


def through_per_sample_gradients(function):
    return func.vmap(func.grad(lambda x: function.apply(x).sum()))(ones())


def through_hessian(function):
    return func.hessian(lambda x: function.apply(x).sum())(ones()).diagonal()


def through_a_dual_level(function):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(ones(), ones())
        return forward_ad.unpack_dual(function.apply(dual)).tangent.clone()


def through_forward_over_reverse(function):
    x = ones().requires_grad_()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, ones())
        (gradient,) = torch.autograd.grad(function.apply(dual).sum(), x, create_graph=True)
        return forward_ad.unpack_dual(gradient).tangent.detach().clone()


CASES = [
    (Square, "jvp", through_jvp, 2.0),
    (Square, "jvp", through_a_dual_level, 2.0),
    (Square, "jvp", through_forward_over_reverse, 2.0),
    (Square, "forward", through_jvp, 2.0),
    (Square, "setup_context", through_jvp, 2.0),
    (Square, "vmap", through_vmap, 1.0),
    (Generated, "forward", through_vmap, 1.0),
    (Generated, "setup_context", through_per_sample_gradients, 2.0),
    (Generated, "backward", through_per_sample_gradients, 2.0),
    (Generated, "forward", through_per_sample_gradients, 2.0),
    (Generated, "backward", through_hessian, 2.0),
    (Generated, "jvp", through_hessian, 2.0),
]
IDS = [f"{cls.__name__}-{method}-{run.__name__}" for cls, method, run, _ in CASES]


@pytest.mark.parametrize(("cls", "method", "run", "expected"), CASES, ids=IDS)
def test_a_failing_method_leaves_all_levels(cls, method, run, expected):
    with nothing_stays_behind():
        function = failing(cls, method)
        with pytest.raises(Planned, match="on purpose"):
            run(function)
        assert forward_ad._current_level == -1
        assert_engine_works()
        assert run(function).tolist() == [expected] * 3
        del function


@pytest.mark.parametrize(("cls", "method", "run", "expected"), CASES, ids=IDS)
def test_nothing_holds_what_a_failing_method_has_seen(cls, method, run, expected):
    seen = []

    def spy(*args):
        seen.extend(weak(*[a for a in args if isinstance(a, torch.Tensor)]))
        fail()

    function = type("Spied", (cls,), {method: staticmethod(spy)})
    with pytest.raises(Planned):
        run(function)
    del function
    assert are_gone(seen)


TRANSFORMS = {
    "grad": lambda f: func.grad(f)(ones()),
    "grad_and_value": lambda f: func.grad_and_value(f)(ones()),
    "vjp": lambda f: func.vjp(f, ones()),
    "jvp": lambda f: func.jvp(f, (ones(),), (ones(),)),
    "linearize": lambda f: func.linearize(f, ones()),
    "jacrev": lambda f: func.jacrev(f)(ones()),
    "jacfwd": lambda f: func.jacfwd(f)(ones()),
    "hessian": lambda f: func.hessian(f)(ones()),
    "vmap": lambda f: func.vmap(f)(torch.ones(2, 3)),
    "vmap of grad": lambda f: func.vmap(func.grad(f))(torch.ones(2, 3)),
    "grad of vmap": lambda f: func.grad(lambda x: func.vmap(f)(x).sum())(torch.ones(2, 3)),
    "jacobian": lambda f: jacobian(f, ones()),
    "jacobian, vectorised": lambda f: jacobian(f, ones(), vectorize=True),
    "jacobian, forward": lambda f: jacobian(f, ones(), vectorize=True, strategy="forward-mode"),
    "functional hessian": lambda f: hessian(f, ones()),
    "hvp": lambda f: hvp(f, ones(), ones()),
    "hvp, auto": lambda f: hvp(f, ones(), ones(), strategy="auto"),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_function_that_fails_within_a_transform(name):
    def function(x):
        y = (x * x).exp()
        if failures:
            failures.pop()
            fail()
        return y.sum()

    for grad_mode in (torch.enable_grad, torch.no_grad):
        failures = [True]
        with grad_mode(), nothing_stays_behind():
            with pytest.raises(Planned):
                TRANSFORMS[name](function)
            assert forward_ad._current_level == -1
        TRANSFORMS[name](function)
    assert_engine_works()


@pytest.mark.parametrize("name", TRANSFORMS)
def test_allocations_that_fail_within_a_transform(name):
    def work():
        TRANSFORMS[name](lambda x: (x * x).exp().sum())

    work()
    with nothing_stays_behind():
        count = 0
        for _ in with_failing_allocations(work):
            count += 1
            assert forward_ad._current_level == -1
        assert count > 0
    assert_engine_works()
