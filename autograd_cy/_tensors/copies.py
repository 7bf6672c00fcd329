"""Copies of views: what :func:`permute` and its like show, in memory of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_cy._C.arguments import _check_arguments
from autograd_cy._C.dtypes import dtype as _dtype
from autograd_cy._C.ops_complex import view_as_complex as _view_as_complex
from autograd_cy._C.ops_complex import view_as_real as _view_as_real
from autograd_cy._C.out_forms import stored as _stored
from autograd_cy._C.placement import contiguous_format
from autograd_cy._C.tensor import Tensor
from autograd_cy._tensors.predicates import need_dim
from autograd_cy._tensors.public import public

__all__ = [
    "alias_copy",
    "as_strided_copy",
    "detach_copy",
    "diagonal_copy",
    "expand_copy",
    "permute_copy",
    "select_copy",
    "slice_copy",
    "split_copy",
    "split_with_sizes_copy",
    "squeeze_copy",
    "t_copy",
    "transpose_copy",
    "unbind_copy",
    "unfold_copy",
    "unsqueeze_copy",
    "view_as_complex_copy",
    "view_as_real_copy",
    "view_copy",
]


def _copied(view: Tensor, out: Tensor | None, name: str) -> Tensor:
    if out is None:
        return view.clone(memory_format=contiguous_format)
    return _stored(view, out, name)


def _all_copied(
    views: Sequence[Tensor], out: Sequence[Tensor] | None, name: str
) -> tuple[Tensor, ...] | None:
    if out is None:
        return tuple(_copied(view, None, name) for view in views)
    if len(out) != len(views):
        raise RuntimeError(
            f"{name}_out() expected to have a result list of size {len(views)}, but got {len(out)}"
        )
    for view, place in zip(views, out, strict=True):
        _copied(view, place, name)
    return None


@public
def alias_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """
    Return a copy of a tensor itself; differentiable.

    Parameters
    ----------
    input : Tensor
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.alias_copy(ag.tensor([1, 2]))
    tensor([1, 2])
    """
    _check_arguments("alias_copy", (input, "Tensor", "input", 1))
    return _copied(input, out, "alias_copy")


@public
def as_strided_copy(
    input: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """
    Return a copy of what :func:`as_strided` gives; differentiable.

    Parameters
    ----------
    input : Tensor
    size, stride : sequence of int
    storage_offset : int, optional
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.as_strided_copy(ag.arange(4), (2, 2), (1, 2))
    tensor([[0, 2],
            [1, 3]])
    """
    _check_arguments("as_strided_copy", (input, "Tensor", "input", 1))
    return _copied(input.as_strided(size, stride, storage_offset), out, "as_strided_copy")


@public
def detach_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """
    Return a copy of what :meth:`Tensor.detach` gives, without history.

    Parameters
    ----------
    input : Tensor
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.detach_copy(ag.ones(2, requires_grad=True))
    tensor([1., 1.])
    """
    _check_arguments("detach_copy", (input, "Tensor", "input", 1))
    return _copied(input.detach(), out, "detach_copy")


@public
def diagonal_copy(
    input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1, *, out: Tensor | None = None
) -> Tensor:
    """
    Return a copy of what :func:`diagonal` gives; differentiable.

    Parameters
    ----------
    input : Tensor
    offset : int, default 0
    dim1, dim2 : int
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.diagonal_copy(ag.eye(2))
    tensor([1., 1.])
    """
    _check_arguments("diagonal_copy", (input, "Tensor", "input", 1))
    return _copied(input.diagonal(offset, dim1, dim2), out, "diagonal_copy")


@public
def expand_copy(
    input: Tensor, size: Sequence[int], *, implicit: bool = False, out: Tensor | None = None
) -> Tensor:
    """
    Return a copy of what :meth:`Tensor.expand` gives; differentiable.

    Parameters
    ----------
    input : Tensor
    size : sequence of int
    implicit : bool
        Not used, as in torch.
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.expand_copy(ag.tensor([1, 2]), (2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
    _check_arguments("expand_copy", (input, "Tensor", "input", 1))
    return _copied(input.expand(size), out, "expand_copy")


@public
def permute_copy(input: Tensor, dims: Sequence[int], *, out: Tensor | None = None) -> Tensor:
    """
    Return a copy of what :func:`permute` gives; differentiable.

    Parameters
    ----------
    input : Tensor
    dims : sequence of int
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.permute_copy(ag.tensor([[1, 2]]), (1, 0))
    tensor([[1],
            [2]])
    """
    _check_arguments("permute_copy", (input, "Tensor", "input", 1))
    return _copied(input.permute(dims), out, "permute_copy")


@public
def select_copy(input: Tensor, dim: int, index: int, *, out: Tensor | None = None) -> Tensor:
    """
    Return a copy of what :func:`select` gives; differentiable.

    Parameters
    ----------
    input : Tensor
    dim, index : int
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.select_copy(ag.eye(2), 0, 1)
    tensor([0., 1.])
    """
    _check_arguments("select_copy", (input, "Tensor", "input", 1))
    return _copied(input.select(dim, index), out, "select_copy")


@public
def slice_copy(
    input: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """
    Return a copy of a slice; differentiable.

    Parameters
    ----------
    input : Tensor
    dim : int, default 0
    start, end : int, optional
    step : int, default 1
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.slice_copy(ag.arange(6), 0, 1, 5, 2)
    tensor([1, 3])
    """
    _check_arguments("slice_copy", (input, "Tensor", "input", 1))
    return _copied(_sliced(input, dim, start, end, step), out, "slice_copy")


@public
def split_copy(
    input: Tensor,
    split_size: int | Sequence[int],
    dim: int = 0,
    *,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, ...] | None:
    """
    Return copies of the parts that :func:`split` gives; differentiable.

    Parameters
    ----------
    input : Tensor
    split_size : int or sequence of int
    dim : int, default 0
    out : sequence of Tensor, optional
        Where the results go; None is returned then.

    Returns
    -------
    tuple of Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.split_copy(ag.arange(3), 2)
    (tensor([0, 1]), tensor([2]))
    """
    _check_arguments("split_copy", (input, "Tensor", "input", 1))
    return _all_copied(input.split(split_size, dim), out, "split_copy")


@public
def split_with_sizes_copy(
    input: Tensor, split_sizes: Sequence[int], dim: int = 0, *, out: Sequence[Tensor] | None = None
) -> tuple[Tensor, ...] | None:
    """
    Return copies of the parts that :func:`split_with_sizes` gives; differentiable.

    Parameters
    ----------
    input : Tensor
    split_sizes : sequence of int
    dim : int, default 0
    out : sequence of Tensor, optional
        Where the results go; None is returned then.

    Returns
    -------
    tuple of Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.split_with_sizes_copy(ag.arange(3), [1, 2])
    (tensor([0]), tensor([1, 2]))
    """
    _check_arguments("split_with_sizes_copy", (input, "Tensor", "input", 1))
    return _all_copied(input.split_with_sizes(split_sizes, dim), out, "split_with_sizes_copy")


@public
def squeeze_copy(
    input: Tensor, dim: int | Sequence[int] | None = None, *, out: Tensor | None = None
) -> Tensor:
    """
    Return a copy of what :func:`squeeze` gives; differentiable.

    Parameters
    ----------
    input : Tensor
    dim : int or sequence of int, optional
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.squeeze_copy(ag.ones(1, 2))
    tensor([1., 1.])
    """
    _check_arguments("squeeze_copy", (input, "Tensor", "input", 1))
    return _copied(input.squeeze() if dim is None else input.squeeze(dim), out, "squeeze_copy")


@public
def t_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """
    Return a copy of what :func:`t` gives; differentiable.

    Parameters
    ----------
    input : Tensor
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.t_copy(ag.tensor([[1, 2]]))
    tensor([[1],
            [2]])
    """
    _check_arguments("t_copy", (input, "Tensor", "input", 1))
    return _copied(input.t(), out, "t_copy")


@public
def transpose_copy(input: Tensor, dim0: int, dim1: int, *, out: Tensor | None = None) -> Tensor:
    """
    Return a copy of what :func:`transpose` gives; differentiable.

    Parameters
    ----------
    input : Tensor
    dim0, dim1 : int
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.transpose_copy(ag.tensor([[1, 2]]), 0, 1)
    tensor([[1],
            [2]])
    """
    _check_arguments("transpose_copy", (input, "Tensor", "input", 1))
    return _copied(input.transpose(dim0, dim1), out, "transpose_copy")


@public
def unbind_copy(
    input: Tensor, dim: int = 0, *, out: Sequence[Tensor] | None = None
) -> tuple[Tensor, ...] | None:
    """
    Return copies of the parts that :func:`unbind` gives; differentiable.

    Parameters
    ----------
    input : Tensor
    dim : int, default 0
    out : sequence of Tensor, optional
        Where the results go; None is returned then.

    Returns
    -------
    tuple of Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.unbind_copy(ag.eye(2))
    (tensor([1., 0.]), tensor([0., 1.]))
    """
    _check_arguments("unbind_copy", (input, "Tensor", "input", 1))
    return _all_copied(input.unbind(dim), out, "unbind_copy")


@public
def unfold_copy(
    input: Tensor, dimension: int, size: int, step: int, *, out: Tensor | None = None
) -> Tensor:
    """
    Return a copy of what :meth:`Tensor.unfold` gives; differentiable.

    Parameters
    ----------
    input : Tensor
    dimension, size, step : int
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.unfold_copy(ag.arange(3), 0, 2, 1)
    tensor([[0, 1],
            [1, 2]])
    """
    _check_arguments("unfold_copy", (input, "Tensor", "input", 1))
    return _copied(input.unfold(dimension, size, step), out, "unfold_copy")


@public
def unsqueeze_copy(input: Tensor, dim: int, *, out: Tensor | None = None) -> Tensor:
    """
    Return a copy of what :func:`unsqueeze` gives; differentiable.

    Parameters
    ----------
    input : Tensor
    dim : int
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.unsqueeze_copy(ag.tensor([1, 2]), 0)
    tensor([[1, 2]])
    """
    _check_arguments("unsqueeze_copy", (input, "Tensor", "input", 1))
    return _copied(input.unsqueeze(dim), out, "unsqueeze_copy")


@public
def view_as_complex_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """
    Return a copy of what :func:`view_as_complex` gives; differentiable.

    Parameters
    ----------
    input : Tensor
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.view_as_complex_copy(ag.ones(1, 2))
    tensor([1.+1.j])
    """
    _check_arguments("view_as_complex_copy", (input, "Tensor", "input", 1))
    return _copied(_view_as_complex(input), out, "view_as_complex_copy")


@public
def view_as_real_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """
    Return a copy of what :func:`view_as_real` gives; differentiable.

    Parameters
    ----------
    input : Tensor
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.view_as_real_copy(ag.tensor([1 + 2j]))
    tensor([[1., 2.]])
    """
    _check_arguments("view_as_real_copy", (input, "Tensor", "input", 1))
    return _copied(_view_as_real(input), out, "view_as_real_copy")


@public
def view_copy(
    input: Tensor, size: Any = None, *, dtype: Any = None, out: Tensor | None = None
) -> Tensor:
    """
    Return a copy of what :meth:`Tensor.view` gives; differentiable.

    Parameters
    ----------
    input : Tensor
    size : sequence of int, or dtype
    dtype : dtype
        In the place of `size`: what the same bytes are taken for.
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.view_copy(ag.arange(4), (2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    _check_arguments("view_copy", (input, "Tensor", "input", 1))
    if (size is None) == (dtype is None):
        raise TypeError("view_copy() takes one of 'size' and 'dtype'")
    if dtype is not None:
        if not isinstance(dtype, _dtype):
            raise TypeError(
                "view_copy(): argument 'dtype' (position 2) must be torch.dtype, not "
                f"{type(dtype).__name__}"
            )
        size = dtype
    # Where no view is possible, torch copies, too.
    view = input.view(size) if isinstance(size, _dtype) else input.reshape(size)
    return _copied(view, out, "view_copy")


def _sliced(input: Tensor, dim: int, start: int | None, end: int | None, step: int) -> Tensor:
    _check_arguments("slice_copy", (dim, "int", "dim", 2), (step, "int", "step", 5))
    return input[(slice(None),) * need_dim(dim, input.ndim) + (slice(start, end, step),)]
