"""Mixed precision by the names of older programs: those of :mod:`autograd_cy.amp` for a GPU.

Where there is none, nothing is converted and no loss scaled; programs that ask run as they are.
"""

from autograd_cy.cuda.amp import autocast_mode as autocast_mode
from autograd_cy.cuda.amp import common as common
from autograd_cy.cuda.amp import grad_scaler as grad_scaler
from autograd_cy.cuda.amp.autocast_mode import autocast, custom_bwd, custom_fwd
from autograd_cy.cuda.amp.common import amp_definitely_not_available
from autograd_cy.cuda.amp.grad_scaler import GradScaler

__all__ = [
    "GradScaler",
    "amp_definitely_not_available",
    "autocast",
    "custom_bwd",
    "custom_fwd",
]
