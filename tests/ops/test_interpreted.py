"""Operators of the interpreted tier: values by hand, and what they share with compiled ones."""

import gc
import weakref

import numpy as np
import programs
import pytest

import autograd_cy as ag


def random(*shape, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return ag.tensor(x.astype(dtype))


def check_derivatives(f, *inputs):
    """First and second derivatives, in reverse and in forward mode."""
    inputs = [x.detach().requires_grad_(True) for x in inputs]
    assert ag.autograd.gradcheck(f, inputs, check_forward_ad=True, check_batched_grad=True)
    assert ag.autograd.gradgradcheck(f, inputs)


BOTH = pytest.mark.parametrize("dtype", [np.float64, np.complex128])


# --- linear algebra ------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)])
def test_svd_takes_a_matrix_apart(dtype, shape):
    A = random(*shape, dtype=dtype)
    U, S, Vh = ag.linalg.svd(A, full_matrices=False)
    assert S.dtype == ag.float64 and (S[..., :-1] >= S[..., 1:]).all()
    assert ag.allclose(U * S.unsqueeze(-2) @ Vh, A)
    assert ag.linalg.svdvals(A).tolist() == S.tolist()
    full = ag.linalg.svd(A)
    assert full.U.shape[-1] == shape[-2] and full.Vh.shape[-1] == shape[-1]


def test_the_second_derivative_of_a_bessel_function_keeps_its_digits_near_zero():
    for size in (1e-3, 1e-6, 1e-9, 1e-30):
        x = ag.tensor([size], dtype=ag.float64, requires_grad=True)
        (first,) = ag.autograd.grad(ag.special.i1e(x), x, create_graph=True)
        (second,) = ag.autograd.grad(first, x)
        assert second.item() == pytest.approx(-1 + 15 * size / 8, rel=1e-5)


@BOTH
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
def test_derivatives_of_each_result_of_svd(dtype, shape):
    A = random(*shape, dtype=dtype)
    P = random(shape[0], shape[0], seed=1, dtype=dtype)
    Q = random(shape[1], shape[1], seed=2, dtype=dtype)

    def values(a):
        return ag.linalg.svd(a, False).S

    def left(a):  # doesn't change with the phases of the vectors
        U = ag.linalg.svd(a, False).U
        return (U.adjoint() @ P @ U).diagonal().abs()

    def right(a):
        Vh = ag.linalg.svd(a, False).Vh
        return (Vh @ Q @ Vh.adjoint()).diagonal().abs()

    def all_together(a):
        U, S, Vh = ag.linalg.svd(a, False)
        return ((U @ Vh) * S.sum()).abs()

    for f in (values, left, right, all_together):
        a = A.detach().requires_grad_(True)
        assert ag.autograd.gradcheck(f, [a], check_forward_ad=True)
    assert ag.autograd.gradgradcheck(values, [A.detach().requires_grad_(True)])


@BOTH
@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (2, 4, 3), (3, 3), (0, 3), (3, 0)])
def test_vectors_that_complete_a_basis_are_constants(shape, dtype):
    """Derivatives of a full decomposition are those of the slim one, up to second order."""
    A = random(*shape, dtype=dtype)
    k = min(shape[-2:])
    uses = {
        "S": lambda U, S, Vh: (S**3).sum(),
        "U": lambda U, S, Vh: U.abs().pow(3).sum(),
        "first of U": lambda U, S, Vh: U[..., :k].abs().pow(3).sum(),
        "Vh": lambda U, S, Vh: Vh.abs().pow(3).sum(),
        "all": lambda U, S, Vh: (
            ((U[..., :k] * S[..., None, :]) @ Vh[..., :k, :]).abs().pow(2).sum()
        ),
    }

    def derivatives(use, full):
        a = A.detach().requires_grad_()
        (g,) = ag.autograd.grad(use(*ag.linalg.svd(a, full)), a, create_graph=True)
        (h,) = ag.autograd.grad(g.abs().pow(2).sum(), a)
        tangent = ag.func.jvp(lambda a: use(*ag.linalg.svd(a, full)), (A,), (ag.ones_like(A),))[1]
        return g, h, tangent

    for name, use in uses.items():
        for found, expected in zip(derivatives(use, True), derivatives(use, False)):
            assert ag.allclose(found, expected, atol=1e-7), name


