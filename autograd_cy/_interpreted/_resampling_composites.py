"""Sampling at the points of a grid, made of operators: derivatives that have no kernel.

A point takes a weighted sum of the elements around it, its corners; a corner's weight is the
product of one for each dimension. Derivatives by points replace weights with their derivatives.
What lies before channels is a batch.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from autograd_cy._C.exchange import _constant_array
from autograd_cy._C.tensor import Tensor
from autograd_cy._interpreted._resampling_kernels import affine_points
from autograd_cy._tensors.namespace import (
    abs,
    arange,
    clamp,
    float64,
    floor,
    index_add,
    index_select,
    isnan,
    linspace,
    matmul,
    mul,
    ones,
    round,
    stack,
    where,
    zeros,
    zeros_like,
)

BILINEAR, NEAREST, BICUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)


class Tap(NamedTuple):
    """An element that counts in one dimension, for each point."""

    ahead: Tensor  # rows from the first element
    weight: Tensor
    derivative: Tensor  # the derivative of the weight by the coordinate
    curvature: Tensor | None  # the second derivative, None for zeros


Corner = Sequence[Tap]


# --- places --------------------------------------------------------------------------------------


def _reflected(x: Tensor, low: float, high: float) -> tuple[Tensor, Tensor]:
    """Places reflected at the ends until they are between them, and their derivatives."""
    span = high - low
    if span <= 0:
        return x * 0, zeros_like(x)
    turned = where(x < low, -1, 1)
    x = abs(x - low)
    times = floor(x / span).detach()
    rest, even = x - times * span, times % 2 == 0
    return where(even, rest, span - rest) + low, where(even, turned, -turned)


def _inside(x: Tensor, n: int, padding: int, aligned: bool) -> tuple[Tensor, Tensor | int]:
    """Places that have an element, but for zeros, and their derivatives."""
    derivative: Tensor | int = 1
    if padding == REFLECTION:
        x, derivative = _reflected(x, 0, n - 1) if aligned else _reflected(x, -0.5, n - 0.5)
    if padding == ZEROS:
        return x, derivative
    # At the ends and beyond, a place doesn't move with x: the element behind the last would count
    # as 0 in the derivative. What is no number, or was reflected from infinity, is at the first.
    inside = (x > 0) & (x < n - 1)
    derivative = where(inside, derivative, 0)
    x = where(inside, x, clamp(x.detach(), 0, n - 1))
    return where(isnan(x), 0, x), derivative


def _cubic(t: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """
    Weights of four elements around a place t behind the second, with two derivatives (R. Keys,
    1981; a = -3/4).
    """

    def near(x: Tensor, sign: int) -> tuple[Tensor, Tensor, Tensor]:
        return (1.25 * x - 2.25) * x * x + 1, sign * (3.75 * x - 4.5) * x, 7.5 * x - 4.5

    def far(x: Tensor, sign: int) -> tuple[Tensor, Tensor, Tensor]:
        derivative = sign * ((-2.25 * x + 7.5) * x - 6)
        return ((-0.75 * x + 3.75) * x - 6) * x + 3, derivative, -4.5 * x + 7.5

    yield from (far(t + 1, 1), near(t, 1), near(1 - t, -1), far(2 - t, -1))


class Sampler:
    """The elements of images that the points of a grid use, and their weights."""

    def __init__(
        self, sizes: Sequence[int], grid: Tensor, mode: int, padding: int, aligned: bool
    ) -> None:
        self.mode, self.padding, self.aligned = mode, padding, aligned
        self.rank = rank = grid.shape[-1]
        self.sizes, self.spatial = tuple(sizes[-rank:]), grid.shape[-1 - rank : -1]
        self.lead = grid.shape[: -1 - rank]
        self.channels, self.device = sizes[-1 - rank], grid.device
        self.batch, self.count = math.prod(self.lead), math.prod(self.spatial)
        self.size = math.prod(self.sizes)
        # NaN isn't hidden.
        self.shown = rank == 2 and padding == ZEROS and mode == BILINEAR
        self.points = self.coordinates(grid)

    def coordinates(self, grid: Tensor) -> list[Tensor]:
        """Return the coordinates for each dimension of the image, the first dimension first."""
        points = grid.reshape(self.batch * self.count, self.rank)
        return [points[:, self.rank - 1 - d] for d in range(self.rank)]

    def tap(self, n: int, step: int, place: Tensor, *weights: Tensor | None) -> Tap:
        """An element at some place; it has no weight where nothing is."""
        within = (place >= 0) & (place <= n - 1)
        ahead = where(within, place, 0).long()
        counts = within | isnan(place) if self.shown else within
        weight, derivative, curvature = (
            None if w is None else where(counts, w, 0) for w in weights
        )
        assert weight is not None
        assert derivative is not None
        return Tap(ahead * step if step > 1 else ahead, weight, derivative, curvature)

    def taps(self, d: int) -> list[Tap]:
        raw, n = self.points[d], self.sizes[d]
        x = (raw + 1) / 2 * (n - 1) if self.aligned else ((raw + 1) * n - 1) / 2
        half = (n - 1 if self.aligned else n) / 2
        tap = functools.partial(self.tap, n, math.prod(self.sizes[d + 1 :]))
        if self.mode == BICUBIC:
            first = floor(x).detach()
            return [
                tap(
                    _inside(first + (k - 1), n, self.padding, self.aligned)[0],
                    weight,
                    half * derivative,
                    half * half * curvature,
                )
                for k, (weight, derivative, curvature) in enumerate(_cubic(x - first))
            ]
        x, turned = _inside(x, n, self.padding, self.aligned)
        if self.mode == NEAREST:
            place = round(x).detach()
            never = (place >= 0) & (place < 0)  # the grid gets a gradient, which is 0
            return [tap(place, where(never, raw, x.detach() * 0 + 1), zeros_like(x), None)]
        first = floor(x).detach()
        derivative = zeros_like(x) + half * turned
        return [
            tap(first, 1 - (x - first), -derivative, None),
            tap(first + 1, x - first, derivative, None),
        ]

    def corners(self) -> Iterator[tuple[Tensor, Corner]]:
        """The rows of elements around the points, and what they are in each dimension."""
        start = arange(self.batch, device=self.device) * self.size
        start = start.unsqueeze(1).expand(self.batch, self.count).reshape(-1)
        for corner in itertools.product(*map(self.taps, range(self.rank))):
            yield functools.reduce(lambda rows, tap: rows + tap.ahead, corner, start), corner

    def rows(self, values: Tensor, count: int) -> Tensor:
        """Rows of channels, of all examples one below the other: an element's are together."""
        values = values.reshape(self.batch, self.channels, count).transpose(1, 2)
        return values.reshape(self.batch * count, self.channels)

    def unrolled(self, rows: Tensor, spatial: Sequence[int]) -> Tensor:
        """The opposite of `rows`."""
        values = rows.reshape(self.batch, math.prod(spatial), self.channels).transpose(1, 2)
        return values.contiguous().reshape(*self.lead, self.channels, *spatial)

    def sum(self, input: Tensor, weight_of: Callable[[Corner], Tensor]) -> Tensor:
        """The sum of elements around the points, with some weights."""
        rows, total = self.rows(input, self.size), None
        for index, corner in self.corners():
            chosen = index_select(rows, 0, index) * weight_of(corner).unsqueeze(1)
            total = chosen if total is None else total + chosen
        assert total is not None
        return self.unrolled(total, self.spatial)


