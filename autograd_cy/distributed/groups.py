"""Groups of processes: starting, making, asking about, and ending them."""

from __future__ import annotations

import datetime
import importlib.util
import operator
import os
from collections.abc import Sequence
from typing import Any

from autograd_cy._C._warned import warn as _warn
from autograd_cy._environment.launcher import detect

from ._starting import mpi_is_to_be_asked, start_mpi, started_alone
from ._world import NOT_INITIALIZED, ProcessGroup, read_environment, world
from .constants import Backend, default_pg_timeout

__all__ = [
    "GroupMember",
    "destroy_process_group",
    "get_backend",
    "get_global_rank",
    "get_group_rank",
    "get_node_local_rank",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_process_group",
    "is_available",
    "is_backend_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "is_ucc_available",
    "is_xccl_available",
    "new_group",
]


class _WorldOf(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The group of all processes, None before ``init_process_group``."""
        return world.default

    @WORLD.setter
    def WORLD(cls, value: ProcessGroup | None) -> None:
        world.default = value


class group(metaclass=_WorldOf):
    """
    The group of all processes, by the name ``group.WORLD``; None before it is initialized.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.group.WORLD
    """


class GroupMember(metaclass=_WorldOf):
    """
    The result of :func:`new_group` in a process outside of the group: ``NON_GROUP_MEMBER``.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.GroupMember.NON_GROUP_MEMBER
    -100
    """

    NON_GROUP_MEMBER = -100


# --- starting -----------------------------------------------------------------------------------


def _seconds(timeout: Any, function: str) -> float:
    if timeout is None:
        return default_pg_timeout.total_seconds()
    if not isinstance(timeout, datetime.timedelta):
        raise TypeError(f"{function}: timeout must be a datetime.timedelta, not {timeout!r}")
    return timeout.total_seconds()


def _backend(name: str | None) -> str:
    if name is None:
        return Backend.MPI
    # "cpu:gloo,cuda:nccl" names one for each device.
    names = [part.rpartition(":")[2] for part in Backend(name).split(",")]
    for each in names:
        if each not in Backend.backend_list:
            raise ValueError(
                f"init_process_group: Invalid backend: '{each}'; all backends are MPI here: "
                "leave backend out, or give 'mpi' or 'gloo'"
            )
    if Backend.NCCL in names and Backend.GLOO not in names:
        from autograd_cy import cuda

        if not cuda.is_available():
            raise RuntimeError(
                "init_process_group: backend 'nccl' is for GPUs, and there is none; give 'gloo' or "
                "'mpi', which are MPI here"
            )
        way = "handed to it" if world.cuda_aware else "copied through pinned memory of the host"
        _warn(f"init_process_group: 'nccl' is MPI here: tensors of GPUs are {way}")
    return Backend(name)


def _check_place(rank: int, size: int, wanted_rank: int, wanted_size: int) -> None:
    """Refuse a rank or size that isn't the one that MPI gave."""
    for name, is_, wanted in (("world_size", size, wanted_size), ("rank", rank, wanted_rank)):
        if wanted not in (-1, is_):
            raise ValueError(
                f"init_process_group: {name}={wanted}, but MPI gave this process {name} {is_}; "
                "leave rank and world_size out: the launcher decides them"
            )


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: datetime.timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """
    Start the group of all processes of the job.

    A process that ``mpirun`` or ``srun`` started meets the others by MPI (mpi4py). Any other
    process is a world of one, without MPI.

    Parameters
    ----------
    backend : {"mpi", "gloo", "nccl"}, optional
        All are MPI; "nccl" needs a GPU.
    init_method : str, optional
        Ignored: MPI needs no address.
    timeout : datetime.timedelta, default 30 minutes
        How long a call may wait for other ranks. After it the job ends with a message.
    world_size, rank : int, optional
        Must be those of MPI, if they are given.
    store : object, optional
        Ignored, as ``init_method``.
    group_name : str, optional
        A description of the group.
    pg_options, device_id : object, optional
        Of NCCL; ignored.

    Raises
    ------
    ValueError
        If there is a default group already, the backend isn't known, or ``rank`` or
        ``world_size`` isn't that of MPI.
    RuntimeError
        If processes were started in a way that MPI doesn't know, so that each would work alone.
    ImportError
        If mpi4py is missing, or its MPI can't be loaded.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group("gloo")
    >>> ag.distributed.get_rank(), ag.distributed.get_world_size()
    (0, 1)
    >>> ag.distributed.destroy_process_group()
    """
    if world.default is not None:
        raise ValueError("trying to initialize the default process group twice!")
    read_environment()
    name = _backend(backend)
    seconds = _seconds(timeout, "init_process_group")
    launch = detect()
    wanted = world_size
    if wanted == -1 and os.environ.get("WORLD_SIZE", "").isdecimal():
        wanted = int(os.environ["WORLD_SIZE"])
    if launch is not None and launch.size > 1:
        start_mpi(launch, seconds)
    elif launch is None and mpi_is_to_be_asked(wanted):
        start_mpi(None, seconds)
    watch = world.watch
    if watch is None and wanted > 1:
        raise RuntimeError(started_alone(None, wanted))
    own, size = (0, 1) if watch is None else (watch.rank, watch.size)
    _check_place(own, size, rank, world_size)
    comm = None if watch is None else world.mpi.COMM_WORLD.Dup()
    number = world.group_number()
    world.default = ProcessGroup(range(size), own, comm, number, seconds, name, group_name)
    world.groups[number] = world.default


def default_group() -> ProcessGroup:
    """Return the group of all processes.

    Raises
    ------
    ValueError
        If there is none.
    """
    if world.default is None:
        raise ValueError(NOT_INITIALIZED)
    return world.default


def own_group(group: Any, function: str) -> ProcessGroup | None:
    """Return the group that a call is for, None with a warning if this process isn't in it.

    Raises
    ------
    ValueError
        If the default group is meant and there is none, or the group has been destroyed.
    TypeError
        If it isn't a group.
    """
    if group is None or group is world.default:
        return default_group()
    if group == GroupMember.NON_GROUP_MEMBER:
        _warn(
            f"Running {function} on global rank {get_rank()} which does not belong to the given "
            "group.",
        )
        return None
    if not isinstance(group, ProcessGroup):
        raise TypeError(f"{function}: group must be a ProcessGroup, not {type(group).__name__}")
    if world.groups.get(group._number) is not group:
        raise ValueError(
            f"{function}: group {group._number} has been destroyed; make another by new_group"
        )
    return group


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: datetime.timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
) -> Any:
    """
    Make a group of some ranks; all ranks of the job call this, in the same order.

    Parameters
    ----------
    ranks : sequence of int, optional
        By default all. They are numbered in ascending order in the group.
    timeout : datetime.timedelta, optional
        By default that of the default group.
    backend : str, optional
        As in :func:`init_process_group`.
    pg_options, device_id : object, optional
        Ignored.
    use_local_synchronization : bool, default False
        Not supported: all ranks of the job make all groups.
    group_desc : str, optional
        A description.

    Returns
    -------
    ProcessGroup or int
        ``GroupMember.NON_GROUP_MEMBER`` in processes that aren't in it.

    Raises
    ------
    ValueError
        If a rank isn't one of the job, or appears twice, or there is no default group.
    RuntimeError
        On every rank, if they ask for different ranks.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.new_group([0]).size()
    1
    >>> ag.distributed.destroy_process_group()
    """
    if use_local_synchronization:
        raise ValueError(
            "new_group: use_local_synchronization isn't supported; call new_group on all ranks of "
            "the job, in the same order, and leave it out"
        )
    parent = default_group()
    size = parent.size()
    chosen = list(range(size)) if ranks is None else sorted(map(operator.index, ranks))
    if len(set(chosen)) != len(chosen) or not all(0 <= rank < size for rank in chosen):
        raise ValueError(
            f"new_group: ranks {list(ranks or ())} must be different numbers from 0 to {size - 1}"
        )
    seconds = parent._timeout if timeout is None else _seconds(timeout, "new_group")
    name = parent._backend if backend is None else _backend(backend)
    number = world.group_number()
    call = parent._call(f"new_group({chosen})")
    parent._agree(call, ("new_group", tuple(chosen), number))
    if parent.rank() not in chosen:
        return GroupMember.NON_GROUP_MEMBER
    comm = None
    if len(chosen) > 1:
        every = parent._comm.Get_group()
        some = every.Incl(chosen)
        comm = parent._comm.Create_group(some, number)
        some.Free()
        every.Free()
    group = ProcessGroup(
        chosen, chosen.index(parent.rank()), comm, number, seconds, name, group_desc or ""
    )
    world.groups[number] = group
    return group


