"""The facts that `autograd-cy info` prints.  Each part stands alone and says when it is missing."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from pathlib import Path

from autograd_cy._environment import machine as _machine
from autograd_cy._version import __version__

# Distribution name -> what it is for.
OPTIONAL = {
    "ml_dtypes": "NumPy bfloat16",
    "matplotlib": "plots",
    "scikit-learn": "data for the examples",
    "graphviz": "pictures of graphs",
    "tqdm": "progress bars",
    "safetensors": "files of weights",
    "nvtx": "ranges for Nsight Systems",
    "ittapi": "ranges for VTune",
    "pycuda": "work on GPUs, start and stop of NVIDIA's profilers",
    "mpi4py": "several processes",
    "threadpoolctl": "limits of other thread pools",
}
VARIABLES = (
    "AUTOGRAD_CY_CPU",
    "AUTOGRAD_CY_BLAS",
    "AUTOGRAD_CY_BLAS_THREADS",
    "AUTOGRAD_CY_CACHE",
    "AUTOGRAD_CY_CACHE_MB",
    "AUTOGRAD_CY_PROFILE",
    "AUTOGRAD_CY_CUDA_KERNELS",
    "AUTOGRAD_CY_CUDA_HOST",
    "AUTOGRAD_CY_CUBLAS",
    "AUTOGRAD_CY_CUDA_AWARE_MPI",
    "AUTOGRAD_CY_MPI_THREAD",
    "AUTOGRAD_CY_NO_CUDA_MEMORY_CACHING",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_LAUNCH_BLOCKING",
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
        "cuda": cuda,
        "mpi": mpi,
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
        "location": str(Path(__file__).parents[1]),
        "python": f"{platform.python_version()} ({sys.executable})",
        "numpy": version_of("numpy"),
        "scipy": version_of("scipy"),
        "system": platform.platform(),
        "processor": _machine.processor_name(),
    }


def build() -> dict:
    """Return the build of the compiled modules."""
    from autograd_cy._C._build_info import BUILD

    return {key: value for key, value in BUILD.items() if key not in ("simd", "cuda")}


def simd() -> dict:
    """Instruction sets: compiled in, of this processor, and the one in use."""
    from autograd_cy._C import cpu
    from autograd_cy._C._build_info import BUILD

    processor = list(cpu.supported_targets())
    return {
        "compiled": list(BUILD["simd"]),
        "processor": processor,
        "selected": cpu.selected_target(),
    }


def threads() -> dict:
    """Processors that may be used, and the OpenMP runtime."""
    from autograd_cy._C import parallel

    facts = {"processors": _machine.processors(), "usable": _machine.usable(), **parallel.info()}
    return {name: value for name, value in facts.items() if name.islower()}


def blas() -> dict:
    """The BLAS that products use, and all that are in this process."""
    from autograd_cy._C.blas import blas_info

    return {**blas_info(), "loaded": _machine.loaded_libraries(_machine.BLAS_LIBRARIES)}


def cuda() -> dict:
    """Kernels of this build for GPUs, and what else work on GPUs needs."""
    from autograd_cy._environment import gpus

    return gpus.shown(gpus.facts())


def mpi() -> dict:
    """mpi4py, the MPI that it loads, and the launcher that has started this process."""
    from autograd_cy._environment import mpi_checks

    return mpi_checks.shown()


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
        width = max(16, *(len(name) + 2 for name in entries), 0)
        lines += [f"  {name:<{width}}{_text(value)}" for name, value in entries.items()]
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
