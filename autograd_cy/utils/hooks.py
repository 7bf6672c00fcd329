"""Hooks: what they are removed with, and how pickles and modules treat them."""

from typing import TYPE_CHECKING, Any

from autograd_cy._tensors.hooks import RemovableHandle, unserializable_hook, warn_if_has_hooks

if TYPE_CHECKING:
    from autograd_cy.nn.backward_hooks import BackwardHook as BackwardHook

__all__ = ["BackwardHook", "RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def __getattr__(name: str) -> Any:
    if name == "BackwardHook":  # modules are loaded by what uses them
        from autograd_cy.nn.backward_hooks import BackwardHook

        return BackwardHook
    raise AttributeError(f"module 'autograd_cy.utils.hooks' has no attribute {name!r}")
