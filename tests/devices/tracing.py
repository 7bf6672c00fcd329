"""The device of `tracer/`, built once, and registered as "tracer" and, with less, as "bare"."""

import gc
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import autograd_cy as ag

SOURCE = Path(__file__).parent / "tracer"
ROOT = Path(ag.__file__).resolve().parents[1]


def library(tmp_path_factory):
    """The built module's file."""
    pytest.importorskip("Cython")
    folder = tmp_path_factory.mktemp("tracer")
    shutil.copytree(SOURCE, folder, dirs_exist_ok=True)
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "setup.py", "-q", "build_ext", "--inplace"],
        cwd=folder,
        env={**os.environ, "CFLAGS": "-O0", "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    (built,) = folder.glob("tracer*.so")
    return built


def load(built):
    """The module of that file."""
    spec = importlib.util.spec_from_file_location("tracer", built)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_loaded = []


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    return library(tmp_path_factory)


@pytest.fixture
def tracer(built):
    """The module; after a test nothing of its own is left."""
    if not _loaded:
        module = load(built)
        module.register("tracer")
        module.register("bare", everything=False)
        _loaded.append(module)
    module = _loaded[0]
    gc.collect()
    before = module.state()
    module.traced()
    yield module
    module.fail()
    module.set_busy(False)
    module.set_count(2)
    gc.collect()
    if before["pins"] != module.state()["pins"]:
        ag.empty(1, pin_memory=True)  # what waited for copies goes
    assert module.state() == before
