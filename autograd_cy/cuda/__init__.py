"""What of ``torch.cuda`` concerns profiling, and what works in torch without a GPU.

`profiler` starts and stops NVIDIA's tools, `nvtx` marks ranges for them, `amp` has older names of
mixed precision. Tensors are on the CPU, so
seeds of GPUs are taken and not used, and no memory of theirs is in use, as in torch without a GPU.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from autograd_cy._absent.names import no_attribute
from autograd_cy.cuda import nvtx as nvtx
from autograd_cy.cuda import profiler as profiler

if TYPE_CHECKING:
    from autograd_cy.cuda import amp as amp

__all__ = [
    "amp",
    "device_count",
    "empty_cache",
    "is_available",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "memory_allocated",
    "nvtx",
    "profiler",
]


def is_available() -> bool:
    """
    Whether tensors can be on a GPU: never.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.is_available()
    False
    """
    return False


def device_count() -> int:
    """
    Number of GPUs for tensors: none.

    Returns
    -------
    int

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.device_count()
    0
    """
    return 0


def is_initialized() -> bool:
    """
    Whether GPUs are in use: never.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.is_initialized()
    False
    """
    return False


def manual_seed(seed: int) -> None:
    """
    Do nothing: there is no GPU to seed; ``autograd_cy.manual_seed`` seeds the CPU.

    Parameters
    ----------
    seed : int
        Not used.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.manual_seed(0)
    """
    int(seed)


def manual_seed_all(seed: int) -> None:
    """
    Do nothing: there is no GPU to seed; ``autograd_cy.manual_seed`` seeds the CPU.

    Parameters
    ----------
    seed : int
        Not used.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.manual_seed_all(0)
    """
    int(seed)


def empty_cache() -> None:
    """
    Do nothing: there is no memory of a GPU; ``autograd_cy.empty_cache`` frees that of the CPU.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.empty_cache()
    """


def memory_allocated(device: Any = None) -> int:
    """
    Bytes of a GPU in use: none.

    Parameters
    ----------
    device : device, optional
        Not used.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.memory_allocated()
    0
    """
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """
    The most bytes of a GPU that were in use: none.

    Parameters
    ----------
    device : device, optional
        Not used.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.max_memory_allocated()
    0
    """
    return 0


def __getattr__(name: str) -> object:
    if name == "amp":  # loaded when a program asks for it
        return import_module("autograd_cy.cuda.amp")
    raise no_attribute(__name__, name)
