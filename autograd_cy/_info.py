"""The facts that `autograd-cy info` prints.  Each part stands alone and says when it is missing."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import sys
from pathlib import Path

from . import _machine
from ._version import __version__

# Distribution name -> what it is for.
OPTIONAL = {
    "pycuda": "GPU",
    "mpi4py": "many nodes",
    "ml_dtypes": "NumPy bfloat16",
    "matplotlib": "plots",
    "scikit-learn": "data for the examples",
    "graphviz": "pictures of graphs",
    "tqdm": "progress bars",
    "rich": "progress bars",
    "nvtx": "marks for Nsight",
    "ittapi": "marks for VTune",
    "threadpoolctl": "limits of other thread pools",
}
VARIABLES = (
    "AUTOGRAD_CY_CPU",
    "AUTOGRAD_CY_BLAS",
    "AUTOGRAD_CY_BLAS_THREADS",
    "OMP_NUM_THREADS",
    "OMP_WAIT_POLICY",
    "OMP_PROC_BIND",
    "OMP_PLACES",
    "GOMP_SPINCOUNT",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "SLURM_CPUS_PER_TASK",
)


def collect() -> dict:
    """All facts, by section; a section that cannot be had holds an `error`."""
    sections = {
        "versions": versions,
        "build": build,
        "simd": simd,
        "threads": threads,
        "blas": blas,
        "optional": optional,
        "environment": environment,
    }
    facts = {}
    for name, section in sections.items():
        try:
            facts[name] = section()
        except Exception as error:
            facts[name] = {"error": f"{type(error).__name__}: {error}"}
    return facts


def versions() -> dict:
    """The package, where it was found, and what it runs on."""
    return {
        "autograd_cy": __version__,
        "location": str(Path(__file__).parent),
        "python": f"{platform.python_version()} ({sys.executable})",
        "numpy": version_of("numpy"),
        "scipy": version_of("scipy"),
        "system": platform.platform(),
        "processor": _machine.processor_name(),
    }


def build() -> dict:
    """How the compiled modules were made."""
    from ._C._build_info import BUILD

    return {key: value for key, value in BUILD.items() if key != "simd"}


def simd() -> dict:
    """Instruction sets: compiled in, of this processor, and the one in use."""
    from ._C import info
    from ._C._build_info import BUILD

    built, processor = list(BUILD["simd"]), info.cpu_targets()
    wanted = os.environ.get("AUTOGRAD_CY_CPU", "")
    usable = [target for target in built if target in processor]
    facts = {"compiled": built, "processor": processor, "selected": wanted or usable[-1]}
    if wanted and wanted not in usable:
        facts["error"] = f"AUTOGRAD_CY_CPU={wanted} cannot be used here, only {', '.join(usable)}"
    return facts


def threads() -> dict:
    """Processors that may be used and the OpenMP runtime."""
    facts = {
        "processors": _machine.processors(),
        "affinity": _machine.affinity(),
        "cgroup quota": _machine.quota(),
        "usable": _machine.usable(),
    }
    try:
        from ._C import info
    except ImportError as error:
        return facts | {"error": str(error)}
    standard = info.openmp_version()
    facts["openmp"] = f"{standard}" if standard else "not compiled in (AUTOGRAD_CY_OPENMP=0)"
    facts["openmp threads"] = info.openmp_threads()
    facts["openmp runtime"] = _machine.openmp_runtimes()
    return facts


def blas() -> dict:
    """The BLAS that products use."""
    provider = os.environ.get("AUTOGRAD_CY_BLAS", "scipy")
    importlib.import_module("scipy.linalg.cython_blas")
    return {"provider": provider, "loaded": _machine.blas_libraries()}


def optional() -> dict:
    """Optional packages and their versions."""
    return {name: version_of(name) for name in OPTIONAL}


def environment() -> dict:
    """Environment variables that change how the package runs."""
    return {name: os.environ[name] for name in VARIABLES if name in os.environ}


def version_of(distribution: str) -> str | None:
    """Version of an installed distribution, or None."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def render(facts: dict) -> str:
    """The facts as a page of text."""
    lines = []
    for section, entries in facts.items():
        lines += ["", section]
        lines += [f"  {name:<16}{_text(value)}" for name, value in entries.items()]
        if not entries:
            lines.append("  (nothing set)")
    return "\n".join(lines[1:])


def _text(value) -> str:
    if value is None:
        return "-"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {part}" for key, part in value.items())
    if isinstance(value, list):
        return ", ".join(map(_text, value)) or "-"
    return str(value)
