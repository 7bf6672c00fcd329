"""Functions over several tensors at once: stacking, splitting by name of the axis, broadcasting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_cy._C import ops_joining as _joining
from autograd_cy._C import ops_shape as _shape
from autograd_cy._C.arguments import _check_arguments
from autograd_cy._C.tensor import Size, Tensor, _install, _warn_once
from autograd_cy._environment.docstrings import described_like
from autograd_cy._tensors.events import seen_as
from autograd_cy._tensors.predicates import need_tensors

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_shapes",
    "broadcast_tensors",
    "column_stack",
    "dsplit",
    "dstack",
    "hsplit",
    "hstack",
    "meshgrid",
    "row_stack",
    "vsplit",
    "vstack",
]


def _need_several(tensors, op):
    """Return a sequence of at least one tensor, not a tensor itself."""
    _check_arguments(op, (tensors, "Tensor[]", "tensors", 1))
    if not tensors:
        raise RuntimeError(f"{op} expects a non-empty TensorList")
    return tensors


def _tensors(tensors, op):
    """Return tensors given one by one or as one sequence."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tensors[0]
    need_tensors(tensors, op)
    return tuple(tensors)


def _map_tensors(tensors, op, function):
    """Apply the function to one tensor, or to several as a tuple."""
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return function(tensors[0])
    return tuple(function(t) for t in _tensors(tensors, op))


def _one(t):
    return _shape.reshape(t, (1,)) if t.ndim == 0 else t


def _two(t):
    if t.ndim == 0:
        return _shape.reshape(t, (1, 1))
    return _shape.unsqueeze(t, 0) if t.ndim == 1 else t


def _three(t):
    if t.ndim == 0:
        return _shape.reshape(t, (1, 1, 1))
    if t.ndim == 1:
        return _shape.unsqueeze(_shape.unsqueeze(t, 0), -1)
    return _shape.unsqueeze(t, -1) if t.ndim == 2 else t


def atleast_1d(*tensors: Any) -> Tensor | tuple[Tensor, ...]:
    """
    Return tensors with at least one dimension.

    Parameters
    ----------
    *tensors : Tensor or sequence of Tensors

    Returns
    -------
    Tensor or tuple of Tensors
        A view of each; a single tensor isn't put into a tuple.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.atleast_1d(ag.tensor(1.0)).shape
    autograd_cy.Size([1])
    """
    return _map_tensors(tensors, "atleast_1d", _one)


def atleast_2d(*tensors: Any) -> Tensor | tuple[Tensor, ...]:
    """
    Return tensors with at least two dimensions; new ones come first.

    Parameters
    ----------
    *tensors : Tensor or sequence of Tensors

    Returns
    -------
    Tensor or tuple of Tensors
        A view of each; a single tensor isn't put into a tuple.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.atleast_2d(ag.ones(3)).shape
    autograd_cy.Size([1, 3])
    """
    return _map_tensors(tensors, "atleast_2d", _two)


def atleast_3d(*tensors: Any) -> Tensor | tuple[Tensor, ...]:
    """
    Return tensors with at least three dimensions: vectors become (1, n, 1), matrices (n, m, 1).

    Parameters
    ----------
    *tensors : Tensor or sequence of Tensors

    Returns
    -------
    Tensor or tuple of Tensors
        A view of each; a single tensor isn't put into a tuple.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.atleast_3d(ag.ones(3)).shape
    autograd_cy.Size([1, 3, 1])
    """
    return _map_tensors(tensors, "atleast_3d", _three)


@seen_as("aten::hstack")
def hstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """
    Return tensors side by side: joined along the second dimension, vectors along the first.

    Parameters
    ----------
    tensors : sequence of Tensors
        Of one shape but for the dimension in which they are joined; at least one.
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor
        With one dimension for vectors and 0-d tensors, which count as vectors of one element.

    Raises
    ------
    RuntimeError
        If there is no tensor, or the shapes don't fit.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.hstack((ag.ones(2), ag.zeros(1)))
    tensor([1., 1., 0.])
    """
    rows = [_one(t) for t in _need_several(tensors, "hstack")]
    return _joining.cat(rows, 0 if rows[0].ndim == 1 else 1, out=out)


@seen_as("aten::vstack")
def vstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """
    Return tensors below each other: joined along the first dimension, vectors as rows.

    Parameters
    ----------
    tensors : sequence of Tensors
        Of one shape but for the first dimension; a vector of n counts as (1, n), a 0-d tensor as
        (1, 1).
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor
        With two dimensions or more.

    Raises
    ------
    RuntimeError
        If there is no tensor, or the shapes don't fit.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.vstack((ag.ones(2), ag.zeros(2)))
    tensor([[1., 1.],
            [0., 0.]])
    """
    return _joining.cat([_two(t) for t in _need_several(tensors, "vstack")], 0, out=out)


