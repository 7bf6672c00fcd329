"""What names of mixed precision for one kind of device say before they do what took their place."""

from __future__ import annotations

from autograd_cy._C._warned import warn as _warn

__all__ = ["warn_of_name"]


def warn_of_name(device: str, name: str, instead: str | None = None) -> None:
    """Warn that a name of ``torch.DEVICE.amp`` is deprecated; `instead`: what took its place."""
    instead = instead or f"{name}('{device}', args...)"
    _warn(
        f"`torch.{device}.amp.{name}(args...)` is deprecated. Please use `torch.amp.{instead}` "
        "instead.",
        FutureWarning,
    )
