"""Collectives with derivatives."""

from __future__ import annotations

from autograd_cy._lazy import attach as _attach

from . import functional
from .functional import all_gather, all_reduce, all_to_all, broadcast, gather, reduce, scatter

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "broadcast",
    "functional",
    "gather",
    "reduce",
    "scatter",
]

__getattr__, __dir__ = _attach(__name__)
