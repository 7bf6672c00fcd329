"""Mixed precision: products in bfloat16, sums and losses in float32."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from autograd_cy.amp import autocast_mode
from autograd_cy.amp.autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available

if TYPE_CHECKING:
    from autograd_cy.amp import grad_scaler as grad_scaler
    from autograd_cy.amp.grad_scaler import GradScaler as GradScaler

__all__ = [
    "GradScaler",
    "autocast",
    "autocast_mode",
    "custom_bwd",
    "custom_fwd",
    "grad_scaler",
    "is_autocast_available",
]


def __getattr__(name: str) -> object:
    # Loaded when first used: training in bfloat16 needs no scaler.
    if name in ("GradScaler", "grad_scaler"):
        module = import_module("autograd_cy.amp.grad_scaler")
        if name == "grad_scaler":
            return module
        globals()[name] = module.GradScaler
        return module.GradScaler
    raise AttributeError(f"module 'autograd_cy.amp' has no attribute {name!r}")