# --- weights -------------------------------------------------------------------------------------


def _weight(corner: Corner) -> Tensor:
    return functools.reduce(mul, (tap.weight for tap in corner))


def _weight_tangent(corner: Corner, tangents: Sequence[Tensor]) -> Tensor:
    """Return the tangent of a corner's weight for tangents of the points."""
    terms = []
    for d, tap in enumerate(corner):
        others = [other.weight for e, other in enumerate(corner) if e != d]
        terms.append(functools.reduce(mul, others, tangents[d] * tap.derivative))
    return functools.reduce(Tensor.add, terms)


def _derivative_tangent(corner: Corner, tangents: Sequence[Tensor], d: int) -> Tensor:
    """Return the tangent of the weight's derivative by coordinate d."""
    terms = []
    for e, tap in enumerate(corner):
        others = [other.weight for f, other in enumerate(corner) if f not in (d, e)]
        curvature = tap.curvature if e == d else corner[d].derivative * tap.derivative
        if curvature is not None:
            terms.append(functools.reduce(mul, others, tangents[e] * curvature))
    return functools.reduce(Tensor.add, terms)


# --- operators -----------------------------------------------------------------------------------


def grid_sample(input: Tensor, grid: Tensor, mode: int, padding: int, aligned: bool) -> Tensor:
    """Sample images of any size, with the values of the kernel."""
    return Sampler(input.shape, grid, mode, padding, aligned).sum(input, _weight)


