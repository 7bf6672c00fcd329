"""What the tests on the asynchronous device share: there and back, bits, reads by the host."""

import contextlib

import autograd_cy as ag

NAME = "late"


def there(t, index=0):
    """The tensor on the device, in the same strides."""
    return t.to(f"{NAME}:{index}")


def bits(t):
    """The bytes of a tensor, wherever it is."""
    t = t.detach()
    return t.cpu().resolve_conj().resolve_neg().contiguous().numpy().tobytes()


def same(got, expected):
    """Both have the same bits, and the first is on the device."""
    assert not got.is_cpu
    assert got.shape == expected.shape and got.dtype == expected.dtype
    assert bits(got) == bits(expected), (got, expected)


@contextlib.contextmanager
def no_reads(device):
    """The host reads nothing of the device, and waits for nothing, meanwhile."""
    before = device.state()["reads"]
    yield
    calls = device.state()["calls"]
    assert device.state()["reads"] == before, calls
