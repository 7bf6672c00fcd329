"""Elements that occur, each once."""

from __future__ import annotations

from autograd_cy._C.tensor import Tensor, _install
from autograd_cy._tensors.public import names_errors

__all__ = ["unique", "unique_consecutive"]


def _wanted(results, return_inverse, return_counts):
    values, inverse, counts = results
    if not return_inverse and not return_counts:
        return values
    return (values, *[inverse] * bool(return_inverse), *[counts] * bool(return_counts))


def _need_dims(input: Tensor, dim: int | None) -> None:
    if dim is not None and isinstance(input, Tensor) and not input.ndim:
        raise IndexError(f"unique: Dimension specified as {dim} but tensor has no dimensions")


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
):
    """
    Return the elements (or the slices along a dimension) that occur, each once.

    Parameters
    ----------
    input : Tensor
    sorted : bool, default True
        They are sorted in either case. NaNs differ from each other and come last.
    return_inverse : bool, default False
        Also the place of each element among the unique ones.
    return_counts : bool, default False
        Also how often each occurs.
    dim : int, optional
        Compare slices along this dimension; None compares elements.

    Returns
    -------
    Tensor or tuple of Tensors
        Backward through the unique elements raises NotImplementedError.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.unique(ag.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    _need_dims(input, dim)
    results = _unique(input, sorted, return_inverse, return_counts, dim)
    return _wanted(results, return_inverse, return_counts)


@names_errors("unique")
def _unique(
    input: Tensor, sorted: bool, return_inverse: bool, return_counts: bool, dim: int | None
) -> tuple[Tensor, ...]:
    from autograd_cy._C import ops_sorting as _sorting  # a family that is loaded later

    if dim is None:
        return _sorting._unique2(input, sorted, return_inverse, return_counts)
    return _sorting._unique_dim(input, dim, sorted, return_inverse, return_counts)


def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
):
    """
    Return the elements (or the slices along a dimension) without those equal to the one before.

    Parameters
    ----------
    input : Tensor
    return_inverse : bool, default False
        Also the group of each element.
    return_counts : bool, default False
        Also the size of each group.
    dim : int, optional
        Compare slices along this dimension; None compares elements.

    Returns
    -------
    Tensor or tuple of Tensors
        Backward through the elements raises NotImplementedError.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.unique_consecutive(ag.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    from autograd_cy._C.ops_sorting import _unique_consecutive

    _need_dims(input, dim)
    results = _unique_consecutive(input, return_inverse, return_counts, dim)
    return _wanted(results, return_inverse, return_counts)


_install("unique", unique)
_install("unique_consecutive", unique_consecutive)
