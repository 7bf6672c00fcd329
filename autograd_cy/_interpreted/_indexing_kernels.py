"""Kernels on arrays: elements at places of the flattened array."""

from __future__ import annotations

import numpy as np


def put(x: np.ndarray, index: np.ndarray, source: np.ndarray, accumulate: bool) -> np.ndarray:
    """A copy with `source` at places of the flattened array, written in order or added."""
    result = np.array(x, order="C")
    flat, places = result.reshape(-1), index.ravel()
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
    return result
