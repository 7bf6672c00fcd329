"""Kernels of linear algebra on arrays."""

from __future__ import annotations

import numpy as np


def cholesky(A: np.ndarray, upper: bool) -> np.ndarray:
    """The lower factor, or the upper one of a matrix whose upper triangle is read."""
    if upper:
        return np.linalg.cholesky(A.swapaxes(-1, -2).conj()).swapaxes(-1, -2).conj()
    return np.linalg.cholesky(A)


def solve(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Solutions for matrices; NumPy 1 takes a `B` of one dimension less than `A` for vectors."""
    return np.linalg.solve(A, B[(np.newaxis,) * max(A.ndim - B.ndim, 0)])


def logdet(A: np.ndarray) -> np.ndarray:
    """Of real matrices, NaN where the determinant is negative."""
    sign, size = np.linalg.slogdet(A)
    if A.dtype.kind == "c":
        return np.asarray(size + 1j * np.angle(sign), A.dtype)
    return np.asarray(np.where(sign < 0, np.nan, size), A.dtype)
