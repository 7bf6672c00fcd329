"""Scalar products of rows, and distances with their derivatives."""

from __future__ import annotations

from typing import Any

from autograd_cy._C.tensor import Tensor
from autograd_cy._interpreted import contraction
from autograd_cy._tensors.namespace import (
    abs,
    broadcast_shapes,
    dot,
    eq,
    float32,
    float64,
    index_select,
    matmul,
    mul,
    norm,
    result_type,
    sign,
    sub,
    sum,
    tensordot,
    transpose,
    triu_indices,
    unsqueeze,
    where,
)


def inner(self: Tensor, other: Tensor, out: Tensor | None = None) -> Tensor:
    if out is not None and out.dtype != result_type(self, other):
        out = None  # the result is made, and refused with its dtype
    if not self.ndim or not other.ndim:
        return mul(self, other, out=out)
    if self.dtype != other.dtype:
        raise RuntimeError("both inputs should have same dtype")
    if self.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(self.shape)} and {list(other.shape)}"
        )
    if self.ndim == 1 and other.ndim == 1:
        return dot(self, other, out=out)
    shape, k = self.shape[:-1] + other.shape[:-1], self.shape[-1]
    if out is None or out.shape != shape or not out.is_contiguous():
        return tensordot(self, other, ((-1,), (-1,)))
    rows, columns = self.shape[:-1].numel(), other.shape[:-1].numel()
    matmul(
        self.reshape(rows, k), other.reshape(columns, k).t(), out=out.detach().view(rows, columns)
    )
    return out


def dist(self: Tensor, other: Tensor, p: Tensor) -> Tensor:
    if p.is_complex():
        raise RuntimeError("dist: the order of a norm is no complex number; give a real one")
    return norm(sub(self, other), p.item())


_MOST_F32 = 3.4028234663852886e38


def cdist(x1: Tensor, x2: Tensor, p: float, compute_mode: str | None) -> Tensor:
    modes = (
        "use_mm_for_euclid_dist_if_necessary",
        "use_mm_for_euclid_dist",
        "donot_use_mm_for_euclid_dist",
    )
    if compute_mode not in modes:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    for name, x in (("X1", x1), ("X2", x2)):
        if not x.is_floating_point():
            raise RuntimeError(
                f"cdist only supports floating-point dtypes, {name} got: {x.dtype._scalar}"
            )
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    if not p >= 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if x1.dtype != x2.dtype:
        raise RuntimeError(
            f"cdist: expected scalar type {x1.dtype._scalar} but found {x2.dtype._scalar}"
        )
    if x1.device.type != "cpu":  # NumPy has no arrays of other devices
        return norm(unsqueeze(x1, -2) - unsqueeze(x2, -3), p, -1)
    if p > _MOST_F32 and x1.dtype.itemsize < 8:  # infinite in the dtype that the kernel computes in
        p = float("inf")
    if x1.shape[:-2] != x2.shape[:-2]:
        batch = broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
        x1, x2 = _with_batch(x1, batch), _with_batch(x2, batch)
    return contraction._cdist(x1, x2, p)


def _with_batch(x: Tensor, batch: Any) -> Tensor:
    shape = (*batch, *x.shape[-2:])
    return x if tuple(x.shape) == shape else x.expand(shape)


def _weights(difference: Tensor, distance: Tensor, p: float) -> Tensor:
    """The derivative of the norm of a difference; 0 where the norm is 0."""
    if p == 0:
        return difference * 0
    if p == 1:
        return sign(difference)
    distance = unsqueeze(distance, -1)
    nowhere = eq(distance, 0)
    if p == float("inf"):
        return where(eq(abs(difference), distance), sign(difference), 0) * (~nowhere)
    size = abs(difference)
    still = eq(size, 0)  # powers below 1 have no derivative there
    ratio = where(still, 1, size) / where(nowhere, 1, distance)
    return where(still | nowhere, 0, sign(difference) * ratio ** (p - 1))


def _over(x: Tensor, distance: Tensor) -> Tensor:
    nowhere = eq(distance, 0)
    return where(nowhere, 0, x / where(nowhere, 1, distance))


def cdist_backward(grad: Tensor, x1: Tensor, x2: Tensor, p: float, result: Tensor) -> Tensor:
    if p == 2:  # sums of x1 - x2 without all the differences
        scaled = _over(grad, result)
        return x1 * sum(scaled, -1, True) - matmul(scaled, x2)
    difference = unsqueeze(x1, -2) - unsqueeze(x2, -3)
    return sum(unsqueeze(grad, -1) * _weights(difference, result, p), -2)


def cdist_jvp(tangent: Tensor, x1: Tensor, x2: Tensor, p: float, result: Tensor) -> Tensor:
    if p == 2:
        along = sum(tangent * x1, -1, True) - matmul(tangent, transpose(x2, -1, -2))
        return _over(along, result)
    difference = unsqueeze(x1, -2) - unsqueeze(x2, -3)
    return sum(unsqueeze(tangent, -2) * _weights(difference, result, p), -1)


def pdist(self: Tensor, p: float) -> Tensor:
    if self.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {self.ndim}D")
    if not self.is_floating_point():
        raise RuntimeError(f"pdist only supports floating-point dtypes, got: {self.dtype._scalar}")
    if self.dtype not in (float32, float64):
        raise NotImplementedError(
            f"pdist only supports float32 and float64, got: {self.dtype._scalar}; convert it"
        )
    if not p >= 0:
        raise RuntimeError("pdist only supports non-negative p values")
    if p > _MOST_F32 and self.dtype == float32:
        p = float("inf")
    rows = self.shape[0]
    first, second = triu_indices(rows, rows, 1, device=self.device)
    return norm(index_select(self, 0, first) - index_select(self, 0, second), p, -1)
