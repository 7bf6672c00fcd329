"""Tensors as text: rows of numbers, then ``[torch.FloatTensor of size 2x3]``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_cy import Tensor

from .wrapping import typename

__all__ = ["set_printoptions", "text_of_tensor"]

_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}
_options = dict(_PROFILES["default"])
GAP = "..."


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
) -> None:
    """
    Set the format in which tensors of the era are printed.

    Parameters
    ----------
    precision : int, optional
        Digits after the point.
    threshold : int, optional
        Up to how many elements a tensor is shown whole.
    edgeitems : int, optional
        How many elements a larger one shows at each end of a dimension.
    linewidth : int, optional
        Characters in a line.
    profile : {"default", "short", "full"}, optional
        Several of these at once.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> torch.set_printoptions(precision=2)
    >>> torch.FloatTensor([0.5])
    <BLANKLINE>
     0.50
    [torch.FloatTensor of size 1]
    <BLANKLINE>
    >>> torch.set_printoptions(profile="default")
    """
    if profile is not None:
        _options.update(_PROFILES[profile])
    options = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    _options.update({name: value for name, value in options.items() if value is not None})


def _exponent(x):
    return math.floor(math.log10(x)) + 1 if x else 1


def _number_format(values):
    """(factor that all are divided by, function that shows one) for the numbers of a tensor."""
    digits = _options["precision"]
    size = np.abs(values[np.isfinite(values)])
    least = 3 if size.size < values.size else 0
    low, high = (_exponent(x) for x in (size.min(), size.max())) if size.size else (1, 1)
    exponents = max(least, digits + 7 + (max(abs(low), abs(high)) > 99))
    if (size == np.floor(size)).all():
        if high > digits + 1:
            return 1, lambda x: f"{x:{exponents}.{digits}e}"
        return 1, lambda x: f"{x:{max(least, high + 1)}.0f}"
    if high - low > digits:
        return 1, lambda x: f"{x:{exponents}.{digits}e}"
    if high > digits + 1 or high < 0:
        return 10.0 ** (high - 1), lambda x: f"{x:{digits + 3}.{digits}f}"
    width = max(least, digits + 3 if high == 0 else digits + 2 + high)
    return 1, lambda x: f"{x:{width}.{digits}f}"


def _shown_places(count, whole):
    """The places along a dimension that are shown, None for a gap."""
    edge = _options["edgeitems"]
    if whole or count <= 2 * edge:
        return list(range(count))
    return [*range(edge), None, *range(count - edge, count)]


def _matrix(values, whole, show, indent):
    rows = _shown_places(values.shape[0], whole)
    columns = _shown_places(values.shape[1], whole)
    cells = [[GAP if r is None or c is None else show(values[r, c]) for c in columns] for r in rows]
    width = max(len(cell) for row in cells for cell in row) + 1
    fits = max(1, (_options["linewidth"] - len(indent)) // width)
    parts = []
    for first in range(0, len(columns), fits):
        last = min(first + fits, len(columns))
        head = ""
        if len(columns) > fits:
            name = "Column " if last - first == 1 else "Columns "
            head = f"{name}{columns[first]}"
            head += "" if last - first == 1 else f" to {columns[last - 1]}"
            head += " \n"
        lines = [" ".join(x.rjust(width - 1) for x in row[first:last]) for row in cells]
        parts.append(head + "".join(f"{indent}{line}\n" for line in lines))
    return "\n".join(parts)


def _scale_line(factor):
    return "" if factor == 1 else f"{factor:.5e} *\n"


def _body(array):
    whole = array.size <= _options["threshold"]
    numbers = array.astype(np.float64)
    factor, show = _number_format(numbers)
    if array.dtype.kind in "iu":
        width = max(len(str(array.max())) + 1, len(str(array.min())))
        factor, numbers = 1, array

        def show(x):
            return f"{x:{width}d}"

    else:
        numbers = numbers / factor
    if array.ndim == 1:
        lines = (GAP if i is None else show(numbers[i]) for i in _shown_places(len(array), whole))
        return _scale_line(factor) + "".join(f"{line}\n" for line in lines)
    if array.ndim == 2:
        return _scale_line(factor) + _matrix(numbers, whole, show, "")
    parts = []
    places = list(np.ndindex(array.shape[:-2]))
    for place in places if whole else places[: 2 * _options["edgeitems"]]:
        names = ",".join(f"{i} " for i in place)
        text = _scale_line(factor) + _matrix(numbers[place], whole, show, " ")
        parts.append(f"({names},.,.) = \n{text}")
    if len(parts) < len(places):
        parts.append(f"{GAP}\n")
    return "\n".join(parts)


def text_of_tensor(t: Tensor) -> str:
    """The text of a tensor, which begins and ends with a line break."""
    if not Tensor.numel(t):
        return f"[{typename(t)} with no dimension]\n"
    size = "x".join(map(str, t.shape))
    return f"\n{_body(Tensor.numpy(t))}[{typename(t)} of size {size}]\n"
