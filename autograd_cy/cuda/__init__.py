"""What of ``torch.cuda`` concerns profiling, and what works in torch without a GPU.

`profiler` starts and stops NVIDIA's tools, `nvtx` marks ranges for them, `amp` has older names of
mixed precision. Tensors are on the CPU, so
seeds of GPUs are taken and not used, and no memory of theirs is in use, as in torch without a GPU.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from autograd_cy import OutOfMemoryError
from autograd_cy._absent.stand_ins import stand_in
from autograd_cy.cuda import nvtx as nvtx
from autograd_cy.cuda import profiler as profiler

if TYPE_CHECKING:
    from autograd_cy.cuda import amp as amp

__all__ = [
    "OutOfMemoryError",
    "amp",
    "device_count",
    "empty_cache",
    "get_arch_list",
    "get_rng_state_all",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "nvtx",
    "profiler",
    "seed",
    "seed_all",
    "set_rng_state_all",
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


def memory_reserved(device: Any = None) -> int:
    """
    Bytes of a GPU that are kept for tensors: none.

    Parameters
    ----------
    device : device, optional
        Not used.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.memory_reserved()
    0
    """
    return 0


def max_memory_reserved(device: Any = None) -> int:
    """
    The most bytes of a GPU that were kept for tensors: none.

    Parameters
    ----------
    device : device, optional
        Not used.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.max_memory_reserved()
    0
    """
    return 0


def seed() -> None:
    """
    Seed a GPU by chance, if there is one.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.seed()
    """


def seed_all() -> None:
    """
    Seed all GPUs by chance, of which there are none.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.seed_all()
    """


def get_rng_state_all() -> list:
    """
    The states of the generators of all GPUs, of which there are none.

    Returns
    -------
    list

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.get_rng_state_all()
    []
    """
    return []


def set_rng_state_all(new_states: Any) -> None:
    """
    Set the states of the generators of all GPUs, of which there are none.

    Parameters
    ----------
    new_states : iterable of Tensor
        What `get_rng_state_all` returned; it is not used.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.set_rng_state_all(ag.cuda.get_rng_state_all())
    """


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """
    Whether a GPU computes in bfloat16: there is none.

    Parameters
    ----------
    including_emulation : bool, optional
        Not used.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.is_bf16_supported()
    False
    """
    return False


def get_arch_list() -> list[str]:
    """
    The kinds of GPUs that this build is for: none.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.get_arch_list()
    []
    """
    return []


def __getattr__(name: str) -> object:
    if name == "amp":  # loaded when a program asks for it
        return import_module("autograd_cy.cuda.amp")
    return stand_in(__name__, name)
