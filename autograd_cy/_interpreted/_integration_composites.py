"""The trapezoidal rule: sums of neighbours times the steps between them."""

from __future__ import annotations

from autograd_cy._C.tensor import Tensor
from autograd_cy._tensors.namespace import bool as _bool
from autograd_cy._tensors.namespace import cumsum, narrow, sum
from autograd_cy._tensors.predicates import need_dim


def trapezoid_of_steps(y: Tensor, *, dx: Tensor, dim: int) -> Tensor:
    step, dim = _check_step("trapezoid", y, dx), need_dim(dim, y.ndim)
    if not y.shape[dim]:
        return sum(y, dim)
    return sum(_pairs(y, dim), dim) * (step / 2)


def trapz_of_steps(y: Tensor, *, dx: float, dim: int) -> Tensor:
    _refuse_bools("trapezoid", "y", y)
    dim = need_dim(dim, y.ndim)
    if not y.shape[dim]:
        return sum(y, dim)
    return sum(_pairs(y, dim), dim) * (dx / 2)


def trapezoid_between(y: Tensor, x: Tensor, *, dim: int) -> Tensor:
    steps, dim = _steps("trapezoid", y, x, dim)
    if not y.shape[dim]:
        return sum(y, dim)
    return sum(_pairs(y, dim) * steps, dim) / 2


def cumulative_trapezoid_of_steps(y: Tensor, *, dx: Tensor, dim: int) -> Tensor:
    step, dim = _check_step("cumulative_trapezoid", y, dx), need_dim(dim, y.ndim)
    return cumsum(_pairs(y, dim) * (step / 2), dim)


def cumulative_trapezoid_between(y: Tensor, x: Tensor, *, dim: int) -> Tensor:
    steps, dim = _steps("cumulative_trapezoid", y, x, dim)
    return cumsum(_pairs(y, dim) * steps, dim) / 2


def _pairs(y: Tensor, dim: int) -> Tensor:
    """The sums of neighbours."""
    rest = max(y.shape[dim] - 1, 0)
    return narrow(y, dim, 0, rest) + narrow(y, dim, y.shape[dim] - rest, rest)


def _steps(op: str, y: Tensor, x: Tensor, dim: int) -> tuple[Tensor, int]:
    """The distances of neighbouring points, of a shape that goes with y, and the dimension."""
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
    rest = max(x.shape[dim] - 1, 0)
    return narrow(x, dim, x.shape[dim] - rest, rest) - narrow(x, dim, 0, rest), dim


def _check_step(op: str, y: Tensor, dx: Tensor) -> float:
    _refuse_bools(op, "y", y)
    if dx.is_complex() or dx.dtype == _bool:
        raise RuntimeError(f"{op}: Currently, we only support dx as a real number.")
    return dx.item()


def _refuse_bools(op: str, name: str, t: Tensor) -> None:
    if t.dtype == _bool:
        raise RuntimeError(
            f"{op}: received a bool input for `{name}`, but bool is not supported; convert it"
        )
