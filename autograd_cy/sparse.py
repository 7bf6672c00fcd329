"""
The module ``torch.sparse``, of which there is a product: tensors are dense.

Each other name of it says what to use instead.

Examples
--------
>>> import autograd_cy as ag
>>> hasattr(ag.sparse, "softmax")
False
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograd_cy._C.tensor import Tensor
from autograd_cy._lazy import attach as _attach
from autograd_cy._tensors import namespace as _ag
from autograd_cy._tensors.public import public

__all__ = ["mm"]


@public
def mm(sparse: Tensor, dense: Tensor) -> Tensor:
    """
    Return the product of two matrices, as :func:`autograd_cy.mm` does.

    Parameters
    ----------
    sparse, dense : Tensor
        Matrices of one dtype, of shapes (n, m) and (m, k).

    Returns
    -------
    Tensor
        Of shape (n, k).

    Raises
    ------
    RuntimeError
        If the shapes don't fit.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.sparse.mm(ag.eye(2), ag.tensor([[3.0], [4.0]]))
    tensor([[3.],
            [4.]])
    """
    return _ag.mm(sparse, dense)


if not TYPE_CHECKING:  # type checkers name what isn't there themselves
    __getattr__, __dir__ = _attach(__name__)
