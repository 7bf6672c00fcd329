"""gradgradcheck: second derivatives in all combinations of modes."""

import pytest

import autograd_cy as ag
from autograd_cy.autograd import _comparison, gradgradcheck
from autograd_cy.autograd.gradcheck import GradcheckError

each_mode = pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])


@pytest.fixture
def x():
    return ag.tensor([0.5, 2.0], dtype=ag.float64, requires_grad=True)


@pytest.fixture
def z():
    return ag.tensor([0.5 + 1j, 2 - 0.3j], dtype=ag.complex128, requires_grad=True)


FUNCTIONS = {
    "power": lambda a: a**3,
    "saved result": lambda a: a.exp() * a.tanh(),
    "linear": lambda a: a * 2,
    "two outputs": lambda a: (a * a, a.sum() * a),
    "integer output": lambda a: (a * a, (a.real > 0).sum()),
}


@each_mode
@pytest.mark.parametrize("name", FUNCTIONS)
def test_right_second_derivatives(name, x, z, fast):
    for point in (x, z):
        assert gradgradcheck(
            FUNCTIONS[name],
            point,
            fast_mode=fast,
            check_fwd_over_rev=True,
            check_batched_grad=True,
            check_grad_dtypes=True,
        )


@each_mode
def test_real_and_complex_mixed(x, z, fast):
    assert gradgradcheck(lambda a, b: (a * b * b, (b * b.conj()).real), (x, z), fast_mode=fast)


@each_mode
def test_strided_gradients(x, fast):
    seen = []

    def func(a):
        b = a**3
        b.register_hook(lambda g: seen.append(g.is_contiguous()))
        return b

    assert gradgradcheck(func, x, fast_mode=fast, gen_non_contig_grad_outputs=True)
    assert not any(seen[:3])


@each_mode
def test_given_gradients(x, fast):
    v = ag.ones(2, dtype=ag.float64)
    assert gradgradcheck(lambda a: a**3, x, v, fast_mode=fast)
    assert gradgradcheck(lambda a: a**3, x, v.requires_grad_(True), fast_mode=fast)
    assert gradgradcheck(lambda a: (a**3, a**2), x, (v, None), fast_mode=fast)
    with pytest.raises(ValueError, match="got 2 grad_outputs for 1 differentiable outputs"):
        gradgradcheck(lambda a: a**3, x, (v, v), fast_mode=fast)


def wrong_second(a):
    """a**3, with the right gradient, whose own derivative is twice too large."""
    y = a**3

    def hook(g):
        if not ag.is_grad_enabled():
            return g
        more = 3 * a**2 * g
        return g + (more - more.detach()) / (3 * a.detach() ** 2)

    if y.requires_grad:
        y.register_hook(hook)
    return y


@each_mode
def test_wrong_second_derivatives(x, fast):
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to inp"):
        gradgradcheck(wrong_second, x, fast_mode=fast)
    with pytest.raises(GradcheckError, match="computed with forward mode mismatch"):
        gradgradcheck(
            wrong_second,
            x,
            fast_mode=fast,
            check_fwd_over_rev=True,
            check_rev_over_rev=False,
            check_undefined_grad=False,
        )
    assert gradgradcheck(wrong_second, x, fast_mode=fast, raise_exception=False) is False


@each_mode
def test_unused_input_and_nothing_differentiable(x, fast):
    y = x.detach().clone().requires_grad_(True)
    assert gradgradcheck(lambda a, b: a**2, (x, y), fast_mode=fast)
    assert gradgradcheck(lambda a: a.detach(), x, fast_mode=fast)
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradgradcheck(lambda a: a, x.detach(), fast_mode=fast)


@each_mode
def test_inputs_that_need_no_gradient_are_constants(x, fast):
    factor, places = ag.tensor([3.0, -1.0], dtype=ag.float64), ag.tensor([1, 0])
    assert gradgradcheck(lambda a, b, i: (a * a)[i] * b, (x, factor, places), fast_mode=fast)
    assert gradgradcheck(lambda b, a: b * a.exp(), (factor, x), fast_mode=fast)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"check_rev_over_rev": False}, "at least one of check_fwd_over_rev or check_rev_over_rev"),
        (
            {"check_rev_over_rev": False, "check_fwd_over_rev": True},
            "check_undefined_grad=True requires check_rev_over_rev",
        ),
        (
            {
                "check_rev_over_rev": False,
                "check_fwd_over_rev": True,
                "check_undefined_grad": False,
                "check_batched_grad": True,
            },
            "check_batched_grad=True requires check_rev_over_rev",
        ),
    ],
)
def test_options_must_be_consistent(x, options, text):
    with pytest.raises(AssertionError, match=text):
        gradgradcheck(lambda a: a, x, **options)


def test_gradients_of_inputs_stay_as_they_are(x):
    gradgradcheck(lambda a: a**3, x)
    assert x.grad is None and x.tolist() == [0.5, 2.0]


def test_strided_vectors_have_the_same_numbers():
    outputs = (ag.ones(3, 2, dtype=ag.float64), ag.ones((), dtype=ag.float64))
    plain, strided = (_comparison._vectors(outputs, None, s) for s in (False, True))
    assert strided[0].stride() == (4, 2) and plain[0].stride() == (2, 1)
    for a, b in zip(plain, strided, strict=True):
        assert ag.equal(a, b) and b.requires_grad and (a.abs() <= 1).all()
