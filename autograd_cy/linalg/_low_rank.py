"""
Decompositions of low rank by products with random matrices.

N. Halko, P.-G. Martinsson, J. A. Tropp, "Finding structure with randomness: probabilistic
algorithms for constructing approximate matrix decompositions" (2011): algorithms 4.4 and 5.1.
"""

from __future__ import annotations

from autograd_cy._C.creation import empty
from autograd_cy._C.tensor import Tensor

__all__ = ["pca_lowrank", "svd_lowrank"]


def _basis(A: Tensor, q: int, steps: int, M: Tensor | None) -> Tensor:
    """Orthonormal columns that span nearly the range of `A`, less that of `M`."""
    from autograd_cy.linalg import qr

    def times(X: Tensor) -> Tensor:
        return A @ X if M is None else A @ X - M @ X

    def back(X: Tensor) -> Tensor:
        return A.mH @ X if M is None else A.mH @ X - M.mH @ X

    drawn = empty(A.shape[-1], q, dtype=A.dtype, device=A.device).normal_()
    Q = qr(times(drawn)).Q
    for _ in range(steps):
        Q = qr(times(qr(back(Q)).Q)).Q
    return Q


def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    r"""
    Return nearly the largest singular values of matrices, and their vectors.

    Parameters
    ----------
    A : Tensor
        Of the shape ``(*, m, n)``.
    q : int, optional
        How many values; somewhat more than the rank of `A`. At most the smaller size is used.
    niter : int, optional
        How often the basis is improved by products with the matrix and its adjoint.
    M : Tensor, optional
        What to subtract from `A` before, as the mean of its columns; broadcast to it.

    Returns
    -------
    U, S, V : Tensor
        ``A`` is nearly ``U @ diag(S) @ V.mH``.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> U, S, V = ag.svd_lowrank(ag.tensor([[3.0, 0.0], [0.0, 4.0]]), 2)
    >>> S.round(decimals=3)
    tensor([4., 3.])
    """
    from autograd_cy.linalg import svd

    q, steps = 6 if q is None else q, 2 if niter is None else niter
    m, n = A.shape[-2:]
    M = None if M is None else M.broadcast_to(A.shape)
    # The products are made along the longer side.
    wide = m < n
    if wide:
        A, M = A.mH, None if M is None else M.mH
    Q = _basis(A, min(q, m, n), steps, M)
    B = Q.mH @ A if M is None else Q.mH @ A - Q.mH @ M
    U, S, Vh = svd(B, full_matrices=False)
    U, V = Q @ U, Vh.mH
    return (V, S, U) if wide else (U, S, V)


def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    r"""
    Return nearly the principal components of rows.

    Parameters
    ----------
    A : Tensor
        Of the shape ``(*, m, n)``: m samples of n numbers.
    q : int, optional
        How many components; 6, or the smaller size, by default.
    center : bool, optional
        Whether to subtract the mean of the rows before.
    niter : int, optional
        How often the basis is improved by products with the matrix and its adjoint.

    Returns
    -------
    U, S, V : Tensor
        The columns of ``V`` are directions, and ``S**2 / (m - 1)`` the variances along them.

    Raises
    ------
    ValueError
        If `q` is more than the sizes allow, or `niter` is negative.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> U, S, V = ag.pca_lowrank(ag.tensor([[1.0, 0.0], [3.0, 0.0], [5.0, 0.0]]), 1)
    >>> V.abs()
    tensor([[1.],
            [0.]])
    """
    m, n = A.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}"
        )
    if not niter >= 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if center:
        A = A - A.mean(-2, keepdim=True)
    return svd_lowrank(A, q, niter)
