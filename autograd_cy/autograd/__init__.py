"""Reverse mode: :func:`backward`, :func:`grad`, grad modes; forward mode: `forward_ad`.

Plain Python over the engine (``ext/engine``).
"""

from autograd_cy.autograd import forward_ad as forward_ad
from autograd_cy.autograd import functional as functional
from autograd_cy.autograd import grad_mode as grad_mode
from autograd_cy.autograd.grad_mode import enable_grad as enable_grad
from autograd_cy.autograd.grad_mode import inference_mode as inference_mode
from autograd_cy.autograd.grad_mode import no_grad as no_grad
from autograd_cy.autograd.grad_mode import set_grad_enabled as set_grad_enabled
from autograd_cy.autograd.gradients import backward as backward
from autograd_cy.autograd.gradients import grad as grad

# As in torch, the name of the module is also that of its function, which wins.
from autograd_cy.autograd.gradcheck import gradcheck as gradcheck  # isort: skip
from autograd_cy.autograd.gradcheck import gradgradcheck as gradgradcheck  # isort: skip

__all__ = [
    "backward",
    "enable_grad",
    "forward_ad",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
]
