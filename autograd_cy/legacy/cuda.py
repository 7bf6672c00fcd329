"""GPUs as programs of the era ask for them; where there is none, what needs one is refused."""

from __future__ import annotations

from typing import Any

import autograd_cy as ag
from autograd_cy._lazy import attach as _attach

from .tensors.classes import TYPES
from .tensors.memory import a_gpu

__all__ = [
    *TYPES,
    "current_device",
    "device",
    "device_count",
    "is_available",
    "manual_seed",
    "manual_seed_all",
    "synchronize",
]


class _OnGpu(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        own: Any = TYPES[cls.__name__]
        return isinstance(instance, own) and instance.is_cuda


def _tensor_type(name: str) -> Any:
    def make(cls: Any, *args: Any) -> Any:
        if not is_available():
            raise RuntimeError(
                f"torch.cuda.{name}: there is no GPU; use torch.{name}, or ask cuda.is_available()"
            )
        return TYPES[name](*args).cuda()

    body = {
        "__new__": make,
        "__module__": __name__,
        "__doc__": f"The {name} of a GPU: of sizes, values or a tensor.",
    }
    return _OnGpu(name, (), body)


# Programs ask isinstance(x.data, torch.cuda.FloatTensor) whether they have a GPU.
globals().update({name: _tensor_type(name) for name in TYPES})


def is_available() -> bool:
    """
    Return whether there is a GPU that can be used.

    Examples
    --------
    >>> import autograd_cy as ag, autograd_cy.legacy as torch
    >>> torch.cuda.is_available() == ag.cuda.is_available()
    True
    """
    return ag.cuda.is_available()


def device_count() -> int:
    """
    The number of GPUs.

    Examples
    --------
    >>> import autograd_cy as ag, autograd_cy.legacy as torch
    >>> torch.cuda.device_count() == ag.cuda.device_count()
    True
    """
    return ag.cuda.device_count()


def current_device() -> int:
    """The number of the GPU that is used unless another is named; an error without one."""
    if not is_available():
        raise RuntimeError(
            "there is no GPU: tensors are on the CPU; ask cuda.is_available() before cuda's "
            "functions"
        )
    return ag.cuda.current_device()


def device(idx: int) -> Any:
    """Let another GPU be the current one in a block; an error without one."""
    a_gpu()
    return ag.cuda.device(idx)


def synchronize() -> None:
    """Wait for all work of the current GPU; nothing without one."""
    if ag.cuda.is_initialized():
        ag.cuda.synchronize()


def manual_seed(seed: int) -> None:
    """Seed the generator of the current GPU; nothing without one."""
    ag.cuda.manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all GPUs; nothing without one."""
    ag.cuda.manual_seed_all(seed)


__getattr__, __dir__ = _attach(__name__, hint=": leave it out, or use autograd_cy.cuda")
