"""Some eigenvalues and eigenvectors of symmetric matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_cy._C import ops_indexing as _indexing
from autograd_cy._C import ops_products as _products
from autograd_cy._C.exchange import from_numpy
from autograd_cy._C.tensor import Tensor

__all__ = ["lobpcg"]


def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Any = None,
    ortho_iparams: dict | None = None,
    ortho_fparams: dict | None = None,
    ortho_bparams: dict | None = None,
) -> tuple[Tensor, Tensor]:
    """
    Return the `k` largest (or smallest) eigenvalues and their eigenvectors: ``A x = e B x``.

    They are taken from a decomposition of the whole matrix, so they are exact to rounding, and what
    steers an iteration (`iK`, `niter`, `tol`, `method`, `ortho_...`) has no effect.

    Parameters
    ----------
    A : Tensor
        Of shape (..., m, m), symmetric; its gradient is symmetric too.
    k : int, optional
        How many; as many as `X` has columns, or 1.
    B : Tensor, optional
        Symmetric and positive definite, the identity if left out. Not differentiable.
    X : Tensor, optional
        Of shape (..., m, n): first guesses, of which only the number is used.
    largest : bool, default True

    Returns
    -------
    E : Tensor
        Eigenvalues, of shape (..., k); the outermost first.
    X : Tensor
        Eigenvectors, of shape (..., m, k), with ``X.mT @ B @ X`` the identity.

    Raises
    ------
    ValueError
        If there are fewer than ``3 * k`` rows.
    NotImplementedError
        If `B` requires grad, or a `tracker` is to follow the iteration.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.lobpcg(ag.diag(ag.tensor([1.0, 4.0, 2.0])))[0]
    tensor([4.])
    """
    _check_matrix(A, "A")
    if tracker is not None:
        raise NotImplementedError(
            "lobpcg: no iteration is made that a tracker could follow; leave it out"
        )
    if k is None:
        k = 1 if X is None else X.shape[-1]
    rows = A.shape[-1]
    if rows < 3 * k:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={rows}) is smaller "
            f"than 3 x the number of requested eigenpairs (={k})"
        )
    A = (A + A.mT) / 2
    root = None
    if B is not None:
        root = _inverse_root(B, A)
        A = _products.matmul(root, _products.matmul(A, root))
    from autograd_cy._interpreted.linalg import eigh

    values, vectors = eigh(A)
    if largest is None or largest:
        values = _indexing.narrow(values, -1, rows - k, k).flip((-1,))
        vectors = _indexing.narrow(vectors, -1, rows - k, k).flip((-1,))
    else:
        values = _indexing.narrow(values, -1, 0, k)
        vectors = _indexing.narrow(vectors, -1, 0, k)
    return values, vectors if root is None else _products.matmul(root, vectors)


def _check_matrix(a, name):
    if not isinstance(a, Tensor):
        raise TypeError(f"lobpcg(): argument '{name}' must be Tensor, not {type(a).__name__}")
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise AssertionError(f"{name} must be square, got shape {a.shape}")
    if not a.is_floating_point():
        raise RuntimeError(f"lobpcg: expected a floating dtype for {name}, but got {a.dtype}")


def _inverse_root(B, A):
    """Return the symmetric inverse square root of B, in which A is an ordinary problem."""
    _check_matrix(B, "B")
    if B.shape != A.shape:
        raise AssertionError(
            f"A and B must have the same shape, got {list(A.shape)} and {list(B.shape)}"
        )
    if B.requires_grad:
        raise NotImplementedError(
            "lobpcg: the derivative for 'B' is not implemented; detach B, or differentiate "
            "through linalg.eigh"
        )
    values, vectors = np.linalg.eigh(B.detach().double().cpu().numpy())
    if not (values > 0).all():
        raise RuntimeError("lobpcg: B must be positive definite")
    root = vectors / np.sqrt(values)[..., None, :] @ np.swapaxes(vectors, -1, -2)
    return from_numpy(np.ascontiguousarray(root)).to(A)
