"""Mixed precision by the names of older programs: those of :mod:`autograd_cy.amp` for the CPU."""

from autograd_cy.cpu.amp import autocast_mode as autocast_mode
from autograd_cy.cpu.amp import grad_scaler as grad_scaler
from autograd_cy.cpu.amp.autocast_mode import autocast
from autograd_cy.cpu.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast"]