def destroy_process_group(group: Any = None) -> None:
    """
    Forget a group, or with the default one all groups.

    MPI itself ends with the process, because it can't be started again.

    Parameters
    ----------
    group : ProcessGroup, optional
        By default all groups.

    Raises
    ------
    ValueError
        If there is no such group.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.destroy_process_group()
    >>> ag.distributed.is_initialized()
    False
    """
    if group == GroupMember.NON_GROUP_MEMBER:
        return
    if group is None or group is world.default:
        default_group()
        destroyed = list(world.groups.values())
        world.default = None
        world.groups.clear()
    elif isinstance(group, ProcessGroup) and world.groups.get(group._number) is group:
        destroyed = [world.groups.pop(group._number)]
    else:
        raise ValueError("Invalid process group specified")
    for each in destroyed:
        each._free()


# --- asking -------------------------------------------------------------------------------------


def get_rank(group: Any = None) -> int:
    """
    Return the rank of this process in a group, -1 if it isn't in it.

    Parameters
    ----------
    group : ProcessGroup, optional
        By default all processes.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If there is no default group.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.get_rank()
    0
    >>> ag.distributed.destroy_process_group()
    """
    if group == GroupMember.NON_GROUP_MEMBER:
        return -1
    return (default_group() if group is None else group).rank()


