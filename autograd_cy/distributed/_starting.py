"""Starting MPI in a process: loading it, meeting the other ranks, and refusing worlds of one.

``MPI_Init`` waits for all ranks without an end and without looking at signals. A child process
limits that time.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import socket
import sys
import time
from typing import Any

import autograd_cy as ag
from autograd_cy._environment.launcher import Launch, export, rank_in_traces, traces

from . import _mpi
from ._limit import limit
from ._watch import OF_PARENT, Call, Watch, cancel_step
from ._world import world

__all__ = ["mpi_is_to_be_asked", "start_mpi", "started_alone"]

#: Shortest limit in seconds: ranks load their programs at different speeds.
_SHORTEST_START = 10.0


def started_alone(launch: Launch | None, size: int) -> str:
    how = (
        f"{launch.launcher} started {launch.size or 'several'} processes, but MPI sees one: each "
        "would train alone"
        if launch is not None
        else f"{size} ranks are asked for, and this process was started alone"
    )
    if launch is not None and launch.launcher == "srun":
        cure = (
            "this MPI and srun have no protocol in common: try srun --mpi=list and "
            "srun --mpi=pmix or --mpi=pmi2, or use mpirun within salloc or sbatch"
        )
    elif launch is not None:
        cure = (
            "mpi4py belongs to another MPI than this launcher: use the launcher of its MPI "
            "(python -m mpi4py --mpi-library), or build mpi4py for this one"
        )
    else:
        cure = (
            f"start the script by mpirun -n {size} python SCRIPT, or srun -n {size}; torchrun and "
            "multiprocessing.spawn start processes that MPI doesn't know"
        )
    return f"init_process_group: {how}; {cure}"


class _OfParent:
    """The communicator of a forked process: none."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(OF_PARENT)


def _leave_to_parent() -> None:
    for group in world.groups.values():
        if group._comm is not None:
            group._comm = group._control = _OfParent()


def _limit_of_start(launch: Launch | None, seconds: float) -> contextlib.AbstractContextManager:
    """Return a limit for the time in which MPI starts, after which one rank says why."""
    if "mpi4py.MPI" in sys.modules or launch is None:
        return contextlib.nullcontext()
    seconds = max(seconds, _SHORTEST_START)
    text = (
        f"autograd_cy.distributed: rank {launch.rank} on {socket.gethostname()} has waited "
        f"{seconds:.0f} s in init_process_group for MPI to start: another rank has ended before, "
        "or doesn't call it.\n"
    )

    def act() -> None:
        os.write(2, text.encode())
        cancel_step()

    # Ranks after the first that waits are ended before their turn.
    return limit(seconds + 0.3 * min(launch.rank, 10), act)


def _unlink_shared_memory() -> None:
    """Remove the names of MPICH's shared memory, which all ranks of this node have mapped by now.

    MPICH makes them of the number of the job, and leaves them where ranks are killed. A job that
    SLURM starts again on the same node has that number again, and its ``MPI_Init`` would fail.
    """
    try:
        with open("/proc/self/maps") as file:
            paths = {line.partition("/")[2].rstrip() for line in file if "/mpich_shm_" in line}
    except OSError:
        return
    for path in paths:
        with contextlib.suppress(OSError):
            os.unlink(f"/{path}")


def mpi_is_to_be_asked(size: int) -> bool:
    """Return whether MPI may know of ranks that no known launcher's variables tell of."""
    return (
        world.watch is not None  # from before destroy_process_group
        or "mpi4py.MPI" in sys.modules
        or bool(traces())
        or (size > 1 and importlib.util.find_spec("mpi4py") is not None)
    )


def start_mpi(launch: Launch | None, timeout: float) -> None:
    """Load MPI and meet the other ranks, once in a process.

    Without a launcher MPI is only asked: one rank stays a world of one.
    """
    if world.watch is not None:
        if world.watch.is_of_parent:
            raise RuntimeError(OF_PARENT)
        # All ranks must begin again, and MPI's own calls would wait without an end.
        count = world.counts[-1] = world.counts.get(-1, 0) + 1
        call = Call("init_process_group", -1, count, range(world.watch.size), timeout)
        world.watch.wait(world.mpi.COMM_WORLD.Ibarrier(), call)
        return
    with _limit_of_start(launch, timeout):
        mpi = _mpi.load()
    if launch is None and (not mpi.Is_initialized() or mpi.Is_finalized()):
        return  # imported for something else
    comm = mpi.COMM_WORLD
    if comm.Get_size() == 1:
        if launch is not None:
            raise RuntimeError(started_alone(launch, launch.size))
        if rank_in_traces() > 0:
            raise RuntimeError(started_alone(Launch("a launcher", 1, 0, 1, 0), 0))
        return
    world.mpi = mpi
    _mpi.prepare(mpi)
    request, until = comm.Ibarrier(), time.monotonic() + timeout
    while not request.Test():
        if time.monotonic() > until:
            sys.stderr.write(
                f"autograd_cy.distributed: rank {comm.Get_rank()} has waited {timeout:.0f} s in "
                "init_process_group: another rank has ended before, or doesn't call it\n"
            )
            comm.Abort(1)
        time.sleep(0.001)
    _unlink_shared_memory()
    world.watch = Watch(mpi, world.counts)
    world.watch.install()
    if launch is None:
        export(launch=world.watch.place())
    os.register_at_fork(after_in_child=_leave_to_parent)
    if "OMP_NUM_THREADS" not in os.environ:
        ag.set_num_threads(min(ag.get_num_threads(), world.watch.processors))
