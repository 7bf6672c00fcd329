"""Shared by the tests on the asynchronous device: there and back, bits, reads by the host."""

import contextlib

from autograd_cy._C.streams import _stream_on

NAME = "late"


def current(index=0):
    """The current stream; `accelerator` speaks of the type that was registered first."""
    return _stream_on(f"{NAME}:{index}")


def bits(t):
    """The bytes of a tensor, wherever it is."""
    t = t.detach()
    return t.cpu().resolve_conj().resolve_neg().contiguous().numpy().tobytes()


@contextlib.contextmanager
def no_reads(device):
    """The host reads nothing of the device, and waits for nothing, meanwhile."""
    before = device.state()["reads"]
    yield
    calls = device.state()["calls"]
    assert device.state()["reads"] == before, calls
