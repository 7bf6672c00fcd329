"""Mixed precision: products in bfloat16, sums and losses in float32."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograd_cy._lazy import attach as _attach
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


__getattr__, __dir__ = _attach(__name__, ["grad_scaler"], {"amp.grad_scaler": "GradScaler"})
