"""What of ``torch.mps`` works without a GPU of Apple's: the answers are those of any absent GPU.

Seeds are taken and not used, as in torch without such a GPU.
"""

from __future__ import annotations

from autograd_cy.cuda import (
    device_count,
    is_available,
    manual_seed,
)

__all__ = [
    "device_count",
    "is_available",
    "manual_seed",
]


def __getattr__(name: str) -> object:
    raise AttributeError(
        f"module 'autograd_cy.mps' has no attribute {name!r}: tensors are on the CPU; leave "
        "device='mps' out"
    )
