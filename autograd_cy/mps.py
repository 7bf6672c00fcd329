"""The part of ``torch.mps`` that works without a GPU of Apple's, which is never there.

Seeds are taken and not used, as in torch without such a GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from autograd_cy._absent.accelerators import (
    device_count,
    is_available,
    manual_seed,
)
from autograd_cy._absent.names import no_attribute

__all__ = [
    "device_count",
    "is_available",
    "manual_seed",
]


if not TYPE_CHECKING:  # type checkers name what isn't there themselves

    def __getattr__(name: str) -> NoReturn:
        raise no_attribute(__name__, name)
