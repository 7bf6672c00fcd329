"""Systems whose matrices are known by their factors."""

from __future__ import annotations

from autograd_cy._C.arguments import _check_arguments
from autograd_cy._C.tensor import Tensor

__all__ = ["cholesky_solve"]


def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    r"""
    Return the solution :math:`X` of :math:`L L^H X = B`.

    Parameters
    ----------
    input : Tensor
        The right side :math:`B`, of the shape ``(*, n, k)``.
    input2 : Tensor
        :math:`L`: triangular factors of the matrices, of the shape ``(*, n, n)``, as
        ``linalg.cholesky`` gives them.
    upper : bool, optional
        Whether the factors are upper triangular: :math:`L^H L X = B`.

    Returns
    -------
    Tensor
        Of the shape ``(*, n, k)``.

    Raises
    ------
    RuntimeError
        If shapes or dtypes don't fit.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> L = ag.tensor([[2.0, 0.0], [1.0, 1.0]])
    >>> ag.cholesky_solve(L @ L.T, L)
    tensor([[1., 0.],
            [0., 1.]])
    """
    from autograd_cy.linalg import solve_triangular

    _check_arguments(
        "cholesky_solve", (input, "Tensor", "input", 1), (input2, "Tensor", "input2", 2)
    )
    lower = input2.mH if upper else input2
    return solve_triangular(lower.mH, solve_triangular(lower, input, upper=False), upper=True)
