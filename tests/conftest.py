"""The settings of all tests."""

import gc
import os
import sys
from pathlib import Path

if sys.dont_write_bytecode:
    # To compile all tests with their assertions takes 10 s, as long as all else of the collection.
    kept = Path(__file__).resolve().parents[1] / "build" / "bytecode"
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(kept)

# NumPy's products make references only, and threads that wait for small ones take a core each.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Processes of tests share the cores: who waits for a thread of its own keeps one from the others.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import comparing
import grouping
import numpy as np
import pytest

comparing.install()


def pytest_addoption(parser):
    parser.addoption("--apart", action="store_true", help="each case of a group is its own test")


def pytest_configure(config):
    """Only tests/gpu, when it runs by itself, finds the GPUs that this machine has."""
    place = Path(__file__).resolve().parent / "gpu"
    asked = [Path(config.invocation_params.dir, a.split("::")[0]).resolve() for a in config.args]
    if not all(path == place or place in path.parents for path in asked):
        os.environ["CUDA_VISIBLE_DEVICES"] = ""


# Fixtures that register a device in this process -> the type that is the accelerator of a test
# that uses them. All other tests see none, whatever was registered before.
ACCELERATORS = {
    "tracer": "tracer",
    "late": "late",
    "registered": "late",
    "plain": "hostdevice",
    "gpu": "cuda",
}


_first_states = {}  # of the generators of modules


def rewind_generators(module):
    """Give each test of a module the same random numbers, whichever tests run before it."""
    for value in vars(module).values():
        if isinstance(value, np.random.Generator):
            state = _first_states.setdefault(id(value), value.bit_generator.state)
            value.bit_generator.state = state


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    if isinstance(item, pytest.Function):
        rewind_generators(item.module)
    result = yield
    found = [ACCELERATORS[name] for name in item.fixturenames if name in ACCELERATORS]
    _choose_accelerator(found[0] if found else None)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item):
    try:
        return (yield)
    finally:
        _choose_accelerator(None)


def _choose_accelerator(name):
    devices = sys.modules.get("autograd_cy._C.devices")
    if devices is None:
        return
    try:
        devices.choose_accelerator(name)
    except ValueError:  # CUDA, which becomes the accelerator when it is first used
        devices.choose_accelerator(None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """Processes of ``-n auto``: one for each core, up to eight; tests of threads use some, too."""
    if config.option.dist == "no":
        config.option.dist = "worksteal"  # what is left of long files is given to who has nothing
    return min(len(os.sched_getaffinity(0)), 8)


def pytest_generate_tests(metafunc):
    """The tests of functions that are marked by `grouping.each`."""
    if hasattr(metafunc.function, "each"):
        cases, group = metafunc.function.each
        apart = metafunc.config.getoption("apart")
        how = (str, 1) if apart else (group, grouping.ROOM)
        metafunc.parametrize("cases", list(grouping.tests(cases, *how)))


def pytest_itemcollected(item):
    """``-k add`` finds the tests that have cases of ``add``."""
    cases = getattr(item, "callspec", None) and item.callspec.params.get("cases")
    if isinstance(cases, grouping.Cases):
        item.extra_keyword_matches.update(p.id for p in cases.params)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Neighbours of one parametrised function are one test, once ``-k`` and ``-m`` have chosen."""
    if not config.getoption("apart"):
        items[:] = grouping.neighbours(items)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Without the collector, which would walk over all items again and again: they all stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish(session):
    out_of_sight()


def out_of_sight():
    """
    Take what there is out of the collector's sight: the collected items, the reports of tests.

    Many tests call gc.collect(), which otherwise walks over all of it: half of the suite's time.
    """
    gc.collect()
    gc.freeze()


def pytest_runtest_logfinish(nodeid, location):
    """With the first test of each file: the reports of those before."""
    global finished
    if finished != location[0]:
        finished = location[0]
        out_of_sight()


finished = ""
