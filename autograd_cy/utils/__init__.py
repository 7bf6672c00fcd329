"""The names that programs import from ``torch.utils``: data loaders, checkpoints, hooks, files."""

from importlib import import_module
from typing import Any

from autograd_cy._absent.names import no_attribute
from autograd_cy._environment.moved_modules import moved as _moved
from autograd_cy.utils import checkpoint, hooks
from autograd_cy.utils._swapping import swap_tensors

__all__ = [
    "checkpoint",
    "data",
    "dlpack",
    "hooks",
    "safetensors",
    "swap_tensors",
    "tensorboard",
]


def __getattr__(name: str) -> Any:
    if name in ("data", "safetensors", "tensorboard"):  # loaded when first used
        return import_module(f"autograd_cy.utils.{name}")
    found = _moved(__name__, name)
    if found is not None:
        return found
    raise no_attribute(__name__, name)
