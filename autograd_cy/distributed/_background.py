"""A thread that lets operations between ranks go on while this process computes.

Most MPIs move data only while they are asked. Backward asks between two operators, and some of
these take long: the thread asks meanwhile, in the moments in which the main thread doesn't need
Python's lock. Between hosts that hides most of a reduction. On one host, data are moved by the
processor that computes, and a second thread only interrupts it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence

__all__ = ["Background", "is_wanted"]

#: Seconds between two calls.
PAUSE = 2e-4


def is_wanted(hosts: Sequence[str]) -> bool:
    """Return whether ranks of these hosts use a thread: where AUTOGRAD_CY_MPI_THREAD says so.

    Without that where they are on several hosts.
    """
    switch = os.environ.get("AUTOGRAD_CY_MPI_THREAD", "")
    return switch != "0" if switch else len(set(hosts)) > 1


class Background:
    """Calls a function again and again in a thread of its own, between ``begin`` and ``end``.

    Parameters
    ----------
    function : callable
        Without arguments; must not raise.
    """

    def __init__(self, function: Callable[[], None]) -> None:
        self._function = function
        self._wanted = threading.Event()
        self._call = threading.Lock()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Start calling; the thread is made at the first time, and sleeps between."""
        if self._thread is None:
            # A daemon, since it never ends.
            self._thread = threading.Thread(
                target=self._run, name="autograd_cy.distributed", daemon=True
            )
            self._thread.start()
        self._wanted.set()

    def end(self) -> None:
        """Stop calling: no call is under way after this returns."""
        if self._wanted.is_set():
            self._wanted.clear()
            with self._call:
                pass

    def _run(self) -> None:
        while True:
            self._wanted.wait()
            with self._call:
                if self._wanted.is_set():
                    self._function()
            time.sleep(PAUSE)
