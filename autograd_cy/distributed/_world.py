"""The state of this process: the groups that it knows, and the default one."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from autograd_cy._C import rank_messages

from ._watch import Call, EverywhereError
from .constants import Backend

__all__ = ["ProcessGroup", "World", "read_environment", "world"]

NOT_INITIALIZED = (
    "Default process group has not been initialized, please make sure to call init_process_group."
)


class World:
    """The state that exists once in a process.

    Attributes
    ----------
    mpi : module or None
        ``mpi4py.MPI``, of several ranks only.
    watch : Watch or None
        Of several ranks only. It stays when groups are destroyed, because MPI ends once.
    default : ProcessGroup or None
        The group of all ranks, between ``init_process_group`` and ``destroy_process_group``.
    """

    def __init__(self) -> None:
        self.mpi: Any = None
        self.watch: Any = None
        self.default: ProcessGroup | None = None
        self.groups: dict[int, ProcessGroup] = {}
        #: Calls so far, by number of the group.
        self.counts: dict[int, int] = {}
        self.next_group = 0
        #: Memory of calls that an exception has ended, which MPI may still use.
        self.abandoned = rank_messages.abandoned
        #: Each call is compared between ranks, as TORCH_DISTRIBUTED_DEBUG=DETAIL asks.
        self.compare_all = False
        #: MPI gets pointers to memory of GPUs, as AUTOGRAD_CY_CUDA_AWARE_MPI=1 says.
        self.cuda_aware = False

    def group_number(self) -> int:
        """Return the number of a new group; alike on all ranks, since all make all groups."""
        self.next_group += 1
        return self.next_group - 1


world = World()


class ProcessGroup:
    """
    Some ranks of the job that communicate; :func:`new_group` makes them.

    Parameters
    ----------
    ranks : sequence of int
        Their ranks in the world, in the order of their ranks in the group.
    rank : int
        The one of this process in the group.
    comm : mpi4py.MPI.Intracomm or None
        None for a group of one.
    number : int
        Alike on all ranks.
    timeout : float
        Seconds.
    backend : str
        The name by which a program asked for it.
    name : str, optional
        The description that a program gave.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.ProcessGroup([0], 0, None, 0, 60.0, "mpi").size()
    1
    """

    def __init__(
        self,
        ranks: Sequence[int],
        rank: int,
        comm: Any,
        number: int,
        timeout: float,
        backend: str,
        name: str = "",
    ) -> None:
        self._ranks = tuple(ranks)
        self._rank = rank
        self._comm = comm
        self._control: Any = None
        if comm is not None:
            comm.Set_errhandler(world.mpi.ERRORS_RETURN)
            self._control = comm.Dup()
        self._number = number
        self._timeout = timeout
        self._backend = Backend(backend)
        self._name = name
        self._agreed: set[Any] = set()
        #: Identities of the works that aren't complete.
        self._under_way: set[int] = set()

    def rank(self) -> int:
        """Return the rank of this process in the group."""
        return self._rank

    def size(self) -> int:
        """Return the number of ranks."""
        return len(self._ranks)

    def name(self) -> str:
        """Return the name of the backend."""
        return str(self._backend)

    @property
    def group_desc(self) -> str:
        """Return the description that the program gave."""
        return self._name or ("default_pg" if self._number == 0 else "undefined")

    @property
    def group_name(self) -> str:
        """Return the number of the group, as a name."""
        return str(self._number)

    def __repr__(self) -> str:
        return (
            f"<ProcessGroup {self._number}, backend {self._backend}, rank {self._rank} of "
            f"{self.size()}: {list(self._ranks)}>"
        )

    def _free(self) -> None:
        """Give the communicators back: MPI has some thousand of them."""
        if self._comm is None or world.watch.is_over():
            return
        # Operations still send by them, and Open MPI doesn't wait for its own.
        if not self._under_way and not world.abandoned and not world.watch.abandoned:
            self._comm.Free()
            self._control.Free()

    # A group is the ranks of one job: copies are the group itself, and a pickle finds it again.

    def __copy__(self) -> ProcessGroup:
        return self

    def __deepcopy__(self, memo: Any) -> ProcessGroup:
        return self

    def __reduce__(self) -> Any:
        return _find_group, (-1 if self is world.default else self._number, self._ranks)

    # --- calls ----------------------------------------------------------------------------------

    def _call(self, text: str | Callable[[], str]) -> Call:
        """Return the next call of the group, for messages."""
        number = self._number
        count = world.counts[number] = world.counts.get(number, 0) + 1
        return Call(text, number, count, self._ranks, self._timeout)

    def _agree(self, call: Call, signature: Any) -> None:
        """Compare a call between ranks, the first time that its signature comes.

        Raises
        ------
        EverywhereError
            On every rank, before data move, if the ranks call different things.
        """
        if self._comm is None or (signature in self._agreed and not world.compare_all):
            return
        import zlib

        import numpy as np

        text = f"{call.number}: {call.text}: {signature!r}".encode()
        number = zlib.crc32(text) | zlib.adler32(text) << 31
        extremes = np.array([number, -number], dtype=np.int64)
        request = self._control.Iallreduce(world.mpi.IN_PLACE, extremes, world.mpi.MAX)
        try:
            world.watch.wait(request, call)
        except BaseException:
            # Requests of mpi4py hold their memory, but not what is reduced in place.
            world.abandoned.append(extremes)
            raise
        if extremes[0] != -extremes[1]:
            texts = self._control.allgather(call.text)
            calls = "; ".join(
                f"rank {rank} called {text}" for rank, text in zip(self._ranks, texts, strict=True)
            )
            raise EverywhereError(
                f"ranks of group {self._number} don't agree about their call {call.number}: "
                f"{calls}. "
                "All ranks must make the same calls in the same order, with tensors of the same "
                "shape and dtype"
            )
        self._agreed.add(signature)


def _find_group(number: int, ranks: tuple[int, ...]) -> ProcessGroup:
    """Return the group that a pickle was made of: the default one (-1), or one of the same ranks.

    Raises
    ------
    ValueError
    """
    if world.default is None:
        raise ValueError(NOT_INITIALIZED)
    if number == -1:
        return world.default
    for group in sorted(world.groups.values(), key=lambda group: group._number != number):
        if group._ranks == ranks:
            return group
    raise ValueError(
        f"a pickle is of a process group of the ranks {list(ranks)}; make it by new_group "
        "before loading"
    )


def read_environment() -> None:
    """Take what the environment asks for, once, as each look takes a microsecond."""
    world.compare_all = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "").upper() == "DETAIL"
    world.cuda_aware = os.environ.get("AUTOGRAD_CY_CUDA_AWARE_MPI", "0") not in ("", "0")
