"""Data sets and loaders, and handles of hooks."""

from __future__ import annotations

from typing import Any

from . import data, hooks

__all__ = ["data", "hooks"]


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"module 'autograd_cy.legacy.utils' has no attribute {name!r}; there are data and hooks"
    )
