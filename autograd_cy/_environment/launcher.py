"""The launcher of this process: which of how many ranks it is, as environment variables say.

MPI's ``mpirun`` and SLURM's ``srun`` tell each process its rank by variables of their own. Programs
for torch look for those of ``torchrun`` (``RANK``, ``WORLD_SIZE`` ...), which :func:`export` sets
from them. Nothing of MPI is loaded here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from typing import NamedTuple

__all__ = ["Launch", "detect", "export", "is_first_rank", "started_alone", "unknown_launcher"]


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

# Set by launchers of MPI for each process that they start; these say no number of ranks.
_OF_OTHERS = ("PMIX_RANK", "PMI_FD", "PMI_PORT", "ALPS_APP_PE", "MPIRUN_RANK")


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


def unknown_launcher(environment: Mapping[str, str] = os.environ) -> str | None:
    """Return a variable that a launcher has set which :func:`detect` doesn't know, or None.

    Only MPI can say how many ranks such a launcher has started.

    Parameters
    ----------
    environment : mapping, optional
        The variables, by default those of the process.
    """
    in_batch_script = environment.get("SLURM_STEP_ID") == "batch"
    if in_batch_script or detect(environment) is not None:
        return None
    return next((name for name in _OF_OTHERS if name in environment), None)


def started_alone(launch: Launch | None, size: int) -> tuple[str, str]:
    """Say that ranks are asked for which MPI doesn't see, and what to do.

    Parameters
    ----------
    launch : Launch or None
        None: no launcher of MPI has started this process.
    size : int
        How many ranks are asked for.

    Returns
    -------
    tuple of (str, str)
        The fault and the cure.
    """
    if launch is None:
        return (
            f"{size} ranks are asked for, and this process was started alone",
            f"start the script by mpirun -n {size} python SCRIPT, or srun -n {size}; torchrun and "
            "multiprocessing.spawn start processes that MPI doesn't know",
        )
    fault = (
        f"{launch.launcher} started {launch.size} processes, but MPI sees one: each would train "
        "alone"
    )
    if launch.launcher == "srun":
        return fault, (
            "this MPI and srun have no protocol in common: try srun --mpi=list and "
            "srun --mpi=pmix or --mpi=pmi2, or use mpirun within salloc or sbatch"
        )
    return fault, (
        "mpi4py belongs to another MPI than this launcher: use the launcher of its MPI "
        "(python -m mpi4py --mpi-library shows it), or build mpi4py for this one"
    )


def is_first_rank() -> bool:
    """Return whether this process shows progress bars: rank 0, or one without a launcher."""
    launch = detect()
    return launch is None or launch.rank == 0


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
    if launch.rank:  # one progress bar a job; tqdm reads this
        environment.setdefault("TQDM_DISABLE", "1")
