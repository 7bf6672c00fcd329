"""The parts that work on GPUs needs: kernels of this build, PyCUDA, driver, GPUs.

Used by `info` and `doctor`. Nothing is started: PyCUDA is not imported, and the driver is asked for
its version alone, which leaves the process free to fork.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

NO_PYCUDA = (
    "Do pip install pycuda.  It has no wheels: it is compiled, with the headers of a CUDA toolkit "
    "and libcuda.so; docs/gpu.md says how where cuRAND or the toolkit is missing."
)


@dataclass
class Facts:
    """The parts that were found; None stands for a missing one."""

    images: dict[str, int] = field(default_factory=dict)  # bytes of each file of kernels
    why_none: str = ""  # why there are none, if there are none
    nvcc: str | None = None
    archs: list[str] = field(default_factory=list)
    pycuda: str | None = None
    driver: tuple[int, int] | None = None  # the version of CUDA that it knows
    module: str | None = None  # version of the driver's part in the kernel of Linux
    no_driver: str = ""  # what the loader says
    gpus: list[str] = field(default_factory=list)


def facts(proc: Path = Path("/proc/driver/nvidia")) -> Facts:
    """Look for all that work on GPUs needs."""
    result = Facts(pycuda=_pycuda(), gpus=_gpus(proc))
    build = _build()
    result.images = _images()
    result.why_none = build.get("missing", "its kernels are gone") if not result.images else ""
    result.nvcc = build.get("nvcc")
    result.archs = list(build.get("archs", ()))
    result.driver, result.no_driver = _driver()
    words = re.search(r"Kernel Module(?: for \S+)?\s+(\d[\d.]+)", _read(proc / "version"))
    result.module = words[1] if words else None
    return result


def shown(known: Facts) -> dict:
    """The facts, for `info`."""
    if known.images:
        size = sum(known.images.values()) / 1e6
        kernels = f"{len(known.images)} images, {size:.1f} MB"
    else:
        kernels = f"none: {known.why_none}"
    driver = None
    if known.driver:
        driver = f"CUDA {known.driver[0]}.{known.driver[1]}"
        driver += f" ({known.module})" if known.module else ""
    return {
        "kernels": kernels,
        "nvcc": known.nvcc,
        "archs": known.archs,
        "pycuda": known.pycuda,
        "driver": driver or f"none: {known.no_driver}",
        "gpus": known.gpus,
    }


def advice(known: Facts) -> list[tuple[bool, str, str]]:
    """(whether it stops work on GPUs though all else is there, what is wrong, its cure)."""
    there = bool(known.gpus) or known.driver is not None
    if not known.images:
        if not there:
            return []
        what = (
            f"there is a driver of NVIDIA, but no kernels for GPUs in this build: {known.why_none}"
        )
        return [(False, what, "Rebuild with nvcc on PATH and AUTOGRAD_CY_CUDA=1.")]
    problems = []
    if known.driver is None and (known.gpus or known.pycuda):
        what = f"kernels for GPUs are there, but no driver: {known.no_driver}"
        cure = "Run on a node with a GPU (in a container: --nv, --gpus all), or install the driver."
        problems.append((bool(known.gpus), what, cure))
    if known.pycuda is None and there:
        problems.append((True, "PyCUDA, which launches kernels on GPUs, is missing", NO_PYCUDA))
    built = int(known.nvcc.split(".")[0]) if known.nvcc else 0
    if known.driver is not None and known.driver[0] < built:
        what = (
            f"the kernels were compiled by nvcc {known.nvcc}, and the driver knows CUDA "
            f"{known.driver[0]}.{known.driver[1]}"
        )
        cure = (
            f"Update the driver, or rebuild with nvcc of CUDA {known.driver[0]} (module load cuda)."
        )
        problems.append((True, what, cure))
    return problems


def _build() -> dict:
    from autograd_cy._C._build_info import BUILD

    return BUILD.get("cuda", {"missing": "it was built before there were any"})


def _images() -> dict[str, int]:
    folder = os.environ.get("AUTOGRAD_CY_CUDA_KERNELS") or Path(__file__).parents[1] / "_cuda"
    return {path.stem: path.stat().st_size for path in sorted(Path(folder).glob("*.fatbin"))}


def _pycuda() -> str | None:
    try:
        return importlib.metadata.version("pycuda")
    except importlib.metadata.PackageNotFoundError:
        return None


def _driver() -> tuple[tuple[int, int] | None, str]:
    """The version of CUDA that the driver knows, which is not started, or why there is none."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
        version = ctypes.c_int()
        if library.cuDriverGetVersion(ctypes.byref(version)):
            return None, "libcuda.so.1 does not say its version"
    except (OSError, AttributeError) as error:
        return None, str(error)
    return (version.value // 1000, version.value % 1000 // 10), ""


def _gpus(proc: Path) -> list[str]:
    """The GPUs that the driver has in this machine, though this process may not see all of them."""
    models = []
    for path in sorted(proc.glob("gpus/*/information")):
        model = re.search(r"^Model:\s*(.+)$", _read(path), re.MULTILINE)
        models.append(model[1].strip() if model else path.parent.name)
    return models


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
