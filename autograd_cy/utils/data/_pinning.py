"""Batches in memory that an accelerator copies from directly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autograd_cy._C.creation import _can_pin
from autograd_cy._C.tensor import Tensor
from autograd_cy.utils.data.collate import _like_mapping, _like_sequence

__all__ = ["pinned", "pins"]


def pins(wanted: bool) -> bool:
    """Tell if batches are to be pinned: it is wanted, and some accelerator can do so."""
    return wanted and _can_pin()


def pinned(data: Any) -> Any:
    """Pin each tensor in containers, and what has a method ``pin_memory``; the rest stays."""
    if isinstance(data, Tensor):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, Mapping):
        return _like_mapping(data, {key: pinned(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(pinned, data))
    if isinstance(data, tuple):
        return [pinned(x) for x in data]
    if isinstance(data, Sequence):
        return _like_sequence(data, [pinned(x) for x in data])
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    return data
