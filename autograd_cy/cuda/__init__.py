"""What of ``torch.cuda`` concerns profiling; tensors are on the CPU.

`profiler` starts and stops NVIDIA's tools, `nvtx` marks ranges for them.
"""

from autograd_cy.cuda import nvtx as nvtx
from autograd_cy.cuda import profiler as profiler

__all__ = ["device_count", "is_available", "nvtx", "profiler"]

_TEXT = "tensors are on the CPU; leave .cuda() and device='cuda' out"


def is_available() -> bool:
    """
    Whether tensors can be on a GPU: never.

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

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.cuda.device_count()
    0
    """
    return 0


def __getattr__(name: str) -> object:
    raise AttributeError(f"module 'autograd_cy.cuda' has no attribute {name!r}: {_TEXT}")
