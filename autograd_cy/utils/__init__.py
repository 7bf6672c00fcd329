"""What programs import from ``torch.utils``: :mod:`checkpoint` and :mod:`hooks`."""

from autograd_cy.utils import checkpoint, hooks

__all__ = ["checkpoint", "hooks"]
