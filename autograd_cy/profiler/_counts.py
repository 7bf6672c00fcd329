"""Small helpers of torch's profiler that programs name: counts of steps, keys seen once."""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any, ClassVar

from autograd_cy._C._warned import warn as _warn

__all__ = ["EnforceUnique", "KinetoStepTracker"]


class EnforceUnique:
    """
    A set that refuses keys that it has seen.

    Examples
    --------
    >>> from autograd_cy.autograd.profiler import EnforceUnique
    >>> seen = EnforceUnique()
    >>> seen.see("a", 1)
    >>> seen.see("a", 2)
    """

    def __init__(self) -> None:
        self.seen: set[tuple] = set()

    def see(self, *key: Any) -> None:
        """
        Note a key.

        Raises
        ------
        RuntimeError
            If it was noted before.
        """
        if key in self.seen:
            raise RuntimeError("duplicate key: " + str(key))
        self.seen.add(key)


class KinetoStepTracker:
    """
    One count of steps for all who count: profilers and optimizers.

    The global step is the largest count that anyone has reached, and never falls.

    Examples
    --------
    >>> from autograd_cy.autograd.profiler import KinetoStepTracker
    >>> KinetoStepTracker.init_step_count("example")
    >>> step = KinetoStepTracker.increment_step("example")
    >>> step == KinetoStepTracker.current_step()
    True
    >>> KinetoStepTracker.erase_step_count("example")
    True
    """

    _current_step = 0
    _step_dict: ClassVar[dict[str, int]] = defaultdict(int)
    _listeners: ClassVar[list[Callable[[int], None]]] = []
    _lock: ClassVar[Any] = threading.RLock()  # a handler of signals may step, too

    @classmethod
    def init_step_count(cls, requester: str) -> None:
        """
        Begin to count for somebody, from the global step on.

        Parameters
        ----------
        requester : str
        """
        cls._step_dict[requester] = cls._current_step

    @classmethod
    def erase_step_count(cls, requester: str) -> bool:
        """
        Forget a count.

        Parameters
        ----------
        requester : str

        Returns
        -------
        bool
            Whether there was one.
        """
        return cls._step_dict.pop(requester, None) is not None

    @classmethod
    def increment_step(cls, requester: str) -> int:
        """
        Count a step of somebody.

        Parameters
        ----------
        requester : str

        Returns
        -------
        int
            The global step.
        """
        with cls._lock:  # several threads may train at once
            if requester not in cls._step_dict:
                cls.init_step_count(requester)
            cls._step_dict[requester] += 1
            before, new = cls._current_step, max(cls._step_dict.values())
            # Also where the warning is an error: else each later step would be one, too.
            cls._current_step = max(before, new)
        if new > before:
            if new - before > 1:
                _warn(
                    "Profiler step count has increased more than 1 - "
                    f"current_step = {before} step dict =  {cls._step_dict}",
                )
            for listener in cls._listeners:
                listener(new)
        return cls._current_step

    @classmethod
    def current_step(cls) -> int:
        """
        Return the global step.

        Returns
        -------
        int
        """
        return cls._current_step


def _renew_lock() -> None:
    KinetoStepTracker._lock = threading.RLock()


# Another thread may have had it when the process was forked.
os.register_at_fork(after_in_child=_renew_lock)
