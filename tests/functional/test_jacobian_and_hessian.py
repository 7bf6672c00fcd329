"""jacobian and hessian: values in each mode against formulas, shapes, strict mode, messages."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.autograd import forward_ad
from autograd_cy.autograd.functional import hessian, jacobian

MODES = (
    {},
    {"create_graph": True},
    {"vectorize": True},
    {"vectorize": True, "create_graph": True},
    {"vectorize": True, "strategy": "forward-mode"},
)
SECOND = (
    {},
    {"create_graph": True},
    {"vectorize": True},
    {"vectorize": True, "create_graph": True},
    {"vectorize": True, "outer_jacobian_strategy": "forward-mode"},
    {"outer_jacobian_strategy": "auto"},
    {"outer_jacobian_strategy": "auto", "create_graph": True},
)


def name_of(options):
    return "-".join(f"{k}={v}" for k, v in options.items()) or "loop"


each_mode = pytest.mark.parametrize("options", MODES, ids=name_of)
each_second = pytest.mark.parametrize("options", SECOND, ids=name_of)


@pytest.fixture
def x():
    return ag.tensor([0.5, -1.0, 2.0], dtype=ag.float64)


@pytest.fixture
def y():
    return ag.tensor([[1.0, 2.0], [3.0, -4.0]], dtype=ag.float64)


def close(t, expected):
    np.testing.assert_allclose(t.detach().numpy(), expected, rtol=1e-12, atol=1e-12)


def array(t):
    return t.detach().numpy()


@each_mode
def test_single_input_and_output(x, options):
    close(jacobian(lambda a: a.exp() * a.sum(), x, **options), _exp_sum(array(x)))


def _exp_sum(a):
    return np.diag(np.exp(a)) * a.sum() + np.exp(a)[:, None]


@each_mode
def test_shape_is_that_of_output_then_input(y, options):
    found = jacobian(lambda a: a.sum(0) ** 2, y, **options)
    assert tuple(found.shape) == (2, 2, 2)
    expected = np.zeros((2, 2, 2))
    for j in range(2):
        expected[j, :, j] = 2 * array(y)[:, j].sum()
    close(found, expected)


@each_mode
def test_several_inputs_and_outputs(x, y, options):
    found = jacobian(lambda a, b: (a * b.sum(), b * 2), (x, y), **options)
    (aa, ab), (ba, bb) = found
    total = array(y).sum()
    close(aa, np.eye(3) * total)
    close(ab, np.broadcast_to(array(x)[:, None, None], (3, 2, 2)))
    close(ba, np.zeros((2, 2, 3)))
    close(bb, 2 * np.eye(4).reshape(2, 2, 2, 2))


@each_mode
def test_tuples_of_one_keep_their_form(x, options):
    found = jacobian(lambda a: (a * 2,), (x,), **options)
    assert isinstance(found, tuple) and isinstance(found[0], tuple)
    close(found[0][0], 2 * np.eye(3))
    assert isinstance(jacobian(lambda a: (a * 2,), x, **options)[0], ag.Tensor)


@each_mode
def test_scalar_to_scalar(options):
    found = jacobian(lambda a: a**3, ag.tensor(2.0), **options)
    assert tuple(found.shape) == () and found.item() == 12.0


@each_mode
def test_output_that_does_not_depend_is_zero(x, options):
    found = jacobian(lambda a, b: ag.ones(2, dtype=ag.float64), (x, x), **options)
    for block in found:
        close(block, np.zeros((2, 3)))


@each_mode
def test_integer_output_is_zero(x, options):
    found = jacobian(lambda a: (a * 3).long(), x, **options)
    assert not found.detach().numpy().any() and tuple(found.shape) == (3, 3)


@each_mode
def test_empty_tensors(options):
    found = jacobian(lambda a: a * 2, ag.zeros(0), **options)
    assert tuple(found.shape) == (0, 0)
    found = jacobian(lambda a: a.sum().reshape(1) * ag.ones(2), ag.zeros(0), **options)
    assert tuple(found.shape) == (2, 0)
    found = jacobian(lambda a: a[:0], ag.ones(2), **options)
    assert tuple(found.shape) == (0, 2)


@each_mode
def test_view_as_output(x, options):
    close(jacobian(lambda a: a.view(3, 1)[1:], x, **options), np.eye(3)[1:, None])


@each_mode
def test_works_under_no_grad_and_leaves_modes_alone(x, options):
    with ag.no_grad():
        close(jacobian(lambda a: a * a, x, **options), np.diag(2 * array(x)))
        assert not ag.is_grad_enabled()


@each_mode
def test_inside_an_open_level_of_forward_mode(x, options):
    with forward_ad.dual_level():
        close(jacobian(lambda a: a**3, x, **options), np.diag(3 * array(x) ** 2))
        dual = forward_ad.make_dual(x, x)
        assert forward_ad.unpack_dual(dual * 2).tangent.tolist() == (2 * x).tolist()


@each_mode
def test_inputs_stay_as_they_are(x, options):
    x.requires_grad_(True)
    jacobian(lambda a: a * a, x, **options)
    assert x.grad is None and x.requires_grad and x.is_leaf and x.grad_fn is None


@each_mode
def test_result_requires_grad_only_with_create_graph(x, options):
    found = jacobian(lambda a: a * a, x, **options)
    assert found.requires_grad == options.get("create_graph", False)


@pytest.mark.parametrize("vectorize", [False, True])
def test_create_graph_leads_to_the_inputs(x, vectorize):
    x.requires_grad_(True)
    found = jacobian(lambda a: a**3, x, create_graph=True, vectorize=vectorize)
    found.sum().backward()
    close(x.grad, 6 * array(x))


@each_mode
def test_dtypes_follow_input_or_output(x, options):
    found = jacobian(lambda a: a.float() * 2, x, **options)
    forward = options.get("strategy") == "forward-mode"
    assert found.dtype == (ag.float32 if forward else ag.float64)


def test_rows_do_not_share_memory_with_what_hooks_kept(x):
    kept = []

    def f(a):
        b = a * 1
        b.register_hook(kept.append)
        return b

    close(jacobian(f, x), np.eye(3))
    for i, row in enumerate(kept):
        close(row, np.eye(3)[i])


# --- complex ------------------------------------------------------------------------------------


@pytest.fixture
def z():
    return ag.tensor([0.5 + 1.0j, -1.0 + 0.5j], dtype=ag.complex128)


def test_complex_to_real(z):
    expected = np.diag(2 * array(z))
    for options in ({}, {"vectorize": True}):
        close(jacobian(lambda a: (a * a.conj()).real, z, **options), expected)


def test_complex_output_by_rows_is_refused(z):
    with pytest.raises(RuntimeError, match="implicitly created only for real scalar outputs"):
        jacobian(lambda a: a * a, z)


def test_holomorphic_function_vectorized_is_conjugate_in_reverse_mode(z):
    holomorphic = np.diag(2 * array(z))
    close(jacobian(lambda a: a * a, z, vectorize=True), holomorphic.conj())
    close(jacobian(lambda a: a * a, z, vectorize=True, strategy="forward-mode"), holomorphic)


def test_real_to_complex(x):
    factor = 1 + 2j
    close(jacobian(lambda a: a * factor, x, vectorize=True), np.eye(3))
    found = jacobian(lambda a: a * factor, x, vectorize=True, strategy="forward-mode")
    close(found, np.eye(3) * factor)


# --- strict mode and errors ---------------------------------------------------------------------


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda a, b: (a * b).detach(), "Output 0 of the user-provided function does not require"),
        (lambda a, b: (a * b, ag.ones(1)), "Output 1 of the user-provided function does not requ"),
        (lambda a, b: a * a, "Output 0 of the user-provided function is independent of input 1"),
        (lambda a, b: (a * b, b * b), "Output 1 .* is independent of input 0"),
    ],
)
def test_strict(x, function, text, create_graph):
    with pytest.raises(RuntimeError, match=text):
        jacobian(function, (x, x), strict=True, create_graph=create_graph)


def test_strict_with_create_graph_refuses_a_constant_jacobian(x):
    close(jacobian(lambda a: a * 2, x, strict=True), 2 * np.eye(3))
    with pytest.raises(RuntimeError, match="jacobian of the user-provided function is independent"):
        jacobian(lambda a: a * 2, x, strict=True, create_graph=True)
    close(jacobian(lambda a: a**2, x, strict=True, create_graph=True), np.diag(2 * array(x)))


@pytest.mark.parametrize("function", [jacobian, hessian])
@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        ([ag.ones(2)], "inputs given to .* Tensor or a tuple .* the given inputs has type .*list"),
        (2.0, "the given inputs has type .*float"),
        ((ag.ones(1), 2.0), "but the value at index 1 has type .*float"),
    ],
)
def test_inputs_must_be_tensors(function, inputs, text):
    with pytest.raises(TypeError, match=text):
        function(lambda *a: a[0].sum(), inputs)


@pytest.mark.parametrize("function", [jacobian, hessian])
def test_no_inputs(function):
    with pytest.raises(RuntimeError, match="at least one Tensor"):
        function(lambda: ag.ones(1), ())


@each_mode
@pytest.mark.parametrize(
    ("result", "text"),
    [
        (3.0, "outputs of the user-provided function given to jacobian .* has type .*float"),
        ([ag.ones(1)], "the given outputs of the user-provided function has type .*list"),
        ((ag.ones(1), None), "but the value at index 1 has type .*NoneType"),
    ],
)
def test_outputs_must_be_tensors(x, options, result, text):
    with pytest.raises(TypeError, match=text):
        jacobian(lambda a: result, x, **options)


def test_integer_inputs_are_refused():
    with pytest.raises(RuntimeError, match="floating point"):
        jacobian(lambda a: a.float(), ag.ones(2, dtype=ag.int64))


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"strategy": "forward"}, AssertionError, "Expected strategy to be either"),
        ({"strategy": "forward-mode"}, NotImplementedError, "only implemented for `vectorize=T"),
        (
            {"strategy": "forward-mode", "vectorize": True, "create_graph": True},
            NotImplementedError,
            "create_graph=True.* not supported together",
        ),
        (
            {"strategy": "forward-mode", "vectorize": True, "strict": True},
            RuntimeError,
            "strict=True.* not supported together",
        ),
        ({"vectorize": True, "strict": True}, RuntimeError, "strict=True.* not supported together"),
    ],
)
def test_refused_combinations(x, options, kind, text):
    with pytest.raises(kind, match=text):
        jacobian(lambda a: a, x, **options)
    if "strategy" in options:
        options["outer_jacobian_strategy"] = options.pop("strategy")
    with pytest.raises(kind, match=text):
        hessian(lambda a: a.sum(), x, **options)


@each_mode
def test_exceptions_of_the_function_pass_through(x, options):
    def fail(a):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        jacobian(fail, x, **options)
    close(jacobian(lambda a: a * 1, x, **options), np.eye(3))


# --- hessian ------------------------------------------------------------------------------------


@each_second
def test_hessian_of_one_input(x, options):
    a = array(x)
    close(hessian(lambda t: (t**3).sum() * t[0], x, **options), _cubic(a))


def _cubic(a):
    h = np.diag(6 * a * a[0])
    h[0] += 3 * a**2
    h[:, 0] += 3 * a**2
    return h


@each_second
def test_hessian_uses_saved_results_too(x, options):
    # exp, tanh and sigmoid save their results for backward.
    a = array(x)
    close(hessian(lambda t: t.exp().sum(), x, **options), np.diag(np.exp(a)))
    t = np.tanh(a)
    close(hessian(lambda t: t.tanh().sum(), x, **options), np.diag(-2 * t * (1 - t * t)))


@each_second
def test_hessian_of_two_inputs(x, y, options):
    (aa, ab), (ba, bb) = hessian(lambda a, b: (a**2).sum() * b.sum(), (x, y), **options)
    a, total = array(x), array(y).sum()
    close(aa, 2 * np.eye(3) * total)
    close(ab, np.broadcast_to(2 * a[:, None, None], (3, 2, 2)))
    close(ba, np.broadcast_to(2 * a, (2, 2, 3)))
    close(bb, np.zeros((2, 2, 2, 2)))


@each_second
def test_hessian_accepts_one_element_of_any_shape(x, options):
    close(hessian(lambda a: (a * a).sum().reshape(1, 1), x, **options), 2 * np.eye(3))


@each_second
def test_hessian_of_a_linear_or_constant_function_is_zero(x, options):
    close(hessian(lambda a: a.sum(), x, **options), np.zeros((3, 3)))
    close(hessian(lambda a: ag.ones(()), x, **options), np.zeros((3, 3)))


@each_second
def test_hessian_of_a_tuple_of_one(x, options):
    found = hessian(lambda a: (a * a).sum(), (x,), **options)
    assert isinstance(found, tuple) and isinstance(found[0], tuple)
    close(found[0][0], 2 * np.eye(3))


@each_second
@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda a: a * a, "given to hessian should contain a single element"),
        (lambda a: ((a * a).sum(),), "given to hessian should return a single Tensor"),
    ],
)
def test_hessian_of_a_function_that_is_not_scalar(x, options, function, text):
    with pytest.raises(RuntimeError, match=text):
        hessian(function, x, **options)


@pytest.mark.parametrize("vectorize", [False, True])
def test_third_derivative_of_a_hessian(x, vectorize):
    x.requires_grad_(True)
    found = hessian(lambda a: (a**3).sum(), x, create_graph=True, vectorize=vectorize)
    found.sum().backward()
    close(x.grad, np.full(3, 6.0))


def test_strict_hessian(x):
    close(hessian(lambda a: (a**3).sum(), x, strict=True), np.diag(6 * array(x)))
    with pytest.raises(RuntimeError, match="While computing the hessian, found that the jacobian"):
        hessian(lambda a: a.sum(), x, strict=True)
    with pytest.raises(RuntimeError, match="does not require gradients"):
        hessian(lambda a: ag.ones(()), x, strict=True)
    with pytest.raises(RuntimeError, match="Output 1 of .* is independent of input 1"):
        hessian(lambda a, b: (a**2 * b).sum(), (x, x), strict=True)


def test_auto_falls_back_where_forward_mode_is_not_implemented(x):
    calls = []

    def f(a):
        calls.append(1)
        if len(calls) == 1:
            raise NotImplementedError("no forward rule")
        return (a**2).sum()

    close(hessian(f, x, outer_jacobian_strategy="auto"), 2 * np.eye(3))
    assert len(calls) == 2