def test_the_rest_of_a_full_decomposition_has_gradients_and_tangents_of_zeros():
    a = random(4, 2).requires_grad_(True)
    U = ag.linalg.svd(a).U
    (g,) = ag.autograd.grad(U[:, 2:].sum(), a)
    assert not g.count_nonzero()
    _, tangent = ag.func.jvp(ag.linalg.svd, (a.detach(),), (ag.ones_like(a),))
    assert tangent.U.shape == (4, 4) and not tangent.U[:, 2:].count_nonzero()
    _, tangent = ag.func.jvp(ag.linalg.svd, (a.detach().mT,), (ag.ones_like(a).mT,))
    assert tangent.Vh.shape == (4, 4) and not tangent.Vh[2:].count_nonzero()
    torch = pytest.importorskip("torch")
    theirs = torch.tensor(a.tolist(), dtype=torch.float64, requires_grad=True)
    torch.linalg.svd(theirs).U.pow(3).abs().sum().backward()
    ag.linalg.svd(a).U.pow(3).abs().sum().backward()
    assert ag.allclose(a.grad, ag.tensor(theirs.grad.tolist(), dtype=a.dtype))


@BOTH
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky_factors(dtype, upper):
    def factor(a):
        return ag.linalg.cholesky(a @ a.adjoint() + 3 * ag.eye(3, dtype=a.dtype), upper=upper)

    A = random(2, 3, 3, dtype=dtype)
    L = factor(A)
    product = L.adjoint() @ L if upper else L @ L.adjoint()
    assert ag.allclose(product, A @ A.adjoint() + 3 * ag.eye(3, dtype=A.dtype))
    assert ((L.triu(1) if not upper else L.tril(-1)) == 0).all()
    check_derivatives(factor, A[0])


@BOTH
@pytest.mark.parametrize("left", [True, False])
def test_solve_solves(dtype, left):
    A = random(2, 3, 3, dtype=dtype) + 3 * ag.eye(3, dtype=ag.from_numpy(np.empty(0, dtype)).dtype)
    B = random(3, 2, seed=1, dtype=dtype) if left else random(4, 3, seed=1, dtype=dtype)
    X = ag.linalg.solve(A, B, left=left)
    assert ag.allclose(A @ X if left else X @ A, B.expand(X.shape))
    check_derivatives(lambda a, b: ag.linalg.solve(a, b, left=left), A[0], B)


def test_solve_takes_vectors():
    A, b = random(2, 3, 3), random(2, 3, seed=1)
    assert ag.allclose((A @ ag.linalg.solve(A, b).unsqueeze(-1)).squeeze(-1), b)
    check_derivatives(ag.linalg.solve, A[0], b[0])


def test_solve_computes_the_gradients_that_are_needed():
    A, B = random(3, 3), random(3, 2, seed=1)
    only = A.detach().requires_grad_(True)
    ag.linalg.solve(only, B).sum().backward()
    both = A.detach().requires_grad_(True), B.detach().requires_grad_(True)
    ag.linalg.solve(*both).sum().backward()
    assert ag.allclose(only.grad, both[0].grad) and both[1].grad is not None


def test_singular_matrices_are_an_error_of_their_own():
    with pytest.raises(ag.linalg.LinAlgError, match=r"linalg\.inv: The diagonal element 1 is zero"):
        ag.linalg.inv(ag.zeros(2, 2))
    assert issubclass(ag.linalg.LinAlgError, RuntimeError)


# --- transforms ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 4, 5])
def test_frequencies(n):
    assert np.allclose(ag.fft.fftfreq(n, 0.5).numpy(), np.fft.fftfreq(n, 0.5))
    assert np.allclose(ag.fft.rfftfreq(n).numpy(), np.fft.rfftfreq(n))
    made = ag.fft.fftfreq(n, dtype=ag.float64, requires_grad=True)
    assert made.dtype == ag.float64 and made.requires_grad


def test_transforms_of_real_numbers_are_complex():
    x = ag.ones(4, dtype=ag.float32)
    assert ag.fft.fft(x).dtype == ag.complex64 and ag.fft.irfft(ag.fft.rfft(x)).dtype == ag.float32
    assert ag.fft.fft(ag.ones(4, dtype=ag.int64)).dtype == ag.complex64


# --- statistics ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [None, 0, -1])
@pytest.mark.parametrize("keepdim", [False, True])
def test_aminmax(dim, keepdim):
    x = random(3, 4)
    low, high = ag.aminmax(x, dim=dim, keepdim=keepdim)
    axis = None if dim is None else dim
    assert np.array_equal(low.numpy(), x.numpy().min(axis, keepdims=keepdim))
    assert np.array_equal(high.numpy(), x.numpy().max(axis, keepdims=keepdim))
    for which in (0, 1):
        check_derivatives(lambda a: ag.aminmax(a, dim=dim, keepdim=keepdim)[which], x)
    check_derivatives(lambda a: ag.aminmax(a, dim=dim, keepdim=keepdim), x)


