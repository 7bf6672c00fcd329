"""Older names of mixed precision for one kind of device: their warning, and the base of scalers."""

from __future__ import annotations

from typing import ClassVar

from autograd_cy._C._warned import warn as _warn
from autograd_cy.amp.grad_scaler import GradScaler

__all__ = ["OlderGradScaler", "warn_of_name"]


def warn_of_name(device: str, name: str, instead: str | None = None) -> None:
    """Warn that a name of ``torch.DEVICE.amp`` is deprecated; `instead`: what took its place."""
    instead = instead or f"{name}('{device}', args...)"
    _warn(
        f"`torch.{device}.amp.{name}(args...)` is deprecated. Please use `torch.amp.{instead}` "
        "instead.",
        FutureWarning,
    )


class OlderGradScaler(GradScaler):
    """The base of the scalers of one kind of device."""

    _of_device: ClassVar[str]

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        warn_of_name(self._of_device, "GradScaler")
        super().__init__(
            self._of_device, init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )
