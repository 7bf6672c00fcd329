"""The part of ``torch.mps`` that works without a GPU of Apple's, which is never there.

Seeds are taken and not used, as in torch without such a GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograd_cy._lazy import attach as _attach
from autograd_cy.xpu import device_count, is_available, manual_seed

__all__ = [
    "device_count",
    "is_available",
    "manual_seed",
]


if not TYPE_CHECKING:  # type checkers name what isn't there themselves
    __getattr__, __dir__ = _attach(__name__)
