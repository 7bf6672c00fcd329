"""The checks of `autograd-cy doctor` about MPI: mpi4py, its library, the launcher and the ranks.

Nothing of MPI is loaded into this process. `mpi_probe.py` does it in another one, which is ended
when it takes too long, and which isn't started where neither mpi4py nor a launcher is there.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from autograd_cy._environment import machine as _machine
from autograd_cy._environment import mpi_launcher as _mpi_launcher
from autograd_cy._environment import threads as _threads
from autograd_cy._environment.launcher import Launch, detect, traces

__all__ = ["Ranks", "advice", "examine_ranks", "is_installed", "probe", "shown"]

#: Seconds for a process that loads and starts MPI, alone or with the other ranks.
PATIENCE = 30.0
_INSTALL = 'pip install "autograd_cy[mpi]", with the module of your MPI loaded'
_LIST = "python -m mpi4py --mpi-library"


def _trace_of_launcher() -> str | None:
    """Return a variable of a launcher that only MPI knows, or None."""
    if os.environ.get("SLURM_STEP_ID") == "batch" or detect() is not None:
        return None
    return next(iter(traces()), None)


def _started_alone(launch: Launch) -> tuple[str, str]:
    """Return fault and cure where a launcher started several processes and MPI sees one."""
    what = f"{launch.launcher} started {launch.size} processes, but MPI sees one: each would train"
    if launch.launcher == "srun":
        cure = (
            "This MPI and srun have no protocol in common: try srun --mpi=list, then srun "
            "--mpi=pmix or --mpi=pmi2, or use mpirun within salloc or sbatch."
        )
    else:
        cure = (
            "mpi4py belongs to another MPI than this launcher: use the launcher of its MPI "
            f"({_LIST} shows it), or build mpi4py for this one."
        )
    return f"{what} alone", cure


class Ranks(NamedTuple):
    """The ranks of a job as rank 0 shows them, and their findings.

    Attributes
    ----------
    text : str
        Empty on other ranks.
    own : list of (bool, str, str)
        Findings of this rank about MPI: a problem or an advice, the fault, the cure.
    others : list of (str, tuple)
        Ranks and a finding of theirs; on rank 0.
    silent : bool
        Rank 0 prints the findings of this one.
    """

    text: str
    own: list[tuple[bool, str, str]]
    others: list[tuple[str, tuple[str, str, str]]]
    silent: bool


def is_installed() -> bool:
    """Return whether mpi4py is there; it isn't imported."""
    return importlib.util.find_spec("mpi4py") is not None


def probe(own: Mapping[str, Any], patience: float = PATIENCE) -> dict[str, Any]:
    """Load and start MPI in another process, which meets those of the other ranks.

    Parameters
    ----------
    own : mapping
        What rank 0 is told of this one.
    patience : float, optional
        Seconds until the process is ended.

    Returns
    -------
    dict
        The facts of all steps that it has done; ``error`` has its last line if it failed, and
        ``waits`` is there if it was ended.
    """
    environment = dict(os.environ)
    path = [str(Path(__file__).parents[2]), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    facts: dict[str, Any] = {}
    # Files rather than pipes: a daemon of MPI that outlives the process would hold these open.
    with (
        tempfile.TemporaryFile("w+") as stdin,
        tempfile.TemporaryFile("w+") as stdout,
        tempfile.TemporaryFile("w+", errors="replace") as stderr,
    ):
        json.dump(dict(own), stdin)
        stdin.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-m", "autograd_cy._environment.mpi_probe"],
            env=environment,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            # A launcher may have opened the socket through which MPI reaches it.
            close_fds=False,
        )
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            facts["waits"] = patience
        stdout.seek(0)
        stderr.seek(0)
        out, err = stdout.read(), stderr.read()
    for line in out.splitlines():
        if line.startswith("{"):
            facts |= json.loads(line)
    if process.returncode and "waits" not in facts:
        lines = [line for line in err.splitlines() if line.strip("- \t")]
        # Of an exception the last line says most, of a message of MPI the first ones.
        last = lines[-1] if any("Traceback" in line for line in lines) else " ".join(lines[:3])
        facts["error"] = last.strip() or f"exit status {process.returncode}"
    return facts


