"""What `register` refuses of a device: nothing is known of it afterwards."""

import ctypes

import pytest

import autograd_cy as ag
from autograd_cy._C import devices

SERVICES = b"autograd_cy.services"
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
six = [(ctypes.c_void_p * 6)(*[8] * 6)]  # addresses that nobody calls


def services(missing=None, name=SERVICES):
    six.append((ctypes.c_void_p * 6)(*[None if i == missing else 8 for i in range(6)]))
    return new_capsule(ctypes.addressof(six[-1]), name, None)


KEY = next(iter(devices.signatures()))
REFUSED = {
    "services are a capsule": ("refused", 3, {}),
    'services are a capsule "autograd_cy.services"': ("refused", services(name=b"other"), {}),
    "there is no operator 'nothing'": ("refused", services(), {"nothing": 3}),
    f"the kernel of {KEY} must be a capsule": ("refused", services(), {KEY: services()}),
    "'meta' is registered already": ("meta", services(), {}),
    "'cpu' is registered already": ("cpu", services(), {}),
    "is no name of a device": ("a device", services(), {}),
    **{f"service is missing{i * ' '}": ("refused", services(i), {}) for i in range(6)},
}


def test_what_is_no_device_is_refused():
    known = devices.signatures()
    for words, (name, *rest) in REFUSED.items():
        with pytest.raises(ValueError, match=words.strip()):
            devices.register(name, *rest)
        with pytest.raises(RuntimeError):
            ag.zeros(1, device="refused")
    assert devices.signatures() == known
    for wrong in ((None, services(), {}), ("refused", services(), None)):
        with pytest.raises(TypeError):
            devices.register(*wrong)


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
