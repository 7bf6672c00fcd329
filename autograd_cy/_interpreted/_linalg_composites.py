"""Linear algebra made of operators: solutions for vectors, and derivatives of decompositions.

Formulas: M. Giles (2008); I. Murray, "Differentiation of the Cholesky decomposition" (2016);
Z.-Q. Wan, S.-X. Zhang (2019) for the phases of complex singular vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_cy._C.launch import is_capturing
from autograd_cy._C.levels import _batch_level
from autograd_cy._C.tensor import Tensor
from autograd_cy._interpreted import linalg
from autograd_cy._tensors.namespace import (
    adjoint,
    can_cast,
    cat,
    complex64,
    complex128,
    constant_pad_nd,
    diag_embed,
    diagonal,
    eye,
    float32,
    float64,
    imag,
    matmul,
    narrow,
    ones_like,
    real,
    transpose,
    tril,
    triu,
    unsqueeze,
    zeros_like,
)


def eigvalsh(A: Tensor, UPLO: str) -> Tensor:
    return linalg.eigh(A, UPLO).eigenvalues


def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    return linalg.svd(A, False).S


def matrix_power(A: Tensor, n: int, out: Tensor | None = None) -> Tensor:
    """With 0 and 1 nothing is multiplied, and `out` may be of any dtype that takes the result."""
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise RuntimeError(
            "linalg.matrix_power: A must be batches of square matrices, but has the shape "
            f"{list(A.shape)}"
        )
    if n in (0, 1):
        result = A.clone()  # the result is no other name of `A`, and depends on it
        if not n:
            result.copy_(diag_embed(ones_like(diagonal(A, 0, -2, -1))))
        if out is None:
            return result
        if not can_cast(A.dtype, out.dtype):
            raise RuntimeError(
                "linalg.matrix_power: Expected result to be safely castable from "
                f"{A.dtype._scalar} dtype, but got result with dtype {out.dtype._scalar}"
            )
        return result.to(out.dtype)
    if n < 0:
        if not (A.is_floating_point() or A.is_complex()):
            raise RuntimeError(
                "linalg.inv: Expected a floating point or complex tensor as input. Got "
                f"{A.dtype._scalar}; convert it before it is raised to a negative power"
            )
        A, n = linalg.inv(A), -n
    power: Tensor | None = None
    while n:
        if n & 1:
            power = A if power is None else matmul(power, A)
        n >>= 1
        if n:
            A = matmul(A, A)
    assert power is not None
    return power


def _each_matrix(x: Tensor) -> Tensor:
    """Numbers as matrices of one element."""
    return unsqueeze(unsqueeze(x, -1), -1)


def _cofactors(A: Tensor, det: Tensor) -> Tensor:
    """The derivative of the determinant by each element, conjugated.

    Without the inverse, by the singular values: the product of all but one of them.
    """
    inverse, info = linalg.inv_ex(A)
    if is_capturing() or _batch_level(A) >= 0 or not info.any().item():
        return _each_matrix(det.conj()) * adjoint(inverse)
    U, S, Vh = linalg.svd(A.detach())
    n = S.shape[-1]
    others = unsqueeze(S, -2).expand(*S.shape, n) * (1 - eye(n, dtype=S.dtype, device=S.device))
    products = (others + eye(n, dtype=S.dtype, device=S.device)).prod(-1)
    phase = (linalg.det(U) * linalg.det(Vh)).conj()
    return _each_matrix(phase) * matmul(U * unsqueeze(products, -2), Vh)


def det_backward(grad: Tensor, A: Tensor, det: Tensor) -> Tensor:
    return _each_matrix(grad) * _cofactors(A, det)


def det_jvp(tangent: Tensor, A: Tensor, det: Tensor) -> Tensor:
    return (_cofactors(A, det).conj() * tangent).sum((-2, -1))


def slogdet_backward(
    grad_sign: Tensor | None, grad_log: Tensor | None, A: Tensor, sign: Tensor
) -> Tensor:
    # The phase t of the sign e^it moves by Im tr(A^-1 dA), the logarithm by Re tr(A^-1 dA).
    factor = grad_log
    if grad_sign is not None and A.is_complex():
        turn = imag(grad_sign.conj() * sign) * -1j
        factor = turn if factor is None else factor + turn
    if factor is None:
        return zeros_like(A)
    return _each_matrix(factor) * adjoint(linalg.inv(A))


def slogdet_jvp(tangent: Tensor, A: Tensor, sign: Tensor, which: int) -> Tensor:
    trace = diagonal(matmul(linalg.inv(A), tangent), 0, -2, -1).sum(-1)
    if which:
        return real(trace) if A.is_complex() else trace
    return imag(trace) * 1j * sign if A.is_complex() else trace * 0


def matrix_exp_derivative(A: Tensor, E: Tensor) -> Tensor:
    n = A.shape[-1]
    above, below = cat((A, E), -1), cat((zeros_like(A), A), -1)
    whole = linalg.matrix_exp(cat((above, below), -2))
    return narrow(narrow(whole, -2, 0, n), -1, n, n)


# --- linear systems -----------------------------------------------------------------------------


def solve(A: Tensor, B: Tensor, *, left: bool) -> Tensor:
    """`B` is a batch of vectors if its shape is that of `A` without the last dimension."""
    vector = B.ndim == 1 or (A.ndim - 1 == B.ndim and B.shape == A.shape[:-1])
    if vector and not left:
        raise RuntimeError(
            "linalg.solve: Vector broadcasting of the left hand side is not supported for "
            "left=False. In this case linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    if vector:
        return linalg._linalg_solve(A, unsqueeze(B, -1)).squeeze(-1)
    if B.ndim < 2:
        raise RuntimeError("linalg.solve: B must have at least 1 dimension")
    if left or A.ndim < 2:  # which is refused there
        return linalg._linalg_solve(A, B)
    return transpose(linalg._linalg_solve(transpose(A, -1, -2), transpose(B, -1, -2)), -1, -2)


def solve_ex(A: Tensor, B: Tensor, *, left: bool, check_errors: bool) -> tuple[Tensor, Tensor]:
    """As :func:`solve` does, with what LAPACK says about each matrix."""
    vector = B.ndim == 1 or (A.ndim - 1 == B.ndim and B.shape == A.shape[:-1])
    if vector and left:
        result, info = linalg._linalg_solve_ex(A, unsqueeze(B, -1), check_errors)
        return result.squeeze(-1), info
    if vector or B.ndim < 2:
        solve(A, B, left=left)  # its error
    if left or A.ndim < 2:
        return linalg._linalg_solve_ex(A, B, check_errors)
    result, info = linalg._linalg_solve_ex(transpose(A, -1, -2), transpose(B, -1, -2), check_errors)
    return transpose(result, -1, -2), info


def solve_backward(grad: Tensor, A: Tensor, X: Tensor, needed: tuple[bool, bool]) -> tuple:
    right = linalg._linalg_solve(adjoint(A), grad)
    return -matmul(right, adjoint(X)) if needed[0] else None, right


def _triangle(x: Tensor, upper: bool, unitriangular: bool) -> Tensor:
    """The part of a matrix that a triangular solver reads."""
    return triu(x, int(unitriangular)) if upper else tril(x, -int(unitriangular))


def solve_triangular_backward(
    grad: Tensor,
    A: Tensor,
    X: Tensor,
    upper: bool,
    left: bool,
    unitriangular: bool,
    needed: tuple[bool, bool],
) -> tuple:
    right = linalg.solve_triangular(
        adjoint(A), grad, upper=not upper, left=left, unitriangular=unitriangular
    )
    if not needed[0]:
        return None, right
    of_matrix = matmul(right, adjoint(X)) if left else matmul(adjoint(X), right)
    return -_triangle(of_matrix, upper, unitriangular), right


def solve_triangular_jvp(
    tangent: Tensor, A: Tensor, X: Tensor, upper: bool, left: bool, unitriangular: bool
) -> Tensor:
    tangent = _triangle(tangent, upper, unitriangular)
    change = matmul(tangent, X) if left else matmul(X, tangent)
    return -linalg.solve_triangular(A, change, upper=upper, left=left, unitriangular=unitriangular)


# --- Cholesky factor ----------------------------------------------------------------------------


def _lower_half(x: Tensor) -> Tensor:
    """The lower triangle with half of the diagonal."""
    return tril(x) - diag_embed(diagonal(x, 0, -2, -1)) / 2


def cholesky_backward(grad: Tensor, factor: Tensor, upper: bool) -> Tensor:
    L, g = (adjoint(factor), adjoint(grad)) if upper else (factor, grad)
    inner = _lower_half(matmul(adjoint(L), g))
    half = linalg._linalg_solve(
        adjoint(L), adjoint(linalg._linalg_solve(adjoint(L), adjoint(inner)))
    )
    return (half + adjoint(half)) / 2


def cholesky_jvp(tangent: Tensor, factor: Tensor, upper: bool) -> Tensor:
    L = adjoint(factor) if upper else factor
    symmetric = (tangent + adjoint(tangent)) / 2
    inner = linalg._linalg_solve(L, adjoint(linalg._linalg_solve(L, symmetric)))
    result = matmul(L, _lower_half(inner))
    return adjoint(result) if upper else result


# --- phases of vectors ---------------------------------------------------------------------------

PHASES = {
    "eigh": "linalg_eigh_backward: The eigenvectors in the complex case are specified up to "
    "multiplication by e^{i phi}. The specified loss function depends on this quantity, so it is "
    "ill-defined. Use abs() of what the vectors give, or products in which the phases cancel.",
    "svd": "svd_backward: The singular vectors in the complex case are specified up to "
    "multiplication by e^{i phi}. The specified loss function depends on this phase term, making "
    "it ill-defined. Use abs() of what the vectors give, or products in which the phases cancel.",
}


def check_phases(turned: Tensor, sized: Tensor, op: str) -> None:
    """Refuse gradients of vectors that change with a phase: `turned` has imaginary parts then.

    What is smaller than torch sees, or may be rounding, passes; so do batches of vmap.
    """
    if is_capturing() or _batch_level(turned) >= 0 or turned.device.type != "cpu":
        return
    if not turned.numel():
        return
    turn = abs(imag(turned.detach())).max().item()
    if turn > 1e-2 + 1e-4 * abs(sized.detach()).max().item():
        raise RuntimeError(PHASES[op])


# --- singular values ----------------------------------------------------------------------------


def _thin(U: Tensor, S: Tensor, Vh: Tensor) -> tuple[Tensor, Tensor, int]:
    k = S.shape[-1]
    return narrow(U, -1, 0, k), narrow(Vh, -2, 0, k), k


def _gaps(S: Tensor) -> Tensor:
    """``S_j^2 - S_i^2``, and 1 on the diagonal."""
    squares = S * S
    gaps = unsqueeze(squares, -2) - unsqueeze(squares, -1)
    return gaps + diag_embed(S * 0 + 1)


def _skew(x: Tensor) -> Tensor:
    return x - adjoint(x)


def svd_backward(
    gU: Tensor | None,
    gS: Tensor | None,
    gVh: Tensor | None,
    U: Tensor,
    S: Tensor,
    Vh: Tensor,
) -> Tensor:
    u, vh, k = _thin(U, S, Vh)
    rows, columns = U.shape[-2], Vh.shape[-1]
    # Vectors beyond the first k are any that complete a basis, and have no derivative.
    gU = None if gU is None else narrow(gU, -1, 0, k)
    gVh = None if gVh is None else narrow(gVh, -2, 0, k)
    if gU is None and gVh is None:
        assert gS is not None  # some gradient has arrived
        return matmul(u * unsqueeze(gS, -2), vh)
    s, gaps = unsqueeze(S, -2), _gaps(S)
    middle = diag_embed(gS if gS is not None else S * 0)
    phases: Tensor | None = None
    if gU is not None:
        skew = _skew(matmul(adjoint(u), gU))
        middle = middle + skew / gaps * s
        phases = diagonal(skew, 0, -2, -1)
    if gVh is not None:
        skew = _skew(matmul(vh, adjoint(gVh)))
        middle = middle + unsqueeze(S, -1) * (skew / gaps)
        if phases is None:
            phases = -diagonal(skew, 0, -2, -1)
    if u.is_complex() and phases is not None:
        turned = phases if gU is not None else -phases
        if gU is not None and gVh is not None:
            turned = turned + diagonal(skew, 0, -2, -1)
        check_phases(turned / 2, middle, "svd")
        # The phases of u and v cancel in `middle`, by invariance, but not if only one is used.
        middle = (
            middle
            - diag_embed(diagonal(middle, 0, -2, -1))
            + diag_embed((0 if gS is None else gS) + phases / (2 * S))
        )
    result = matmul(matmul(u, middle), vh)
    if gU is not None and rows > k:
        outside = gU - matmul(u, matmul(adjoint(u), gU))
        result = result + matmul(outside / s, vh)
    if gVh is not None and columns > k:
        outside = gVh - matmul(matmul(gVh, adjoint(vh)), vh)
        result = result + matmul(u / s, outside)
    return result


def svd_jvp(tangent: Tensor, U: Tensor, S: Tensor, Vh: Tensor, which: int) -> Tensor:
    u, vh, k = _thin(U, S, Vh)
    rows, columns = U.shape[-2], Vh.shape[-1]
    inner = matmul(matmul(adjoint(u), tangent), adjoint(vh))
    if which == 1:
        return real(diagonal(inner, 0, -2, -1))
    s, t, gaps = unsqueeze(S, -2), unsqueeze(S, -1), _gaps(S)
    if which == 0:
        turn = (inner * s + t * adjoint(inner)) / gaps
    else:
        turn = (t * inner + adjoint(inner) * s) / gaps
    turn = turn - diag_embed(diagonal(turn, 0, -2, -1))
    if u.is_complex():
        phase = imag(diagonal(inner, 0, -2, -1)) / (2 * S)
        turn = turn + diag_embed(phase * (1j if which == 0 else -1j))
    if which == 0:
        result = matmul(u, turn)
        if rows > k:
            outside = matmul(tangent, adjoint(vh))
            result = result + (outside - matmul(u, matmul(adjoint(u), outside))) / s
        more = U.shape[-1] - k
        return constant_pad_nd(result, (0, more)) if more else result
    result = matmul(adjoint(turn), vh)
    if columns > k:
        outside = matmul(adjoint(u), tangent)
        result = result + (outside - matmul(matmul(outside, adjoint(vh)), vh)) / t
    more = Vh.shape[-2] - k
    return constant_pad_nd(result, (0, 0, 0, more)) if more else result


# --- orthogonal factors -------------------------------------------------------------------------
#
# A = Q R, with square R: X = Q^H dA R^-1 is the skew-Hermitian Q^H dQ and the upper triangular
# dR R^-1, whose diagonal is real. A wide A is (A1 A2) = Q (R1 R2), where A1 = Q R1 and R2 = Q^H A2.


def _check_whole(Q: Tensor, R: Tensor, mode: str) -> None:
    """Refuse derivatives of decompositions that lack what they need."""
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please "
            "use linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr."
        )
    if R.shape[-2] > R.shape[-1]:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols. "
            "Use mode='reduced'."
        )


def _over_right(x: Tensor, R: Tensor) -> Tensor:
    """``x @ inv(R)``."""
    return linalg.solve_triangular(R, x, upper=True, left=False)


def _skew_part(X: Tensor) -> Tensor:
    """The skew-Hermitian matrix of which X differs by an upper triangular one."""
    below = tril(X, -1)
    skew = below - adjoint(below)
    return skew + diag_embed(imag(diagonal(X, 0, -2, -1)) * 1j) if X.is_complex() else skew


def qr_backward(gQ: Tensor | None, gR: Tensor | None, Q: Tensor, R: Tensor, mode: str) -> Tensor:
    _check_whole(Q, R, mode)
    rows, columns = Q.shape[-2], R.shape[-1]
    if rows < columns:
        beyond: Tensor | None = None
        if gR is not None:
            beyond = narrow(gR, -1, rows, columns - rows)
            by_product = matmul(matmul(Q, narrow(R, -1, rows, columns - rows)), adjoint(beyond))
            gQ = by_product if gQ is None else gQ + by_product
            gR = narrow(gR, -1, 0, rows)
        first = qr_backward(gQ, gR, Q, narrow(R, -1, 0, rows), mode)
        if beyond is None:
            return constant_pad_nd(first, (0, columns - rows))
        return cat((first, matmul(Q, beyond)), -1)
    S: Tensor | None = None
    if gQ is not None:
        S = matmul(adjoint(Q), gQ)
    if gR is not None:
        part = matmul(gR, adjoint(R))
        S = -part if S is None else S - part
    assert S is not None  # some gradient has arrived
    adjoint_of_skew = tril(S - adjoint(S), -1)
    if S.is_complex():
        adjoint_of_skew = adjoint_of_skew + diag_embed(imag(diagonal(S, 0, -2, -1)) * 1j)
    inner = matmul(Q, adjoint_of_skew - S)
    inner = inner if gQ is None else inner + gQ
    return linalg.solve_triangular(adjoint(R), inner, upper=False, left=False)


def qr_jvp(tangent: Tensor, Q: Tensor, R: Tensor, mode: str, which: int) -> Tensor:
    _check_whole(Q, R, mode)
    rows, columns = Q.shape[-2], R.shape[-1]
    square = min(rows, columns)
    R1, tangent1 = narrow(R, -1, 0, square), narrow(tangent, -1, 0, square)
    scaled = _over_right(tangent1, R1)
    X = matmul(adjoint(Q), scaled)
    skew = _skew_part(X)
    tangent_Q = matmul(Q, skew - X) + scaled
    if which == 0:
        return tangent_Q
    tangent_R = matmul(triu(X - skew), R1)
    if rows >= columns:
        return tangent_R
    R2, tangent2 = narrow(R, -1, rows, columns - rows), narrow(tangent, -1, rows, columns - rows)
    beyond = matmul(adjoint(tangent_Q), matmul(Q, R2)) + matmul(adjoint(Q), tangent2)
    return cat((tangent_R, beyond), -1)


# --- pseudoinverses -----------------------------------------------------------------------------


def pinv(A: Tensor, *, atol: Any, rtol: Any, hermitian: bool) -> Tensor:
    _check_pinv(A, hermitian)
    has_bound = (atol is not None, rtol is not None)
    atol, rtol = _bound(atol), _bound(rtol)
    if rtol is None and has_bound[0] and bool(np.any(np.asarray(atol) > 0)):
        rtol = 0.0
    return linalg._pinv(A, 0.0 if atol is None else atol, rtol, hermitian)


def pinv_above(A: Tensor, rcond: Any, hermitian: bool) -> Tensor:
    _check_pinv(A, hermitian)
    return linalg._pinv(A, 0.0, _bound(rcond), hermitian)


def _check_pinv(A: Tensor, hermitian: bool) -> None:
    if A.ndim < 2 or A.dtype not in (float32, float64, complex64, complex128):
        raise RuntimeError(
            f"linalg.pinv({A.dtype}{{{list(A.shape)}}}): expected a tensor with 2 or more "
            "dimensions of float, double, cfloat or cdouble types"
        )
    if hermitian and A.shape[-1] != A.shape[-2]:
        raise RuntimeError(
            "linalg.pinv: with hermitian=True A must be batches of square matrices, but they are "
            f"{A.shape[-2]} by {A.shape[-1]} matrices"
        )


def _bound(x: Any) -> Any:
    """A tolerance as the kernel takes it: a number, or an array of them."""
    if not isinstance(x, Tensor):
        return x
    if x.is_complex():
        raise RuntimeError("linalg.pinv: atol and rtol must be real, not complex tensors")
    return x.detach().to("cpu").to(float64).numpy()


def pinv_backward(grad: Tensor, A: Tensor, P: Tensor) -> Tensor:
    PH, gH = adjoint(P), adjoint(grad)
    first = matmul(matmul(PH, grad), PH)
    # Each of the two products is made of the smaller matrices first.
    left = matmul(PH, matmul(P, gH))
    right = matmul(matmul(gH, P), PH)
    return (left - matmul(matmul(left, P), A)) + (right - matmul(A, matmul(P, right))) - first


def pinv_jvp(tangent: Tensor, A: Tensor, P: Tensor) -> Tensor:
    PH, tH = adjoint(P), adjoint(tangent)
    first = matmul(matmul(P, tangent), P)
    left = matmul(matmul(tH, PH), P)
    right = matmul(P, matmul(PH, tH))
    return (left - matmul(P, matmul(A, left))) + (right - matmul(matmul(right, A), P)) - first
