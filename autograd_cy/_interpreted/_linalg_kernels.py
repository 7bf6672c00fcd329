"""Kernels of linear algebra on arrays.

LAPACK says by a number what is wrong with a matrix, NumPy that something is. What users are told is
found when it has failed: which matrix of the batch, and where in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np

LinAlgError = np.linalg.LinAlgError


def _each_matrix(*arrays: np.ndarray) -> Iterator[tuple[str, tuple[np.ndarray, ...]]]:
    """The matrices of a batch, and how an error names each."""
    batch = np.broadcast_shapes(*(a.shape[:-2] for a in arrays))
    wide = [np.broadcast_to(a, (*batch, *a.shape[-2:])) for a in arrays]
    for number, place in enumerate(np.ndindex(batch)):
        yield f"(Batch element {number}): " if batch else "", tuple(a[place] for a in wide)


def _fails(function: Callable, *args: np.ndarray) -> bool:
    try:
        function(*args)
    except LinAlgError:
        return True
    return False


# --- Cholesky factor ------------------------------------------------------------------------------


def cholesky(A: np.ndarray, upper: bool) -> np.ndarray:
    """The lower factor, or the upper one of a matrix whose upper triangle is read."""
    lower = A.swapaxes(-1, -2).conj() if upper else A
    try:
        factor = np.linalg.cholesky(lower)
    except LinAlgError:
        raise _not_positive(lower) from None
    if np.isnan(np.diagonal(factor, 0, -2, -1)).any():  # not every LAPACK looks for NaN
        raise _not_positive(lower)
    return factor.swapaxes(-1, -2).conj() if upper else factor


def _leads(m: np.ndarray, order: int) -> bool:
    """Tell whether the leading minor of that order has a factor."""
    try:
        factor = np.linalg.cholesky(m[:order, :order])
    except LinAlgError:
        return False
    return not np.isnan(np.diagonal(factor)).any()


def _not_positive(A: np.ndarray) -> LinAlgError:
    which, high = "", A.shape[-1]
    for name, (m,) in _each_matrix(A):
        if not _leads(m, len(m)):
            which, low = name, 0  # the minor of order `low` has a factor, that of `high` none
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if _leads(m, middle) else (low, middle)
            break
    return LinAlgError(
        f"{which}The factorization could not be completed because the input is not "
        f"positive-definite (the leading minor of order {high} is not positive-definite)."
    )


def cholesky_ex(A: np.ndarray, upper: bool, check_errors: bool) -> tuple[np.ndarray, np.ndarray]:
    """The factor, and the order of the first minor that isn't positive definite, or 0."""
    info = np.zeros(A.shape[:-2], np.int64)
    try:
        return cholesky(A, upper), info
    except LinAlgError:
        if check_errors:
            raise
    from scipy.linalg.lapack import get_lapack_funcs  # type: ignore[import-untyped]

    (factorize,) = get_lapack_funcs(("potrf",), (A,))
    lower = A.swapaxes(-1, -2).conj() if upper else A
    factor = np.empty(A.shape, A.dtype)
    for place in np.ndindex(info.shape):
        factor[place], info[place] = factorize(lower[place], lower=1, clean=1)
    return factor.swapaxes(-1, -2).conj() if upper else factor, info


# --- linear systems -------------------------------------------------------------------------------


