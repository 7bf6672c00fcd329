"""There is no GPU: ``is_available()`` says so, and what needs one is refused."""

from __future__ import annotations

from typing import Any

from .tensors.classes import TYPES

__all__ = [
    *TYPES,
    "current_device",
    "device_count",
    "is_available",
    "manual_seed",
    "manual_seed_all",
    "synchronize",
]


class _OnGpu(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return False  # as nothing is there


def _tensor_type(name: str) -> Any:
    def make(cls: Any, *args: Any) -> Any:
        raise RuntimeError(
            f"torch.cuda.{name}: there is no GPU; use torch.{name}, or ask cuda.is_available()"
        )

    body = {
        "__new__": make,
        "__module__": __name__,
        "__doc__": f"The {name} of a GPU: no tensor is one, and none can be made.",
    }
    return _OnGpu(name, (), body)


# Programs ask isinstance(x.data, torch.cuda.FloatTensor) whether they have a GPU.
globals().update({name: _tensor_type(name) for name in TYPES})


def is_available() -> bool:
    """
    False.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> torch.cuda.is_available()
    False
    """
    return False


def device_count() -> int:
    """
    0.

    Examples
    --------
    >>> import autograd_cy.legacy as torch
    >>> torch.cuda.device_count()
    0
    """
    return 0


def current_device() -> int:
    """Refused: there is none."""
    raise RuntimeError(
        "there is no GPU: tensors are on the CPU; ask cuda.is_available() before cuda's functions"
    )


def synchronize() -> None:
    """Nothing: all work is done when a call returns."""


def manual_seed(seed: int) -> None:
    """Nothing: there is no generator to seed."""


def manual_seed_all(seed: int) -> None:
    """Nothing: there is no generator to seed."""


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"module 'autograd_cy.legacy.cuda' has no attribute {name!r}: there is no GPU, leave it "
        "out or ask cuda.is_available() before"
    )
