"""Kernels on arrays: normalised batches."""

from __future__ import annotations

import numpy as np


def batch_norm(
    x: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    running_mean: np.ndarray | None,
    running_var: np.ndarray | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normalised elements, mean and inverse of the standard deviation; moves the running ones."""
    others = (0, *range(2, x.ndim))
    if training:
        mean, var = x.mean(others, dtype=np.float64), x.var(others, dtype=np.float64)
        count = x.size // max(x.shape[1], 1)
        if running_mean is not None:
            running_mean += momentum * (mean - running_mean)
        if running_var is not None:
            running_var += momentum * (var * (count / max(count - 1, 1)) - running_var)
    else:
        assert running_mean is not None  # see batch_norm
        assert running_var is not None
        mean, var = running_mean.astype(np.float64), running_var.astype(np.float64)
    spread = 1 / np.sqrt(var + eps)
    shape = (-1, *(1,) * (x.ndim - 2))
    scale = spread if weight is None else spread * weight
    shift = -mean * scale if bias is None else bias - mean * scale
    result = x * scale.astype(x.dtype).reshape(shape) + shift.astype(x.dtype).reshape(shape)
    return result, mean, spread
