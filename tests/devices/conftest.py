"""The test device, for all files here."""

import gc

import built_devices
import pytest

import autograd_cy as ag


@pytest.fixture(scope="session")
def hostdevice(tmp_path_factory):
    """The built module, with no device registered by this fixture."""
    return built_devices.load(built_devices.library(tmp_path_factory))


@pytest.fixture(scope="session")
def plain(hostdevice):
    """The module with "hostdevice" registered: a dozen plain kernels, all other slots empty."""
    hostdevice.register("hostdevice", plain=True)
    yield hostdevice
    hostdevice.run_all()
    assert hostdevice.state()["broken"] == 0, "a kernel wrote over the ends of its memory"


@pytest.fixture(scope="session")
def registered(hostdevice):
    """The module with "late" registered: all slots are those of the CPU, run late."""
    hostdevice.register("late")
    for index in (0, 1):
        ag.rand(1, device=f"late:{index}")  # its default generator stays
    return hostdevice


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Note what failed: its traceback keeps tensors."""
    report = yield
    item.failed = getattr(item, "failed", False) or report.failed
    return report


@pytest.fixture
def late(registered, request):
    """The device for one test, which leaves nothing behind: memory, events, streams, errors."""
    gc.collect()
    registered.recover()
    registered.forget()
    before = registered.state()
    yield registered
    for reset in (registered.order, registered.drop_wait, registered.limit):
        reset()
    registered.present_devices()
    registered.recover()
    gc.collect()
    registered.run_all()
    ag.zeros(1).pin_memory()  # lets go of pinned memory whose copies have ended
    after = registered.state()
    assert after["broken"] == 0, "memory was written beyond its ends, or after it was freed"
    left = {k: after[k] - before[k] for k in ("blocks", "events", "streams", "pinned", "waiting")}
    if not request.node.failed:
        assert max(left.values()) <= 0, f"left behind: {left}"
