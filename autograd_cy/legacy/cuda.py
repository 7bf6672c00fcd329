"""There is no GPU: ``is_available()`` says so, and what needs one is refused."""

from __future__ import annotations

from typing import Any

__all__ = ["current_device", "device_count", "is_available", "manual_seed", "manual_seed_all"]


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


def manual_seed(seed: int) -> None:
    """Nothing: there is no generator to seed."""


def manual_seed_all(seed: int) -> None:
    """Nothing: there is no generator to seed."""


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"module 'autograd_cy.legacy.cuda' has no attribute {name!r}: there is no GPU, leave it "
        "out or ask cuda.is_available() before"
    )
