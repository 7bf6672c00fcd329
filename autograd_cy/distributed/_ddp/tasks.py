"""The end of a backward that may have others inside, as checkpoints with use_reentrant=True do."""

from __future__ import annotations

from collections.abc import Callable

from autograd_cy._C._names import _current_graph_task_id
from autograd_cy._C.engine import _is_running
from autograd_cy.autograd import Variable

__all__ = ["Tasks"]


class Tasks:
    """The backwards in which gradients have come since the last forward pass."""

    def __init__(self) -> None:
        self._queued: set[int] = set()
        self._first = self._before = -1

    def begin(self) -> None:
        """Note that the first gradient has come."""
        self._before, self._first = self._first, _current_graph_task_id()
        self._queued = set()

    def queue(self, finish: Callable[[], None]) -> None:
        """Let a function be called at the end of this backward: once, if often asked."""
        task = _current_graph_task_id()
        if task not in self._queued:
            self._queued.add(task)
            Variable._execution_engine.queue_callback(finish)

    def are_inside(self) -> bool:
        """Return whether this backward is inside of another, whose gradients may still come."""
        # Outer ones have smaller numbers, and began after the last step.
        outer = range(_current_graph_task_id() - 1, self._before, -1)
        return any(_is_running(task) for task in outer)
