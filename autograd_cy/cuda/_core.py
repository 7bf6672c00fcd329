"""The ways of this package to CUDA: whether it can be used, its start, and indices of devices.

Nothing is imported or started before it is needed; `autograd_cy.cuda._start` does both.
"""

from __future__ import annotations

from typing import Any

from autograd_cy._C import streams as _streams
from autograd_cy._C.placement import _is_registered
from autograd_cy._C.placement import device as _device

CUDA = _device("cuda")


def registered() -> bool:
    """Tell if CUDA has been started in this process."""
    return _is_registered(CUDA)


def why_not() -> str | None:
    """Return what is missing for CUDA, or None; nothing is started to find out."""
    if registered():
        return None if _streams._device_count("cuda") else "no GPU is found"
    from autograd_cy.cuda import _start

    return _start.why_not()


def count() -> int:
    """Count the GPUs that can be used, 0 if anything is missing."""
    if registered():
        return _streams._device_count("cuda")
    from autograd_cy.cuda import _start

    return _start.device_count() if _start.why_not() is None else 0


def start() -> None:
    """Start CUDA if it hasn't been; a RuntimeError says what is missing."""
    if not registered():
        from autograd_cy.cuda import _start

        _start.start()


def current() -> int:
    """Return the index of this thread's current GPU, 0 before CUDA was started."""
    return _streams._current_index("cuda") if registered() else 0


def index_of(device: Any, optional: bool = True) -> int:
    """Return the index of a GPU by its number, name or device; None is the current one.

    Raises
    ------
    ValueError
        If it is a device of another type, or none is named although `optional` is False.
    """
    if isinstance(device, int) and not isinstance(device, bool):
        return device
    if device is not None:
        named = device if isinstance(device, _device) else _device(device)
        if named.type != "cuda":
            raise ValueError(f"Expected a cuda device, but got: {named}")
        if named.index is not None:
            return named.index
    if not optional:
        raise ValueError(
            f"Expected a torch.device with a specified index or an integer, but got: {device}"
        )
    return current()


def device_name(device: Any) -> str:
    """Start CUDA, and name the GPU that is meant, as ``"cuda:0"``; the index is checked."""
    start()
    index = current() if isinstance(device, int) and device < 0 else index_of(device)
    _streams._check_index("cuda", index)
    return f"cuda:{index}"
