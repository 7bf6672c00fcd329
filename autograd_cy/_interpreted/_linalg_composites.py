"""Linear algebra made of operators: solutions for vectors, and derivatives of decompositions.

Formulas: M. Giles (2008); I. Murray, "Differentiation of the Cholesky decomposition" (2016);
Z.-Q. Wan, S.-X. Zhang (2019) for the phases of complex singular vectors.
"""

from __future__ import annotations

from autograd_cy._C.launch import is_capturing
from autograd_cy._C.levels import _batch_level
from autograd_cy._C.tensor import Tensor
from autograd_cy._interpreted import linalg
from autograd_cy._tensors.namespace import (
    adjoint,
    can_cast,
    constant_pad_nd,
    diag_embed,
    diagonal,
    imag,
    matmul,
    narrow,
    ones_like,
    real,
    transpose,
    tril,
    unsqueeze,
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
        found = A.clone()  # the result is no other name of `A`, and depends on it
        if not n:
            found.copy_(diag_embed(ones_like(diagonal(A, 0, -2, -1))))
        if out is None:
            return found
        if not can_cast(A.dtype, out.dtype):
            raise RuntimeError(
                "linalg.matrix_power: Expected result to be safely castable from "
                f"{A.dtype._scalar} dtype, but got result with dtype {out.dtype._scalar}"
            )
        return found.to(out.dtype)
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


def solve_backward(grad: Tensor, A: Tensor, X: Tensor, needed: tuple[bool, bool]) -> tuple:
    right = linalg._linalg_solve(adjoint(A), grad)
    return -matmul(right, adjoint(X)) if needed[0] else None, right


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
