"""Grids of affine maps on arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def affine_points(spatial: Sequence[int], aligned: bool, dtype: np.dtype) -> np.ndarray:
    """The points of a grid in [-1, 1], last dimension first, and a 1: one in each row.

    With `aligned` the ends are the middles of the outermost elements, else their borders.
    """
    rank = len(spatial)
    points = np.ones((*spatial, rank + 1), dtype)
    for d, n in enumerate(spatial):
        line = np.linspace(-1, 1, n) if n > 1 else np.zeros(n)
        if not aligned:
            line = line * ((n - 1) / n)
        points[..., rank - 1 - d] = line.reshape([n if i == d else 1 for i in range(rank)])
    return points.reshape(-1, rank + 1)


def affine_grid(theta: np.ndarray, spatial: Sequence[int], aligned: bool) -> np.ndarray:
    points = affine_points(spatial, aligned, theta.dtype)
    grid = points @ theta.swapaxes(1, 2)
    return grid.reshape(len(theta), *spatial, len(spatial))
