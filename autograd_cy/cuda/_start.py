"""Finds out whether GPUs can be used, and starts them at the first use.

Three things are needed: kernels, which nvcc compiled when the package was built, PyCUDA, and
NVIDIA's driver with a GPU. To find out, nothing is imported and no context made.
"""

from __future__ import annotations

import ctypes
import os
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "_cuda"


def kernels() -> Path:
    """The folder of compiled kernels."""
    return Path(os.environ.get("AUTOGRAD_CY_CUDA_KERNELS") or FOLDER)


@lru_cache
def _driver_count() -> int | str:
    """The number of GPUs by the driver, or why there is none."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return f"NVIDIA's driver isn't found ({error})"
    status, found = driver.cuInit(0), ctypes.c_int(0)
    if status == 0:
        status = driver.cuDeviceGetCount(ctypes.byref(found))
    if status or not found.value:
        return f"the driver finds no GPU (CUDA error {status or 100})"
    return found.value


def why_not() -> str | None:
    """Return what is missing and what to do, or None if GPUs can be used."""
    if not any(kernels().glob("*.fatbin")):
        return (
            "autograd_cy was not compiled with CUDA enabled: this build has no kernels. Build it "
            "where nvcc is found, with AUTOGRAD_CY_CUDA=1, or use device='cpu'."
        )
    if find_spec("pycuda") is None:
        return 'PyCUDA is missing: pip install "autograd_cy[cuda]", or use device=\'cpu\'.'
    found = _driver_count()
    if isinstance(found, str):
        return f"{found}: run where nvidia-smi shows a GPU, or use device='cpu'."
    return None


def device_count() -> int:
    """Count the GPUs without starting them."""
    found = _driver_count()
    return 0 if isinstance(found, str) else found


def start() -> None:
    """Register CUDA; a second call changes nothing."""
    reason = why_not()
    if reason is not None:
        raise RuntimeError(f"CUDA is not available: {reason}")
    from autograd_cy._C import cuda_services

    cuda_services.register()


def architectures() -> list[str]:
    """The architectures that the kernels were compiled for."""
    return []
