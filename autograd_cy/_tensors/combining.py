"""Tensors made of all pairs, of blocks and of chains; the places in triangles."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_cy._C import creation as _creation
from autograd_cy._C import ops_joining as _joining
from autograd_cy._C import ops_products as _products
from autograd_cy._C import ops_shape as _shape
from autograd_cy._C.arguments import _check_arguments
from autograd_cy._C.dtypes import dtype as _dtype
from autograd_cy._C.dtypes import int32, int64
from autograd_cy._C.indexing import _put_triangle_places
from autograd_cy._C.out_forms import stored as _stored
from autograd_cy._C.tensor import Tensor
from autograd_cy._tensors.conversion import result_type
from autograd_cy._tensors.joining import meshgrid
from autograd_cy._tensors.predicates import need_tensors
from autograd_cy._tensors.public import autocast_policy, public

__all__ = [
    "block_diag",
    "cartesian_prod",
    "chain_matmul",
    "combinations",
    "tril_indices",
    "triu_indices",
]


_PART = 1 << 20


def _need_vector(t: Tensor, op: str) -> None:
    if t.ndim != 1:
        raise RuntimeError(f"{op}: Expect a 1D vector, but got shape {list(t.shape)}")


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """
    Return all ways to take one element of each vector, in order.

    Parameters
    ----------
    *tensors : Tensor
        Vectors of one dtype.

    Returns
    -------
    Tensor
        A row for each way; for one vector the vector itself.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cartesian_prod(ag.tensor([1, 2]), ag.tensor([3, 4])).tolist()
    [[1, 3], [1, 4], [2, 3], [2, 4]]
    """
    need_tensors(tensors, "cartesian_prod")
    if not tensors:
        raise RuntimeError("cartesian_prod expects a non-empty TensorList")
    for t in tensors:
        _need_vector(t, "cartesian_prod")
        if t.dtype != tensors[0].dtype:
            raise RuntimeError("cartesian_prod expects all tensors to have the same dtype")
    if len(tensors) == 1:
        return tensors[0]
    grids = meshgrid(*tensors, indexing="ij")
    return _joining.stack([_shape.reshape(grid, (-1,)) for grid in grids], 1)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """
    Return all ways to take `r` elements of a vector, each way in the order of the vector.

    Parameters
    ----------
    input : Tensor
        A vector.
    r : int, default 2
    with_replacement : bool, default False
        An element may be taken again.

    Returns
    -------
    Tensor
        A row of `r` elements for each way; without elements, if `r` is 0.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.combinations(ag.tensor([1, 2, 3])).tolist()
    [[1, 2], [1, 3], [2, 3]]
    """
    _check_arguments(
        "combinations",
        (input, "Tensor", "input", 1),
        (r, "int", "r", 2),
        (with_replacement, "bool", "with_replacement", 3),
    )
    _need_vector(input, "combinations")
    if r < 0:
        raise RuntimeError(f"combinations: Expect a non-negative number, but got {r}")
    if r == 0:
        return input.new_empty((0,))
    n = len(input)
    ways = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = math.comb(n + r - 1, r) if with_replacement and n else math.comb(n, r)
    if rows * max(r, 1) >= 1 << 59:
        raise RuntimeError(
            f"combinations: the ways to take {r} of {n} elements are more than memory can hold"
        )
    if rows == 0:  # itertools would reserve memory for one row, however long
        return input[:0].unsqueeze(1).expand(0, r)
    if r == 2:
        by_column = np.stack(np.triu_indices(n, 0 if with_replacement else 1))
    else:
        flat = itertools.chain.from_iterable(ways(range(n), r))
        places = np.empty(rows * r, np.int64)
        for at in range(0, len(places), _PART):  # by parts, between which it can be interrupted
            part = places[at : at + _PART]
            part[:] = np.fromiter(itertools.islice(flat, len(part)), np.int64, len(part))
        by_column = places.reshape(rows, r).T
    columns = [_creation.tensor(column, device=input.device) for column in by_column]
    return _joining.stack([input.index_select(0, column) for column in columns], 1)


def block_diag(*tensors: Tensor) -> Tensor:
    """
    Return a matrix with the given ones along its diagonal, and zeros elsewhere.

    Parameters
    ----------
    *tensors : Tensor
        Matrices; a vector is a row, and a 0-d tensor a matrix of one element.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.block_diag(ag.ones(1, 2), ag.tensor(3.0)).tolist()
    [[1.0, 1.0, 0.0], [0.0, 0.0, 3.0]]
    """
    need_tensors(tensors, "block_diag")
    if not tensors:
        return _creation.empty((1, 0))
    kind, mixed, blocks = tensors[0].dtype, False, []
    for i, t in enumerate(tensors):
        dims = t.ndim
        if dims > 2:
            raise RuntimeError(
                "block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{i} has {dims} dimensions"
            )
        mixed |= t.dtype != kind
        blocks.append(t if dims == 2 else _shape.reshape(t, (1,) * (2 - dims) + tuple(t.shape)))
    if mixed:
        # As in arithmetic, numbers without dimensions count by their category, whatever the order.
        groups = [t for t in tensors if t.ndim], [t for t in tensors if not t.ndim]
        kinds = [functools.reduce(_promoted, group) for group in groups if group]
        kind = functools.reduce(_promoted, kinds).dtype
        blocks = [b.to(kind) for b in blocks]
    sizes = [b.shape for b in blocks]
    zeros = blocks[0].new_zeros((sum(n for n, _ in sizes), sum(m for _, m in sizes)))
    return _joining._place_blocks(zeros, blocks)


def _promoted(one: Tensor, other: Tensor) -> Tensor:
    """Return a tensor of no elements whose dtype and dimensions count as those of both."""
    size = (0,) if one.ndim else ()  # both have dimensions, or neither
    return _creation.empty(size, dtype=result_type(one, other), device="meta")


@public(module="autograd_cy")
@autocast_policy("lower")
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """
    Return the product of several matrices, in the order that takes the fewest multiplications.

    Parameters
    ----------
    *matrices : Tensor
        Each with as many rows as the one before has columns.
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor
        For one matrix, that matrix.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.chain_matmul(ag.ones(1, 2), ag.ones(2, 3), ag.ones(3, 1)).tolist()
    [[6.0]]
    """
    need_tensors(matrices, "chain_matmul")
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for i, m in enumerate(matrices):
        if m.ndim != 2:
            raise RuntimeError(
                f"chain_matmul(): Tensor dimension is {m.ndim}, expected 2 instead (matrix {i})"
            )
        if i and m.shape[0] != matrices[i - 1].shape[1]:
            raise RuntimeError(
                f"chain_matmul(): matrix {i} has {m.shape[0]} rows, and the one before "
                f"{matrices[i - 1].shape[1]} columns; these numbers must be equal"
            )
    if len(matrices) == 1:
        return _stored(matrices[0], out, "chain_matmul")
    return _products.mm(*factors(matrices), out=out)


def factors(matrices: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Return the last two factors of a product in the order of fewest multiplications."""
    sizes = [*(m.shape[0] for m in matrices), matrices[-1].shape[1]]

    @functools.cache
    def best(i: int, j: int) -> tuple[int, int]:
        """Return the fewest multiplications of matrices i to j, and where the last one cuts."""
        if i == j:
            return 0, i
        return min(
            (best(i, k)[0] + best(k + 1, j)[0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
            for k in range(i, j)
        )

    def product(i: int, j: int) -> Tensor:
        if i == j:
            return matrices[i]
        k = best(i, j)[1]
        return _products.mm(product(i, k), product(k + 1, j))

    for length in range(1, len(matrices)):  # the short ones first: no deep recursion
        for i in range(len(matrices) - length):
            best(i, i + length)
    k = best(0, len(matrices) - 1)[1]
    return product(0, k), product(k + 1, len(matrices) - 1)


def _below(row: int, col: int, offset: int) -> int:
    """Count the elements of a matrix that lie on the diagonal `offset` or below it."""
    first = max(0, -offset)  # the first row that has any
    whole = max(first, min(row, col - offset))  # the first one that has nothing else
    rising = (whole - first) * (first + whole + 2 * offset + 1) // 2
    return rising + max(0, row - whole) * col if col else 0


def _triangle(
    op: str,
    lower: bool,
    row: int,
    col: int,
    offset: int,
    dtype: Any,
    requires_grad: bool,
    place: dict[str, Any],
) -> Tensor:
    _check_arguments(
        op, (row, "int", "row", 1), (col, "int", "col", 2), (offset, "int", "offset", 3)
    )
    if requires_grad:
        raise RuntimeError(
            f"{op}: Only Tensors of floating point and complex dtype can require gradients; "
            "places are integers"
        )
    for name, value in (("row", row), ("col", col)):
        if value < 0:
            raise RuntimeError(f"{op}: {name} must be non-negative, got {value}")
    if dtype is None:
        dtype = int64
    if isinstance(dtype, _dtype) and dtype not in (int32, int64):
        raise NotImplementedError(
            f"{op}: not implemented for {dtype}; places are of torch.int64 or torch.int32"
        )
    # On whatever device, the CPU fills them and they are copied once: nobody waits for that, but
    # would for the number of places, if another device had to find it.
    offset = max(-row, min(offset, col))
    count = _below(row, col, offset if lower else offset - 1)
    count = count if lower else row * col - count
    if count >= 1 << 59:
        raise RuntimeError(
            f"{op}: {count} places in a matrix of {row} x {col} are more than memory can hold; "
            "make the matrix smaller or move the offset"
        )
    result = _creation.empty((2, count), dtype=dtype, **place)
    if not count or result.is_meta:
        return result
    places = result if result.is_cpu else _creation.empty((2, count), dtype=dtype, device="cpu")
    _put_triangle_places(places, row, col, offset, lower)
    return result if result is places else result.copy_(places)


def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: Any = None,
    device: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """
    Return the places of the lower triangle of a matrix, row by row.

    Parameters
    ----------
    row, col : int
        The shape of the matrix.
    offset : int, default 0
        How many diagonals above the main one belong to the triangle; less than 0: below.
    dtype : dtype, default int64
        Or int32.
    device, layout, pin_memory, requires_grad
        As for `empty`.

    Returns
    -------
    Tensor
        Rows in the first row, columns in the second.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.tril_indices(2, 2).tolist()
    [[0, 1, 1], [0, 0, 1]]
    """
    place = {"device": device, "layout": layout, "pin_memory": pin_memory}
    return _triangle("tril_indices", True, row, col, offset, dtype, requires_grad, place)


def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: Any = None,
    device: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """
    Return the places of the upper triangle of a matrix, row by row.

    Parameters
    ----------
    row, col : int
        The shape of the matrix.
    offset : int, default 0
        How many diagonals above the main one are left out; less than 0: more belong to it.
    dtype : dtype, default int64
        Or int32.
    device, layout, pin_memory, requires_grad
        As for `empty`.

    Returns
    -------
    Tensor
        Rows in the first row, columns in the second.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.triu_indices(2, 2).tolist()
    [[0, 0, 1], [0, 1, 1]]
    """
    place = {"device": device, "layout": layout, "pin_memory": pin_memory}
    return _triangle("triu_indices", False, row, col, offset, dtype, requires_grad, place)
