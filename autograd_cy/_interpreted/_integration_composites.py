"""The trapezoidal rule: sums of neighbours times the steps between them."""

from __future__ import annotations

from collections.abc import Callable

from autograd_cy._C.tensor import Tensor
from autograd_cy._tensors.namespace import bfloat16, cumsum, float16, float32, narrow, sum
from autograd_cy._tensors.namespace import bool as _bool
from autograd_cy._tensors.predicates import need_dim


def trapezoid_of_steps(y: Tensor, *, dx: float, dim: int) -> Tensor:
    _refuse_bools("trapezoid", "y", y)
    return _in_float(lambda y: sum(_pairs(y, dim), dim) * (dx / 2), y)


def trapezoid_between(y: Tensor, x: Tensor, *, dim: int) -> Tensor:
    if not y.numel() and not y.shape[need_dim(dim, y.ndim)]:
        return sum(y, dim)  # whatever the points are
    x, dim = _points("trapezoid", y, x, dim)
    return _in_float(lambda y, x: sum(_pairs(y, dim) * _steps(x, dim), dim) / 2, y, x)


def cumulative_trapezoid_of_steps(y: Tensor, *, dx: float, dim: int) -> Tensor:
    _refuse_bools("cumulative_trapezoid", "y", y)
    return _in_float(lambda y: cumsum(_pairs(y, dim) * (dx / 2), dim), y)


def cumulative_trapezoid_between(y: Tensor, x: Tensor, *, dim: int) -> Tensor:
    x, dim = _points("cumulative_trapezoid", y, x, dim)
    return _in_float(lambda y, x: cumsum(_pairs(y, dim) * _steps(x, dim), dim) / 2, y, x)


def _in_float(function: Callable[..., Tensor], *tensors: Tensor) -> Tensor:
    """Compute half types in float32."""
    kinds = {t.dtype for t in tensors}
    if not kinds <= {float16, bfloat16}:
        return function(*tensors)
    result = function(*(t.to(float32) for t in tensors))
    return result.to(tensors[0].dtype) if len(kinds) == 1 else result


def _pairs(y: Tensor, dim: int) -> Tensor:
    """The sums of neighbours."""
    dim = need_dim(dim, y.ndim)
    rest = max(y.shape[dim] - 1, 0)
    return narrow(y, dim, 0, rest) + narrow(y, dim, y.shape[dim] - rest, rest)


def _steps(x: Tensor, dim: int) -> Tensor:
    """The distances of neighbouring points."""
    rest = max(x.shape[dim] - 1, 0)
    return narrow(x, dim, x.shape[dim] - rest, rest) - narrow(x, dim, 0, rest)


def _points(op: str, y: Tensor, x: Tensor, dim: int) -> tuple[Tensor, int]:
    """Points of a shape that goes with y, and the dimension."""
    _refuse_bools(op, "y", y)
    _refuse_bools(op, "x", x)
    dim = need_dim(dim, y.ndim)
    if x.ndim == 1:
        if x.shape[0] != y.shape[dim]:
            raise RuntimeError(
                f"{op}: There must be one `x` value for each sample point, but x has "
                f"{x.shape[0]} and y {y.shape[dim]} along dimension {dim}"
            )
        x = x.view([-1 if d == dim else 1 for d in range(y.ndim)])
    elif x.ndim < y.ndim:
        x = x.reshape((1,) * (y.ndim - x.ndim) + tuple(x.shape))
    return x, dim


def _refuse_bools(op: str, name: str, t: Tensor) -> None:
    if t.dtype == _bool:
        raise RuntimeError(
            f"{op}: received a bool input for `{name}`, but bool is not supported; convert it"
        )
