"""Norms of vectors and matrices."""

from __future__ import annotations

from typing import Any, cast

from autograd_cy._C.out_forms import stored as _stored
from autograd_cy._interpreted.linalg import svdvals
from autograd_cy._tensors import namespace as _ag
from autograd_cy._tensors.events import seen_as
from autograd_cy._tensors.namespace import Tensor
from autograd_cy._tensors.predicates import need_dim
from autograd_cy._tensors.public import public

__all__ = ["check_floating", "matrix_norm", "norm", "vector_norm"]


@public
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
    Return the `ord`-norm of all elements, or along dimensions.

    Parameters
    ----------
    x : Tensor
        Of a floating or complex dtype.
    ord : float, default 2
        The order: any number, also 0 (how many elements aren't 0) and infinity (the largest).
    dim : int or tuple of int, optional
        Along which; all elements together, if left out.
    keepdim : bool, default False
        Keep these dimensions, of size 1.
    dtype : dtype, optional
        In which it is computed; complex where `x` is, and not elsewhere.
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor
        Of a real dtype.

    Raises
    ------
    RuntimeError
        If `x` is neither floating nor complex, `dtype` doesn't go with it, or there is no element
        and the norm of none has no value.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.linalg.vector_norm(ag.tensor([[3.0, -4.0]]), 1, dim=1)
    tensor([7.])
    """
    if isinstance(ord, str):
        raise TypeError("linalg_vector_norm(): argument 'ord' (position 2) must be Number, not str")
    check_floating(x, "vector_norm")
    return _stored(_ag.norm(x, ord, dim, keepdim, dtype=dtype), out, "linalg.vector_norm")


@public
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
    check_floating(A, "matrix_norm")
    if A.ndim < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions")
    if not isinstance(dim, (tuple, list)) or len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {dim}")
    rows, columns = (need_dim(d, A.ndim, "linalg.matrix_norm: ") for d in dim)
    if rows == columns:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got {tuple(dim)}")
    if ord == "fro":
        return _ag.norm(A, 2, (rows, columns), keepdim, dtype=dtype)
    if ord in (2, -2, "nuc"):
        if A.dtype in (_ag.float16, _ag.bfloat16):
            raise RuntimeError(
                f"linalg.matrix_norm: Low precision dtypes not supported. Got {A.dtype._scalar}"
            )
        input = A if dtype is None else A.to(dtype)
        values = svdvals(_ag.movedim(input, (rows, columns), (-2, -1)))
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
    if ord > 0 and not sums.shape[other]:
        out = sums.sum(other, True)  # the norm of no elements is 0
    else:
        out = sums.amax(other, True) if ord > 0 else sums.amin(other, True)
    return out if keepdim else out.squeeze((rows, columns))


@public
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
    if isinstance(dim, (tuple, list)) and len(dim) not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}"
        )
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


def check_floating(x: Tensor, op: str) -> None:
    """Refuse what is no number with a fraction."""
    if not (x.is_floating_point() or x.is_complex()):
        raise RuntimeError(
            f"linalg.{op}: Expected a floating point or complex tensor as input. Got "
            f"{x.dtype._scalar}"
        )
