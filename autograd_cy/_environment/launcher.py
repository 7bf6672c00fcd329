"""The launcher of this process: which of how many ranks it is, as environment variables say.

MPI's ``mpirun`` and SLURM's ``srun`` tell each process its rank by variables of their own. Programs
for torch look for those of ``torchrun`` (``RANK``, ``WORLD_SIZE`` ...), which :func:`export` sets
from them. Other launchers leave traces at least, which :func:`traces` lists, so that MPI can be
asked. Nothing of MPI is loaded here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, MutableMapping
from typing import NamedTuple

__all__ = [
    "TRACES",
    "Launch",
    "detect",
    "export",
    "is_first_rank",
    "rank_in_traces",
    "step_of_srun",
    "traces",
    "unknown_ranks",
]


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
    _Variables(
        "jsrun",
        "JSM_NAMESPACE_RANK",
        "JSM_NAMESPACE_SIZE",
        "JSM_NAMESPACE_LOCAL_RANK",
        "JSM_NAMESPACE_LOCAL_SIZE",
    ),
    _Variables("flux run", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", ""),
    # Of the step, not of the job: a script in a batch job sees the variables of the job, too.
    _Variables("srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", ""),
)

# A process manager is there, which says the rank or nothing, but not the size: MPI knows it.
TRACES = ("PMIX_RANK", "PMI_RANK", "PMI_FD", "PMI_PORT", "ALPS_APP_PE", "MP_CHILD")
_NO_RANKS = ("PMI_FD", "PMI_PORT")
# Ranks that torchrun, users' scripts and batch jobs set for their own ends.
_NO_TRACES = re.compile(r"(|LOCAL_|GROUP_|ROLE_|NODE_|GLOBAL_)RANK|SLURM_.*|.*_(LOCAL|NODE)_RANK")


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


def _is_of_srun(environment: Mapping[str, str], rank: int, size: int) -> bool:
    """Return whether PMI's rank comes from ``srun --mpi=pmi2``, which has no local rank in PMI."""
    return (
        "MPI_LOCALRANKID" not in environment
        and _number(environment, "SLURM_PROCID") == rank
        and _number(environment, "SLURM_STEP_NUM_TASKS") == size
    )


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
        if names.rank == "PMI_RANK" and _is_of_srun(environment, rank, size):
            continue
        local_rank = _number(environment, names.local_rank)
        local_size = _number(environment, names.local_size)
        if local_size is None:
            local_size = _on_this_node(environment, size)
        return Launch(
            names.launcher, rank, size, rank if local_rank is None else local_rank, local_size
        )
    return None


def step_of_srun(environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the step of SLURM whose tasks are the ranks, such as ``"17.0"``; None without srun.

    Parameters
    ----------
    environment : mapping, optional
        The variables, by default those of the process.
    """
    launch = detect(environment)
    if launch is None or launch.launcher != "srun":
        return None
    job, step = _number(environment, "SLURM_JOB_ID"), _number(environment, "SLURM_STEP_ID")
    return None if job is None or step is None else f"{job}.{step}"


def traces(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the variables that a launcher of MPI has left without saying how many ranks there are.

    Parameters
    ----------
    environment : mapping, optional
        The variables, by default those of the process.
    """
    return [name for name in TRACES if name in environment]


def rank_in_traces(environment: Mapping[str, str] = os.environ) -> int:
    """Return the rank in the variables that :func:`traces` lists, 0 if they say none.

    Parameters
    ----------
    environment : mapping, optional
        The variables, by default those of the process.
    """
    ranks = (_number(environment, name) for name in traces(environment) if name not in _NO_RANKS)
    return max((rank or 0 for rank in ranks), default=0)


def unknown_ranks(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return variables that look like the rank of a launcher which isn't known here.

    Parameters
    ----------
    environment : mapping, optional
        The variables, by default those of the process.
    """
    if detect(environment) is not None or traces(environment):
        return []
    return sorted(
        name
        for name in environment
        if re.fullmatch(r"[A-Z0-9_]*(RANK|RANKID|PROCID)", name)
        and not _NO_TRACES.fullmatch(name)
        and _number(environment, name) is not None
    )


def export(
    environment: MutableMapping[str, str] = os.environ, launch: Launch | None = None
) -> None:
    """Set the variables of ``torchrun`` from those of the launcher, where a program has not.

    Parameters
    ----------
    environment : mutable mapping, optional
        The variables, by default those of the process.
    launch : Launch, optional
        The place of the process, if it isn't in the variables.
    """
    launch = launch or detect(environment)
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
    if launch.rank:  # one progress bar a job; tqdm reads this
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
