"""Matrices that have no factor, no inverse or no vectors, and losses without a gradient."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.autograd import gradcheck

NAN, INF = float("nan"), float("inf")
LinAlgError = ag.linalg.LinAlgError


def matrix(n, place=None, value=NAN, dtype=ag.float64):
    a = 2 * ag.eye(n, dtype=dtype) + 0.1
    if place is not None:
        a[place] = value
    return a


# --- what isn't finite ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "place", "order"), [(2, (0, 0), 1), (2, (1, 0), 2), (3, (1, 1), 2), (5, (4, 0), 5)]
)
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64, ag.complex128])
def test_cholesky_of_nan_is_refused(n, place, order, dtype):
    a = matrix(n, place, dtype=dtype)
    message = rf"linalg\.cholesky: .*the leading minor of order {order} is not positive-definite"
    with pytest.raises(LinAlgError, match=message):
        ag.linalg.cholesky(a)
    with pytest.raises(LinAlgError, match=message):
        ag.linalg.cholesky(a.mT, upper=True)
    assert ag.linalg.cholesky(matrix(n)).isfinite().all()


def test_cholesky_reads_one_triangle_only():
    a = matrix(3, (0, 2))
    assert ag.linalg.cholesky(a).isfinite().all()
    assert ag.linalg.cholesky(a.mT, upper=True).isfinite().all()


@pytest.mark.parametrize("value", [NAN, INF, -INF])
@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_eigenvalues_of_what_is_not_finite_are_nan_or_refused(value, n):
    for place in {(0, 0), (n - 1, 0), (n // 2, n // 2)}:
        a = ag.stack([matrix(n), matrix(n, place, value)])
        if n > 2:
            message = r"linalg\.eigh: \(Batch element 1\): .*contained non-finite values"
            for function in (ag.linalg.eigh, ag.linalg.eigvalsh):
                with pytest.raises(LinAlgError, match=message):
                    function(a)
            continue
        values, vectors = ag.linalg.eigh(a)
        assert values[0].isfinite().all() and vectors[0].isfinite().all()
        assert values[1].isnan().all() and vectors[1].isnan().all()
        np.testing.assert_allclose(values[0].tolist(), np.linalg.eigvalsh(a[0].numpy()))


def test_the_triangle_that_is_not_read_may_hold_anything():
    a = matrix(3, (0, 2))
    expected = ag.linalg.eigvalsh(matrix(3)).tolist()
    np.testing.assert_allclose(ag.linalg.eigvalsh(a).tolist(), expected)
    np.testing.assert_allclose(ag.linalg.eigvalsh(a.mT, "U").tolist(), expected)
    with pytest.raises(LinAlgError, match="non-finite"):
        ag.linalg.eigvalsh(a, "U")


def test_singular_values_of_nan_are_refused():
    a = ag.stack([matrix(3), matrix(3, (0, 1))])
    for function in (ag.linalg.svd, ag.linalg.svdvals):
        with pytest.raises(
            LinAlgError, match=r"\(Batch element 1\): .*input matrix contained non-finite values"
        ):
            function(a)


# --- which one --------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(4,), (2, 2)])
def test_errors_name_the_matrix_of_the_batch(shape):
    a = matrix(3).expand(4, 3, 3).clone()
    a[2, 1] = 0
    a[2, :, 1] = 0
    a = a.reshape(*shape, 3, 3)
    named = r"\(Batch element 2\): "
    with pytest.raises(LinAlgError, match=named + "The diagonal element 2 is zero"):
        ag.linalg.inv(a)
    with pytest.raises(LinAlgError, match=named + "The solver failed"):
        ag.linalg.solve(a, ag.ones(3, 1, dtype=ag.float64))
    with pytest.raises(LinAlgError, match=named + ".*the leading minor of order 2 is not positive"):
        ag.linalg.cholesky(a)


@pytest.mark.parametrize("order", [1, 2, 5, 8])
def test_cholesky_names_the_leading_minor(order):
    a = matrix(8)
    a[order - 1, order - 1] = -1
    with pytest.raises(LinAlgError, match=f"the leading minor of order {order} is not"):
        ag.linalg.cholesky(a)


# --- phases -----------------------------------------------------------------------------------


def hermitian(dtype=ag.complex128):
    rows = [[2.0, 1 + 1j, 0.5], [1 - 1j, -1.0, 0.3j], [0.5, -0.3j, 1.0]]
    return ag.tensor(rows, dtype=dtype, requires_grad=True)


def parts(function, a):
    """The vectors of a decomposition."""
    if function == "eigh":
        return [ag.linalg.eigh(a)[1]]
    u, _, vh = ag.linalg.svd(a)
    return [u, vh]


@pytest.mark.parametrize("function", ["eigh", "svd"])
@pytest.mark.parametrize("dtype", [ag.complex64, ag.complex128])
def test_losses_that_depend_on_a_phase_are_refused(function, dtype):
    for part in parts(function, hermitian(dtype)):
        for loss in (part.real.sum(), part.sum().abs(), (part * part).imag.sum()):
            with pytest.raises(RuntimeError, match="up to multiplication by e.*ill-defined"):
                loss.backward(retain_graph=True)
        (part.abs() ** 3).sum().backward(retain_graph=True)


def test_phases_that_cancel_are_no_phases():
    a = hermitian()
    u, s, vh = ag.linalg.svd(a)
    (g,) = ag.autograd.grad((u @ ag.diag_embed(s.to(a.dtype) ** 2) @ vh).real.sum(), a)
    assert g.isfinite().all()
    assert gradcheck(lambda a: (lambda u, s, vh: u @ vh)(*ag.linalg.svd(a)), (a,))


def test_real_vectors_have_no_phases():
    a = hermitian().real.detach().requires_grad_()
    ag.linalg.eigh(a)[1].sum().backward()
    assert a.grad.isfinite().all()


# --- equal eigenvalues ------------------------------------------------------------------------


def test_vectors_of_equal_eigenvalues_that_are_not_used_change_nothing():
    a = ag.diag_embed(ag.tensor([1.0, 3.0, 3.0], dtype=ag.float64)).requires_grad_()

    def first(a):
        return ag.linalg.eigh((a + a.mT) / 2)[1][:, 0] ** 2

    (g,) = ag.autograd.grad(first(a)[1], a, create_graph=True)
    assert g.isfinite().all()
    moved = ag.ones(3, 3, dtype=ag.float64)
    pushed = ag.func.jvp(lambda a: ag.linalg.eigh(a)[1], (a.detach(),), (moved,))[1]
    assert not pushed.isfinite().all()  # the others turn at once


@pytest.mark.parametrize("dtype", [ag.float64, ag.complex128])
def test_second_derivatives_through_a_zero_gradient(dtype):
    a = hermitian().detach()
    a = a.real if dtype is ag.float64 else a
    v = ag.tensor([[0.25, 0.1, 0.2], [0.1, -0.5, 0.3], [0.2, 0.3, 1.0]], dtype=ag.float64).to(dtype)

    def vectors(a):
        return ag.linalg.eigh(a)[1].abs() ** 2

    def values(a):
        return ag.linalg.eigvalsh(a)

    for function in (vectors, values):
        expected = ag.func.jvp(function, (a,), (v,))[1]
        found = ag.autograd.functional.jvp(function, a, v)[1]
        np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-12)
        assert expected.abs().max() > 0.01
    linear = ag.func.linearize(vectors, a)[1](v)
    np.testing.assert_allclose(
        linear.numpy(), ag.func.jvp(vectors, (a,), (v,))[1].numpy(), atol=1e-12
    )
