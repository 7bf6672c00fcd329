"""Futures of operations: to wait for one completes its operation."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from autograd_cy.futures import Future

__all__ = ["OperationFuture"]


class OperationFuture(Future):
    """The result of an operation, or of a function of it.

    Parameters
    ----------
    complete : callable
        Waits for the operation, or asks MPI whether it is complete (``complete(wait=False)``);
        returns whether it is.
    value : callable
        Returns the result, after the operation is complete.
    """

    def __init__(self, complete: Callable[[bool], bool], value: Callable[[], Any]) -> None:
        super().__init__()
        self._complete_operation = complete
        self._value = value
        self._lock = threading.RLock()
        self._is_taking = False

    def _settle(self, wait: bool) -> bool:
        # One of several threads that wait makes the result.
        if not self._done and self._lock.acquire(wait):
            try:
                # Not again, in the handler of a signal that interrupts it.
                if not self._done and not self._is_taking and self._complete_operation(wait):
                    self._take_value()
            finally:
                self._lock.release()
        return self._done

    def _take_value(self) -> None:
        self._is_taking = True
        try:
            result = self._value()
        except Exception as error:
            self.set_exception(error)
        else:
            self.set_result(result)

    def done(self) -> bool:
        """Return whether the operation is complete."""
        return self._settle(False)

    def wait(self) -> Any:
        """Wait for the operation, and return its result."""
        self._settle(True)
        return self.value()

    def then(self, callback: Callable[[Future], Any]) -> OperationFuture:
        """Return the future of a function of this one, which is called once it is complete."""

        def complete(wait: bool) -> bool:
            return self._settle(wait)

        return OperationFuture(complete, lambda: callback(self))
