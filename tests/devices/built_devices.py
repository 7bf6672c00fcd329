"""Build `hostdevice` and `tracer`, once for all processes of a run, and load them."""

import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import autograd_cy as ag

HERE = Path(__file__).parent
HEADERS = Path(__file__).parents[2] / "ext" / "kernels"
ROOT = Path(ag.__file__).resolve().parents[1]
LOADED = {}


@contextlib.contextmanager
def alone(folder):
    """One process at a time is within."""
    fcntl = pytest.importorskip("fcntl")
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def environment(**more):
    """Return the environment of a process that imports this package."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **more}


def compile_in(folder, name):
    """Build the extension from a copy of its sources."""
    shutil.copytree(HERE / name, folder, dirs_exist_ok=True)
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "setup.py", "-q", "build_ext", "--inplace"],
        cwd=folder,
        env=environment(CFLAGS="-O0 -ffp-contract=off", AUTOGRAD_CY_HEADERS=str(HEADERS)),
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def library(factory, name="hostdevice"):
    """The path of the built extension; `factory` is pytest's tmp_path_factory."""
    pytest.importorskip("Cython")
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent  # that of all processes of this run
    folder = base / name
    folder.mkdir(exist_ok=True)
    with alone(folder):
        if not list(folder.glob(f"{name}*.so")):
            compile_in(folder, name)
    (found,) = folder.glob(f"{name}*.so")
    return found


def load(path, name="hostdevice"):
    """The module; there is one in a process, however many ask for it."""
    if name not in LOADED:
        spec = importlib.util.spec_from_file_location(name, path)
        LOADED[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(LOADED[name])
    return LOADED[name]
