"""The launcher that belongs to the MPI of mpi4py, and the command line that starts ranks by it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

__all__ = ["Launcher", "command_of", "find", "vendor_of", "vendor_of_mpi4py"]

# Asks mpi4py for its library without starting MPI: a process that a launcher started could not
# start MPI twice.
_ASK = (
    "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; "
    "print(MPI.get_vendor()[0])"
)


class Launcher(NamedTuple):
    """A program that starts ranks, and the MPI it belongs to."""

    path: str
    vendor: str


def vendor_of_mpi4py() -> str:
    """Return the name of the MPI that mpi4py uses, such as ``Open MPI``.

    Raises
    ------
    RuntimeError
        If mpi4py is missing or can't load its MPI, with the way out.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-c", _ASK], capture_output=True, text=True, timeout=60
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(
            "mpi4py hasn't loaded its MPI within 60 s; look for a slow file system, and load the "
            "module of the MPI that it was built for"
        ) from None
    if done.returncode == 0:
        return done.stdout.strip()
    last = (done.stderr.strip().splitlines() or ["no message"])[-1]
    if "No module named 'mpi4py'" in last:
        raise RuntimeError(
            'mpi4py isn\'t installed; install it for your MPI: pip install "autograd_cy[mpi]"'
        )
    raise RuntimeError(
        f"mpi4py can't load its MPI ({last}); load the module of the MPI that it was built for"
    )


def vendor_of(path: str) -> str:
    """Return the name of the MPI that a launcher belongs to, as mpi4py spells it."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    text = done.stdout + done.stderr
    for word, vendor in (
        ("Open MPI", "Open MPI"),
        ("OpenRTE", "Open MPI"),
        ("Intel(R) MPI", "Intel MPI"),
        ("HYDRA", "MPICH"),
        ("slurm", "SLURM"),
    ):
        if word in text:
            return vendor
    return "unknown"


def _candidates() -> list[str]:
    """Return launchers, the nearest first: beside this Python, on PATH."""
    folders = [Path(sys.executable).parent, Path(sys.prefix) / "bin"]
    paths = [str(folder / name) for folder in folders for name in ("mpirun", "mpiexec")]
    paths += [path for name in ("mpirun", "mpiexec") if (path := shutil.which(name)) is not None]
    return list(dict.fromkeys(path for path in paths if os.access(path, os.X_OK)))


def find() -> Launcher:
    """Return the launcher of the MPI that mpi4py uses.

    Raises
    ------
    RuntimeError
        If mpi4py or its launcher is missing, with the way out.
    """
    vendor = vendor_of_mpi4py()
    seen = []
    for path in _candidates():
        launcher = Launcher(path, vendor_of(path))
        if launcher.vendor == vendor:
            return launcher
        seen.append(f"{path} is of {launcher.vendor}")
    others = f" ({'; '.join(seen)})" if seen else ""
    raise RuntimeError(
        f"mpi4py uses {vendor}, and its mpirun isn't beside this Python or on PATH{others}; load "
        "the module of that MPI, or start the script by srun"
    )


def command_of(
    launcher: Launcher, ranks: int, arguments: list[str]
) -> tuple[list[str], dict[str, str]]:
    """Return the command that starts ranks, and the environment for it.

    Parameters
    ----------
    launcher : Launcher
    ranks : int
    arguments : list of str
        The script and its arguments.
    """
    environment = dict(os.environ)
    command = [launcher.path, "-n", str(ranks)]
    if launcher.vendor == "Open MPI":
        if ranks > (os.cpu_count() or 1):
            command.append("--oversubscribe")
        if os.geteuid() == 0:  # as in containers; it refuses otherwise
            environment["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
            environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    return [*command, sys.executable, *arguments], environment


def run(arguments: list[str]) -> int:
    """Run ``autograd-cy run -n N [as-torch] SCRIPT ...``: replace this process by the launcher.

    Parameters
    ----------
    arguments : list of str
        All after ``run``.

    Returns
    -------
    int
        The exit status, if nothing could be started.
    """
    usage = "usage: autograd-cy run -n N [as-torch] SCRIPT [ARGUMENT ...]\n"
    ranks = 0
    rest = list(arguments)
    if rest[:1] in (["-n"], ["-np"]) and len(rest) > 1 and rest[1].isdecimal():
        ranks, rest = int(rest[1]), rest[2:]
    if rest[:1] in (["-h"], ["--help"]):
        sys.stdout.write(usage)
        return 0
    prefix = ["-m", "autograd_cy", "as-torch"] if rest[:1] == ["as-torch"] else []
    rest = rest[1:] if prefix else rest
    if ranks < 1 or not rest:
        sys.stderr.write(f"{usage}autograd-cy run: how many ranks, and which script?\n")
        return 2
    if rest[0] != "-m" and not Path(rest[0]).is_file():
        sys.stderr.write(f"autograd-cy run: there is no script {rest[0]}\n")
        return 2
    try:
        command, environment = command_of(find(), ranks, [*prefix, *rest])
        sys.stdout.flush()
        os.execvpe(command[0], command, environment)
    except (RuntimeError, OSError) as error:
        sys.stderr.write(f"autograd-cy run: {error}\n")
        return 1
