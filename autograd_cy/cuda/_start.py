"""Find out whether GPUs can be used, and register them at their first use.

Three things are needed: kernels, which nvcc compiles when the package is built, PyCUDA, and
NVIDIA's driver with a GPU. Nothing of them is touched before somebody asks.
"""

from __future__ import annotations

import _thread
import os
import sys
from functools import partial
from importlib import import_module
from importlib.util import find_spec

# Modules with kernels of operators. What they lack goes by way of the host (cuda_host).
KERNEL_MODULES = (
    "cuda_reduce",
    "cuda_losses",
    "cuda_rows",
    "cuda_norms",
    "cuda_products",
    "cuda_steps",
    "cuda_lists",
    "cuda_gather",
    "cuda_masks",
    "cuda_layouts",
    "cuda_scatter",
    "cuda_lookups",
    "cuda_windows",
    "cuda_convolution",
    "cuda_norm_sets",
    "cuda_pooling",
    "cuda_resampling",
    "cuda_grid",
    "cuda_random",
    "cuda_recurrent",
    "cuda_attention",
    "cuda_scans",
    "cuda_order",
    "cuda_unique",
    "cuda_special",
)

_lock = _thread.RLock()
_started = False
_reasons: dict[str, str | None] = {}  # by folder of kernels


def why_not() -> str | None:
    """
    Say what is missing for the use of a GPU, and what to do about it.

    The driver is initialised, and no context is made.

    Returns
    -------
    str or None
        None if nothing is missing.
    """
    from autograd_cy._C import cuda_launch

    folder = cuda_launch.folder()
    if folder not in _reasons:
        missing = _missing()
        _reasons[folder] = f"{'; and '.join(missing)}; or use device='cpu'" if missing else None
    return _reasons[folder]


def _missing() -> list[str]:
    from autograd_cy._C import cuda_driver, cuda_launch

    missing = []
    if not cuda_launch.images():
        missing.append(
            "this build has no kernels, because it was built without CUDA (not compiled with CUDA "
            "enabled): rebuild with nvcc on PATH and AUTOGRAD_CY_CUDA=1"
        )
    driver = cuda_driver.driver_problem()
    if driver is not None:
        missing.append(driver)
    # A module that is loaded already needs no spec.
    if sys.modules.get("pycuda") is None and find_spec("pycuda") is None:
        missing.append(cuda_driver.NO_PYCUDA)
    elif not missing:
        pycuda = cuda_driver.pycuda_problem()
        if pycuda is not None:
            missing.append(pycuda)
    return missing


def device_count() -> int:
    """
    Count the GPUs, without a context.

    Returns
    -------
    int
        0 where there is no driver; GPUs are counted also where kernels or PyCUDA are missing.
    """
    from autograd_cy._C import cuda_driver

    return cuda_driver.count()


def start() -> None:
    """
    Register device "cuda"; done once.

    Raises
    ------
    RuntimeError
        If something is missing.
    """
    global _started
    if _started:
        return
    with _lock:
        if _started:
            return
        missing = why_not()
        if missing is not None:
            raise RuntimeError(f"device 'cuda' is not available: {missing}")
        from autograd_cy._C import cuda_host, cuda_services, devices, lazy
        from autograd_cy._C.interpreted_kernels import let_host_compute
        from autograd_cy._environment.settings import _products

        own = own_kernels()
        kernels = cuda_host.KERNELS | own
        by_host = cuda_host.KERNELS.keys() - own.keys()
        type_number = devices.register("cuda", cuda_services.services(), kernels, by_host)
        let_host_compute(type_number, cuda_host.through_host)
        if "mm" in own:  # kernels of products read conjugates as they lie
            lazy._take_conjugates(type_number)
            _products.tell()
        os.register_at_fork(after_in_child=partial(devices._lose, type_number))
        _started = True


def own_kernels() -> dict[str, object]:
    """
    Gather the kernels of operators that GPUs have, apart from elementwise ones.

    Returns
    -------
    dict
        Keys of the operator table, with capsules.
    """
    kernels: dict[str, object] = {}
    for name in KERNEL_MODULES:
        kernels |= import_module("autograd_cy._C." + name).KERNELS
    return kernels


def started() -> bool:
    """
    Tell if device "cuda" was registered.

    Returns
    -------
    bool
    """
    return _started


def architectures() -> list[str]:
    """
    List the architectures that the kernels were compiled for, as "sm_90".

    Returns
    -------
    list of str
    """
    try:
        from autograd_cy._C._build_info import BUILD
    except ImportError:
        return []
    return list(BUILD.get("cuda", {}).get("archs", ()))
