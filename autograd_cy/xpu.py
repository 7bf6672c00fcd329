"""The part of ``torch.xpu`` that works without a GPU of Intel's, which is never there.

Seeds are taken and not used, as in torch without such a GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from autograd_cy._absent.accelerators import (
    device_count,
    empty_cache,
    is_available,
    is_initialized,
    manual_seed,
    manual_seed_all,
)
from autograd_cy._absent.names import no_attribute

__all__ = [
    "device_count",
    "empty_cache",
    "is_available",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
]


if not TYPE_CHECKING:  # type checkers name what isn't there themselves

    def __getattr__(name: str) -> NoReturn:
        raise no_attribute(__name__, name)
