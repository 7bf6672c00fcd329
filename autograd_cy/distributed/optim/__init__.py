"""Optimizers whose state is spread over ranks."""

from __future__ import annotations

from autograd_cy._lazy import attach as _attach

from .zero_redundancy import ZeroRedundancyOptimizer

__all__ = ["ZeroRedundancyOptimizer"]

__getattr__, __dir__ = _attach(__name__)
