"""Hooks that reduce the gradients of DistributedDataParallel in another way."""

from __future__ import annotations

from . import default_hooks

__all__ = ["default_hooks"]