def grid_sample_jvp(
    input: Tensor, grid: Tensor, tangent: Tensor, mode: int, padding: int, aligned: bool
) -> Tensor:
    at = Sampler(input.shape, grid, mode, padding, aligned)
    by = at.coordinates(tangent)
    return at.sum(input, lambda corner: _weight_tangent(corner, by))


def grid_sample_input_jvp(
    grad_output: Tensor,
    grid: Tensor,
    tangent: Tensor,
    size: Sequence[int],
    mode: int,
    padding: int,
    aligned: bool,
) -> Tensor:
    at = Sampler(size, grid, mode, padding, aligned)
    by, grads = at.coordinates(tangent), at.rows(grad_output, at.count)
    total = zeros(
        at.batch * at.size, at.channels, dtype=grad_output.dtype, device=grad_output.device
    )
    for index, corner in at.corners():
        total = index_add(total, 0, index, grads * _weight_tangent(corner, by).unsqueeze(1))
    return at.unrolled(total, at.sizes)


def grid_sample_grid_jvp(
    grad_output: Tensor,
    input: Tensor,
    grid: Tensor,
    tangent: Tensor,
    mode: int,
    padding: int,
    aligned: bool,
) -> Tensor:
    at = Sampler(input.shape, grid, mode, padding, aligned)
    by, grads = at.coordinates(tangent), at.rows(grad_output, at.count)
    rows = at.rows(input, at.size)
    totals: list[Tensor | None] = [None] * at.rank
    for index, corner in at.corners():
        met = (index_select(rows, 0, index) * grads).sum(1)
        for d in range(at.rank):
            term = met * _derivative_tangent(corner, by, d)
            total = totals[d]
            totals[d] = term if total is None else total + term
    return stack([t for t in reversed(totals) if t is not None], -1).reshape(grid.shape)


# --- grids of affine maps -------------------------------------------------------------------------


def affine_grid_of_operators(theta: Tensor, spatial: Sequence[int], aligned: bool) -> Tensor:
    """The grid where NumPy has no arrays."""
    points = _affine_points(theta, spatial, aligned)
    return matmul(points, theta.transpose(1, 2)).reshape(theta.shape[0], *spatial, len(spatial))


def affine_grid_backward(grad: Tensor, spatial: Sequence[int], aligned: bool) -> Tensor:
    points = _affine_points(grad, spatial, aligned)
    flat = grad.reshape(grad.shape[0], points.shape[0], len(spatial))
    return matmul(flat.transpose(1, 2), points)


def _affine_points(like: Tensor, spatial: Sequence[int], aligned: bool) -> Tensor:
    if like.device.type == "cpu":
        return _constant_array(affine_points(spatial, aligned, np.dtype("d"))).to(like.dtype)
    columns: list[Tensor] = []
    for d, n in enumerate(spatial):
        line = linspace(-1, 1, n, dtype=float64, device=like.device) if n > 1 else None
        line = zeros(n, dtype=float64, device=like.device) if line is None else line
        line = line if aligned or not n else line * ((n - 1) / n)
        line = line.reshape([n if i == d else 1 for i in range(len(spatial))])
        columns.insert(0, line.expand(spatial).reshape(-1))
    columns.append(ones(math.prod(spatial), dtype=float64, device=like.device))
    return stack(columns, 1).to(like.dtype)
