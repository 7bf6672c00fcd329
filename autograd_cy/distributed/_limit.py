"""A limit for the time of a call of MPI in which neither signals nor exceptions are seen."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import warnings
from collections.abc import Callable, Iterator

__all__ = ["limit"]

#: Descriptors of a process are below this number.
_DESCRIPTORS = 1 << 20


@contextlib.contextmanager
def limit(seconds: float, act: Callable[[], None] | None = None) -> Iterator[None]:
    """Kill this process if the block takes longer; a child process waits for that.

    Parameters
    ----------
    seconds : float
        The time.
    act : callable, optional
        Called by the child before it kills. It has the outputs of this process alone, and as a fork
        it must call neither MPI nor the package.
    """
    parent = os.getpid()
    try:
        ready, ended = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of fork beside threads
            child = os.fork()
    except OSError:  # no process or descriptor is left: then without a limit
        yield
        return
    if child == 0:
        try:
            # Launchers wait for the ends of the parent's pipes and sockets, and select for one.
            os.dup2(ready, 0)
            os.closerange(3, _DESCRIPTORS)
            if act is None:
                os.closerange(1, 3)
            if not select.select([0], [], [], seconds)[0]:
                if act is not None:
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