def shown() -> dict[str, str | None]:
    """Return what `autograd-cy info` shows of MPI; it isn't started for that."""
    facts: dict[str, str | None] = {"mpi4py": None, "library": None, "launcher": None}
    launch = detect()
    if launch is not None:
        facts["launcher"] = f"{launch.launcher}, rank {launch.rank} of {launch.size}"
    if is_installed():
        facts["mpi4py"] = importlib.metadata.version("mpi4py")
        try:
            facts["library"] = _mpi_launcher.vendor_of_mpi4py()
        except RuntimeError as error:
            facts["library"] = str(error)
    return facts


def _is_of_other_mpi(launcher: str, library: str) -> bool:
    """Return whether a launcher can't start an MPI; the descendants of MPICH share one."""
    if "unknown" in (launcher, library) or launcher == "SLURM":
        return False
    return (launcher == "Open MPI") != (library == "Open MPI")


def _launcher_advice(vendor: str) -> list[tuple[bool, str, str]]:
    """Compare the launcher that a user would call with the MPI of mpi4py."""
    path = shutil.which("mpirun") or shutil.which("mpiexec")
    try:
        own = _mpi_launcher.find()
    except RuntimeError:
        own = None
    if path is None:
        if own is not None or shutil.which("srun"):
            return []
        what = f"mpi4py uses {vendor}, and no mpirun, mpiexec or srun is on PATH"
        return [(False, what, "Load the module of that MPI, or start scripts by srun.")]
    of = _mpi_launcher.vendor_of(path)
    if not _is_of_other_mpi(of, vendor):
        return []
    what = (
        f"{path} is the launcher of {of}, and mpi4py uses {vendor}: each process that it starts "
        "would be alone"
    )
    if own is not None:
        cure = f"Start scripts by {own.path}, or by python -m autograd_cy run -n N SCRIPT."
    else:
        cure = f"Load the module of {vendor}, or build mpi4py for {of}: {_INSTALL}."
    return [(False, what, cure)]


def advice() -> list[tuple[bool, str, str]]:
    """Return the findings about MPI in a process that isn't one of several ranks.

    Returns
    -------
    list of (bool, str, str)
        Whether it is a problem or an advice, the fault, and the cure. Empty without a process or
        an import if there is no mpi4py and no sign of a launcher.
    """
    launch = detect()
    if (launch is not None and launch.size > 1) or _trace_of_launcher() is not None:
        return []  # examine_ranks looks at these
    if os.environ.get("WORLD_SIZE", "1") not in ("", "1") and launch is None:
        size = os.environ["WORLD_SIZE"]
        what = f"WORLD_SIZE is {size}, and no launcher of MPI has started this process"
        cure = (
            f"Start it by mpirun -n {size} python SCRIPT, or srun -n {size}; torchrun starts "
            "processes that MPI doesn't know."
        )
        return [(True, what, cure)]
    if not is_installed():
        return []  # an optional package
    facts = probe({})
    if "vendor" not in facts:
        return [_cannot_load(facts)]
    if "ranks" not in facts:
        why = facts.get("error") or f"MPI_Init doesn't return within {facts['waits']:.0f} s"
        what = f"mpi4py loads {_library(facts)}, and it doesn't start in a process alone: {why}"
        return [(False, what, "Some sites forbid it on login nodes: run doctor in a job.")]
    return _launcher_advice(facts["vendor"])


def _library(facts: Mapping[str, Any]) -> str:
    return f"{facts['vendor']} {facts['version']}"


def _cannot_load(facts: Mapping[str, Any]) -> tuple[bool, str, str]:
    why = facts.get("error") or f"it doesn't end within {facts.get('waits', 0):.0f} s"
    return (
        True,
        f"mpi4py can't load its MPI: {why}",
        "Load the module of the MPI that it was built for, or build it again: pip install "
        "--force-reinstall --no-binary mpi4py mpi4py.",
    )