def test_aminmax_shares_the_gradient_of_equal_elements():
    x = ag.tensor([1.0, 1.0, 3.0], requires_grad=True)
    low, high = ag.aminmax(x)
    (low + high).backward()
    assert x.grad.tolist() == [0.5, 0.5, 1.0]


def test_out_of_several_results():
    x, low, high = random(3, 4), ag.empty(0, dtype=ag.float64), ag.empty(0, dtype=ag.float64)
    given = ag.aminmax(x, dim=0, out=(low, high))
    assert given[0] is low and given[1] is high
    assert ag.equal(low, x.amin(0)) and ag.equal(high, x.amax(0))
    with pytest.raises(TypeError, match="'out' must be tuple of Tensors, not Tensor"):
        ag.aminmax(x, out=low)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("bins", [1, 4, 100, 1000])
def test_histc_of_a_range_beyond_the_dtype(dtype, bins):
    kind = getattr(ag, dtype)
    for part in (1.0, 0.5, 2.0**-9):
        bound = {"float32": 2.0**127, "float64": 2.0**1023}[dtype] * part
        x = ag.tensor([-bound, -bound / 2, 0.0, bound / 2, bound], dtype=kind)
        small = ag.tensor([-4.0, -2.0, 0.0, 2.0, 4.0], dtype=kind)
        assert ag.histc(x, bins).tolist() == ag.histc(small, bins).tolist()


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("weights", ["float16", "bfloat16", "float32", "float64"])
def test_cov_has_the_dtype_of_its_weights_too(kind, weights):
    x = ag.tensor([[1.0, 2.0, 4.0], [3.0, 1.0, 0.0]], dtype=getattr(ag, kind))
    w = ag.tensor([1.0, 2.0, 1.0], dtype=getattr(ag, weights))
    found = ag.cov(x, aweights=w)
    assert found.dtype == ag.promote_types(x.dtype, w.dtype)
    wanted = np.cov(x.double().numpy(), aweights=w.double().numpy())
    np.testing.assert_allclose(found.double().numpy(), wanted, rtol=1e-2)


def test_histc():
    x = ag.tensor([0.0, 1.0, 2.0, 2.0, 5.0])
    assert ag.histc(x, 4, 0, 4).tolist() == [1.0, 1.0, 2.0, 0.0]
    assert ag.histc(x, bins=5).tolist() == [1.0, 1.0, 2.0, 0.0, 1.0]
    assert ag.histc(ag.ones(3), bins=2).tolist() == [0.0, 3.0]


@pytest.mark.parametrize("shape", [(5, 3), (4, 3, 2)])
@pytest.mark.parametrize("training", [False, True])
def test_batch_norm(shape, training):
    x, weight, bias = random(*shape), random(3, seed=1), random(3, seed=2)
    mean, var = random(3, seed=3), random(3, seed=4).abs() + 1
    before = mean.clone(), var.clone()
    y = ag.nn.functional.batch_norm(x, mean, var, weight, bias, training)
    a, others = x.numpy(), (0, *range(2, len(shape)))
    m, v = (a.mean(others), a.var(others)) if training else [b.numpy() for b in before]
    view = (-1, *(1,) * (len(shape) - 2))
    expected = (a - m.reshape(view)) / np.sqrt(v.reshape(view) + 1e-5)
    expected = expected * weight.numpy().reshape(view) + bias.numpy().reshape(view)
    assert np.allclose(y.numpy(), expected)
    if training:
        count = a.size // 3
        assert np.allclose(mean.numpy(), 0.9 * before[0].numpy() + 0.1 * m)
        assert np.allclose(var.numpy(), 0.9 * before[1].numpy() + 0.1 * v * count / (count - 1))
    else:
        assert ag.equal(mean, before[0]) and ag.equal(var, before[1])

    def f(x, weight, bias):
        running = (None, None) if training else (mean, var)
        return ag.nn.functional.batch_norm(x, *running, weight, bias, training)

    check_derivatives(f, x, weight, bias)
    check_derivatives(lambda x: f(x, None, None), x)


