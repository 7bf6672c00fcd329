"""Waiting for idle cores, and noticing when they were not idle.

A second busy process makes every parallel region wait for a time slice, on both sides of a
comparison. So each round waits for quiet cores first, and a round that was disturbed is marked.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_WINDOW = 0.1
_TOLERATED = 0.12  # foreign seconds per second
# The counters tick in hundredths of a second: two are noise, more where processes are subtracted.
_NOISE_WHEN_IDLE = 2.0 / _TICKS_PER_SECOND
_NOISE_WHEN_RUNNING = 5.0 / _TICKS_PER_SECOND


def busy_time(stat: str, cores: set[int]) -> float:
    """Return the seconds that some cores have been busy since boot.

    Parameters
    ----------
    stat : str
        Contents of ``/proc/stat``.
    cores : set of int
        The cores to count.

    Returns
    -------
    float
        Time spent on anything but idling and waiting for input and output; time stolen by a
        hypervisor counts as busy.

    Examples
    --------
    >>> busy_time("cpu0 100 0 50 900 7 0 0 0 0 0", {0}) * _TICKS_PER_SECOND
    150.0
    """
    ticks = 0
    for line in stat.splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name[3:].isdigit() and int(name[3:]) in cores:
            user, nice, system, _idle, _wait, *interrupts = map(int, fields[:8])
            ticks += user + nice + system + sum(interrupts)
    return ticks / _TICKS_PER_SECOND


class Cores:
    """The cores that this process may use, and how busy others keep them.

    Parameters
    ----------
    patience : float
        Most seconds to wait before one round.
    budget : float
        Most seconds to wait in all.
    own_time : callable
        Returns the processor seconds used by the processes under test.

    Examples
    --------
    >>> cores = Cores(0.0, 0.0, lambda: 0.0)
    >>> cores.wait_until_quiet() in (True, False)
    True
    """

    def __init__(self, patience: float, budget: float, own_time: Callable[[], float]) -> None:
        self._patience = patience
        self._budget = budget
        self._own_time = own_time
        self._cores = _usable_cores()
        self._start = (0.0, 0.0, 0.0)

    def wait_until_quiet(self) -> bool:
        """Wait until the cores have been idle for a tenth of a second.

        Returns
        -------
        bool
            False if they were still busy when the patience or the budget ended.
        """
        deadline = time.monotonic() + min(self._patience, self._budget)
        while True:
            before, start = self._busy(), time.monotonic()
            time.sleep(_WINDOW)
            now = time.monotonic()
            if self._busy() - before <= max(_TOLERATED * (now - start), _NOISE_WHEN_IDLE):
                return True
            self._budget -= now - start
            if now >= deadline:
                return False

    def start_round(self) -> None:
        """Remember where the counters stand."""
        self._start = (self._busy(), self._own_time(), time.monotonic())

    def was_disturbed(self) -> bool:
        """Tell whether other processes used the cores since ``start_round``.

        Returns
        -------
        bool
        """
        busy, own, start = self._start
        foreign = (self._busy() - busy) - (self._own_time() - own)
        return foreign > max(_TOLERATED * (time.monotonic() - start), _NOISE_WHEN_RUNNING)

    def _busy(self) -> float:
        try:
            return busy_time(Path("/proc/stat").read_text(), self._cores)
        except OSError:  # not Linux: nothing is known, nothing is waited for
            return 0.0


def _usable_cores() -> set[int]:
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))
