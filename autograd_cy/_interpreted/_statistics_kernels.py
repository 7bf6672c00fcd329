"""Kernels on arrays: histograms."""

from __future__ import annotations

import numpy as np


def histc(x: np.ndarray, bins: int, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Counts in the dtype of the elements; equal bounds stand for a bin around them."""
    a, b = float(low), float(high)
    if a == b and x.size:
        a, b = float(x.min()), float(x.max())
        if not (np.isfinite(a) and np.isfinite(b)):
            raise RuntimeError(f"histc(): range of [{a}, {b}] is not finite")
    if a == b:
        a, b = a - 1, b + 1
    inside = x[(x >= a) & (x <= b)]
    # In the dtype of the elements, and rounded as they are: the edges of bins follow.
    exact = inside.dtype.type if inside.dtype.kind == "f" else np.float64
    first, width = exact(a), exact(b) - exact(a)
    places = ((inside - first) * exact(bins) / width).astype(np.int64)
    return np.bincount(np.minimum(places, bins - 1), minlength=bins).astype(x.dtype)
