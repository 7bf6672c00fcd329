"""A limit for the time of a call of MPI in which neither signals nor exceptions are seen."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import warnings
from collections.abc import Callable, Iterator

__all__ = ["limit"]


@contextlib.contextmanager
def limit(seconds: float, act: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Kill this process if the block takes longer; a child process waits for that.

    Parameters
    ----------
    seconds : float
        The time.
    act : callable, optional
        What the child does before it kills. It is a fork: it may write to descriptors and start
        programs, but must call neither MPI nor the package.
    """
    parent, (ready, ended) = os.getpid(), os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork beside threads
        child = os.fork()
    if child == 0:
        try:
            os.close(ended)  # else the end of the parent wouldn't be seen
            if not select.select([ready], [], [], seconds)[0]:
                act()
                os.kill(parent, signal.SIGKILL)
        finally:
            os._exit(0)
    os.close(ready)
    try:
        yield
    finally:
        os.close(ended)
        os.waitpid(child, 0)
