"""`autograd-cy doctor`: the usual mistakes on clusters, each with its cure.

A check returns findings; it changes nothing.  To add one, write a function and list it in CHECKS.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.machinery
import importlib.metadata
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from autograd_cy._environment import info as _info
from autograd_cy._environment import launcher as _launcher
from autograd_cy._environment import machine as _machine
from autograd_cy._environment import mpi_checks as _mpi_checks
from autograd_cy._environment import threads as _threads
from autograd_cy._version import __version__

PROBLEM, ADVICE = "problem", "advice"

# What launchers call the number of ranks on this node.
LOCAL_RANKS = (
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "MPI_LOCALNRANKS",
    "PALS_LOCAL_SIZE",
    "JSM_NAMESPACE_LOCAL_SIZE",
    "SLURM_NTASKS_PER_NODE",
)


PREFIX = "AUTOGRAD_CY_"
# What the package and its build read; another name that begins so is a mistake.
VARIABLES = (
    *("BLAS", "BLAS_THREADS", "CACHE", "CACHE_MB", "CPU", "PROFILE"),
    *("CUBLAS", "CUDA_AWARE_MPI", "CUDA_HOST", "CUDA_KERNELS", "NO_CUDA_MEMORY_CACHING"),
    "MPI_THREAD",
    *("COVERAGE", "CUDA", "CUDA_ARCHS", "DEBUG", "NATIVE", "OPENMP", "OPT", "SANITIZE", "SIMD"),
)


@dataclass(frozen=True)
class Finding:
    level: str
    what: str
    cure: str


def examine() -> list[Finding]:
    """All findings of all checks."""
    findings = []
    for check in CHECKS:
        try:
            findings += check()
        except Exception as error:
            what = f"the check {check.__name__} failed: {type(error).__name__}: {error}"
            findings.append(Finding(ADVICE, what, "please report it"))
    return findings


def render(findings: list[Finding]) -> str:
    """One paragraph per finding."""
    if not findings:
        return "No problem found."
    return "\n".join(f"{finding.level}: {finding.what}\n  {finding.cure}" for finding in findings)


def run() -> int:
    """Print the findings of all checks, those of all ranks on rank 0; 1 if one is a problem."""
    findings = examine()
    ranks = _mpi_checks.examine_ranks([(f.level, f.what, f.cure) for f in findings])
    if ranks is None:
        print(render(findings))
    else:
        own = [_of_mpi(*facts) for facts in ranks.own]
        if ranks.text:
            print(ranks.text)
            others = [Finding(level, f"{who}: {what}", cure)
                      for who, (level, what, cure) in ranks.others]  # fmt: skip
            print(render([*own, *others]), flush=True)
            own += others
        elif not ranks.silent:
            print(render([*findings, *own]), flush=True)
        findings += own
    return 1 if any(finding.level == PROBLEM for finding in findings) else 0


def compiled_modules() -> list[Finding]:
    """Each compiled module loads (a NumPy of another major version shows here)."""
    folder = Path(__file__).parents[1] / "_C"
    suffixes = tuple(importlib.machinery.EXTENSION_SUFFIXES)
    names = {path.name.partition(".")[0] for path in folder.iterdir()
             if path.name.endswith(suffixes) and not path.name.startswith(".")}  # fmt: skip
    known = [f"_{target}" for target in ("avx2", "avx512")]
    findings = []
    for name in sorted(names):
        if name.endswith(tuple(known)):
            continue  # not every processor may load these
        try:
            importlib.import_module(f"autograd_cy._C.{name}")
        except ImportError as error:
            what = f"the compiled module {name} does not load: {error}"
            findings.append(Finding(PROBLEM, what, "Rebuild: pip install --force-reinstall ."))
    if not names:
        what = f"there are no compiled modules in {folder}"
        findings.append(Finding(PROBLEM, what, "Build them: pip install -e ."))
    return findings


def variables() -> list[Finding]:
    """All variables of ours in the environment are known."""
    findings = []
    for name in sorted(os.environ):
        rest = name.removeprefix(PREFIX)
        if rest == name or rest in VARIABLES:
            continue
        near = difflib.get_close_matches(rest, VARIABLES, 1)
        cure = f"Is {PREFIX}{near[0]} meant?" if near else f"Known are {', '.join(VARIABLES)}."
        findings.append(Finding(ADVICE, f"{name} has no effect: nothing reads it", cure))
    return findings


def source_tree() -> list[Finding]:
    """The package in use is the installed one."""
    here = Path(__file__).resolve().parents[1]
    if not (here.parent / "setup.py").exists():
        return []
    try:
        files = importlib.metadata.distribution("autograd_cy").files or []
    except importlib.metadata.PackageNotFoundError:
        return []
    installed = [Path(file.locate()).resolve().parent for file in files
                 if str(file) == "autograd_cy/__init__.py"]  # fmt: skip
    if not installed or installed[0] == here:
        return []
    what = f"Python uses the source tree {here.parent}, not the copy installed in {installed[0]}"
    return [Finding(ADVICE, what, "Start Python in another folder, or use pip install -e .")]


def copies() -> list[Finding]:
    """No other copy of the package lies on the path."""
    here = Path(__file__).resolve().parents[1]
    if (here.parent / "setup.py").exists():
        return []  # that is the check before
    folders = dict.fromkeys(Path(entry or os.curdir, "autograd_cy").resolve() for entry in sys.path)
    findings = []
    for folder in folders:
        if folder == here or not (folder / "_version.py").is_file():
            continue
        text = (folder / "_version.py").read_text(encoding="utf-8", errors="replace")
        version = re.search(r'__version__ = "(.+)"', text)
        what = (
            f"Python uses version {__version__} in {here}, and there is another copy, "
            f"{version[1] if version else 'of an unknown version'}, in {folder}"
        )
        cure = (
            "Remove one of them (pip uninstall autograd_cy), or take its folder out of PYTHONPATH."
        )
        findings.append(Finding(ADVICE, what, cure))
    return findings


def numpy_abi() -> list[Finding]:
    """The modules were compiled for the NumPy that runs."""
    from autograd_cy._C._build_info import BUILD

    built, running = BUILD["numpy"], _info.version_of("numpy") or "0"
    if int(built.split(".")[0]) >= int(running.split(".")[0]):
        return []
    what = f"compiled with NumPy {built}, but NumPy {running} is installed"
    return [Finding(PROBLEM, what, "Rebuild: pip install --force-reinstall .")]


def team_size() -> list[Finding]:
    """OMP_NUM_THREADS fits the processors of this process."""
    text, usable = os.environ.get("OMP_NUM_THREADS", ""), _machine.usable()
    if not text:
        return []
    if not text.split(",")[0].strip().isdigit():
        what = f"OMP_NUM_THREADS={text!r} is not a number"
        return [Finding(PROBLEM, what, f"Set OMP_NUM_THREADS={usable}.")]
    wanted = int(text.split(",")[0])
    if wanted <= usable:
        return []
    what = f"OMP_NUM_THREADS={wanted}, but this process may use {usable} processors only"
    cure = f"Set OMP_NUM_THREADS={usable} or ask the scheduler for more (--cpus-per-task)."
    return [Finding(PROBLEM, what, cure)]


def processors_granted() -> list[Finding]:
    """The scheduler gave more than one processor of a big node."""
    if _threads.affinity() > 1 or _machine.processors() < 8:
        return []
    what = f"this process is bound to 1 of {_machine.processors()} processors"
    cure = "Use srun --cpus-per-task=N, or mpirun --map-by socket:PE=N (or --bind-to none)."
    return [Finding(ADVICE, what, cure)]


def ranks_per_node() -> list[Finding]:
    """The ranks of a node do not start more threads than it has processors."""
    texts = [os.environ[name].split("(")[0] for name in LOCAL_RANKS if name in os.environ]
    ranks = next((int(text) for text in texts if text.isdigit()), 1)
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    threads = int(first) if first.isdigit() else _machine.usable()
    divided = not first.isdigit() and _mpi_checks.is_installed()  # by init_process_group
    if ranks <= 1 or divided or ranks * threads <= _machine.processors():
        return []
    what = f"{ranks} ranks of {threads} threads on a node of {_machine.processors()} processors"
    cure = f"Set OMP_NUM_THREADS={max(1, _machine.processors() // ranks)} or bind the ranks."
    return [Finding(PROBLEM, what, cure)]


def unknown_launcher() -> list[Finding]:
    """The launcher of several ranks is one that init_process_group knows."""
    names = _launcher.unknown_ranks()
    if not names:
        return []
    what = (
        f"{', '.join(names)} may be of a launcher that isn't known: init_process_group would make "
        "a world of one"
    )
    cure = (
        "If the launcher is of MPI, write `from mpi4py import MPI` before init_process_group, "
        "which then asks MPI for the ranks; else start the script by mpirun or srun."
    )
    return [Finding(ADVICE, what, cure)]


def openmp_runtimes() -> list[Finding]:
    """One pool of threads in this process, and compiled in at all."""
    from autograd_cy._C import parallel

    if not parallel.info()["openmp"]:
        what = "built without OpenMP, so everything runs on one thread"
        return [Finding(ADVICE, what, "Rebuild without AUTOGRAD_CY_OPENMP=0.")]
    runtimes = _machine.openmp_runtimes()
    if len(runtimes) < 2:
        return []
    what = f"{len(runtimes)} OpenMP runtimes are loaded: {', '.join(runtimes)}"
    cure = "Two pools of threads disturb each other.  Use packages built with the same OpenMP."
    return [Finding(PROBLEM, what, cure)]


def wait_policy() -> list[Finding]:
    """Idle threads spin for a moment before they sleep."""
    passive = os.environ.get("OMP_WAIT_POLICY", "").lower() == "passive"
    if not passive and os.environ.get("GOMP_SPINCOUNT") != "0":
        return []
    name = "OMP_WAIT_POLICY=passive" if passive else "GOMP_SPINCOUNT=0"
    what = f"{name} makes each parallel region 30 to 70 times dearer"
    return [Finding(ADVICE, what, "Unset it unless more threads run than there are processors.")]


def denormals() -> list[Finding]:
    """Check that no library switched the process to flush-to-zero."""
    import numpy

    from autograd_cy._C import info

    importlib.import_module("scipy.linalg.cython_blas")
    tiny = numpy.array([1e-40], numpy.float32)
    if not info.flushes_denormals() and (tiny * numpy.float32(1.0))[0] != 0:
        return []
    what = "denormal numbers are flushed to zero in this process"
    cure = "A library linked with -ffast-math did this.  Import less until it is found."
    return [Finding(PROBLEM, what, cure)]


def simd_target() -> list[Finding]:
    """The best instruction set of this processor was compiled and is in use."""
    facts = _info.simd()
    best = facts["processor"][-1]
    if best not in facts["compiled"]:
        what = f"this processor has {best}, but only {', '.join(facts['compiled'])} were compiled"
        return [
            Finding(ADVICE, what, "Rebuild without AUTOGRAD_CY_SIMD, or with a newer compiler.")
        ]
    if facts["selected"] != best:
        what = f"kernels for {facts['selected']} are in use, and this processor has {best}"
        return [Finding(ADVICE, what, "Unset AUTOGRAD_CY_CPU.")]
    return []


def gpus() -> list[Finding]:
    """The driver, PyCUDA and kernels are there together, or none of them is."""
    from autograd_cy._environment import gpus as _gpus

    return [
        Finding(PROBLEM if stops else ADVICE, what, cure)
        for stops, what, cure in _gpus.advice(_gpus.facts())
    ]


def mpi() -> list[Finding]:
    """mpi4py loads its MPI, which starts, and whose launcher is on PATH; without it, nothing."""
    return [_of_mpi(*facts) for facts in _mpi_checks.advice()]


def _of_mpi(stops: bool, what: str, cure: str) -> Finding:
    return Finding(PROBLEM if stops else ADVICE, what, cure)


CHECKS = (
    variables,
    compiled_modules,
    source_tree,
    copies,
    numpy_abi,
    team_size,
    processors_granted,
    ranks_per_node,
    unknown_launcher,
    openmp_runtimes,
    wait_policy,
    denormals,
    simd_target,
    gpus,
    mpi,
)
