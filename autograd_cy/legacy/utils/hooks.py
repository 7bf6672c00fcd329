"""The handle by which a hook is removed."""

from autograd_cy.utils.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
