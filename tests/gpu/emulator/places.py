"""The paths of the emulated driver and its parts, and the start of a process on them."""

import ctypes
import importlib.util
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).resolve().parent
BUILT = Path(os.environ.get("AUTOGRAD_CY_EMULATED") or ROOT / "build" / "emulated")
DRIVER = BUILT / "libcuda.so.1"
CUBLAS = BUILT / "libcublas.so.13"
KERNELS = BUILT / "kernels"
SITE = BUILT / "site"
COMPILER = BUILT / "bin"
CACHE = BUILT / "user_cache"

COMMAND = "python tests/gpu/emulator/build.py"


def what_is_missing():
    """Why tests can't run on the emulated driver here, as a sentence, or None."""
    if not DRIVER.exists():
        return f"the emulated driver is not built: run {COMMAND}"
    if importlib.util.find_spec("pycuda") is None and not (SITE / "pycuda").is_dir():
        return f"PyCUDA is not installed and not built for the emulated driver: run {COMMAND}"
    return None


def start():
    """Let this process use the emulated driver, before anything looks for the real one."""
    _load(DRIVER)
    for name, value in _settings().items():
        os.environ.setdefault(name, value)
    os.environ["PATH"] = f"{COMPILER}{os.pathsep}{os.environ['PATH']}"
    if importlib.util.find_spec("pycuda") is None:
        sys.path.append(str(SITE))


def _settings():
    # PyCUDA's cache of compiled sources must not mix with that of a real nvcc.
    settings = {"AUTOGRAD_CY_CUDA_KERNELS": str(KERNELS), "PYCUDA_CACHE_DIR": str(CACHE)}
    if CUBLAS.exists():
        settings["AUTOGRAD_CY_CUBLAS"] = str(CUBLAS)
    return settings


def _load(library):
    # Who asks for a library by its soname gets the one that is loaded already.
    ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)


def environment(**more):
    """The environment of another process on the emulated driver, e.g. ``EMU_ORDER="random"``."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("EMU_")}
    paths = {"LD_LIBRARY_PATH": [BUILT], "PYTHONPATH": [ROOT], "PATH": [COMPILER]}
    if importlib.util.find_spec("pycuda") is None or SITE in map(Path, sys.path):
        paths["PYTHONPATH"].append(SITE)
    for name, added in paths.items():
        env[name] = os.pathsep.join([*map(str, added), *filter(None, [env.get(name)])])
    env |= _settings()
    return env | {k: str(v) for k, v in more.items()}
