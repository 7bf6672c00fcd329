"""The error of checkpoints, which all ranks raise alike, and how ranks agree about it."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from typing import Any, TypeVar

from autograd_cy._environment.launcher import detect
from autograd_cy.distributed._watch import EverywhereError
from autograd_cy.distributed._world import ProcessGroup, world
from autograd_cy.distributed.groups import own_group
from autograd_cy.distributed.objects import _broadcast, _exchange, gather_object

__all__ = ["CheckpointException"]

Result = TypeVar("Result")

_INTACT = "The checkpoints that were there before are intact"
#: Number of an error of files -> the way out.
_WAYS_OUT = {
    errno.ENOSPC: "free space, keep fewer checkpoints (keep=) or give a folder of another disk",
    errno.EDQUOT: "the quota is used up: free space, keep fewer checkpoints (keep=) or give a "
    "folder of another disk",
    errno.EFBIG: "files may not become that large here: raise the limit (ulimit -f), save from "
    "more ranks or give a folder of another file system",
    errno.EROFS: "the file system is read-only: give a folder that this job may write",
    errno.EACCES: "give a folder that this user may read and write",
    errno.EPERM: "give a folder that this user may read and write",
    errno.ENOTDIR: "a part of the path is a file: give another folder",
    errno.ENAMETOOLONG: "give a shorter name",
    errno.ENOENT: "the folder must be on a file system that all nodes share, and stay there",
    errno.ESTALE: "the folder was removed meanwhile; nothing else may change it",
    errno.EIO: "the disk or the network of the file system fails: give a folder of another disk",
}


class CheckpointException(EverywhereError):
    """
    An error of a checkpoint, the same on every rank.

    Parameters
    ----------
    msg : str
        The message.
    failures : dict, optional
        The texts of what went wrong, by rank.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> try:
    ...     ag.distributed.checkpoint.load({}, checkpoint_id="nowhere")
    ... except ag.distributed.checkpoint.CheckpointException as error:
    ...     print(list(error.failures), str(error).partition(" in ")[0])
    [0] distributed.checkpoint.load: there is no checkpoint
    """

    def __init__(self, msg: str, failures: dict[int, Any] | None = None) -> None:
        super().__init__(msg)
        self._failures = failures or {}

    @property
    def failures(self) -> dict[int, Any]:
        """Return the texts of what went wrong, by rank."""
        return self._failures


class Refusal(Exception):
    """An error of a checkpoint whose text has its way out."""


def explain(error: BaseException, is_save: bool) -> str:
    """Return the text of an error, with the way out."""
    if isinstance(error, Refusal):
        return str(error)
    if not isinstance(error, OSError):
        return f"{type(error).__name__}: {error}".removesuffix(".")
    way_out = _WAYS_OUT.get(error.errno or 0, "give a folder that works")
    verb = "can't write" if is_save else "can't read"
    text = f"{verb} {error.filename or 'the file'}: {error.strerror or error}; {way_out}"
    return f"{text}. {_INTACT}" if is_save else text


class Ranks:
    """The ranks that save or load together, and agree about what goes wrong.

    Parameters
    ----------
    group : ProcessGroup or None
        None for this process alone.
    function : str
        The call, for messages.
    """

    def __init__(self, group: ProcessGroup | None, function: str) -> None:
        self.group = group if group is not None and group.size() > 1 else None
        self.function = f"distributed.checkpoint.{function}"
        self.rank = self.group.rank() if self.group else 0
        self.size = self.group.size() if self.group else 1

    def gather(self, value: Any) -> list[Any]:
        """Return the values of all ranks on the first one, and an empty list on the others."""
        if self.group is None:
            return [value]
        values: list[Any] | None = [None] * self.size if self.rank == 0 else None
        gather_object(value, values, group=self.group, group_dst=0)
        return values or []

    def broadcast(self, value: Any) -> Any:
        """Return the value of the first rank."""
        return value if self.group is None else _broadcast(self.group, value, 0, self.function)

    def together(self, act: Callable[[], Result]) -> Result:
        """Do something on every rank; if it fails on one, raise its error on all.

        Raises
        ------
        CheckpointException
        """
        result, error = _try(act)
        text = None if error is None else explain(error, self._saves)
        place = None if text is None else (socket.gethostname(), text)
        places = [place] if self.group is None else _exchange(self.group, place, self.function)
        self._raise({rank: each for rank, each in enumerate(places) if each is not None}, error)
        return result  # type: ignore[return-value]

    def at_first(self, act: Callable[[], Result]) -> Result:
        """Do something on the first rank, and give its result, or raise its error, on all.

        Raises
        ------
        CheckpointException
        """
        result, error = _try(act) if self.rank == 0 else (None, None)
        place = None
        if error is not None:
            place = socket.gethostname(), explain(error, self._saves)
        result, place = self.broadcast((result, place))
        self._raise({} if place is None else {0: place}, error)
        return result  # type: ignore[return-value]

    @property
    def _saves(self) -> bool:
        return self.function.endswith("save")

    def _raise(self, failures: dict[int, tuple[str, str]], cause: BaseException | None) -> None:
        if not failures:
            return
        rank, (host, text) = min(failures.items())
        where = ""
        if self.size > 1:
            others = len(failures) - 1
            where = f"rank {rank} on {host}{f' and {others} more' if others else ''}: "
        texts = {each: text for each, (_, text) in failures.items()}
        error = CheckpointException(f"{self.function}: {where}{text}.", texts)
        # The text of a refusal is all that there is to say.
        raise error from (cause.__cause__ if isinstance(cause, Refusal) else cause)


def _try(act: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return act(), None
    except Exception as error:
        return None, error


def ranks_of(process_group: Any, no_dist: bool, function: str) -> Ranks | None:
    """Return the ranks of a call; None, with a warning, if this process isn't in the group.

    Raises
    ------
    ValueError
        If several processes were started, and they don't know each other.
    """
    if no_dist:
        return Ranks(None, function)
    if process_group is None and world.default is None:
        launch = detect()
        if launch is not None and launch.size > 1:
            raise ValueError(
                f"distributed.checkpoint.{function}: {launch.launcher} started {launch.size} "
                "processes, which don't know each other: call init_process_group() first, or give "
                "no_dist=True on one process alone"
            )
        return Ranks(None, function)
    group = own_group(process_group, function)
    return None if group is None else Ranks(group, function)
