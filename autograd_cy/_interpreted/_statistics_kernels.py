"""Kernels on arrays: histograms, modes."""

from __future__ import annotations

import numpy as np


def histc(x: np.ndarray, bins: int, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Counts in the dtype of the elements; equal bounds stand for a bin around them."""
    a, b = float(low), float(high)
    all_inside = a == b and x.size
    if all_inside:
        a, b = float(x.min()), float(x.max())
        if not (np.isfinite(a) and np.isfinite(b)):
            raise RuntimeError(f"histc(): range of [{a}, {b}] is not finite")
    if a == b:
        a, b = a - 1, b + 1
    inside = x.reshape(-1) if all_inside else x[(x >= a) & (x <= b)]
    # In the dtype of the elements, and rounded as they are: the edges of bins follow.
    exact = inside.dtype.type if inside.dtype.kind == "f" else np.float64
    first, last = exact(a), exact(b)
    with np.errstate(over="ignore"):
        if not np.isfinite((last - first) * exact(bins)):
            shrink = exact(0.5) ** (int(bins).bit_length() + 1)  # which rounds nothing
            inside, first, last = inside * shrink, first * shrink, last * shrink
    values = np.subtract(inside, first, dtype=exact)
    values *= exact(bins)
    values /= last - first
    places = values.astype(np.int64)
    np.minimum(places, bins - 1, out=places)
    return np.bincount(places, minlength=bins).astype(x.dtype)


def mode(x: np.ndarray, dim: int, keepdim: bool) -> tuple[np.ndarray, np.ndarray]:
    """The smallest of the values that occur most often, and the last place of each."""
    if not x.ndim:
        return x.copy(), np.zeros((), np.int64)
    rows = np.moveaxis(x, dim, -1)
    shape, size = rows.shape[:-1], rows.shape[-1]
    values = np.empty(shape, x.dtype)
    places = np.empty(shape, np.int64)
    if values.size:
        order = np.argsort(rows, axis=-1, kind="stable")
        ordered = np.take_along_axis(rows, order, -1)
        # How long the run of equal values is that ends at each place. NaN equals nothing.
        steps = np.arange(size)
        begins = np.ones(rows.shape, bool)
        begins[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
        lengths = steps - np.maximum.accumulate(np.where(begins, steps, 0), axis=-1)
        best = lengths.argmax(-1)[..., None]  # the first, and so the smallest, of equal ones
        values[...] = np.take_along_axis(ordered, best, -1)[..., 0]
        places[...] = np.take_along_axis(order, best, -1)[..., 0]
    if keepdim:
        return np.expand_dims(values, dim), np.expand_dims(places, dim)
    return values, places
