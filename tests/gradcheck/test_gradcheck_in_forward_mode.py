"""The calls that gradcheck makes: levels that functions see, numbers of calls, outputs that
vary."""

import pytest

import autograd_cy as ag
import autograd_cy.autograd.forward_ad as fw
from autograd_cy.autograd import gradcheck, gradgradcheck
from autograd_cy.autograd.gradcheck import GradcheckError


def doubles(*values):
    return ag.tensor(values, dtype=ag.float64, requires_grad=True)


# --- outputs that vary --------------------------------------------------------------------------

VARYING = {
    "shape": (lambda x: ag.cat([x, x]) if x[0] >= 1 else x * 1, "shape"),
    "shape, same number": (lambda x: x * 1 if x[0] >= 1 else x.reshape(-1, 1), "shape"),
    "dtype": (lambda x: x.float() if x[0] >= 1 else x * 1, "dtype"),
    "one more": (lambda x: (x * 1, x * 2) if x[0] > 1 else x * 1, "length"),
    "unlike the point": (lambda x: x.sum() if x[0] == 1 else x * 1, "shape"),
}


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("raises", [True, False])
@pytest.mark.parametrize("name", VARYING)
def test_outputs_that_vary_with_the_values_are_refused(name, raises, fast):
    function, what = VARYING[name]
    where = "" if fast else r" on index \(0,\)"
    text = f"Expected `func` to return outputs with the same {what} when inputs are perturbed"
    with pytest.raises(AssertionError, match=f"{text}{where} by 1e-06, but got: {what}s"):
        gradcheck(function, doubles(1.0, 2.0), raise_exception=raises, fast_mode=fast)


# --- undefined gradients ------------------------------------------------------------------------


def hooked(hook):
    def function(x):
        y = x.clone()
        y.register_hook(hook)
        return y

    return function


@pytest.mark.parametrize("fast", [True, False])
def test_hooks_get_undefined_gradients(fast):
    seen = []

    def refuse(grad):
        seen.append(grad)
        if grad is None:
            raise RuntimeError("there is no gradient")

    x = doubles(1.0)
    warning = "Backwards compatibility: New undefined gradient support checking feature"
    text = "Expected backward function to handle undefined output grads"
    with pytest.warns(UserWarning, match=warning), pytest.raises(GradcheckError, match=text):
        gradcheck(hooked(refuse), x, fast_mode=fast)
    assert seen[-1] is None
    with pytest.warns(UserWarning, match=warning):
        assert not gradcheck(hooked(refuse), x, fast_mode=fast, raise_exception=False)
    assert gradcheck(hooked(refuse), x, fast_mode=fast, check_undefined_grad=False)


def test_other_errors_of_hooks_are_passed_on():
    with pytest.raises(TypeError, match="unsupported operand"):
        gradcheck(hooked(lambda grad: grad * 1), doubles(1.0), raise_exception=False)


# --- forward mode -------------------------------------------------------------------------------


def test_the_function_sees_the_level_and_inputs_without_grad():
    seen = []

    def function(x, y):
        tangents = [fw.unpack_dual(t).tangent is not None for t in (x, y)]
        seen.append((fw._current_level, *tangents, x.requires_grad, y.requires_grad))
        return x * y

    assert gradcheck(function, (doubles(1.0), doubles(2.0)), check_forward_ad=True)
    pushed = [s for s in seen if s[0] == 0]
    assert pushed == [
        (0, True, True, False, False),
        (0, True, True, False, False),
        (0, True, True, False, False),
        (0, False, True, False, False),
        (0, True, True, False, False),
        (0, True, False, False, False),
    ]
    assert {s for s in seen if s[0] != 0} == {(-1, False, False, True, True)}
    assert fw._current_level == -1


def test_a_tangent_that_the_function_changes_is_noticed():
    def spoil(factor):
        def function(x, y):
            if fw._current_level == 0:
                primal, tangent = fw.unpack_dual(y)
                if tangent is not None:
                    y = fw.make_dual(primal, tangent * factor)
            return x * y

        return function

    inputs = doubles(1.0, 2.0), doubles(3.0, 4.0)
    assert gradcheck(spoil(1.0), inputs, check_forward_ad=True)
    text = "Jacobian computed with forward mode mismatch for output 0 with respect to input 1"
    for fast in (True, False):
        with pytest.raises(GradcheckError, match=text):
            gradcheck(spoil(1.5), inputs, check_forward_ad=True, fast_mode=fast)