def test_running_statistics_are_in_place_changes():
    mean, var = ag.zeros(3), ag.ones(3)
    version = mean._version
    ag.nn.functional.batch_norm(ag.randn(4, 3), mean, var, training=True)
    assert mean._version == version + 1 and var._version == version + 1
    used = (mean.requires_grad_(True) * mean).sum()
    with ag.no_grad():
        ag.nn.functional.batch_norm(ag.randn(4, 3), mean, var, training=True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        used.backward()


# --- what interpreted calls share with compiled ones ---------------------------------------------


def test_nodes_are_nodes():
    a = random(2, 2).requires_grad_(True)
    y = ag.linalg.inv(a)
    node = y.grad_fn
    assert node.name() == "LinalgInvExBackward0" and "LinalgInvExBackward0 object" in repr(node)
    assert node.next_functions[0][0].variable is a
    assert ag.equal(node._saved_inverse, y)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


def test_saved_results_are_checked_for_changes():
    a = random(2, 2).requires_grad_(True)
    y = ag.linalg.inv(a)
    with ag.no_grad():
        y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_saved_tensor_hooks_see_what_is_saved():
    packed = []

    def pack(x):
        packed.append(tuple(x.shape))
        return x

    a = random(2, 2).requires_grad_(True)
    with ag.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        y = ag.linalg.inv(a)
    y.sum().backward()
    assert packed == [(2, 2)] and a.grad is not None


def test_graphs_of_interpreted_nodes_are_freed():
    a = random(2, 2).requires_grad_(True)
    y = ag.linalg.inv(a)
    gone = weakref.ref(y.grad_fn)
    gc.disable()
    try:
        del y
        assert gone() is None
    finally:
        gc.enable()


def test_a_long_chain_of_interpreted_nodes_is_freed_without_recursion():
    x = ag.special.i0e(ag.zeros(1, requires_grad=True))
    first = weakref.ref(x.grad_fn)
    for _ in range(40_000):
        x = ag.special.i0e(x)
    gc.disable()
    try:
        assert first() is not None
        del x
        assert first() is None
    finally:
        gc.enable()


def test_tangents_and_batches_nest():
    f = ag.linalg.inv
    a, t = random(2, 3, 3), random(2, 3, 3, seed=1)
    value, tangent = ag.func.jvp(lambda x: ag.func.vmap(f)(x), (a,), (t,))
    inner = ag.func.vmap(lambda x, d: ag.func.jvp(f, (x,), (d,))[1])(a, t)
    assert ag.allclose(tangent, -value @ t @ value) and ag.allclose(inner, tangent)
    second = ag.func.hessian(lambda x: f(x).sum())(a[0])
    assert ag.allclose(second, ag.autograd.functional.hessian(lambda x: f(x).sum(), a[0]))


def test_in_place_form():
    x = ag.tensor([0.5, 1.0])
    y = x.clone()
    assert y.i0_() is y and ag.equal(y, ag.i0(x))
    leaf = x.detach().requires_grad_(True)
    z = leaf * 1
    z.i0_().sum().backward()
    assert ag.allclose(leaf.grad, ag.special.i1(x))


def test_devices_without_a_kernel_are_refused():
    x = ag.ones(2, 2, device="meta")
    for f in (ag.linalg.inv, ag.fft.fft, ag.histc):
        with pytest.raises(NotImplementedError, match=f"{f.__name__}.*'meta'"):
            f(x)


def test_classes_are_asked():
    class Asked(ag.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func

    t = ag.ones(2, 2).as_subclass(Asked)
    assert ag.linalg.inv(t) is ag.linalg.inv
    assert ag.i0(t) is ag.i0


def test_the_tier_is_loaded_when_it_is_used():
    code = (
        "import sys, autograd_cy as ag\n"
        "def loaded(): return [m for m in sys.modules if m.startswith('autograd_cy._interpreted.')"
        " and not m.endswith('_index')]\n"
        "assert not loaded(), loaded()\n"
        "assert hasattr(ag.Tensor, 'inverse') and 'polar' in ag.__all__\n"
        "ag.polar(ag.ones(1), ag.zeros(1))\n"
        "assert 'autograd_cy._interpreted.complex' in loaded()\n"
        "assert 'scipy' not in sys.modules\n"
    )
    done = programs.run("-c", code)
    assert done.returncode == 0, done.stderr


def test_signatures_and_documents():
    import inspect

    parameters = inspect.signature(ag.linalg.svd).parameters
    assert list(parameters) == ["A", "full_matrices", "driver", "out"]
    assert "Singular value decomposition" in ag.linalg.svd.__doc__
    assert ag.linalg.svd.__name__ == "svd"
    with pytest.raises(TypeError, match="unexpected keyword"):
        ag.linalg.inv(A=ag.eye(2), other=1)
    with pytest.raises(
        TypeError, match=r"linalg_inv\(\): argument 'A' \(position 1\) must be Tensor"
    ):
        ag.linalg.inv([[1.0]])
    with pytest.raises(RuntimeError, match="'norm' must be one of 'backward', 'ortho', 'forward'"):
        ag.fft.fft(ag.ones(2), norm="none")
