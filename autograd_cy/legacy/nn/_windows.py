"""Convolutions and pooling as formulas of the core: windows are views, products do the work."""

from __future__ import annotations

from itertools import repeat
from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor

__all__ = ["avg_pool", "convolution", "max_pool", "per_dimension", "transposed_convolution"]


def per_dimension(value: Any, count: int) -> tuple[int, ...]:
    """One number for each dimension: as given, or the same for all."""
    return tuple(value) if isinstance(value, (tuple, list)) else tuple(repeat(value, count))


def _padded(x: Tensor, before: Any, after: Any, value: float = 0.0) -> Tensor:
    """Put a margin around the dimensions after the first two; a negative one cuts."""
    for dim, (first, last) in enumerate(zip(before, after), 2):
        if first < 0 or last < 0:
            start, end = max(-first, 0), x.shape[dim] - max(-last, 0)
            x = x.narrow(dim, start, end - start)
            first, last = max(first, 0), max(last, 0)
        if first or last:
            size = list(x.shape)
            size[dim] += first + last
            room = ag.full(size, value, dtype=x.dtype)
            x = ag.slice_scatter(room, x, dim, first, size[dim] - last)
    return x


def _windows(x: Tensor, kernel: Any, stride: Any, dilation: Any) -> Tensor:
    """(N, C, out..., kernel...): all windows as a view."""
    for dim, (k, s, d) in enumerate(zip(kernel, stride, dilation), 2):
        reach = (k - 1) * d + 1
        if x.shape[dim] < reach:
            raise RuntimeError(
                f"the kernel of {reach} doesn't fit into dimension {dim} of size {x.shape[dim]}"
            )
        x = x.unfold(dim, reach, s)
        if d > 1:
            x = x[..., ::d]
    return x


def convolution(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The cross-correlation of (N, C, ...) with weights of (O, C / groups, ...)."""
    dims = weight.dim() - 2
    if x.dim() != dims + 2 or x.shape[1] != weight.shape[1] * groups:
        raise RuntimeError(
            f"convolution: weights of size {tuple(weight.shape)} and {groups} group(s) need "
            f"{weight.shape[1] * groups} channels in {dims + 2} dimensions, got {tuple(x.shape)}"
        )
    pad = per_dimension(padding, dims)
    kernel = tuple(weight.shape[2:])
    view = _windows(
        _padded(x, pad, pad), kernel, per_dimension(stride, dims), per_dimension(dilation, dims)
    )
    batch, places = view.shape[0], tuple(view.shape[2 : 2 + dims])
    # Rows are places, columns the elements of their windows.
    order = (0, *range(2, 2 + dims), 1, *range(2 + dims, 2 + 2 * dims))
    rows = view.permute(order).reshape(batch * _count(places), groups, -1)
    taps = weight.reshape(groups, weight.shape[0] // groups, -1)
    found = ag.bmm(rows.transpose(0, 1), taps.transpose(1, 2))
    found = found.transpose(0, 1).reshape(batch, *places, weight.shape[0])
    if bias is not None:
        found = found + bias
    return found.permute(0, dims + 1, *range(1, dims + 1)).contiguous()


def _count(places: tuple[int, ...]) -> int:
    count = 1
    for n in places:
        count *= n
    return count


def transposed_convolution(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """What a convolution's gradient does to its input, with weights of (C, O / groups, ...)."""
    dims = weight.dim() - 2
    steps, pad = per_dimension(stride, dims), per_dimension(padding, dims)
    extra, spread = per_dimension(output_padding, dims), per_dimension(dilation, dims)
    for dim, step in enumerate(steps, 2):
        if step > 1:
            size = list(x.shape)
            size[dim] = (size[dim] - 1) * step + 1
            room = ag.zeros(size, dtype=x.dtype)
            x = ag.slice_scatter(room, x, dim, 0, size[dim], step)
    reach = [d * (k - 1) for k, d in zip(weight.shape[2:], spread)]
    x = _padded(
        x, [r - p for r, p in zip(reach, pad)], [r - p + e for r, p, e in zip(reach, pad, extra)]
    )
    inputs, outputs = weight.shape[:2]
    taps = weight.reshape(groups, inputs // groups, outputs, *weight.shape[2:]).transpose(1, 2)
    taps = taps.reshape(groups * outputs, inputs // groups, *weight.shape[2:])
    taps = taps.flip(tuple(range(2, 2 + dims)))
    return convolution(x, taps, bias, 1, 0, spread, groups)


class _Pool:
    """Windows over the dimensions after the first two: their sizes, steps and margins."""

    def __init__(self, x, kernel, stride, padding, dilation, ceil_mode):
        dims = x.dim() - 2
        self.kernel = per_dimension(kernel, dims)
        self.steps = self.kernel if stride is None else per_dimension(stride, dims)
        self.spread = per_dimension(dilation, dims)
        self.before = per_dimension(padding, dims)
        # With ceil_mode a last window may reach beyond the margin, but not begin there.
        self.beyond = [0] * dims
        for i in range(dims) if ceil_mode else ():
            reach = (self.kernel[i] - 1) * self.spread[i] + 1
            room = x.shape[i + 2] + 2 * self.before[i] - reach
            rest = room % self.steps[i]
            if rest and room - rest + self.steps[i] < x.shape[i + 2] + self.before[i]:
                self.beyond[i] = self.steps[i] - rest

    def windows(self, x, value, margin_value=None):
        """All windows, in the last dimension; one value for the margin and one beyond it."""
        x = _padded(x, self.before, self.before, value if margin_value is None else margin_value)
        x = _padded(x, [0] * len(self.beyond), self.beyond, value)
        view = _windows(x, self.kernel, self.steps, self.spread)
        return view.reshape(*view.shape[: x.dim()], -1)


def max_pool(
    x: Tensor,
    kernel: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:
    """(largest elements of windows, their places in the flat image)."""
    pool = _Pool(x, kernel, stride, padding, dilation, ceil_mode)
    largest, chosen = ag.max(pool.windows(x, float("-inf")), -1)
    places = ag.arange(_count(tuple(x.shape[2:]))).reshape(1, 1, *x.shape[2:])
    numbers = pool.windows(places, -1).expand(*chosen.shape, -1)
    return largest, ag.gather(numbers, -1, chosen.unsqueeze(-1)).squeeze(-1)


def avg_pool(
    x: Tensor,
    kernel: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The means of windows; the margin counts as zeros, or not at all."""
    pool = _Pool(x, kernel, stride, padding, 1, ceil_mode)
    sums = pool.windows(x, 0).sum(-1)
    if count_include_pad and not any(pool.beyond):
        return sums / _count(pool.kernel)
    inside = ag.ones((1, 1, *x.shape[2:]), dtype=x.dtype)
    return sums / pool.windows(inside, 0, 1 if count_include_pad else 0).sum(-1)
