"""Docstrings of classes and functions that differ from another one's in a few words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

__all__ = ["described_like"]

_Described = TypeVar("_Described", bound=Callable[..., Any])


def described_like(other: Any, words: Mapping[str, str]) -> Callable[[_Described], _Described]:
    """Decorate with the docstring of another, in which words are replaced, in this order.

    A word that the docstring hasn't is an error, so that a change of the docstring can't pass
    by those that are made of it.
    """

    def describe(described: _Described) -> _Described:
        text = other.__doc__
        if text is not None:  # as it is under `python -OO`
            for word, replacement in words.items():
                if word not in text:
                    raise ValueError(f"the docstring of {other.__qualname__} has no {word!r}")
                text = text.replace(word, replacement)
            described.__doc__ = text
        return described

    return describe
