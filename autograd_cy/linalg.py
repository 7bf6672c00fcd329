"""
Linear algebra by the names it has in ``torch.linalg``, as far as there is it.

Examples
--------
>>> import autograd_cy as ag
>>> ag.linalg.vector_norm(ag.tensor([3.0, 4.0]))
tensor(5.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn, cast

from autograd_cy._C.arguments import _check_arguments
from autograd_cy._C.out_forms import stored as _stored
from autograd_cy._environment.absent_names import no_attribute
from autograd_cy._interpreted import LinAlgError
from autograd_cy._interpreted import complete as _complete
from autograd_cy._interpreted.linalg import (
    cholesky,
    eigh,
    eigvalsh,
    inv,
    matrix_power,
    solve,
    svd,
    svdvals,
)
from autograd_cy._tensors import namespace as _ag
from autograd_cy._tensors.combining import factors
from autograd_cy._tensors.events import seen_as
from autograd_cy._tensors.namespace import Tensor, matmul
from autograd_cy._tensors.overriding import overridable

__all__ = [
    "LinAlgError",
    "cholesky",
    "cross",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "multi_dot",
    "norm",
    "solve",
    "svd",
    "svdvals",
    "vander",
    "vecdot",
    "vector_norm",
]


@overridable
def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """
    Vector product along a dimension of size 3.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.linalg.cross(ag.tensor([1.0, 0.0, 0.0]), ag.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """
    return _ag.cross(input, other, dim, out=out)


@overridable
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """
    Diagonals of matrices, as a view.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.linalg.diagonal(ag.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    return _ag.diagonal(A, offset, dim1, dim2)


@overridable
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """
    Products of vectors along a dimension; of complex ones `x` is conjugated.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.linalg.vecdot(ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]))
    tensor(11.)
    """
    _check_floating(x, "vecdot")
    return _stored((x.conj() * y).sum(dim), out, "linalg.vecdot")


@seen_as("aten::linalg_vander")
def vander(x: Tensor, N: int | None = None) -> Tensor:
    """
    Powers 0 to ``N - 1`` of the elements, in a new last dimension.

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


@overridable
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
                f"{chain[0].dtype} and tensor {i} of {t.dtype}; convert one of them with .to(dtype)"
            )
    if out is not None and out.dtype != chain[0].dtype:
        raise RuntimeError(
            f"multi_dot(): expected out tensor to have dtype {chain[0].dtype} but got {out.dtype}"
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
        made = _ag.mm(left, right)
        shape = made.shape[int(first) : 2 - last]
        return made.view(shape) if first or last else made
    if first and last:
        return _ag.dot(left.squeeze(0), right.squeeze(1), out=out)
    if first:
        return _ag.mv(right.t(), left.squeeze(0), out=out)
    return _ag.mv(left, right.squeeze(1), out=out) if last else _ag.mm(left, right, out=out)


@overridable
@seen_as("aten::linalg_vector_norm")
def vector_norm(
    x: Tensor,
    ord: float = 2,
    dim: int | tuple[int, ...] | None = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Tensor | None = None,
) -> Tensor:
    """
    The `ord`-norm of all elements, or along dimensions.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.linalg.vector_norm(ag.tensor([[3.0, -4.0]]), 1, dim=1)
    tensor([7.])
    """
    _check_floating(x, "vector_norm")
    return _stored(_ag.norm(x, ord, dim, keepdim, dtype=dtype), out, "linalg.vector_norm")


@overridable
@seen_as("aten::linalg_matrix_norm")
def matrix_norm(
    A: Tensor,
    ord: float | str = "fro",
    dim: tuple[int, int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Tensor | None = None,
) -> Tensor:
    """
    Norm of matrices.

    Parameters
    ----------
    A : Tensor
    ord : {'fro', 'nuc', 1, -1, inf, -inf, 2, -2}, optional
        Of the elements; the sum of the singular values; the largest or smallest sum of a column
        (1, -1) or row (inf, -inf) of absolute values; the largest or smallest singular value.
    dim : pair of int, optional
        The dimensions of the matrices.
    keepdim : bool
        Whether these dimensions stay, with size 1.
    dtype : dtype, optional
        What `A` is converted to before.
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.linalg.matrix_norm(ag.tensor([[1.0, -2.0], [3.0, 4.0]]), 1)
    tensor(6.)
    """
    return _stored(_matrix_norm(A, ord, dim, keepdim, dtype), out, "linalg.matrix_norm")


def _matrix_norm(
    A: Tensor, ord: float | str, dim: tuple[int, int], keepdim: bool, dtype: Any
) -> Tensor:
    _check_floating(A, "matrix_norm")
    if A.ndim < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions")
    if not isinstance(dim, (tuple, list)) or len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {dim}")
    for d in dim:
        if not -A.ndim <= d < A.ndim:
            raise IndexError(
                f"linalg.matrix_norm: Dimension out of range (expected to be in range of "
                f"[{-A.ndim}, {A.ndim - 1}], but got {d})"
            )
    rows, columns = (d % A.ndim for d in dim)
    if rows == columns:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got {tuple(dim)}")
    if ord == "fro":
        return _ag.norm(A, 2, (rows, columns), keepdim, dtype=dtype)
    if ord in (2, -2, "nuc"):
        if A.dtype in (_ag.float16, _ag.bfloat16):
            raise RuntimeError(
                f"linalg.matrix_norm: Low precision dtypes not supported. Got {A.dtype}"
            )
        given = A if dtype is None else A.to(dtype)
        values = svdvals(_ag.movedim(given, (rows, columns), (-2, -1)))
        if ord == "nuc":
            out = values.sum(-1)
        elif ord == 2 and not values.shape[-1]:
            out = values.sum(-1)  # the norm of no elements is 0
        else:
            out = values.amax(-1) if ord == 2 else values.amin(-1)
        if keepdim:
            for d in sorted((rows, columns)):
                out = out.unsqueeze(d)
        return out
    if ord not in (1, -1, float("inf"), -float("inf")):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    summed, other = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = _ag.norm(A, 1, summed, True, dtype=dtype)
    out = sums.amax(other, True) if ord > 0 else sums.amin(other, True)
    return out if keepdim else out.squeeze((rows, columns))


@overridable
@seen_as("aten::linalg_norm")
def norm(
    A: Tensor,
    ord: float | str | None = None,
    dim: int | tuple[int, ...] | None = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Tensor | None = None,
) -> Tensor:
    """
    Norm of vectors or of matrices, by the number of dimensions.

    Parameters
    ----------
    A : Tensor
    ord : float or {'fro', 'nuc'}, optional
        None is the 2-norm of all elements.
    dim : int or tuple of int, optional
        One: vectors; two, with an `ord`: matrices.
    keepdim : bool
        Whether the dimensions stay, with size 1.
    dtype : dtype, optional
        What `A` is converted to before.
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.linalg.norm(ag.tensor([[3.0, 0.0], [0.0, 4.0]]))
    tensor(5.)
    """
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype, out=out)
    if isinstance(ord, str):
        pair = (-2, -1) if dim is None else cast(tuple[int, int], dim)
        return matrix_norm(A, ord, pair, keepdim, dtype=dtype, out=out)
    if dim is None and A.ndim not in (1, 2):
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
            f"{A.ndim}D."
        )
    if isinstance(dim, int) or (dim is None and A.ndim == 1) or (dim and len(dim) == 1):
        return vector_norm(A, ord, dim, keepdim, dtype=dtype, out=out)
    pair = (-2, -1) if dim is None else cast(tuple[int, int], dim)
    return matrix_norm(A, ord, pair, keepdim, dtype=dtype, out=out)


def _check_floating(x, op):
    if not (x.is_floating_point() or x.is_complex()):
        raise RuntimeError(
            f"linalg.{op}: Expected a floating point or complex tensor as input. Got {x.dtype}"
        )


_complete("linalg", globals())


if not TYPE_CHECKING:  # type checkers name what isn't there themselves

    def __getattr__(name: str) -> NoReturn:
        raise no_attribute(__name__, name)
