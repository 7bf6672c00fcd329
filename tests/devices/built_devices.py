"""Builds `hostdevice`, once for all processes of a run of the tests, and loads it."""

import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import autograd_cy as ag

SOURCE = Path(__file__).parent / "hostdevice"
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
    """That of a process that imports this package."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **more}


def compile_in(folder):
    """Build the extension from a copy of its sources."""
    shutil.copytree(SOURCE, folder, dirs_exist_ok=True)
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "setup.py", "-q", "build_ext", "--inplace"],
        cwd=folder,
        env=environment(CFLAGS="-O0 -ffp-contract=off", AUTOGRAD_CY_HEADERS=str(HEADERS)),
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def library(factory):
    """The path of the built extension; `factory` is pytest's tmp_path_factory."""
    pytest.importorskip("Cython")
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent  # that of all processes of this run
    folder = base / "hostdevice"
    folder.mkdir(exist_ok=True)
    with alone(folder):
        if not list(folder.glob("hostdevice*.so")):
            compile_in(folder)
    (found,) = folder.glob("hostdevice*.so")
    return found


def load(path):
    """The module; there is one in a process, however many ask for it."""
    if "hostdevice" not in LOADED:
        spec = importlib.util.spec_from_file_location("hostdevice", path)
        LOADED["hostdevice"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(LOADED["hostdevice"])
    return LOADED["hostdevice"]
