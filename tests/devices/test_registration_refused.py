"""Registrations that `register` refuses: nothing is known of the device afterwards."""

import ctypes

import pytest
from tracing import built, tracer  # noqa: F401 - fixtures

import autograd_cy as ag
from autograd_cy._C import devices

SERVICES = b"autograd_cy.services"
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

NAMES = (
    "count allocate release elementwise copy cast fill stream_new stream_free query synchronize"
    " synchronize_all event_record event_wait event_query event_synchronize event_free"
    " event_elapsed pin unpin has_elementwise"
).split()


class Services(ctypes.Structure):
    """`Services` of devices.pxd, as a backend lays it out."""

    _fields_ = [
        ("size", ctypes.c_ssize_t),
        ("traits", ctypes.c_uint32),
        ("count", ctypes.PYFUNCTYPE(ctypes.c_int)),
        *((name, ctypes.c_void_p) for name in NAMES[1:]),
    ]


COUNT = Services._fields_[2][1]
counts = {n: COUNT(lambda n=n: n) for n in (1, 65, -2)}
alive = []


def services(missing=(), name=SERVICES, count=1, **fields):
    """A capsule of services at addresses that nobody calls."""
    made = Services(ctypes.sizeof(Services), 0, counts[count], *[8] * (len(NAMES) - 1))
    for field in missing:
        setattr(made, field, COUNT() if field == "count" else None)
    for field, value in fields.items():
        setattr(made, field, value)
    alive.append(made)
    return new_capsule(ctypes.addressof(made), name, None)


KEY = next(iter(devices.signatures()))
REFUSED = {
    "services are a capsule": ("refused", 3, {}),
    'services are a capsule "autograd_cy.services"': ("refused", services(name=b"other"), {}),
    "there is no operator 'nothing'": ("refused", services(), {"nothing": 3}),
    f"the kernel of {KEY} must be a capsule": ("refused", services(), {KEY: services()}),
    "'meta' is registered already": ("meta", services(), {}),
    "'cpu' is registered already": ("cpu", services(), {}),
    "is no name of a device": ("a device", services(), {}),
    "of 8 bytes and must be of [0-9]+: the backend was built for another version": (
        "refused",
        services(size=8),
        {},
    ),
    "no such traits: 0x6": ("refused", services(traits=6), {}),
    "count\\(\\) is 65; there may be 0 to 64": ("refused", services(count=65), {}),
    "count\\(\\) is -2": ("refused", services(count=-2), {}),
    **{f"service is missing: {n}$": ("refused", services([n]), {}) for n in NAMES[:-4]},
    "by_host names 'nothing', of which no kernel is given": (
        "refused",
        services(),
        {},
        ["nothing"],
    ),
    "service is missing: pin$": ("refused", services(["pin"]), {}),
    "service is missing: unpin$": ("refused", services(["unpin"]), {}),
}


def test_what_is_no_device_is_refused():
    known = devices.signatures()
    for words, (name, *rest) in REFUSED.items():
        with pytest.raises(ValueError, match=words):
            devices.register(name, *rest)
        with pytest.raises(RuntimeError):
            ag.zeros(1, device="refused")
    assert devices.signatures() == known
    for wrong in ((None, services(), {}), ("refused", services(), None)):
        with pytest.raises(TypeError):
            devices.register(*wrong)


def test_devices_that_cannot_be_counted_are_refused(tracer):
    tracer.fail("count", OSError("no driver"))
    with pytest.raises(ValueError, match=r"count\(\) raised OSError\('no driver'\)") as error:
        tracer.register("refused")
    assert isinstance(error.value.__cause__, OSError)
    tracer.fail()
    with pytest.raises(RuntimeError):
        ag.zeros(1, device="refused")


def test_meta_shows_what_a_result_would_be_like_and_no_values():
    a, b = ag.zeros(2, 3, device="meta"), ag.zeros(3)
    assert (a + 1.0).device.type == "meta"
    assert (a + ag.tensor(2.0)).shape == (2, 3)
    assert (ag.tensor(2.0) + a).device.type == "meta"
    two = r"at least two devices, (meta and cpu|cpu and meta)"
    for call in (lambda: a + b, lambda: b + a, lambda: ag.cat((a, b[None])), lambda: a @ b):
        with pytest.raises(RuntimeError, match=two):
            call()
    for call in (lambda: a.cpu(), lambda: ag.zeros(2, 3).copy_(a)):
        with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor"):
            call()
    assert a.copy_(ag.ones(2, 3)) is a
    assert a.fill_(3).device.type == "meta"
    with pytest.raises(NotImplementedError, match="nonzero: not possible on device 'meta'"):
        ag.nonzero(a)
