"""Derivatives of extremes."""

from __future__ import annotations

from autograd_cy._C.tensor import Tensor
from autograd_cy._namespace import eq, logical_or, ne, sum, unsqueeze, where


def _reached(self: Tensor, extreme: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    """Where an extreme is taken; a NaN is the extreme of its row."""
    if dim is not None and not keepdim and self.ndim:
        extreme = unsqueeze(extreme, dim)
    at = eq(self, extreme)
    if self.is_floating_point():
        at = logical_or(at, ne(self, self).logical_and(ne(extreme, extreme)))
    return at


def aminmax_backward(
    gmin: Tensor | None,
    gmax: Tensor | None,
    self: Tensor,
    low: Tensor,
    high: Tensor,
    dim: int | None,
    keepdim: bool,
) -> Tensor:
    total: Tensor | None = None
    for grad, extreme in ((gmin, low), (gmax, high)):
        if grad is None:
            continue
        at = _reached(self, extreme, dim, keepdim)
        if dim is None or not self.ndim:
            share = grad / sum(at)
        else:
            share = (grad if keepdim else unsqueeze(grad, dim)) / sum(at, dim, True)
        term = where(at, share, 0)
        total = term if total is None else total + term
    assert total is not None  # some gradient has arrived
    return total


def aminmax_moved(
    moved: Tensor, self: Tensor, extreme: Tensor, dim: int | None, keepdim: bool
) -> Tensor:
    at = _reached(self, extreme, dim, keepdim)
    chosen = where(at, moved, 0)
    if dim is None or not self.ndim:
        return sum(chosen) / sum(at)
    return sum(chosen, dim, keepdim) / sum(at, dim, keepdim)
