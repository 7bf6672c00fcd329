"""Distances of arrays."""

from __future__ import annotations

import numpy as np

# From this many points on squares come from a product of matrices, as in torch.
MANY = 25
BLOCK = 1 << 16  # differences that are in memory at a time: what the second cache holds


def cdist(x1: np.ndarray, x2: np.ndarray, p: float) -> np.ndarray:
    rows, columns, size = x1.shape[-2], x2.shape[-2], x1.shape[-1]
    result = np.zeros((*x1.shape[:-1], columns), x1.dtype)
    if not result.size or not size:
        return result
    if p == 2 and (rows > MANY or columns > MANY):
        a, b = x1.astype(np.float64), x2.astype(np.float64)
        squares = (a * a).sum(-1)[..., :, None] + (b * b).sum(-1)[..., None, :]
        squares -= 2 * (a @ b.swapaxes(-1, -2))
        return np.sqrt(np.maximum(squares, 0)).astype(x1.dtype)
    step = max(1, BLOCK // max(1, size * columns * int(np.prod(x1.shape[:-2]))))
    for i in range(0, rows, step):
        gap = np.abs(x1[..., i : i + step, None, :] - x2[..., None, :, :])
        if p == 0:
            found = (gap != 0).sum(-1)
        elif p == 1:
            found = gap.sum(-1)
        elif p == 2:
            found = np.sqrt((gap * gap).sum(-1))
        elif p == np.inf:
            found = gap.max(-1)
        else:
            found = (gap**p).sum(-1) ** (1 / p)
        result[..., i : i + step, :] = found
    return result
