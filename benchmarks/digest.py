"""Results as plain numbers that two processes can compare.

A digest holds shapes, dtypes and at most a few hundred values of each tensor, spread over the
whole of it, with the mean of all.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_MOST_VALUES = 256
_RTOL = {
    "float16": 5e-3,
    "bfloat16": 4e-2,
    "float32": 1e-4,
    "complex64": 1e-4,
    "float64": 1e-9,
    "complex128": 1e-9,
}


def digest(result: Any) -> list[dict[str, Any]]:
    """Reduce a result to what is compared.

    Parameters
    ----------
    result : Tensor, number, None or a tuple or list of these
        What a case returned.

    Returns
    -------
    list of dict
        One record per tensor, ready for JSON.

    Examples
    --------
    >>> digest(2.0)
    [{'dtype': 'float', 'shape': [], 'values': [2.0], 'mean': 2.0}]
    """
    if result is None:
        return []
    if isinstance(result, (tuple, list)) and not _is_size(result):
        return [record for item in result for record in digest(item)]
    return [_record(result)]


def disagreement(left: list, right: list, rtol: float | None = None) -> str | None:
    """Say how two digests differ.

    Parameters
    ----------
    left, right : list of dict
        Digests of the two libraries.
    rtol : float, optional
        Tolerance relative to the largest value of a tensor; by default it follows the dtype.

    Returns
    -------
    str or None
        None if they agree.

    Examples
    --------
    >>> disagreement(digest(2.0), digest(2.0)) is None
    True
    >>> disagreement(digest(2.0), digest(2.5))
    'float values differ by 0.5, allowed 2.5e-09'
    """
    if len(left) != len(right):
        return f"{len(left)} results against {len(right)}"
    for one, other in zip(left, right):
        message = _difference(one, other, rtol)
        if message:
            return message
    return None


def _is_size(result: Any) -> bool:
    """Tell whether a result is a shape, which is a tuple of ints in most libraries."""
    return isinstance(result, tuple) and all(isinstance(item, int) for item in result)


def _record(result: Any) -> dict[str, Any]:
    array = _as_array(result)
    values = np.ascontiguousarray(array).reshape(-1)
    if values.dtype.kind == "c":
        values = values.view(values.real.dtype)
    mean = float(values.mean(dtype=np.float64)) if values.size else 0.0
    if values.size > _MOST_VALUES:
        values = values[np.linspace(0, values.size - 1, _MOST_VALUES).astype(np.int64)]
    dtype = str(getattr(result, "dtype", type(result).__name__)).rpartition(".")[2]
    return {
        "dtype": dtype,
        "shape": list(array.shape),
        "values": [float(value) for value in values],
        "mean": mean,
    }


def _as_array(result: Any) -> np.ndarray:
    if not hasattr(result, "detach"):
        return np.asarray(result)
    plain = result.detach()
    try:
        return np.asarray(plain.numpy())
    except (TypeError, RuntimeError):  # NumPy may not know the dtype (bfloat16)
        return np.asarray(plain.tolist())


def _difference(left: dict, right: dict, rtol: float | None) -> str | None:
    for what in ("dtype", "shape"):
        if left[what] != right[what]:
            return f"{what} {left[what]} against {right[what]}"
    dtype = left["dtype"]
    if rtol is None:
        rtol = _RTOL.get(dtype, 1e-9 if dtype == "float" else 0.0)
    pairs = list(zip([left["mean"], *left["values"]], [right["mean"], *right["values"]]))
    allowed = rtol * max((abs(value) for _, value in pairs if math.isfinite(value)), default=0.0)
    worst = max((_distance(one, other) for one, other in pairs), default=0.0)
    if worst <= allowed:
        return None
    return f"{dtype} values differ by {worst:.3g}, allowed {allowed:.3g}"


def _distance(one: float, other: float) -> float:
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    distance = abs(one - other)
    return math.inf if math.isnan(distance) else distance
