"""Distance of a result from the exact value, in units of the last place of the exact value."""

import numpy as np

BITS = {np.dtype("f4"): (24, -126), np.dtype("f8"): (53, -1022)}


def ulps(result, exact):
    """Element-wise; `exact` has more bits. Equal infinities and nan on both sides count as 0."""
    digits, lowest = BITS[result.dtype]
    exact = np.asarray(exact)
    top = np.finfo(result.dtype).max
    with np.errstate(all="ignore"):
        rounded = exact.astype(result.dtype)
        exponent = np.maximum(np.frexp(exact)[1], lowest + 1) - digits
        unit = np.ldexp(np.ones_like(exact), exponent)
        distance = np.abs(result - exact) / unit
    same = (result == rounded) | (np.isnan(result) & np.isnan(exact))
    # One step across the edge of the range is one unit, not infinity.
    edge = np.isinf(result) & (np.abs(exact) >= top) & (np.sign(result) == np.sign(exact))
    distance = np.where(np.isnan(distance), np.inf, distance)
    return np.where(same, 0.0, np.where(edge, 1.0, distance)).astype(float)
