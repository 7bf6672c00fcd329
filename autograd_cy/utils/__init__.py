"""The names that programs import from ``torch.utils``: data loaders, checkpoints, hooks, files."""

from autograd_cy._lazy import attach as _attach
from autograd_cy.utils import checkpoint, hooks
from autograd_cy.utils._swapping import swap_tensors

__all__ = [
    "checkpoint",
    "data",
    "dlpack",
    "hooks",
    "preemption",
    "safetensors",
    "swap_tensors",
    "tensorboard",
    "weak",
]


__getattr__, __dir__ = _attach(
    __name__, ["_pytree", "data", "dlpack", "preemption", "safetensors", "tensorboard", "weak"]
)