def _own_place() -> dict[str, Any]:
    """Return the processors and threads of this process, which rank 0 shows."""
    cpus = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return {
        "cpus": cpus,
        "processors": len(cpus) or _machine.usable(),
        "limit": _threads.default_num_threads(),
        "fixed": _threads.requested_threads() is not None,
    }


def examine_ranks(findings: list[tuple[str, str, str]]) -> Ranks | None:
    """Meet the other ranks of the launcher, and bring what they say to rank 0.

    Parameters
    ----------
    findings : list of (str, str, str)
        Those of this rank: level, fault and cure.

    Returns
    -------
    Ranks or None
        None if no launcher has started several processes.
    """
    launch, variable = detect(), _trace_of_launcher()
    if (launch is None or launch.size == 1) and variable is None:
        return None
    if not is_installed():
        if launch is None:
            return None
        what = f"{launch.launcher} started {launch.size} processes, and mpi4py isn't installed"
        return _alone((True, what, f"Install it: {_INSTALL}."))
    facts = probe({"findings": findings, **_own_place()})
    if "vendor" not in facts:
        return _alone(_cannot_load(facts))
    if "size" not in facts or "ranks" not in facts:
        why = facts.get("error") or (
            f"it doesn't return within {facts.get('waits', 0):.0f} s; another rank has failed, or "
            "the launcher belongs to another MPI"
        )
        step = "the ranks don't meet" if "size" in facts else "MPI_Init fails"
        what = f"{_library(facts)} was loaded, and {step}: {why}"
        cure = (
            f"Start it by the launcher of that MPI ({_LIST}), or build mpi4py for the MPI whose "
            "launcher started it."
        )
        return _alone((True, what, cure))
    if facts["size"] == 1 and launch is not None:
        what, cure = _started_alone(launch)
        return _alone((True, f"{what}; mpi4py uses {_library(facts)}", cure))
    own: list[tuple[bool, str, str]] = []
    if launch is None and facts["size"] > 1:
        name = f"{variable} is there, of a launcher that isn't known here"
        cure = (
            "Training works, because MPI says them. RANK and LOCAL_RANK are not set at import: use "
            "distributed.get_rank()."
        )
        own.append((False, f"{name}: {facts['size']} ranks", cure))
    if facts["rank"]:
        return Ranks("", own, [], True)
    return Ranks(_table(facts), own, _merge(facts["ranks"]), False)


def _alone(finding: tuple[bool, str, str]) -> Ranks:
    return Ranks("", [finding], [], False)


def _table(facts: Mapping[str, Any]) -> str:
    """Return the places of all ranks as lines of text."""
    ranks = facts["ranks"]
    same = [(each["host"], tuple(each["cpus"])) for each in ranks]
    hosts = len({host for host, _ in same})
    lines = [
        f"{len(ranks)} ranks on {hosts} host{'s' * (hosts > 1)}, by {_library(facts)}",
        "rank  host              local rank  processors  threads",
    ]
    for number, (each, place) in enumerate(zip(ranks, same, strict=True)):
        # As init_process_group does: ranks that may use the same processors divide them.
        share = max(1, each["processors"] // same.count(place))
        threads = each["limit"] if each["fixed"] else min(each["limit"], share)
        local = f"{each['local_rank']} of {each['local_size']}"
        lines.append(
            f"{number:>4}  {each['host']:<16}  {local:>10}  {each['processors']:>10}  {threads:>7}"
        )
    return "\n".join(lines)


def _merge(ranks: list[dict[str, Any]]) -> list[tuple[str, tuple[str, str, str]]]:
    """Return each finding once, with the ranks that have it."""
    who: dict[tuple[str, str, str], list[int]] = {}
    for number, each in enumerate(ranks):
        for level, what, cure in each["findings"]:
            who.setdefault((level, what, cure), []).append(number)
    merged = []
    for finding, numbers in who.items():
        if len(numbers) == len(ranks):
            text = "all ranks"
        else:
            word = "rank" if len(numbers) == 1 else "ranks"
            text = f"{word} {', '.join(map(str, numbers))}"
        merged.append((text, finding))
    return merged