def get_world_size(group: Any = None) -> int:
    """
    Return the number of processes in a group, -1 if this one isn't in it.

    Parameters
    ----------
    group : ProcessGroup, optional
        By default all processes.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If there is no default group.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.get_world_size()
    1
    >>> ag.distributed.destroy_process_group()
    """
    if group == GroupMember.NON_GROUP_MEMBER:
        return -1
    return (default_group() if group is None else group).size()


def get_backend(group: Any = None) -> str:
    """
    Return the name of the backend that a program asked for; all are MPI.

    Parameters
    ----------
    group : ProcessGroup, optional
        By default all processes.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If there is no default group, or this process isn't in the group.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group("gloo")
    >>> ag.distributed.get_backend()
    'gloo'
    >>> ag.distributed.destroy_process_group()
    """
    if group == GroupMember.NON_GROUP_MEMBER:
        raise ValueError("Invalid process group specified")
    return str((default_group() if group is None else group).name())


def get_process_group_ranks(group: Any = None) -> list[int]:
    """
    Return the ranks of a group in the world.

    Parameters
    ----------
    group : ProcessGroup, optional
        By default all processes.

    Returns
    -------
    list of int

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.get_process_group_ranks()
    [0]
    >>> ag.distributed.destroy_process_group()
    """
    return list((default_group() if group is None else group)._ranks)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """
    Return the rank in the world of a rank in a group.

    Parameters
    ----------
    group : ProcessGroup
    group_rank : int

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If the group has no such rank.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.get_global_rank(ag.distributed.group.WORLD, 0)
    0
    >>> ag.distributed.destroy_process_group()
    """
    if not 0 <= group_rank < group.size():
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return group._ranks[group_rank]


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """
    Return the rank in a group of a rank in the world.

    Parameters
    ----------
    group : ProcessGroup
    global_rank : int

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If it isn't in the group.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group()
    >>> ag.distributed.get_group_rank(ag.distributed.group.WORLD, 0)
    0
    >>> ag.distributed.destroy_process_group()
    """
    if global_rank not in group._ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return group._ranks.index(global_rank)


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """
    Return the rank of this process on its node, ``LOCAL_RANK``.

    Parameters
    ----------
    fallback_rank : int, optional
        Returned where no launcher says it.

    Returns
    -------
    int

    Raises
    ------
    RuntimeError
        If nothing says it.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.get_node_local_rank(fallback_rank=0)
    0
    """
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow "
        "`get_node_local_rank` to work, assuming you are not running in a multi-device context and "
        "want the code to run locally instead."
    )


def _rank_not_in_group(group: Any) -> bool:
    """Return whether this process is outside a group."""
    return group == GroupMember.NON_GROUP_MEMBER


def is_available() -> bool:
    """
    Return True: groups of processes are a part of the package.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.is_available()
    True
    """
    return True


def is_initialized() -> bool:
    """
    Return whether there is a default group.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.is_initialized()
    False
    """
    return world.default is not None


def is_mpi_available() -> bool:
    """
    Return whether mpi4py is installed.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> isinstance(ag.distributed.is_mpi_available(), bool)
    True
    """

    return importlib.util.find_spec("mpi4py") is not None


def is_gloo_available() -> bool:
    """
    Return True: the name "gloo" is taken, and means MPI.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.is_gloo_available()
    True
    """
    return True


def is_nccl_available() -> bool:
    """
    Return False: tensors of GPUs are copied through the host.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.is_nccl_available()
    False
    """
    return False


is_ucc_available = is_nccl_available
is_xccl_available = is_nccl_available


def is_backend_available(backend: str) -> bool:
    """
    Return whether :func:`init_process_group` takes a backend.

    Parameters
    ----------
    backend : str

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.is_backend_available("gloo")
    True
    """
    name = Backend(backend)
    if name == Backend.MPI:
        return is_mpi_available()
    return name == Backend.GLOO


def is_torchelastic_launched() -> bool:
    """
    Return whether torchrun started this process.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.distributed.is_torchelastic_launched()
    False
    """
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None