def inv(A: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.inv(A)
    except LinAlgError:
        pass
    which, place = "", A.shape[-1]
    for name, (m,) in _each_matrix(A):
        if _fails(np.linalg.inv, m):
            which, place = name, _zero_pivot(m)
            break
    raise LinAlgError(
        f"{which}The diagonal element {place} is zero, the inversion could not be completed "
        "because the input matrix is singular."
    )


def _zero_pivot(m: np.ndarray) -> int:
    """The place of the first diagonal element of U in P A = L U that is 0, from 1."""
    rest = np.array(m)
    for k in range(len(rest)):
        pivot = k + int(np.abs(rest[k:, k]).argmax())
        if rest[pivot, k] == 0:
            return k + 1
        rest[[k, pivot]] = rest[[pivot, k]]
        with np.errstate(all="ignore"):
            rest[k + 1 :, k:] -= np.outer(rest[k + 1 :, k] / rest[k, k], rest[k, k:])
    return len(rest)  # LAPACK rounds otherwise


def solve(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Solutions for matrices; NumPy 1 takes a `B` of one dimension less than `A` for vectors."""
    try:
        return np.linalg.solve(A, B[(np.newaxis,) * max(A.ndim - B.ndim, 0)])
    except LinAlgError:
        pass
    which = next((name for name, (m,) in _each_matrix(A) if _fails(np.linalg.inv, m)), "")
    raise LinAlgError(f"{which}The solver failed because the input matrix is singular.")


def _by_factors(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solutions by LU factors, and the first pivot that is 0 of each matrix, or 0."""
    from scipy.linalg.lapack import get_lapack_funcs  # type: ignore[import-untyped]

    factorize, substitute = get_lapack_funcs(("getrf", "getrs"), (A, B))
    batch = np.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    info = np.zeros(A.shape[:-2], np.int64)
    solutions = np.empty((*batch, *B.shape[-2:]), B.dtype)
    if not A.size:
        return solutions, info
    factors = np.empty(A.shape, A.dtype)
    pivots = np.empty(A.shape[:-1], np.int64)
    for place in np.ndindex(info.shape):
        factors[place], pivots[place], info[place] = factorize(A[place])
    factors = np.broadcast_to(factors, (*batch, *A.shape[-2:]))
    pivots = np.broadcast_to(pivots, (*batch, A.shape[-1]))
    B = np.broadcast_to(B, solutions.shape)
    for place in np.ndindex(batch):
        if B.shape[-1]:
            solutions[place] = substitute(factors[place], pivots[place], B[place])[0]
    return solutions, info


def inv_ex(A: np.ndarray, check_errors: bool) -> tuple[np.ndarray, np.ndarray]:
    """The inverse, and the first pivot that is 0, or 0."""
    try:
        return np.linalg.inv(A), np.zeros(A.shape[:-2], np.int64)
    except LinAlgError:
        if check_errors:
            inv(A)  # its error, which says where
    return _by_factors(A, np.eye(A.shape[-1], dtype=A.dtype))


def solve_ex(A: np.ndarray, B: np.ndarray, check_errors: bool) -> tuple[np.ndarray, np.ndarray]:
    """The solution, and the first pivot that is 0, or 0."""
    try:
        return solve(A, B), np.zeros(A.shape[:-2], np.int64)
    except LinAlgError:
        if check_errors:
            raise
    return _by_factors(A, B)


def matrix_exp(A: np.ndarray) -> np.ndarray:
    """Scaling, Pade's approximant, squaring (Al-Mohy and Higham 2009); NaN where A isn't finite."""
    if not A.size:
        return A.copy()
    import scipy.linalg  # type: ignore[import-untyped]

    finite = np.isfinite(A).all((-2, -1))
    if finite.all():
        return scipy.linalg.expm(A)
    result = np.full(A.shape, np.nan, A.dtype)
    if finite.any():
        result[finite] = scipy.linalg.expm(A[finite])
    return result


def det(A: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.det(A), A.dtype)


def slogdet(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    sign, size = np.linalg.slogdet(A)
    return np.asarray(sign, A.dtype), np.asarray(size)


def logdet(A: np.ndarray) -> np.ndarray:
    """Return log-determinants of real matrices, NaN where the determinant is negative."""
    sign, size = np.linalg.slogdet(A)
    if A.dtype.kind == "c":
        return np.asarray(size + 1j * np.angle(sign), A.dtype)
    return np.asarray(np.where(sign < 0, np.nan, size), A.dtype)


def solve_triangular(
    A: np.ndarray, B: np.ndarray, upper: bool, left: bool, unitriangular: bool
) -> np.ndarray:
    """Solutions of triangular systems: BLAS's trsm for each of a batch."""
    from scipy.linalg.blas import (  # type: ignore[import-untyped]
        find_best_blas_type,
        get_blas_funcs,
    )

    batch = np.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    A = np.broadcast_to(A, (*batch, *A.shape[-2:]))
    result = np.array(np.broadcast_to(B, (*batch, *B.shape[-2:])))
    if not result.size:
        return result
    (solve,) = get_blas_funcs(("trsm",), dtype=find_best_blas_type((A,))[1])
    for place in np.ndindex(batch):
        # In Fortran's order the rows of C are columns: X A = B is Aᵀ Xᵀ = Bᵀ.
        result[place] = solve(
            1.0,
            A[place].T,
            result[place].T,
            side=int(left),
            lower=int(upper),
            diag=int(unitriangular),
        ).T
    return result


# --- eigenvalues and singular values --------------------------------------------------------------

NOT_FINITE = (
    "The algorithm failed to converge because the input matrix contained non-finite values."
)
NOT_CONVERGED = (
    "The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
    "repeated {}."
)


def eigh(A: np.ndarray, UPLO: str) -> tuple[np.ndarray, np.ndarray]:
    """Decompose symmetric matrices. LAPACK's results are arbitrary for elements that aren't finite;
    small matrices become NaN, as in torch."""
    half: Literal["L", "U"] = "U" if UPLO.upper() == "U" else "L"
    if not np.isfinite(A).all():
        read = np.tril(A) if half == "L" else np.triu(A)
        wrong = ~np.isfinite(read).all((-2, -1))
        if wrong.any():
            if A.shape[-1] > 2:
                raise _diverged("eigenvalues", A, lambda m: np.linalg.eigh(m, half), wrong)
            values, vectors = np.linalg.eigh(np.where(wrong[..., None, None], 0, A), half)
            values[wrong] = np.nan
            vectors[wrong] = np.nan
            return values, vectors
    try:
        values, vectors = np.linalg.eigh(A, half)
        return values, vectors
    except LinAlgError:
        raise _diverged("eigenvalues", A, lambda m: np.linalg.eigh(m, half)) from None


def svd(A: np.ndarray, full_matrices: bool, driver: None) -> tuple[np.ndarray, ...]:
    try:
        return tuple(np.linalg.svd(A, full_matrices))
    except LinAlgError:
        raise _diverged("singular values", A, np.linalg.svd) from None


def _diverged(
    what: str, A: np.ndarray, function: Callable, wrong: np.ndarray | None = None
) -> LinAlgError:
    numbers = None if wrong is None else wrong.reshape(-1)
    for number, (which, (m,)) in enumerate(_each_matrix(A)):
        if _fails(function, m) if numbers is None else numbers[number]:
            finite = np.isfinite(m).all()
            return LinAlgError(which + (NOT_CONVERGED.format(what) if finite else NOT_FINITE))
    return LinAlgError(NOT_CONVERGED.format(what))


# --- orthogonal factors and pseudoinverses --------------------------------------------------------


def qr(A: np.ndarray, mode: str) -> tuple[np.ndarray, np.ndarray]:
    if mode == "r":
        alone: Any = np.linalg.qr(A, "r")
        return np.empty(0, A.dtype), alone
    kind: Literal["reduced", "complete"] = "complete" if mode == "complete" else "reduced"
    Q, R = np.linalg.qr(A, kind)
    return Q, R


def pinv(A: np.ndarray, atol: float, rtol: float | None, hermitian: bool) -> np.ndarray:
    """Pseudoinverses: of singular values, or of eigenvalues, above the larger of two bounds."""
    if not A.size:
        return np.zeros((*A.shape[:-2], A.shape[-1], A.shape[-2]), A.dtype)
    if rtol is None:
        rtol = max(A.shape[-2:]) * np.finfo(A.dtype).eps
    if hermitian:
        values, left = eigh(A, "L")
        right = left.swapaxes(-1, -2).conj()
    else:
        left, values, right = svd(A, False, None)
    size = np.abs(values)
    bound = np.maximum(atol, np.multiply(rtol, size.max(-1)))[..., None]
    above = size > bound
    inverse = np.where(above, 1 / np.where(above, values, 1), 0).astype(A.dtype)
    return (right.swapaxes(-1, -2).conj() * inverse[..., None, :]) @ left.swapaxes(-1, -2).conj()
