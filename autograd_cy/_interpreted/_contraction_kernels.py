"""Distances of arrays."""

from __future__ import annotations

import numpy as np

from autograd_cy._C import cpu as _cpu

BLOCK = 1 << 16  # differences that are in memory at a time: what the second cache holds
# Coordinates that are compared between two looks whether Ctrl-C was pressed.
AT_ONCE = 1 << 26
LANES = 64  # columns of the second matrix come in groups of these
# Orders that are compiled, by their numbers in distance_lanes.h.
KINDS = {0: 0, 1: 1, 2: 2, np.inf: 3}


def cdist(x1: np.ndarray, x2: np.ndarray, p: float) -> np.ndarray:
    rows, columns, size = x1.shape[-2], x2.shape[-2], x1.shape[-1]
    result = np.zeros((*x1.shape[:-1], columns), x1.dtype)
    if not result.size or not size:
        return result
    if p in KINDS:
        _compiled(x1, x2, KINDS[p], result)
        return result
    step = max(1, BLOCK // max(1, size * columns * int(np.prod(x1.shape[:-2]))))
    for i in range(0, rows, step):
        gap = np.abs(x1[..., i : i + step, None, :] - x2[..., None, :, :])
        result[..., i : i + step, :] = (gap**p).sum(-1) ** (1 / p)
    return result


def _compiled(x1: np.ndarray, x2: np.ndarray, kind: int, result: np.ndarray) -> None:
    columns, size = x2.shape[-2:]
    fill_distances = _cpu.load("distance_loops").fill_distances
    filled = np.zeros((size, -(-columns // LANES) * LANES), result.dtype)
    step = max(1, AT_ONCE // (size * columns))
    for place in np.ndindex(x1.shape[:-2]) if x1.ndim > 2 else ((),):
        filled[:, :columns] = x2[place].T
        for i in range(0, x1.shape[-2], step):
            rows = np.ascontiguousarray(x1[place][i : i + step])
            fill_distances(rows, filled, result[place][i : i + step], kind)
