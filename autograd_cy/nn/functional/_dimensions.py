"""Helpers that make functions for one, two and three dimensions of one body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["Sizes", "named", "per_dimension"]

Sizes = int | Sequence[int]

_SOME = ("", "one dimension", "two dimensions", "three dimensions")


def named(function: Callable[..., Any], name: str, doc: str, rank: int, **words: str) -> Any:
    """The function with the name and the text of one of so many dimensions."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc.format(
        name=name, rank=rank, some=_SOME[rank], opening="[" * rank, closing="]" * rank, **words
    )
    return function


def per_dimension(size: Any, rank: int) -> Any:
    """One number for all dimensions."""
    return size if isinstance(size, (tuple, list)) else (size,) * rank
