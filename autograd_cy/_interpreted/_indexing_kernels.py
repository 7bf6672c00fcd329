"""Kernels on arrays: elements at places of the flattened array."""

from __future__ import annotations

import numpy as np


def put(x: np.ndarray, index: np.ndarray, source: np.ndarray, accumulate: bool) -> np.ndarray:
    """A copy with `source` at places of the flattened array, written in order or added."""
    if index.dtype != np.int64:
        raise RuntimeError(f"put(): Expected a long tensor for index, but got {index.dtype}")
    if x.dtype != source.dtype:
        raise RuntimeError(
            "put(): self and source expected to have the same dtype, but got self.dtype = "
            f"{x.dtype} and source.dtype = {source.dtype}"
        )
    if index.size != source.size:
        raise IndexError(
            "put(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.size}, index.numel() = {index.size}"
        )
    found = np.array(x, order="C")
    flat, places = found.reshape(-1), index.ravel()
    wrong = places[(places < -x.size) | (places >= x.size)]
    if wrong.size:
        raise IndexError(
            f"put(): out of range: tried to access index {wrong[0]} on a tensor of {x.size} "
            "elements"
        )
    if accumulate:
        np.add.at(flat, places, source.ravel())
    else:
        flat[places] = source.ravel()
    return found
