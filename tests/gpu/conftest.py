"""Tests of CUDA devices: on the emulated driver, or with ``AUTOGRAD_CY_GPU=real`` on a GPU.

They run by themselves (``pytest tests/gpu``): what looks for a GPU elsewhere must find none.
"""

import atexit
import contextlib
import ctypes
import functools
import gc
import os
import sys
from pathlib import Path

import pytest
from counting import (  # noqa: F401 - hooks
    note_launches,
    pytest_sessionfinish,
    pytest_terminal_summary,
    pytest_testnodedown,
)
from emulator import build, control, places
from small import Small

HERE = Path(__file__).resolve().parent
REAL = os.environ.get("AUTOGRAD_CY_GPU") == "real"
_started = False


def _why_not(config):
    """Why the tests of this folder can't run, or None; starts the emulated driver if they can."""
    global _started
    if _started:
        return None
    asked = [Path(config.invocation_params.dir, a.split("::")[0]).resolve() for a in config.args]
    if not all(path == HERE or HERE in path.parents for path in asked):
        return "tests of GPUs run by themselves: pytest tests/gpu"
    if not REAL:
        missing = places.what_is_missing()
        if missing:
            return missing
        old = build.stale()
        if old:
            images = ", ".join(old[:4]) + ", ..." * (len(old) > 4)
            pytest.fail(f"{images} are not up to date: run {places.COMMAND}", pytrace=False)
        places.start()
    _started = True
    return None


class _Left(pytest.Module):
    """A module that isn't imported, because what it needs isn't there."""

    def collect(self):
        pytest.skip(self.why, allow_module_level=True)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(module_path, parent):
    why = _why_not(parent.config)
    if why is None:
        return None
    left = _Left.from_parent(parent, path=module_path)
    left.why = why
    return left


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup():
    """Let CUDA be the accelerator, after the hook of all tests has said that there is none."""
    result = yield
    devices = sys.modules.get("autograd_cy._C.devices")
    if devices is not None:
        with contextlib.suppress(ValueError):  # not started yet: it will be the accelerator then
            devices.choose_accelerator("cuda")
    return result


def pytest_configure(config):
    config.addinivalue_line("markers", "emulated: needs the emulated driver; skipped on a GPU")
    config.addinivalue_line("markers", "cached: counts on the cache of memory")
    config.addinivalue_line("markers", "breaks: the test does what broken() would report")


def pytest_collection_modifyitems(config, items):
    sample = int(os.environ.get("AUTOGRAD_CY_GPU_SAMPLE", "1"))
    if sample > 1:
        left_out = _beside_sample(items, sample)
        config.hook.pytest_deselected(items=left_out)
        gone = set(map(id, left_out))
        items[:] = [item for item in items if id(item) not in gone]
    whys = {}
    if REAL:
        whys["emulated"] = "asks the emulated driver"
    if os.environ.get("AUTOGRAD_CY_NO_CUDA_MEMORY_CACHING", "0") not in ("", "0"):
        whys["cached"] = "memory is not cached"
    for item in items:
        for name, why in whys.items():
            if item.get_closest_marker(name):
                item.add_marker(pytest.mark.skip(reason=why))


def _beside_sample(items, every):
    """All but each n-th case of a test here, the first one of which stays."""
    counts, left_out = {}, []
    for item in items:
        if not item.path.is_relative_to(HERE):
            continue
        test = item.nodeid.partition("[")[0]
        counts[test] = counts.get(test, -1) + 1
        if counts[test] % every:
            left_out.append(item)
    return left_out


@functools.cache
def _primary(index):
    """PyCUDA's primary context of a device, kept to the end; that of device 0 stays pushed."""
    import pycuda.driver as cuda

    cuda.init()
    context = cuda.Device(index).retain_primary_context()
    if index == 0:
        context.push()
    atexit.register(_let_go, context, pushed=index == 0)
    return context


def _let_go(context, pushed):
    import pycuda.driver as cuda

    if pushed:
        _make_current(context)
        with contextlib.suppress(cuda.LogicError):  # the library has emptied the stack before
            context.pop()
    context.detach()


def _make_current(context):
    # What uses devices leaves theirs current, and PyCUDA isn't told.
    ctypes.CDLL("libcuda.so.1").cuCtxSetCurrent(ctypes.c_void_p(context.handle))


@pytest.fixture
def context():
    """PyCUDA's primary context of device 0, current in this thread: for tests of the driver."""
    _make_current(_primary(0))
    return _primary(0)


@pytest.fixture
def second(context):
    """Make device 1 current, and return its context."""
    _primary(1).push()
    yield _primary(1)
    _make_current(_primary(1))
    _primary(1).pop()


@functools.cache
def _small():
    return Small()


@pytest.fixture
def small(context):
    """The kernels of ``emulator/samples``, in the context of device 0."""
    return _small()


def _settle():
    """Let all work run, raise what it noted, and let go of what is only cached."""
    gc.collect()
    control.finish()
    library = sys.modules.get("autograd_cy.cuda")
    if library is not None and getattr(library, "is_initialized", bool)():
        library.synchronize()
        library.empty_cache()


def _living():
    """Count the objects that live on the driver, without cached streams and events."""
    names = ("live_allocations", "live_streams", "live_events", "live_graphs")
    report = control.counts()
    living = {name: report[name] for name in names}
    streams = sys.modules.get("autograd_cy._C.cuda_streams")
    for name, kept in streams.cached_counts().items() if streams else ():
        living["live_" + name] -= kept
    return living


@pytest.fixture(autouse=True)
def gpu(request):
    """An emulated driver that runs late, and is found whole and empty when the test has ended."""
    if REAL:
        yield
        return
    control.reset()
    _settle()
    before = _living()
    yield
    control.order()
    found = control.broken()
    note_launches()
    control.reset()
    if request.node.get_closest_marker("breaks"):
        return
    request.node.funcargs.clear()
    _settle()
    after = _living()
    found += control.broken()
    assert not found, found
    left = {name: after[name] - before[name] for name in after if after[name] > before[name]}
    assert not left, f"left behind: {left}"
