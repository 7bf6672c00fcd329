"""Results that are there later: what programs import from ``torch.futures``, in plain Python."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import GenericAlias
from typing import Any

__all__ = ["Future", "collect_all", "wait_all"]


class Future:
    """
    A result that another thread, or a later line, sets.

    Parameters
    ----------
    devices : list, optional
        Of GPUs; without effect.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> future = ag.futures.Future()
    >>> doubled = future.then(lambda done: 2 * done.value())
    >>> future.set_result(3)
    >>> future.done(), doubled.wait()
    (True, 6)
    """

    __class_getitem__: Any = classmethod(GenericAlias)

    def __init__(self, *, devices: Any = None) -> None:
        self._changed = threading.Condition()
        self._done = False
        self._result: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Future], Any]] = []

    def done(self) -> bool:
        """Tell whether there is a result or an error."""
        return self._done

    def wait(self) -> Any:
        """Wait for the result and return it; an error that was set is raised."""
        with self._changed:
            self._changed.wait_for(self.done)
        return self.value()

    def value(self) -> Any:
        """Return the result of a future that is done; an error that was set is raised."""
        if not self._done:
            raise RuntimeError("Future.value: it isn't completed yet; use wait()")
        if self._error is not None:
            raise self._error
        return self._result

    def set_result(self, result: Any) -> None:
        """Set the result, and call what waits for it."""
        self._complete(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Set an error, which whoever asks for the result gets."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._complete(None, result)

    def _complete(self, result: Any, error: BaseException | None) -> None:
        with self._changed:
            if self._done:
                raise RuntimeError(
                    "Attempting to mark a completed Future as complete again. Note that a Future "
                    "can only be marked completed once."
                )
            self._result, self._error, self._done = result, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._changed.notify_all()
        for callback in callbacks:
            callback(self)

    def add_done_callback(self, callback: Callable[[Future], Any]) -> None:
        """Call a function with the future once it is done, at once if it is."""
        if not callable(callback):
            raise TypeError(f"add_done_callback(): {callback!r} can't be called")
        with self._changed:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback(self)

    def then(self, callback: Callable[[Future], Any]) -> Future:
        """Return a future of what a function makes of this one once it is done."""
        if not callable(callback):
            raise TypeError(f"then(): {callback!r} can't be called")
        following = Future()

        def run(done: Future) -> None:
            try:
                result = callback(done)
            except Exception as error:
                words = f"{type(error).__name__}: {error}"
                failed = RuntimeError(f"Got the following error when running the callback: {words}")
                failed.__cause__ = error
                following.set_exception(failed)
            else:
                following.set_result(result)

        self.add_done_callback(run)
        return following


def collect_all(futures: Sequence[Future]) -> Future:
    """
    Return a future of a list of futures, which is done when all of them are.

    Parameters
    ----------
    futures : sequence of Future

    Returns
    -------
    Future

    Examples
    --------
    >>> import autograd_cy as ag
    >>> first, second = ag.futures.Future(), ag.futures.Future()
    >>> both = ag.futures.collect_all([first, second])
    >>> first.set_result(1)
    >>> second.set_result(2)
    >>> [future.value() for future in both.wait()]
    [1, 2]
    """
    futures = list(futures)
    collected = Future()
    lock, left = threading.Lock(), len(futures)

    def one_less(_: Future) -> None:
        nonlocal left
        with lock:
            left -= 1
            last = left == 0
        if last:
            collected.set_result(futures)

    if not futures:
        collected.set_result(futures)
    for future in futures:
        future.add_done_callback(one_less)
    return collected


def wait_all(futures: Sequence[Future]) -> list:
    """
    Wait for all futures and return their results.

    Parameters
    ----------
    futures : sequence of Future

    Returns
    -------
    list

    Raises
    ------
    Exception
        The error of the first that has one.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> future = ag.futures.Future()
    >>> future.set_result(1)
    >>> ag.futures.wait_all([future, future])
    [1, 1]
    """
    return [future.value() for future in collect_all(futures).wait()]