row_stack = vstack


@seen_as("aten::dstack")
def dstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """
    Return tensors behind each other: joined along the third dimension.

    Parameters
    ----------
    tensors : sequence of Tensors
        Of one shape but for the third dimension, once :func:`atleast_3d` was done to each.
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor
        With three dimensions or more.

    Raises
    ------
    RuntimeError
        If there is no tensor, or the shapes don't fit.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.dstack((ag.ones(2), ag.zeros(2))).shape
    autograd_cy.Size([1, 2, 2])
    """
    return _joining.cat([_three(t) for t in _need_several(tensors, "dstack")], 2, out=out)


@seen_as("aten::column_stack")
def column_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """
    Return tensors side by side, vectors as columns.

    Parameters
    ----------
    tensors : sequence of Tensors
        Of one shape but for the second dimension; a vector of n counts as (n, 1), a 0-d tensor as
        (1, 1).
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor
        With two dimensions or more.

    Raises
    ------
    RuntimeError
        If there is no tensor, or the shapes don't fit.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.column_stack((ag.ones(2), ag.zeros(2)))
    tensor([[1., 0.],
            [1., 0.]])
    """
    columns = _need_several(tensors, "column_stack")
    wide = [_shape.reshape(t, (t.numel(), 1)) if t.ndim < 2 else t for t in columns]
    return hstack(wide, out=out)


def _split(input, where, dim, op):
    _check_arguments(op, (where, "sections", "indices_or_sections", 2))
    if isinstance(where, Tensor):
        if where.ndim:
            raise TypeError(
                f"{op}(): argument 'indices_or_sections' (position 2) must be int or tuple of "
                f"ints, not a Tensor of shape {list(where.shape)}"
            )
        where = int(where)
    if isinstance(where, int):
        size = input.shape[dim]
        if where < 0:
            raise RuntimeError(f"torch.{op}: number of sections must be larger than 0, got {where}")
        if where == 0 or size % where:
            raise RuntimeError(
                f"torch.{op} attempted to split along dimension {dim}, but the size of the "
                f"dimension {size} is not divisible by the split_size {where}!"
            )
    return _joining.tensor_split(input, where, dim)


def _need_dims(input, n, op):
    _check_arguments(op, (input, "Tensor", "input", 1))
    if input.ndim < n:
        raise RuntimeError(
            f"torch.{op} requires a tensor with at least {n} dimension{'s' if n > 1 else ''}, but "
            f"got a tensor with {input.ndim} dimensions!"
        )


@seen_as("aten::vsplit")
def vsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """
    Equal pieces, or pieces between indices, along the first dimension.

    Parameters
    ----------
    input : Tensor
        With at least two dimensions.
    indices_or_sections : int or sequence of int
        The number of pieces, of which the size is a multiple, or the indices at which pieces after
        the first begin.

    Returns
    -------
    tuple of Tensors
        Views.

    Raises
    ------
    RuntimeError
        If there are too few dimensions, or the size can't be divided so.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> [t.tolist() for t in ag.vsplit(ag.ones(2, 2), 2)]
    [[[1.0, 1.0]], [[1.0, 1.0]]]
    """
    _need_dims(input, 2, "vsplit")
    return _split(input, indices_or_sections, 0, "vsplit")


@seen_as("aten::hsplit")
@described_like(
    vsplit,
    {
        "first dimension": "second dimension (of a vector: the first)",
        "two dimensions": "one dimension",
        "ag.vsplit(ag.ones(2, 2), 2)": "ag.hsplit(ag.arange(4), 2)",
        "[[[1.0, 1.0]], [[1.0, 1.0]]]": "[[0, 1], [2, 3]]",
    },
)
def hsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    _need_dims(input, 1, "hsplit")
    return _split(input, indices_or_sections, 0 if input.ndim == 1 else 1, "hsplit")


@seen_as("aten::dsplit")
@described_like(
    vsplit,
    {
        "first dimension": "third dimension",
        "two dimensions": "three dimensions",
        "vsplit(ag.ones(2, 2), 2)": "dsplit(ag.ones(1, 2, 4), 2)",
        "t.tolist()": "t.shape",
        "[[1.0, 1.0]]": "autograd_cy.Size([1, 2, 2])",
    },
)
def dsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    _need_dims(input, 3, "dsplit")
    return _split(input, indices_or_sections, 2, "dsplit")


