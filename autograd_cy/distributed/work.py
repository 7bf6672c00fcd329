"""Operations under way: what ``async_op=True`` returns."""

from __future__ import annotations

import contextlib
import datetime
import threading
from collections.abc import Callable
from typing import Any

from autograd_cy._C.rank_messages import OF_HANDLER, interrupted

from ._watch import Call
from ._world import ProcessGroup, world

__all__ = ["Work"]

#: Works that a program dropped before they were complete: MPI still uses their memory.
_dropped: list[Work] = []


def _finish_dropped() -> None:
    """Complete works that were dropped, as far as MPI is ready."""
    if not _dropped or world.watch.is_of_parent:
        return
    for work in list(_dropped):
        if work._is_finishing:
            continue  # this is the handler of a signal, which has interrupted just that
        try:
            complete = work.is_completed()
        except Exception:
            world.abandoned.append(work)  # MPI may still use the memory
            _forget(work)
            raise
        if complete:
            _forget(work)


def _forget(work: Work) -> None:
    # Another thread, or the handler of a signal, may have completed it as well.
    with contextlib.suppress(ValueError):
        _dropped.remove(work)


class Work:
    """
    An operation that has started, which :meth:`wait` completes.

    Results are in place after :meth:`wait` returns, or :meth:`is_completed` is True; before, the
    tensors must not be read or written. Several threads may wait for it.

    Parameters
    ----------
    group : ProcessGroup
    call : Call
        Named in messages.
    request : object or None
        With ``Test()``, as mpi4py's requests; None if there is nothing to wait for.
    finish : callable or None, optional
        Called once, when the request is complete.
    tensors : object, optional
        The result of :meth:`result`. They stay alive until then.
    source : callable, optional
        Returns the rank that a message came from.
    memory : object, optional
        Kept alive until then, too.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group("gloo")
    >>> work = ag.distributed.all_reduce(ag.ones(2), async_op=True)
    >>> work.wait()
    True
    >>> ag.distributed.destroy_process_group()
    """

    __slots__ = (
        "_call",
        "_done",
        "_error",
        "_finish",
        "_is_finishing",
        "_lock",
        "_memory",
        "_request",
        "_source",
        "_tensors",
        "group",
    )

    def __init__(
        self,
        group: ProcessGroup,
        call: Call,
        request: Any,
        finish: Callable[[], None] | None = None,
        tensors: Any = (),
        source: Callable[[], int] | None = None,
        memory: Any = None,
    ) -> None:
        self._done = True
        self.group = group
        self._call = call
        self._request = request
        self._finish = finish
        self._tensors = tensors
        self._source = source
        self._memory = memory
        self._error: BaseException | None = None
        self._is_finishing = False
        # A thread that the handler of a signal has interrupted with the lock in hand may go on.
        self._lock = threading.RLock()
        self._done = False
        if request is None:
            self._complete()
        else:
            group._under_way.add(id(self))
        _finish_dropped()

    def _complete(self) -> None:
        """Bring the results into place, once: what is half done isn't done again.

        Raises
        ------
        RuntimeError
            In the handler of a signal that has interrupted just that.
        """
        if self._done:
            return  # by a handler, since this thread has asked
        if self._is_finishing:
            raise RuntimeError(OF_HANDLER)
        try:
            self._is_finishing = True
            finish, self._finish = self._finish, None
            if finish is not None:
                finish()
        except BaseException as error:
            self._error = error
            raise
        finally:
            self._request = self._memory = None
            self._done = True
            self.group._under_way.discard(id(self))

    def _raise_again(self) -> None:
        """Raise the error of an operation that has failed: its result isn't there."""
        error = self._error
        if error is not None:
            raise error if isinstance(error, RuntimeError) else interrupted(error) from error

    def __del__(self) -> None:
        if not self._done:
            _dropped.append(self)

    def wait(self, timeout: datetime.timedelta | float | None = None) -> bool:
        """
        Wait until the operation is complete.

        Parameters
        ----------
        timeout : datetime.timedelta or float, optional
            The longest time, a float in seconds; by default that of the group. When it has
            passed, the job ends with a message that names the ranks which are not there.

        Returns
        -------
        bool
            True.
        """
        if not self._done:
            world.watch.refuse_in_child()  # where a thread of the parent may have the lock
        with self._lock:
            if not self._done:
                if timeout is not None:
                    self._call.timeout = (
                        timeout.total_seconds()
                        if isinstance(timeout, datetime.timedelta)
                        else float(timeout)
                    )
                try:
                    world.watch.wait(self._request, self._call)
                except RuntimeError as error:
                    if isinstance(error.__cause__, world.mpi.Exception):
                        self._fail(error)
                    raise
                self._complete()
            self._raise_again()
        return True

    def is_completed(self) -> bool:
        """
        Ask MPI whether the operation is complete, which also lets it go on.

        Returns
        -------
        bool
        """
        if not self._done and self._lock.acquire(False):
            try:
                if not self._done:
                    world.watch.progress()
                    self._test()
            finally:
                self._lock.release()
        if self._done:
            self._raise_again()
        return self._done

    def _test(self) -> None:
        try:
            complete = self._request.Test()
        except world.mpi.Exception as error:
            failure = world.watch.failure(self._call, error)
            self._fail(failure)
            raise failure from error
        if complete:
            self._complete()

    def _fail(self, error: BaseException) -> None:
        self._error, self._done = error, True
        # Of several messages, some may be under way.
        world.abandoned.append((self._request, self._memory, self._tensors))

    def is_success(self) -> bool:
        """
        Return whether the operation is complete, as :meth:`is_completed`, which raises its error.

        Returns
        -------
        bool
        """
        return self.is_completed()

    def exception(self) -> BaseException | None:
        """
        Return the error of an operation that has failed; most errors end the job instead.

        Returns
        -------
        BaseException or None
        """
        return self._error

    def source_rank(self) -> int:
        """
        Return the rank in the world that a received message came from.

        Returns
        -------
        int

        Raises
        ------
        RuntimeError
            If nothing was received.
        """
        if self._source is None:
            raise RuntimeError("Work.source_rank: this operation has no source; receive by irecv")
        return self._source()

    def result(self) -> Any:
        """
        Return the tensors that the operation writes.

        Returns
        -------
        list of Tensor
        """
        self.wait()
        return list(self._tensors)

    def get_future(self) -> Any:
        """
        Return the operation as a future, whose value is the list of its tensors.

        Returns
        -------
        autograd_cy.futures.Future
            To wait for it completes the operation.
        """
        from ._futures import OperationFuture

        def complete(wait: bool) -> bool:
            return self.wait() if wait else self.is_completed()

        return OperationFuture(complete, lambda: list(self._tensors))
