"""Products of vectors and matrices, and matrices made of vectors."""

from __future__ import annotations

from collections.abc import Sequence

from autograd_cy._C.arguments import _check_arguments
from autograd_cy._C.out_forms import stored as _stored
from autograd_cy._tensors import namespace as _ag
from autograd_cy._tensors.combining import factors
from autograd_cy._tensors.events import seen_as
from autograd_cy._tensors.namespace import Tensor
from autograd_cy._tensors.public import autocast_policy, public
from autograd_cy.linalg._norms import check_floating

__all__ = ["cross", "diagonal", "multi_dot", "vander", "vecdot"]


@public
def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """
    Vector product along a dimension of size 3.

    Parameters
    ----------
    input, other : Tensor
        With as many dimensions; they broadcast, and have 3 elements along `dim`.
    dim : int, default -1
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor
        Of the shape that the two broadcast to.

    Raises
    ------
    RuntimeError
        If the numbers of dimensions differ, or there are other than 3 elements along `dim`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.linalg.cross(ag.tensor([1.0, 0.0, 0.0]), ag.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """
    return _ag.cross(input, other, dim, out=out)


@public
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """
    Return the diagonals of matrices, as a view.

    Parameters
    ----------
    A : Tensor
        With two dimensions or more.
    offset : int, default 0
        How far above the main diagonal; negative below it.
    dim1, dim2 : int, default -2 and -1
        The dimensions of rows and columns.

    Returns
    -------
    Tensor
        The other dimensions, then that of the diagonals.

    Raises
    ------
    RuntimeError
        If `dim1` and `dim2` are one dimension.
    IndexError
        If `A` has no such dimension.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.linalg.diagonal(ag.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    return _ag.diagonal(A, offset, dim1, dim2)


@public
@autocast_policy("lower")
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """
    Return the products of vectors along a dimension; of complex ones `x` is conjugated.

    Parameters
    ----------
    x, y : Tensor
        Of a floating or complex dtype; they broadcast.
    dim : int, default -1
        The dimension that is summed over.
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor
        Without the dimension.

    Raises
    ------
    RuntimeError
        If `x` is neither floating nor complex, or the shapes don't fit.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.linalg.vecdot(ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]))
    tensor(11.)
    """
    check_floating(x, "vecdot")
    return _stored((x.conj() * y).sum(dim), out, "linalg.vecdot")


@public
@seen_as("aten::linalg_vander")
def vander(x: Tensor, N: int | None = None) -> Tensor:
    """
    Return the powers 0 to ``N - 1`` of the elements, in a new last dimension.

    Parameters
    ----------
    x : Tensor
        Of shape (..., n).
    N : int, optional
        The size of `x` along its last dimension, if left out.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.linalg.vander(ag.tensor([2, 3]), 3)
    tensor([[1, 2, 4],
            [1, 3, 9]])
    """
    if x.ndim == 0:
        raise RuntimeError("Expected dim to be 1 or larger")
    n = x.shape[-1] if N is None else N
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    ones = _ag.ones_like(x).unsqueeze(-1)
    return _ag.cat((ones, x.unsqueeze(-1).expand(*x.shape, n - 1)), -1).cumprod(-1)


@public
@autocast_policy("lower")
@seen_as("aten::linalg_multi_dot")
def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """
    Product of two or more matrices, in the order that costs least.

    Parameters
    ----------
    tensors : sequence of Tensors
        Matrices; the first and the last one may be vectors.
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.linalg.multi_dot([ag.ones(2, 3), ag.ones(3, 4), ag.ones(4)])
    tensor([12., 12.])
    """
    _check_arguments("multi_dot", (tensors, "Tensor[]", "tensors", 1))
    chain = list(tensors)
    if len(chain) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(chain)}")
    for i, t in enumerate(chain):
        within = 0 < i < len(chain) - 1
        if t.ndim != 2 and (within or t.ndim != 1):
            which = f"tensor {i}" if within else "the last tensor" if i else "the first tensor"
            raise RuntimeError(
                f"multi_dot(): {which} must be {'' if within else '1D or '}2D but got {t.ndim}D"
            )
        if t.dtype != chain[0].dtype:
            raise RuntimeError(
                f"multi_dot(): all tensors must be of the same dtype, but tensor 0 is of "
                f"{chain[0].dtype._scalar} and tensor {i} of {t.dtype._scalar}; convert one of "
                "them with .to(dtype)"
            )
    if out is not None and out.dtype != chain[0].dtype:
        raise RuntimeError(
            f"multi_dot(): expected out tensor to have dtype {chain[0].dtype._scalar} but got "
            f"{out.dtype._scalar}"
        )
    first, last = chain[0].ndim == 1, chain[-1].ndim == 1
    if first:
        chain[0] = chain[0].unsqueeze(0)
    if last:
        chain[-1] = chain[-1].unsqueeze(1)
    for i in range(len(chain) - 1):
        if chain[i].shape[1] != chain[i + 1].shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(chain[i].shape)} and "
                f"{list(chain[i + 1].shape)} cannot be multiplied"
            )
    left, right = factors(chain)
    if out is None:
        product = _ag.mm(left, right)
        shape = product.shape[int(first) : 2 - last]
        return product.view(shape) if first or last else product
    if first and last:
        return _ag.dot(left.squeeze(0), right.squeeze(1), out=out)
    if first:
        return _ag.mv(right.t(), left.squeeze(0), out=out)
    return _ag.mv(left, right.squeeze(1), out=out) if last else _ag.mm(left, right, out=out)
