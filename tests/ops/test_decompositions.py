"""QR decompositions, pseudoinverses, triangular systems and their derivatives."""

import numpy as np
import pytest

import autograd_cy as ag

BOTH = pytest.mark.parametrize("dtype", [ag.float64, ag.complex128])


def matrix(*shape, dtype=ag.float64, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if dtype.is_complex:
        x = x + 1j * rng.standard_normal(shape)
    return ag.tensor(x, dtype=dtype)


def check_derivatives(f, *inputs):
    inputs = [x.detach().requires_grad_(True) for x in inputs]
    assert ag.autograd.gradcheck(f, inputs, check_forward_ad=True, check_batched_grad=True)
    assert ag.autograd.gradgradcheck(f, inputs)


# --- orthogonal factors ---------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)])
def test_orthogonal_and_triangular_factor(dtype, shape):
    A = matrix(*shape, dtype=dtype)
    for mode in ("reduced", "complete"):
        Q, R = ag.linalg.qr(A, mode)
        rows = shape[-2] if mode == "complete" else min(shape[-2:])
        assert Q.shape == (*shape[:-1], rows) and R.shape == (*shape[:-2], rows, shape[-1])
        assert ag.allclose(Q @ R, A)
        assert ag.allclose(Q.mH @ Q, ag.eye(rows, dtype=dtype))
        assert (R.tril(-1) == 0).all()
    none, R_alone = ag.linalg.qr(A, "r")
    assert none.shape == (0,) and ag.allclose(R_alone, ag.linalg.qr(A).R)


@BOTH
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2), (1, 3)])
@pytest.mark.parametrize("which", [(0,), (1,), (0, 1)])
def test_derivatives_of_both_factors(dtype, shape, which):
    def f(A):
        found = ag.linalg.qr(A)
        return tuple(found[i] for i in which)

    check_derivatives(f, matrix(*shape, dtype=dtype))


def test_complete_factors_have_derivatives_unless_rows_are_many():
    check_derivatives(lambda A: tuple(ag.linalg.qr(A, "complete")), matrix(2, 3))
    A = matrix(3, 2).requires_grad_()
    with pytest.raises(RuntimeError, match="not differentiable when mode='complete' and nrows"):
        ag.linalg.qr(A, "complete").R.sum().backward()
    with pytest.raises(RuntimeError, match="depends on Q, which is not computed when mode='r'"):
        ag.linalg.qr(A, "r").R.sum().backward()
    with pytest.raises(RuntimeError, match="depends on Q, which is not computed when mode='r'"):
        ag.func.jvp(lambda A: ag.linalg.qr(A, "r").R, (A.detach(),), (A.detach(),))
    with pytest.raises(RuntimeError, match="unrecognized mode 'none'"):
        ag.linalg.qr(A, "none")


def test_the_older_qr_warns():
    A = matrix(3, 2)
    for some, mode in ((True, "reduced"), (False, "complete")):
        with pytest.warns(UserWarning, match=r"torch\.qr is deprecated in favor of"):
            found = ag.qr(A, some)
        assert all(map(ag.equal, found, ag.linalg.qr(A, mode)))
    with pytest.warns(UserWarning, match="deprecated"):
        assert ag.equal(A.qr().R, ag.linalg.qr(A).R)


# --- pseudoinverses -------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)])
def test_pseudoinverses(dtype, shape):
    A = matrix(*shape, dtype=dtype)
    P = ag.linalg.pinv(A)
    assert ag.allclose(A @ P @ A, A) and ag.allclose(P @ A @ P, P)
    assert ag.allclose((A @ P).mH, A @ P) and ag.allclose((P @ A).mH, P @ A)
    assert ag.allclose(ag.pinverse(A), P)
    check_derivatives(ag.linalg.pinv, A)


@BOTH
def test_derivatives_of_matrices_that_lack_rank(dtype):
    """Along changes that keep the rank: of both factors of a product."""
    left, right = matrix(4, 2, dtype=dtype), matrix(2, 3, dtype=dtype, seed=1)
    check_derivatives(lambda a, b: ag.linalg.pinv(a @ b, rtol=1e-6), left, right)


@BOTH
def test_hermitian_pseudoinverses_read_the_lower_triangle(dtype):
    A = matrix(3, 3, dtype=dtype)
    A = A + A.mH
    P = ag.linalg.pinv(A, hermitian=True)
    assert ag.allclose(P, ag.linalg.pinv(A))
    assert ag.allclose(ag.linalg.pinv(A.tril(), hermitian=True), P)


def test_tolerances_say_what_counts_as_zero():
    A = ag.tensor([[4.0, 0.0], [0.0, 0.5]])
    whole, part = [[0.25, 0.0], [0.0, 2.0]], [[0.25, 0.0], [0.0, 0.0]]
    for options, expected in (
        ({}, whole),
        ({"atol": 0.4}, whole),
        ({"atol": 0.6}, part),
        ({"rtol": 0.1}, whole),
        ({"rtol": 0.2}, part),
        ({"atol": 0.1, "rtol": 0.2}, part),
        ({"atol": ag.tensor(0.6)}, part),
        ({"rtol": ag.tensor(0.2)}, part),
        ({"rcond": 0.2}, part),
        ({"rcond": ag.tensor(0.1)}, whole),
    ):
        assert ag.linalg.pinv(A, **options).tolist() == expected, options
    each = ag.linalg.pinv(ag.stack([A, A]), rtol=ag.tensor([0.1, 0.2]))
    assert each.tolist() == [whole, part]


