"""gradcheck of custom Functions: undefined gradients, forward mode, vmap, dtypes."""

import pytest

import autograd_cy as ag
from autograd_cy.autograd import Function, gradcheck, gradgradcheck
from autograd_cy.autograd.gradcheck import GradcheckError

each_mode = pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])


@pytest.fixture
def x():
    return ag.tensor([0.5, 2.0], dtype=ag.float64, requires_grad=True)


@pytest.fixture
def y():
    return ag.tensor([1.5, -1.0], dtype=ag.float64, requires_grad=True)


class Pair(Function):
    """x * 2 and x * 3; each test says what backward makes of undefined gradients."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    @staticmethod
    def both(g, h):
        total = None
        for part in (None if g is None else g * 2, None if h is None else h * 3):
            if part is not None:
                total = part if total is None else total + part
        return total


class RightPair(Pair):
    @staticmethod
    def backward(ctx, g, h):
        return Pair.both(g, h)


class OnesIfNothing(Pair):
    @staticmethod
    def backward(ctx, g, h):
        return ag.ones(2, dtype=ag.float64) if g is None and h is None else Pair.both(g, h)


class NeedsAnAttribute(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g.clone() * 2


@each_mode
def test_undefined_gradients_that_count_as_zeros(x, fast):
    assert gradcheck(RightPair.apply, x, fast_mode=fast)


@each_mode
def test_undefined_gradients_that_count_as_something_else(x, fast):
    with pytest.raises(GradcheckError, match="Expected all input grads to be undefined or zero"):
        gradcheck(OnesIfNothing.apply, x, fast_mode=fast)
    assert gradcheck(OnesIfNothing.apply, x, fast_mode=fast, check_undefined_grad=False)
    assert not gradcheck(OnesIfNothing.apply, x, fast_mode=fast, raise_exception=False)


@each_mode
def test_one_of_several_gradients_undefined(x, fast):
    class Third(Pair):
        @staticmethod
        def backward(ctx, g, h):
            total = Pair.both(g, h)
            # Right if both or none arrive.
            return total if (g is None) == (h is None) else total * 5

    # Taken alone, an output has no other gradient, so that differences find it already.
    with pytest.raises(GradcheckError):
        gradcheck(Third.apply, x, fast_mode=fast)


@each_mode
def test_errors_of_backward_pass_through(x, fast):
    with pytest.raises(AttributeError, match="NoneType"):
        gradcheck(NeedsAnAttribute.apply, x, fast_mode=fast, raise_exception=False)
    assert gradcheck(NeedsAnAttribute.apply, x, fast_mode=fast, check_undefined_grad=False)


class Product(Function):
    """x * y with right gradients; `factor` multiplies the tangent of a single moving input."""

    factor = 1.0

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)
        ctx.set_materialize_grads(False)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return (None, None) if g is None else (g * y, g * x)

    @classmethod
    def tangent(cls, ctx, a, b, factor):
        x, y = ctx.saved_tensors
        if a is None or b is None:
            return factor * (x * b if a is None else y * a)
        return y * a + x * b


class RightProduct(Product):
    @staticmethod
    def jvp(ctx, a, b):
        return Product.tangent(ctx, a, b, 1.0)


class WrongProduct(Product):
    @staticmethod
    def jvp(ctx, a, b):
        return Product.tangent(ctx, a, b, 1.5)


class WrongSum(Product):
    @staticmethod
    def jvp(ctx, a, b):
        right = Product.tangent(ctx, a, b, 1.0)
        return right * 1.5 if a is not None and b is not None else right


@each_mode
def test_forward_mode_of_functions(x, y, fast):
    assert gradcheck(RightProduct.apply, (x, y), fast_mode=fast, check_forward_ad=True)
    with pytest.raises(GradcheckError, match="computed with forward mode mismatch"):
        gradcheck(WrongSum.apply, (x, y), fast_mode=fast, check_forward_ad=True)


@each_mode
def test_undefined_tangents(x, y, fast):
    # Right with zeros beside the tangent of one input, wrong with nothing there.
    with pytest.raises(GradcheckError, match="Mismatch in tangent values for output with index: 0"):
        gradcheck(WrongProduct.apply, (x, y), fast_mode=fast, check_forward_ad=True)
    assert gradcheck(
        WrongProduct.apply,
        (x, y),
        fast_mode=fast,
        check_forward_ad=True,
        check_undefined_grad=False,
    )


@each_mode
def test_function_without_jvp(x, fast):
    with pytest.raises(NotImplementedError, match="jvp"):
        gradcheck(
            RightPair.apply, x, fast_mode=fast, check_forward_ad=True, check_backward_ad=False
        )


@each_mode
def test_batched_gradients_of_a_function(x, fast):
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    class ByValue(Double):
        @staticmethod
        def backward(ctx, g):
            return g * 2 if g.sum().item() != 77 else g

    assert gradcheck(Double.apply, x, fast_mode=fast, check_batched_grad=True)
    with pytest.raises(GradcheckError, match="While computing batched gradients, got: "):
        gradcheck(ByValue.apply, x, fast_mode=fast, check_batched_grad=True)


@each_mode
def test_wrong_second_derivative(x, fast):
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2 * x.detach()  # right, and constant

    assert gradcheck(Square.apply, x, fast_mode=fast)
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to inp"):
        gradgradcheck(Square.apply, x, fast_mode=fast)
    assert not gradgradcheck(Square.apply, x, fast_mode=fast, raise_exception=False)


@each_mode
def test_backward_with_holes(x, y, fast):
    class First(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2, None

    assert gradcheck(First.apply, (x, y), fast_mode=fast)
    assert gradgradcheck(First.apply, (x, y), fast_mode=fast)