def test_a_level_that_is_open_already_is_an_error_and_stays_open():
    with fw.dual_level():
        with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported"):
            gradcheck(lambda x: x * 2, doubles(1.0), check_forward_ad=True)
        assert fw._current_level == 0


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize(
    ("inputs", "undefined", "batched", "calls"),
    [
        (1, False, False, 1),
        (2, False, False, 2),
        (1, True, False, 2),
        (2, True, False, 6),
        (1, False, True, 4),
        (2, False, True, 8),
        (1, True, True, 5),
        (2, True, True, 12),
    ],
)
def test_how_often_jvp_is_called(inputs, undefined, batched, calls, fast):
    class Product(ag.autograd.Function):
        count = 0

        @staticmethod
        def forward(ctx, x, y):
            ctx.x, ctx.y = x, y
            return x * y

        @staticmethod
        def jvp(ctx, tangent_x, tangent_y):
            Product.count += 1
            return tangent_x * ctx.y + tangent_y * ctx.x

    still = ag.ones(1, dtype=ag.float64)
    assert gradcheck(
        Product.apply if inputs == 2 else lambda x: Product.apply(x, still),
        (doubles(2.0), doubles(3.0))[:inputs],
        check_forward_ad=True,
        check_backward_ad=False,
        check_undefined_grad=undefined,
        check_batched_forward_grad=batched,
        fast_mode=fast,
    )
    assert Product.count == calls


@pytest.mark.parametrize(("batched", "calls"), [(False, 4), (True, 7)])
def test_how_often_backward_is_called(batched, calls):
    class Twice(ag.autograd.Function):
        count = 0

        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            Twice.count += 1
            return grad * 2

    assert gradcheck(Twice.apply, doubles(2.0), check_batched_grad=batched)
    assert Twice.count == calls


class Random(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        return grad * (1 + 0 * ag.rand(()))

    @staticmethod
    def jvp(ctx, tangent):
        return tangent * (1 + 0 * ag.rand(()))


@pytest.mark.parametrize(
    "options",
    [
        {"check_batched_grad": True},
        {"check_forward_ad": True, "check_batched_forward_grad": True},
    ],
    ids=["backward", "forward"],
)
def test_random_numbers_in_batched_derivatives_are_named(options):
    text = (
        "While computing batched gradients, got: vmap: We do not yet support calling random "
        "operations inside of vmap"
    )
    with pytest.raises(GradcheckError, match=text):
        gradcheck(Random.apply, doubles(1.0), **options)
    assert gradcheck(Random.apply, doubles(1.0), raise_exception=False, **options) is False


def test_a_forward_that_takes_ctx_runs_under_vmap_if_no_argument_has_examples():
    class Cube(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * grad

        @staticmethod
        def jvp(ctx, tangent):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * tangent

    x = ag.tensor([1.0, 2.0])

    def moved(t):
        return ag.func.jvp(Cube.apply, (x,), (t,))

    outputs, tangents = ag.vmap(moved)(ag.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    assert tangents.tolist() == [[3.0, 0.0], [0.0, 12.0], [3.0, 12.0]]
    assert outputs.tolist() == [[1.0, 8.0]] * 3
    with pytest.raises(RuntimeError, match="must override the setup_context"):
        ag.vmap(Cube.apply)(ag.ones(3, 2))
    x.requires_grad_()  # what is below the vmap would have to record
    with pytest.raises(RuntimeError, match="must override the setup_context"):
        ag.vmap(moved)(ag.ones(3, 2))


def test_forward_over_reverse_checks_second_derivatives_of_functions():
    for options in ({}, {"check_rev_over_rev": False, "check_undefined_grad": False}):
        assert gradgradcheck(
            lambda x, y: (x * y).sin(),
            (doubles(1.0), doubles(2.0)),
            check_fwd_over_rev=True,
            **options,
        )

    class Wrong(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * fw.unpack_dual(x).primal * grad

        @staticmethod
        def jvp(ctx, tangent):
            (x,) = ctx.saved_tensors
            return 2 * x * tangent

    with pytest.raises(GradcheckError, match="computed with forward mode mismatch"):
        gradgradcheck(
            Wrong.apply,
            doubles(1.0),
            check_fwd_over_rev=True,
            check_rev_over_rev=False,
            check_undefined_grad=False,
        )