# --- triangular systems ---------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("unitriangular", [True, False])
def test_triangular_systems_are_solved(dtype, upper, left, unitriangular):
    options = {"upper": upper, "left": left, "unitriangular": unitriangular}
    A = matrix(2, 3, 3, dtype=dtype)  # the other triangle is there, and not read
    B = matrix(3, 2, dtype=dtype, seed=1) if left else matrix(2, 3, dtype=dtype, seed=1)
    X = ag.linalg.solve_triangular(A, B, **options)
    T = A.triu() if upper else A.tril()
    if unitriangular:
        T = T - ag.diag_embed(T.diagonal(0, -2, -1)) + ag.eye(3, dtype=dtype)
    assert ag.allclose(T @ X if left else X @ T, B.expand(2, *B.shape))
    check_derivatives(lambda A, B: ag.linalg.solve_triangular(A, B, **options), A, B)


def test_a_zero_on_the_diagonal_is_no_error():
    X = ag.linalg.solve_triangular(ag.zeros(2, 2), ag.ones(2, 1), upper=False)
    assert X[0, 0] == float("inf") and X[1, 0].isnan()


# --- Cholesky factors without errors --------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("upper", [True, False])
def test_cholesky_ex_says_where_it_failed(dtype, upper):
    good = matrix(3, 3, dtype=dtype)
    good = good @ good.mH + ag.eye(3, dtype=dtype)
    bad = good.clone()
    bad[1, 1] = -1.0
    A = ag.stack([good, bad])
    L, info = ag.linalg.cholesky_ex(A, upper=upper)
    assert info.dtype == ag.int32 and info.tolist() == [0, 2]
    assert ag.allclose(L[0], ag.linalg.cholesky(good, upper=upper))
    assert ((L.tril(-1) if upper else L.triu(1)) == 0).all()
    with pytest.raises(ag.linalg.LinAlgError, match="Batch element 1.*minor of order 2 is not"):
        ag.linalg.cholesky_ex(A, upper=upper, check_errors=True)

    def factor(A):
        return ag.linalg.cholesky_ex((A + A.mH) / 2, upper=upper).L

    check_derivatives(factor, good)
    single = ag.linalg.cholesky_ex(good)
    assert single.info.shape == () and not single.info.requires_grad


# --- what may fail, older forms, low rank, exponentials and determinants --------------------------


def test_inv_ex_and_solve_ex_say_where():
    A = ag.tensor([[[2.0, 1.0], [1.0, 3.0]], [[1.0, 2.0], [2.0, 4.0]]], requires_grad=True)
    found = ag.linalg.inv_ex(A)
    assert found.info.tolist() == [0, 2] and found.info.dtype is ag.int32
    np.testing.assert_allclose((A[0] @ found.inverse[0]).detach(), np.eye(2), atol=1e-6)
    result = ag.linalg.solve_ex(A, ag.ones(2, 2, 1))
    assert result.info.tolist() == [0, 2]
    np.testing.assert_allclose((A[0] @ result.result[0]).detach(), np.ones((2, 1)), atol=1e-6)
    for call in (ag.linalg.inv_ex, lambda A, **o: ag.linalg.solve_ex(A, ag.ones(2, 1), **o)):
        with pytest.raises(ag.linalg.LinAlgError, match=r"Batch element 1.*singular"):
            call(A, check_errors=True)
    good = A.detach()[0].double().requires_grad_()
    b = ag.ones(2, 2).double().requires_grad_()
    assert ag.autograd.gradcheck(lambda A: ag.linalg.inv_ex(A).inverse, good)
    for left in (True, False):
        assert ag.autograd.gradcheck(
            lambda A, b, left=left: ag.linalg.solve_ex(A, b, left=left).result, (good, b)
        )
        a = ag.linalg.solve_ex(good, b, left=left).result
        assert a.allclose(ag.linalg.solve(good, b, left=left))
    vector = ag.linalg.solve_ex(good, b[0])
    assert vector.result.shape == (2,) and vector.info.shape == ()
    each = ag.vmap(lambda m: ag.linalg.solve_ex(m, ag.ones(2)).result)(A.detach()[:1])
    assert each.shape == (1, 2)