@seen_as("aten::broadcast_tensors")
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """
    Return tensors expanded to the shape that they broadcast to.

    Parameters
    ----------
    *tensors : Tensor or sequence of Tensors

    Returns
    -------
    tuple of Tensors
        Views.

    Raises
    ------
    RuntimeError
        If the shapes don't fit.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x, y = ag.broadcast_tensors(ag.ones(3, 1), ag.ones(2))
    >>> x.shape == y.shape == (3, 2)
    True
    """
    operands = _tensors(tensors, "broadcast_tensors")
    shapes = [tuple(t.shape) for t in operands]
    shape: list[int] = []
    for sizes in shapes:
        fitting, at = _broadcast(shape, sizes)
        if at:
            raise RuntimeError(
                f"broadcast_tensors: The size of tensor a ({shape[at]}) must match the size "
                f"of tensor b ({sizes[at]}) at non-singleton dimension {len(fitting) + at} "
                f"(shapes {', '.join(str(list(x)) for x in shapes)})"
            )
        shape = fitting
    return tuple(t.expand(shape) for t in operands)


def broadcast_shapes(*shapes: Any) -> Size:
    """
    Return the shape that shapes broadcast to.

    Parameters
    ----------
    *shapes : int or sequence of int
        An int is a shape of one dimension.

    Returns
    -------
    Size

    Raises
    ------
    RuntimeError
        If the shapes don't fit.
    ValueError
        If a size is negative.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.broadcast_shapes((3, 1), 2)
    autograd_cy.Size([3, 2])
    """
    shape: list[int] = []
    for number, sizes_or_int in enumerate(shapes):
        sizes = (sizes_or_int,) if isinstance(sizes_or_int, int) else tuple(Size(sizes_or_int))
        if any(size < 0 for size in sizes):
            raise ValueError(
                f"Attempting to broadcast a dimension with negative length! ({list(sizes)})"
            )
        fitting, at = _broadcast(shape, sizes)
        if at:
            raise RuntimeError(
                f"Attempting to broadcast a dimension of length {sizes[at]} at {at}! Mismatching "
                f"argument at index {number} had {sizes}; but expected shape should be "
                f"broadcastable to {shape}"
            )
        shape = fitting
    return Size(shape)


def _broadcast(shape: Sequence[int], sizes: Sequence[int]) -> tuple[list[int], int]:
    """Return the shape to which two shapes broadcast, and the dimension, from the end, where they
    don't fit or 0."""
    out = [1] * (len(sizes) - len(shape)) + list(shape)
    for d in range(-len(sizes), 0):
        if sizes[d] != 1:
            if out[d] not in (1, sizes[d]):
                return out, d
            out[d] = sizes[d]
    return out, 0


_NO_INDEXING = (
    "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument."
)


@seen_as("aten::meshgrid")
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """
    Return the coordinates of a grid, one tensor per vector of coordinates.

    Parameters
    ----------
    *tensors : Tensor
        Vectors, or 0-d tensors that count as vectors of one element.
    indexing : {"ij", "xy"}, optional
        Whether the first vector runs along the first dimension ("ij", the default) or the second.

    Returns
    -------
    tuple of Tensors
        Views of shape (n1, n2, ...), or (n2, n1, ...) with "xy".

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x, y = ag.meshgrid(ag.arange(2), ag.arange(3), indexing="ij")
    >>> x.tolist()
    [[0, 0, 0], [1, 1, 1]]
    """
    vectors = list(_tensors(tensors, "meshgrid"))
    if not vectors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(
            f"torch.meshgrid: indexing must be one of 'xy' or 'ij', but received: {indexing}"
        )
    if indexing is None:
        _warn_once(_NO_INDEXING)
    for t in vectors:
        if t.ndim > 1:
            raise RuntimeError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: shape "
                f"{list(t.shape)}"
            )
        if t.dtype != vectors[0].dtype:
            raise RuntimeError("torch.meshgrid expects all tensors to have the same dtype")
        if t.device != vectors[0].device:
            raise RuntimeError("torch.meshgrid expects all tensors to have the same device")
    swap = indexing == "xy" and len(vectors) > 1
    if swap:
        vectors[:2] = vectors[1], vectors[0]
    shape = [t.numel() for t in vectors]
    grids = []
    for i, t in enumerate(vectors):
        line = [1] * len(vectors)
        line[i] = shape[i]
        grids.append(_shape.reshape(t, line).expand(shape))
    if swap:
        grids[:2] = grids[1], grids[0]
    return tuple(grids)


for _name, _function in {"hsplit": hsplit, "vsplit": vsplit, "dsplit": dsplit}.items():
    _install(_name, _function)
