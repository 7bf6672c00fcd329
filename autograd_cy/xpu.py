"""What of ``torch.xpu`` works without a GPU of Intel's: the answers are those of any absent GPU.

Seeds are taken and not used, as in torch without such a GPU.
"""

from __future__ import annotations

from autograd_cy.cuda import (
    device_count,
    empty_cache,
    is_available,
    is_initialized,
    manual_seed,
    manual_seed_all,
)

__all__ = [
    "device_count",
    "empty_cache",
    "is_available",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
]


def __getattr__(name: str) -> object:
    raise AttributeError(
        f"module 'autograd_cy.xpu' has no attribute {name!r}: tensors are on the CPU; leave "
        ".xpu() and device='xpu' out"
    )
