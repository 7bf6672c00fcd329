"""What programs import from ``torch.utils``: data loaders, checkpoints, hooks, files."""

from importlib import import_module
from typing import Any

from autograd_cy._absent.names import no_attribute
from autograd_cy.utils import checkpoint, hooks

__all__ = ["checkpoint", "data", "hooks", "safetensors"]


def __getattr__(name: str) -> Any:
    if name in ("data", "safetensors"):  # loaded when first used
        return import_module(f"autograd_cy.utils.{name}")
    raise no_attribute(__name__, name)
