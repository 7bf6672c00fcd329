"""gradcheck: what passes and what fails, slow and fast, real and complex, backward and forward."""

import warnings

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.autograd import gradcheck
from autograd_cy.autograd.gradcheck import GradcheckError

each_mode = pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])


def real(*shape, seed=0):
    values = np.random.default_rng(seed).uniform(0.3, 2.0, shape)
    return ag.tensor(values, dtype=ag.float64).requires_grad_(True)


def complex_(*shape, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.uniform(0.3, 2.0, shape) + 1j * rng.uniform(-1, 1, shape)
    return ag.tensor(values, dtype=ag.complex128).requires_grad_(True)


def scaled_gradient(y, factor):
    """`y`, but gradients are multiplied by `factor` on their way back."""
    y = y * 1
    if y.requires_grad:
        y.register_hook(lambda g: None if g is None else g * factor)
    return y


def scaled_tangent(y, factor):
    """`y`, but tangents are multiplied by `factor`; gradients are right."""
    z = y * factor + y.detach() * (1 - factor)
    if z.requires_grad:
        z.register_hook(lambda g: None if g is None else g / factor)
    return z


RIGHT = {
    "real to real": (lambda a: a.exp() * a.sum(), (real(3),)),
    "matrix": (lambda a, b: a @ b, (real(2, 3), real(3, 2, seed=1))),
    "0-d": (lambda a: a**3, (real(),)),
    "empty": (lambda a: a * 2, (real(0),)),
    "two outputs": (lambda a, b: (a * b.sum(), b.log()), (real(2), real(3, seed=1))),
    "complex to complex": (lambda z: z * z * z.sum(), (complex_(2),)),
    "not holomorphic": (lambda z: z * z.conj() * z, (complex_(2),)),
    "complex to real": (lambda z: (z * z.conj()).real.log(), (complex_(2),)),
    "real to complex": (lambda a: a * (1 + 2j) * a.sum(), (real(2),)),
    "mixed": (lambda a, z: (a * z, z.real * a), (real(2), complex_(2, seed=1))),
    "strided input": (lambda a: a.log(), (real(2, 3).detach().t().requires_grad_(True),)),
    "input not a leaf": (lambda a: a * a, (real(2) * 2,)),
    "view": (lambda a: a.view(2, 1), (real(2),)),
    "several views": (lambda a: a.split(1), (real(2),)),
    "integer input": (lambda a, i: a[i] * a, (real(2), ag.tensor([1, 0]))),
    "integer output": (lambda a: (a * 2, a.argmax()), (real(2),)),
    "not a tensor": (lambda a, s: a * s, (real(2), 2.5)),
    "unused input": (lambda a, b: a * 2, (real(2), real(2, seed=1))),
    "fixed input": (lambda a, b: a * b, (real(2), real(2, seed=1).detach())),
    "the same tensor twice": (lambda a, b: a * b, (real(2),) * 2),
    "in place": (lambda a: a.clone().mul_(a).exp_(), (real(2),)),
    "list": (lambda a: [a * 2, a.exp()], (real(2),)),
}


@each_mode
@pytest.mark.parametrize("name", RIGHT)
def test_right_derivatives_pass(name, fast):
    func, inputs = RIGHT[name]
    before = [x.detach().clone() if isinstance(x, ag.Tensor) else x for x in inputs]
    assert gradcheck(
        func,
        inputs,
        fast_mode=fast,
        check_forward_ad=True,
        check_batched_grad=True,
        check_batched_forward_grad=True,
        check_grad_dtypes=True,
    )
    for x, old in zip(inputs, before):
        assert x == old if not isinstance(x, ag.Tensor) else ag.equal(x, old)


WRONG = {
    "real to real": (lambda a: scaled_gradient(a * 2, 1.5), (real(2),), "Jacobian mismatch"),
    "sign": (lambda a: scaled_gradient(a * 2, -1), (real(2),), "Jacobian mismatch"),
    "complex to real": (
        lambda z: scaled_gradient((z * z.conj()).real, 1.5),
        (complex_(2),),
        "Jacobian mismatch",
    ),
    "real to complex": (
        lambda a: scaled_gradient(a * (1 + 1j), 1.5),
        (real(2),),
        "While considering the imaginary part of complex outputs only, Jacobian mismatch",
    ),
    "missing conj": (
        lambda z: scaled_gradient(z * z, 1j),
        (complex_(2),),
        "While considering the imaginary part of complex outputs only, Jacobian mismatch",
    ),
}


@each_mode
@pytest.mark.parametrize("name", WRONG)
def test_wrong_gradients_fail(name, fast):
    func, inputs, text = WRONG[name]
    with pytest.raises(GradcheckError, match=text):
        gradcheck(func, inputs, fast_mode=fast)
    assert gradcheck(func, inputs, fast_mode=fast, raise_exception=False) is False
    assert gradcheck(func, inputs, fast_mode=fast, check_backward_ad=False, check_forward_ad=True)


@each_mode
@pytest.mark.parametrize("inputs", [(real(2),), (complex_(2),)], ids=["real", "complex"])
def test_wrong_tangents_fail(inputs, fast):
    def func(a):
        return scaled_tangent(a * 2, 1.5)

    assert gradcheck(func, inputs, fast_mode=fast)
    for backward in (True, False):
        with pytest.raises(GradcheckError, match="Jacobian computed with forward mode mismatch"):
            gradcheck(
                func, inputs, fast_mode=fast, check_forward_ad=True, check_backward_ad=backward
            )


def test_wrong_imaginary_tangents_are_called_so():
    # Right along the real axis, wrong along the imaginary one.
    def func(z):
        return z * 2 + z.imag - z.imag.detach()

    with pytest.raises(GradcheckError, match="imaginary part of complex inputs only, Jacobian com"):
        gradcheck(func, complex_(2), check_forward_ad=True, check_backward_ad=False)


def test_message_names_output_input_and_the_worst_element():
    def func(a, b):
        return a * b, scaled_gradient(b, ag.tensor([1.0, 1.0, 4.0], dtype=ag.float64))

    with pytest.raises(GradcheckError) as caught:
        gradcheck(func, (real(3), real(3, seed=1)))
    text = str(caught.value)
    assert "for output 1 with respect to input 1" in text
    assert "numerical:tensor([[" in text and "analytical:tensor([[" in text
    assert "[2, 2]" in text and "numerical 1, analytical 4, difference 3" in text


def test_fast_failure_shows_both_slow_jacobians():
    with pytest.raises(GradcheckError) as caught:
        gradcheck(lambda a: scaled_gradient(a * 2, 1.5), real(2), fast_mode=True)
    text = str(caught.value)
    for part in ("computed in fast mode", "Numerical:\n tensor([[2.", "Analytical:\ntensor([[3."):
        assert part in text
    assert "max per-element difference (slow mode) is: 1.0" in text.replace("0.99999", "1.0")


def test_fast_failure_that_slow_mode_would_not_see_says_so():
    # The error of a difference grows with the third power of the step, which is longer along a
    # vector that moves all elements.
    def cube(a):
        return 0.05 * a.sum() ** 3

    x = ag.zeros(100, dtype=ag.float64, requires_grad=True)
    assert gradcheck(cube, x, eps=1e-2)
    with pytest.raises(GradcheckError, match="element-wise differences are small"):
        gradcheck(cube, x, eps=1e-2, fast_mode=True)


@each_mode
def test_nan_fails(fast):
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradcheck(lambda a: a * float("nan"), real(2), fast_mode=fast)


# --- outputs without a graph --------------------------------------------------------------------


@each_mode
def test_no_differentiable_output(fast):
    assert gradcheck(lambda a: a.detach() * 0 + 1, real(2), fast_mode=fast)
    assert gradcheck(lambda a: a.argmax(), real(2), fast_mode=fast)
    with pytest.raises(GradcheckError, match="Numerical gradient for function expected to be zero"):
        gradcheck(lambda a: a.detach() * 2, real(2), fast_mode=fast)
    with pytest.raises(GradcheckError, match="expected to be zero"):
        gradcheck(lambda z: z.detach().imag * 2, complex_(2), fast_mode=fast)
    assert gradcheck(lambda a: (a * 2, a.detach() * 3), real(2), fast_mode=fast)


# --- nondeterminism, zeros, dtypes --------------------------------------------------------------


@each_mode
def test_nondeterministic_backward(fast):
    count = iter(range(10**6))

    def func(a):
        y = a * 2
        y.register_hook(lambda g: g * (1 + 1e-9 * next(count)))
        return y

    with pytest.raises(GradcheckError, match="Backward is not reentrant, i.e., running backward"):
        gradcheck(func, real(2), fast_mode=fast, check_undefined_grad=False)
    assert gradcheck(func, real(2), fast_mode=fast, nondet_tol=1e-4, check_undefined_grad=False)


@each_mode
def test_backward_that_adds_something_fails(fast):
    def func(a):
        y = a * 2
        y.register_hook(lambda g: g if g.any() else g + 1)
        return y

    with pytest.raises(GradcheckError, match="backward not multiplied by grad_output"):
        gradcheck(func, real(2), fast_mode=fast, check_undefined_grad=False)


# --- batches ------------------------------------------------------------------------------------


@each_mode
def test_backward_that_cannot_be_batched(fast):
    def func(a):
        y = a * 2
        y.register_hook(lambda g: None if g is None else g * (2 if g.sum().item() == 77 else 1))
        return y

    assert gradcheck(func, real(2), fast_mode=fast)
    with pytest.raises(GradcheckError, match="While computing batched gradients, got: "):
        gradcheck(func, real(2), fast_mode=fast, check_batched_grad=True)


# --- inputs -------------------------------------------------------------------------------------


@each_mode
def test_something_must_require_grad(fast):
    with pytest.raises(ValueError, match="expects at least one input tensor to require gradient"):
        gradcheck(lambda a: a, real(2).detach(), fast_mode=fast)


@each_mode
@pytest.mark.parametrize("dtype", [ag.float32, ag.complex64, ag.float16])
def test_low_precision_warns(fast, dtype):
    x = ag.ones(2, dtype=dtype, requires_grad=True)
    with pytest.warns(UserWarning, match="Input #1 requires gradient and is not a double prec"):
        gradcheck(
            lambda s, a: a * s, (2, x), eps=0.1, atol=0.1, raise_exception=False, fast_mode=fast
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if dtype == ag.float32:
            assert gradcheck(lambda a: a * 2, x, eps=1e-2, atol=1e-2, fast_mode=fast)


@each_mode
@pytest.mark.parametrize(
    ("x", "text"),
    [
        (ag.ones(1, dtype=ag.float64).expand(3), "dimension with stride 0"),
        (ag.ones(5, dtype=ag.float64).as_strided((3, 2), (1, 1)), "overlapping memory"),
        (ag.ones(9, dtype=ag.float64).as_strided((2, 2, 2), (1, 2, 3)), "overlapping memory"),
    ],
)
def test_overlapping_memory_is_refused(x, text, fast):
    with pytest.raises(RuntimeError, match=text) as caught:
        gradcheck(lambda a: a * 2, x.detach().requires_grad_(True), fast_mode=fast)
    assert not isinstance(caught.value, GradcheckError)


@pytest.mark.parametrize(
    ("shape", "strides"), [((1, 3), (0, 1)), ((2, 3), (3, 1)), ((2, 2), (2, 3)), ((0, 3), (0, 0))]
)
def test_strange_strides_without_overlap_pass(shape, strides):
    x = ag.ones(9, dtype=ag.float64).as_strided(shape, strides)
    assert gradcheck(lambda a: a * 2, x.detach().requires_grad_(True))


@each_mode
def test_gradients_and_inputs_are_left_alone(fast):
    x = real(3)
    x.grad = ag.ones(3, dtype=ag.float64)
    old = x.detach().clone()
    gradcheck(lambda a: scaled_gradient(a * 2, 3), x, fast_mode=fast, raise_exception=False)
    assert ag.equal(x, old) and x.grad.tolist() == [1.0] * 3 and x.is_leaf


@each_mode
def test_values_come_back_after_an_error_in_the_middle(fast):
    x = real(3)
    old = x.detach().clone()
    calls = iter(range(100))

    def func(a):
        if next(calls) == 2:
            raise KeyError("mine")
        return a * 2

    with pytest.raises(KeyError, match="mine"):
        gradcheck(func, x, fast_mode=fast, raise_exception=False)
    assert ag.equal(x, old)


@each_mode
def test_errors_of_the_function_pass_through(fast):
    with pytest.raises(RuntimeError) as caught:
        gradcheck(lambda a: a @ ag.ones(7, dtype=ag.float64), real(2), fast_mode=fast,
                  raise_exception=False)  # fmt: skip
    assert not isinstance(caught.value, GradcheckError)


@each_mode
def test_function_must_return_tensors(fast):
    with pytest.raises(TypeError, match="must return a Tensor .* but output 1 has type int"):
        gradcheck(lambda a: (a, 3), real(2), fast_mode=fast)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"check_backward_ad": False}, "at least one of check_forward_ad or check_backward_ad"),
        (
            {"check_batched_forward_grad": True},
            "check_batched_forward_grad=True requires check_forward_ad",
        ),
        (
            {"check_batched_grad": True, "check_backward_ad": False, "check_forward_ad": True},
            "check_batched_grad=True requires check_backward_ad",
        ),
    ],
)
def test_options_must_be_consistent(options, text):
    with pytest.raises(AssertionError, match=text):
        gradcheck(lambda a: a, real(2), **options)


def test_options_are_keywords():
    with pytest.raises(TypeError, match="positional"):
        gradcheck(lambda a: a, (real(2),), 1e-6)


def test_masked_changes_nothing():
    for masked in (None, True, False):
        assert gradcheck(lambda a: a.exp(), real(2), masked=masked)


def test_error_class_and_names():
    assert issubclass(GradcheckError, RuntimeError)
    assert GradcheckError.__module__ == "autograd_cy.autograd.gradcheck"
    assert callable(ag.autograd.gradcheck) and callable(ag.autograd.gradgradcheck)


def test_random_state_of_the_user_is_left_alone():
    state = ag.get_rng_state()
    gradcheck(lambda a: a.exp(), real(2), fast_mode=True, check_forward_ad=True,
              check_batched_grad=True)  # fmt: skip
    assert ag.equal(state, ag.get_rng_state())
