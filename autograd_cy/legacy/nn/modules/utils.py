"""Numbers for each dimension."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any

__all__ = ["per_dimension"]


def per_dimension(value: Any, count: int) -> tuple[Any, ...]:
    """One number for each dimension: as given, or the same for all."""
    return tuple(value) if isinstance(value, Iterable) else tuple(repeat(value, count))


def _ntuple(n: int) -> Callable[[Any], tuple[Any, ...]]:
    # By this name programs of the time imported it, and the three below.
    return lambda x: per_dimension(x, n)


_single, _pair, _triple, _quadruple = map(_ntuple, (1, 2, 3, 4))