def test_the_older_svd_gives_v():
    A = ag.randn(2, 4, 3, dtype=ag.complex128)
    for some in (True, False):
        U, S, V = ag.svd(A, some)
        assert U.shape == (2, 4, 3 if some else 4) and V.shape == (2, 3, 3)
        rebuilt = U[..., :3] @ S.to(U.dtype).diag_embed() @ V.mH
        np.testing.assert_allclose(rebuilt, A, atol=1e-12)
    U, S, V = A.svd(compute_uv=False)
    assert U.shape == (2, 4, 4) and V.shape == (2, 3, 3)
    assert not U.any() and not V.any() and S.allclose(ag.linalg.svdvals(A))
    B = ag.randn(3, 2, dtype=ag.float64, requires_grad=True)
    assert ag.autograd.gradcheck(lambda B: ag.svd(B, compute_uv=False).S, B)


@pytest.mark.parametrize("shape", [(9, 7), (7, 9), (2, 5, 8)])
@pytest.mark.parametrize("dtype", [ag.float64, ag.complex128])
def test_decompositions_of_low_rank_find_the_largest_values(shape, dtype):
    ag.manual_seed(0)
    left, right = ag.randn(*shape[:-1], 3, dtype=dtype), ag.randn(3, shape[-1], dtype=dtype)
    A = left @ right
    U, S, V = ag.svd_lowrank(A, 4)
    assert U.shape == (*shape[:-1], 4) and V.shape == (*shape[:-2], shape[-1], 4)
    np.testing.assert_allclose(U @ S.to(dtype).diag_embed() @ V.mH, A, atol=1e-10)
    np.testing.assert_allclose(S, ag.linalg.svdvals(A)[..., :4], atol=1e-10)
    M = A.mean(-2, keepdim=True)
    np.testing.assert_allclose(
        ag.svd_lowrank(A, 4, M=M)[1], ag.linalg.svdvals(A - M)[..., :4], atol=1e-10
    )
    np.testing.assert_allclose(
        ag.pca_lowrank(A, 4)[1], ag.linalg.svdvals(A - M)[..., :4], atol=1e-10
    )
    np.testing.assert_allclose(ag.pca_lowrank(A, 4, False)[1], S, atol=1e-10)
    assert ag.svd_lowrank(A, 100)[1].shape[-1] == min(shape[-2:])
    for options in ({"q": 100}, {"q": -1}, {"niter": -1}):
        with pytest.raises(ValueError, match="must be non-negative integer"):
            ag.pca_lowrank(A, **options)


def test_exponentials_of_special_matrices():
    A = ag.randn(3, 3, dtype=ag.float64)
    B = ag.matrix_exp(A)
    np.testing.assert_allclose(ag.matrix_exp(2 * A), B @ B, rtol=1e-10)
    np.testing.assert_allclose(ag.linalg.det(B), A.diagonal().sum().exp(), rtol=1e-10)
    skew = A - A.T
    np.testing.assert_allclose(ag.matrix_exp(skew) @ ag.matrix_exp(skew).T, np.eye(3), atol=1e-12)
    bad = A.clone()
    bad[0, 0] = float("nan")
    both = ag.stack([A, bad]).matrix_exp()
    assert both[0].allclose(B) and both[1].isnan().all()
    zero = ag.zeros(2, 2, dtype=ag.float64, requires_grad=True)
    assert ag.autograd.gradgradcheck(ag.matrix_exp, zero)


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
@pytest.mark.parametrize("dtype", [ag.float64, ag.complex128])
def test_gradients_of_determinants_are_cofactors_of_singular_matrices_too(rank, dtype):
    ag.manual_seed(rank)
    A = ag.randn(2, 3, rank, dtype=dtype) @ ag.randn(2, rank, 3, dtype=dtype)
    A.requires_grad_()
    d = ag.det(A)
    (grad,) = ag.autograd.grad(ag.real(d).sum(), A)
    for k, i, j in np.ndindex(2, 3, 3):
        minor = np.delete(np.delete(A.detach()[k].numpy(), i, 0), j, 1)
        cofactor = (-1) ** (i + j) * np.linalg.det(minor)
        np.testing.assert_allclose(grad[k, i, j].numpy(), np.conj(cofactor), atol=1e-10)


@pytest.mark.parametrize("dtype", [ag.float64, ag.complex128])
def test_determinants_have_derivatives(dtype):
    ag.manual_seed(0)
    A = ag.randn(2, 3, 3, dtype=dtype, requires_grad=True)
    sign, size = ag.linalg.slogdet(A)
    np.testing.assert_allclose(ag.linalg.det(A).detach(), np.linalg.det(A.detach()))
    np.testing.assert_allclose((sign * size.exp()).detach(), ag.det(A).detach())
    for function in (ag.det, lambda A: ag.slogdet(A).logabsdet):
        assert ag.autograd.gradcheck(function, A, check_forward_ad=True)
        assert ag.autograd.gradgradcheck(function, A)
        each = ag.vmap(function)(A.detach())
        np.testing.assert_allclose(each, function(A).detach())
    if dtype is ag.complex128:
        function = lambda A: ag.slogdet(A).sign  # noqa: E731
        assert ag.autograd.gradcheck(function, A, check_forward_ad=True)
        assert ag.autograd.gradgradcheck(function, A)
    assert ag.det(ag.ones(0, 0)).item() == 1 and ag.det(ag.ones(0, 2, 2)).shape == (0,)
