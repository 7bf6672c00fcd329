"""Ranges and marks for NVIDIA's tools, by the package nvtx."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from autograd_cy.profiler._ranges import nvtx_functions

__all__ = ["mark", "range", "range_pop", "range_push"]

_depth = threading.local()


def range_push(msg: str) -> int:
    """
    Begin a range.

    Parameters
    ----------
    msg : str

    Returns
    -------
    int
        Number of ranges around it in this thread.

    Raises
    ------
    RuntimeError
        Without the package nvtx.
    """
    nvtx_functions("nvtx.range_push")[0](msg)
    depth: int = getattr(_depth, "value", 0)
    _depth.value = depth + 1
    return depth


def range_pop() -> int:
    """
    End the innermost range.

    Returns
    -------
    int
        Number of ranges that are left in this thread; -1 if there was none.

    Raises
    ------
    RuntimeError
        Without the package nvtx.
    """
    pop = nvtx_functions("nvtx.range_pop")[1]
    depth: int = getattr(_depth, "value", 0) - 1
    if depth >= 0:
        pop()
        _depth.value = depth
    return depth


def mark(msg: str) -> None:
    """
    Mark this moment.

    Parameters
    ----------
    msg : str

    Raises
    ------
    RuntimeError
        Without the package nvtx.
    """
    nvtx_functions("nvtx.mark")[2](msg)


@contextmanager
def range(msg: str, *args: object, **kwargs: object) -> Iterator[None]:
    """
    A range around a block, or, as decorator, around a function.

    Parameters
    ----------
    msg : str
        Formatted with the further arguments.

    Raises
    ------
    RuntimeError
        Without the package nvtx, on entering.
    """
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
