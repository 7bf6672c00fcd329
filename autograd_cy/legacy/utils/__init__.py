"""Data sets and loaders, and handles of hooks."""

from __future__ import annotations

from autograd_cy._lazy import attach as _attach

from . import data, hooks

__all__ = ["data", "hooks"]


__getattr__, __dir__ = _attach(__name__, hint="; there are data and hooks")
