"""The device of `tracer/`, built once, and registered as "tracer" and, with less, as "bare"."""

import gc

import built_devices
import pytest

import autograd_cy as ag

ROOT = built_devices.ROOT


def load(built):
    """The module of that file."""
    return built_devices.load(built, "tracer")


_loaded = []


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    return built_devices.library(tmp_path_factory, "tracer")


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
