"""What programs import from ``torch.utils``: :mod:`hooks`."""

from autograd_cy.utils import hooks

__all__ = ["hooks"]
