"""The launcher of this process: which of how many ranks it is, as environment variables say.

MPI's ``mpirun`` and SLURM's ``srun`` tell each process its rank by variables of their own. Programs
for torch look for those of ``torchrun`` (``RANK``, ``WORLD_SIZE`` ...), which :func:`export` sets
from them. Nothing of MPI is loaded here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from typing import NamedTuple

__all__ = ["Launch", "detect", "export", "is_first_rank"]


class Launch(NamedTuple):
    """The place of a process among those that a launcher started."""

    launcher: str
    rank: int
    size: int
    local_rank: int
    local_size: int


class _Variables(NamedTuple):
    launcher: str
    rank: str
    size: str
    local_rank: str
    local_size: str


# The first whose rank and size are there. srun comes last: mpirun within salloc has both.
_KNOWN = (
    _Variables(
        "mpirun (Open MPI)",
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
    ),
    _Variables(
        "mpirun (MVAPICH)",
        "MV2_COMM_WORLD_RANK",
        "MV2_COMM_WORLD_SIZE",
        "MV2_COMM_WORLD_LOCAL_RANK",
        "MV2_COMM_WORLD_LOCAL_SIZE",
    ),
    _Variables("mpiexec (PMI)", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    _Variables(
        "aprun or mpiexec (PALS)",
        "PALS_RANKID",
        "PALS_SIZE",
        "PALS_LOCAL_RANKID",
        "PALS_LOCAL_SIZE",
    ),
    _Variables("flux run", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", ""),
    # Of the step, not of the job: a script in a batch job sees the variables of the job, too.
    _Variables("srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", ""),
)


def _number(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name, "")
    return int(text) if text.isdecimal() else None


def _on_this_node(environment: Mapping[str, str], size: int) -> int:
    """Return the tasks of this node in a step of SLURM: one number of a list such as 4(x2),3."""
    text = environment.get("SLURM_STEP_TASKS_PER_NODE", "")
    node = _number(environment, "SLURM_NODEID") or 0
    for part in text.split(","):
        tasks, _, times = part.partition("(x")
        count = int(times.rstrip(")")) if times.rstrip(")").isdecimal() else 1
        if node < count and tasks.isdecimal():
            return int(tasks)
        node -= count
    return size


def detect(environment: Mapping[str, str] = os.environ) -> Launch | None:
    """Return the place of this process among those of its launcher, None without a launcher.

    Parameters
    ----------
    environment : mapping, optional
        The variables, by default those of the process.

    Returns
    -------
    Launch or None
    """
    for names in _KNOWN:
        rank, size = _number(environment, names.rank), _number(environment, names.size)
        if rank is None or size is None:
            continue
        if names.launcher == "srun" and environment.get("SLURM_STEP_ID") == "batch":
            continue  # the batch script itself, one process whatever --ntasks says
        local_rank = _number(environment, names.local_rank)
        local_size = _number(environment, names.local_size)
        if local_size is None:
            local_size = _on_this_node(environment, size)
        return Launch(
            names.launcher, rank, size, rank if local_rank is None else local_rank, local_size
        )
    return None


def export(environment: MutableMapping[str, str] = os.environ) -> None:
    """Set the variables of ``torchrun`` from those of the launcher, where a program has not.

    Parameters
    ----------
    environment : mutable mapping, optional
        The variables, by default those of the process.
    """
    launch = detect(environment)
    if launch is None:
        return
    for name, value in (
        ("RANK", launch.rank),
        ("WORLD_SIZE", launch.size),
        ("LOCAL_RANK", launch.local_rank),
        ("LOCAL_WORLD_SIZE", launch.local_size),
        # Asked for by scripts, used by nothing here.
        ("MASTER_ADDR", "127.0.0.1"),
        ("MASTER_PORT", 29500),
    ):
        environment.setdefault(name, str(value))
    if not is_first_rank(environment):  # one progress bar a job; tqdm reads this
        environment.setdefault("TQDM_DISABLE", "1")


def is_first_rank(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether this process shows progress bars: rank 0, or one without a launcher.

    Parameters
    ----------
    environment : mapping, optional
        The variables, by default those of the process.
    """
    launch = detect(environment)
    return launch is None or launch.rank == 0
