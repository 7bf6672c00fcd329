"""Hooks: what they are removed with, and how pickles and modules treat them."""

from typing import TYPE_CHECKING

from autograd_cy._lazy import attach as _attach
from autograd_cy._tensors.hooks import RemovableHandle, unserializable_hook, warn_if_has_hooks

if TYPE_CHECKING:
    from autograd_cy.nn.backward_hooks import BackwardHook as BackwardHook

__all__ = ["BackwardHook", "RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


__getattr__, __dir__ = _attach(__name__, attributes={"nn.backward_hooks": "BackwardHook"})
