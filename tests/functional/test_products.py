"""vjp, jvp, vhp and hvp: values against formulas, strict mode, graphs, messages."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp
from autograd_cy.autograd.graph import saved_tensors_hooks

STRATEGIES = ("reverse-mode", "forward-mode", "auto")


@pytest.fixture
def x():
    return ag.tensor([0.5, -1.0, 2.0], dtype=ag.float64)


@pytest.fixture
def y():
    return ag.tensor([[1.0, 2.0], [3.0, -4.0]], dtype=ag.float64)


def like(t, seed):
    values = np.random.default_rng(seed).standard_normal(tuple(t.shape))
    if t.is_complex():
        values = values + 1j * np.random.default_rng(seed + 100).standard_normal(tuple(t.shape))
    return ag.tensor(values, dtype=t.dtype)


def array(t):
    return t.detach().numpy()


def close(t, expected):
    np.testing.assert_allclose(array(t), expected, rtol=1e-11, atol=1e-11)


def mixed(a, b):
    """Two inputs to two outputs of other shapes, with saved inputs and saved results."""
    return a.exp() * b.sum(), (b * a[0]).tanh().sum(0)


def scalar(a, b):
    return (a**3).sum() * (b * b).sum() + a.exp().sum() * b.tanh().sum()


# --- vjp and jvp --------------------------------------------------------------------------------


@pytest.mark.parametrize("create_graph", [False, True])
def test_vjp_is_the_vector_times_the_jacobian(x, y, create_graph):
    v = (like(x, 0), like(y[0], 1))
    outputs, product = vjp(mixed, (x, y), v, create_graph=create_graph)
    for out, expected in zip(outputs, mixed(x, y)):
        close(out, array(expected))
        assert out.requires_grad == create_graph
    rows = jacobian(mixed, (x, y))
    for k, p in enumerate(product):
        close(p, sum(np.tensordot(array(w), array(row[k]), w.ndim) for w, row in zip(v, rows)))
        assert p.requires_grad == create_graph


@pytest.mark.parametrize("create_graph", [False, True])
def test_jvp_is_the_jacobian_times_the_vector(x, y, create_graph):
    v = (like(x, 0), like(y, 1))
    outputs, product = jvp(mixed, (x, y), v, create_graph=create_graph)
    for out, expected in zip(outputs, mixed(x, y)):
        close(out, array(expected))
    for p, row in zip(product, jacobian(mixed, (x, y))):
        close(p, sum(np.tensordot(array(j), array(w), w.ndim) for w, j in zip(v, row)))
        assert p.requires_grad == create_graph


def test_jvp_of_a_holomorphic_function():
    z = ag.tensor([0.5 + 1j, -1 + 0.5j], dtype=ag.complex128)
    v = like(z, 3)
    close(jvp(lambda a: a * a, z, v)[1], 2 * array(z) * array(v))
    close(vjp(lambda a: a * a, z, v)[1], 2 * array(z).conj() * array(v))


def test_complex_output_needs_a_vector():
    z = ag.tensor(0.5 + 1j, dtype=ag.complex128)
    with pytest.raises(RuntimeError, match="implicitly created only for real scalar outputs"):
        vjp(lambda a: a * a, z)
    close(vjp(lambda a: a * a, z, ag.ones_like(z))[1], 1 - 2j)


@pytest.mark.parametrize("function", [vjp, jvp, vhp, hvp])
def test_integer_inputs_are_refused(function):
    with pytest.raises(RuntimeError, match="floating point"):
        function(lambda a: a.double().sum(), ag.ones(2, dtype=ag.int64))


def test_form_of_results_is_that_of_outputs_and_inputs(x):
    one = ag.tensor(2.0)
    assert isinstance(vjp(lambda a: a * a, one)[1], ag.Tensor)
    outputs, product = vjp(lambda a: (a * a,), (one,), (one,))
    assert isinstance(outputs, tuple) and isinstance(product, tuple)
    outputs, product = jvp(lambda a: (a * a,), one)
    assert isinstance(outputs, tuple) and isinstance(product, tuple)
    assert isinstance(jvp(lambda a: a * a, (one,), (one,))[1], ag.Tensor)


@pytest.mark.parametrize("function", [vjp, jvp])
def test_vector_may_be_left_out_for_one_element(function):
    for shape in ((), (1,), (1, 1)):
        output, product = function(lambda a: a**3, ag.full(shape, 2.0))
        assert output.item() == 8.0 and product.item() == 12.0
        assert tuple(product.shape) == shape


def test_vector_in_a_tuple_fits_a_single_tensor(x):
    close(vjp(lambda a: a * a, x, (x,))[1], 2 * array(x) ** 2)
    close(jvp(lambda a: a * a, x, (x,))[1], 2 * array(x) ** 2)


@pytest.mark.parametrize("function", [vjp, jvp])
def test_create_graph_leads_to_inputs_and_vector(function, x):
    x.requires_grad_(True)
    v = ag.ones_like(x).requires_grad_(True)
    _, product = function(lambda a: a**3, x, v, create_graph=True)
    gx, gv = ag.autograd.grad(product.sum(), (x, v))
    close(gx, 6 * array(x))
    close(gv, 3 * array(x) ** 2)


@pytest.mark.parametrize("function", [vjp, jvp])
def test_independent_output_is_zero(function, x):
    output, product = function(lambda a: ag.ones(3, dtype=ag.float64), x, x)
    close(output, np.ones(3))
    close(product, np.zeros(3))
    _, product = function(lambda a, b: a * 2, (x, x), x if function is vjp else (x, x))
    close(product[0] if function is vjp else product, 2 * array(x))


@pytest.mark.parametrize("function", [vjp, jvp])
@pytest.mark.parametrize("create_graph", [False, True])
def test_strict_products(function, x, create_graph):
    two = x if function is vjp else (x, x)
    options = {"strict": True, "create_graph": create_graph}
    with pytest.raises(RuntimeError, match="Output 0 of .* does not require gradients"):
        function(lambda a: a.detach() * 2, x, x, **options)
    with pytest.raises(RuntimeError, match="output of .* is independent of input 1"):
        function(lambda a, b: a * a, (x, x), two, **options)
    if create_graph:
        with pytest.raises(RuntimeError, match="jacobian of .* is independent of input 0"):
            function(lambda a: a * 2, x, x, **options)
    else:
        close(function(lambda a: a * 2, x, x, **options)[1], 2 * array(x))


# --- vhp and hvp --------------------------------------------------------------------------------


def close_to_products(found, v, x, y, left):
    h = hessian(scalar, (x, y))
    for k, p in enumerate(found):
        if left:
            expected = sum(np.tensordot(array(w), array(row[k]), w.ndim) for w, row in zip(v, h))
        else:
            expected = sum(np.tensordot(array(b), array(w), w.ndim) for w, b in zip(v, h[k]))
        close(p, expected)


@pytest.mark.parametrize("create_graph", [False, True])
def test_vhp_is_the_vector_times_the_hessian(x, y, create_graph):
    v = (like(x, 0), like(y, 1))
    output, product = vhp(scalar, (x, y), v, create_graph=create_graph)
    close(output, scalar(x, y).item())
    close_to_products(product, v, x, y, left=True)
    assert all(t.requires_grad == create_graph for t in (output, *product))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_hvp_is_the_hessian_times_the_vector(x, y, strategy):
    v = (like(x, 0), like(y, 1))
    output, product = hvp(scalar, (x, y), v, strategy=strategy)
    close(output, scalar(x, y).item())
    close_to_products(product, v, x, y, left=False)
    assert not any(t.requires_grad for t in (output, *product))


@pytest.mark.parametrize("strategy", ["reverse-mode", "auto"])
def test_hvp_with_a_graph(x, strategy):
    x.requires_grad_(True)
    v = ag.ones_like(x)
    _, product = hvp(lambda a: (a**3).sum(), x, v, create_graph=True, strategy=strategy)
    close(ag.autograd.grad(product.sum(), x)[0], np.full(3, 6.0))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_hvp_of_linear_and_constant_functions_is_zero(x, strategy):
    for f in (lambda a: a.sum(), lambda a: ag.ones(()), lambda a: a.detach().sum()):
        close(hvp(f, x, x, strategy=strategy)[1], np.zeros(3))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_hvp_with_saved_tensors_in_arrays(x, strategy):
    # Arrays have no tangents: the nodes keep them.
    with saved_tensors_hooks(lambda t: t.detach().numpy().copy(), ag.tensor):
        found = hvp(lambda a: (a.exp() * a).sum(), x, x, strategy=strategy)[1]
    close(found, (np.exp(array(x)) * (2 + array(x))) * array(x))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_hvp_under_no_grad(x, strategy):
    with ag.no_grad():
        close(hvp(lambda a: (a**3).sum(), x, x, strategy=strategy)[1], 6 * array(x) ** 2)


def test_auto_falls_back_if_an_operator_has_no_forward_rule(x):
    calls = []

    def f(a):
        calls.append(1)
        if len(calls) == 1:
            raise NotImplementedError("no forward rule")
        return (a**2).sum()

    close(hvp(f, x, x, strategy="auto")[1], 2 * array(x))
    assert len(calls) == 2
    calls.clear()
    with pytest.raises(NotImplementedError, match="no forward rule"):
        hvp(f, x, x, strategy="forward-mode")


@pytest.mark.parametrize("function", [vhp, hvp])
@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda a, b: (a * b).detach().sum(), "Output 0 of .* does not require gradients"),
        (lambda a, b: (a * a).sum(), "output of .* is independent of input 1"),
        (
            lambda a, b: (a * a).sum() + b.sum(),
            "While computing the hessian, .* respect to input 1",
        ),
    ],
)
def test_strict_second_products(function, f, text, x):
    with pytest.raises(RuntimeError, match=text):
        function(f, (x, x), (x, x), strict=True)
    if "independent" not in text:
        close(function(f, (x, x), (x, x))[1][1], np.zeros(3))


@pytest.mark.parametrize("function", [vhp, hvp])
def test_second_products_need_ascalar(function, x):
    with pytest.raises(RuntimeError, match="returned by the function given to .* single element"):
        function(lambda a: a * a, x, x)
    with pytest.raises(RuntimeError, match="given to .* should return a single Tensor"):
        function(lambda a: (a.sum(), a.sum()), x, x)


def test_forward_hvp_refuses_graph_and_strict(x):
    f = lambda a: (a * a).sum()  # noqa: E731
    with pytest.raises(NotImplementedError, match="create_graph=True.* not supported together"):
        hvp(f, x, x, create_graph=True, strategy="forward-mode")
    with pytest.raises(RuntimeError, match="strict=True.* not supported together"):
        hvp(f, x, x, strict=True, strategy="forward-mode")
    with pytest.raises(ValueError, match="expected strategy"):
        hvp(f, x, x, strategy="fast")


# --- arguments ----------------------------------------------------------------------------------

each_product = pytest.mark.parametrize("function", [vjp, jvp, vhp, hvp])


@each_product
@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        ([ag.ones(1)], "the given inputs has type .*list"),
        (1.0, "the given inputs has type .*float"),
        ((ag.ones(1), 1.0), "but the value at index 1 has type .*float"),
    ],
)
def test_inputs_must_be_tensors(function, inputs, text):
    with pytest.raises(TypeError, match=f"The inputs given to {function.__name__} must .*{text}"):
        function(lambda *a: a[0].sum(), inputs)


@each_product
@pytest.mark.parametrize(
    ("v", "kind", "text"),
    [
        ([1.0], TypeError, "The v given to .* the given v has type .*list"),
        (1.0, TypeError, "The v given to .* the given v has type .*float"),
        (ag.ones(7), RuntimeError, "v has invalid size: should be .* but got .*7"),
        ((ag.ones(3), ag.ones(3)), RuntimeError, "given v should contain a single Tensor"),
    ],
)
def test_vector_must_fit(function, v, kind, text, x):
    with pytest.raises(kind, match=text):
        function(lambda a: (a * a).sum(), x, v)


@each_product
def test_vector_for_a_tuple_must_fit(function, x):
    f = (lambda a, b: (a, b)) if function is vjp else (lambda a, b: (a * b).sum())
    with pytest.raises(RuntimeError, match="tuple of invalid length: should be 2 but got 3"):
        function(f, (x, x), (x, x, x))
    with pytest.raises(RuntimeError, match="Entry 1 in v has invalid size: should be .*3"):
        function(f, (x, x), (x, ag.ones(7)))


@each_product
def test_vector_is_needed_for_several_elements(function, x):
    f = (lambda a: a * a) if function is vjp else (lambda a: (a * a).sum())
    what = "function returns" if function is vjp else "input to the user-provided function is"
    with pytest.raises(RuntimeError, match=f"vector v can only be None if the .*{what} a single"):
        function(f, x)


@pytest.mark.parametrize("function", [vjp, jvp, vhp, hvp])
def test_outputs_must_be_tensors(function, x):
    name = function.__name__
    with pytest.raises(TypeError, match=f"outputs of .* given to {name} must .*float"):
        function(lambda a: 3.0, x, x)


@each_product
def test_exceptions_of_the_function_pass_through(function, x):
    def fail(a):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        function(fail, x, x)
    assert ag.is_grad_enabled()


@each_product
def test_inputs_and_vector_stay_as_they_are(function, x):
    x.requires_grad_(True)
    function(lambda a: (a**2).sum(), x, ag.ones(()) if function is vjp else x)
    assert x.grad is None and x.grad_fn is None and x.requires_grad
