"""Modules find the operators that others publish by name and C signature."""

import ctypes

import pytest

from autograd_cy._C import linking

KEPT = []  # what pointers were asked for stays where it is


def function(name):
    """A C function of the module that takes the GIL's errors along."""
    capsule = linking.__pyx_capi__[name]
    of = ctypes.pythonapi.PyCapsule_GetPointer
    of.restype, of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    address = of(capsule, name_of(capsule))
    kinds = {
        "publish": [ctypes.c_void_p, ctypes.py_object],
        "link": [ctypes.py_object, ctypes.c_void_p, ctypes.py_object],
    }[name]
    return ctypes.PYFUNCTYPE(ctypes.c_int, *kinds)(address)


def pointers(*values):
    KEPT.append((ctypes.c_void_p * len(values))(*values))
    return KEPT[-1]


def publish(signatures, *values):
    return function("publish")(ctypes.addressof(pointers(*values)), "\n".join(signatures))


def link(module, signatures):
    found = pointers(*[None] * len(signatures))
    try:
        function("link")(module, ctypes.addressof(found), "\n".join(signatures))
    except ImportError as error:
        return list(found), found, str(error)
    return list(found), found, None


def test_what_was_published_is_found_at_once():
    publish(["int link_one(int)", "int link_two(int)"], 11, 22)
    found, _, error = link("a.module", ["int link_two(int)", "int link_one(int)"])
    assert (found, error) == ([22, 11], None)


def test_what_nobody_publishes_is_an_error_and_filled_when_somebody_does():
    publish(["int link_three(int)"], 33)
    found, waiting, error = link(
        "b.module", ["int link_four(int)", "int link_three(int)", "int link_five(int)"]
    )
    assert found == [None, 33, None]
    assert error.startswith("b.module was built for other operators than there are; build it again")
    assert error.endswith("It calls int link_four(int), int link_five(int)")
    assert linking._unfilled() == [
        "int link_four(int) (called in b.module)", "int link_five(int) (called in b.module)"
    ]  # fmt: skip
    publish(["int link_six(int)", "int link_five(int)"], 66, 55)
    assert list(waiting) == [None, 33, 55]
    assert linking._unfilled() == ["int link_four(int) (called in b.module)"]
    publish(["int link_four(int)"], 44)
    assert list(waiting) == [44, 33, 55]
    assert linking._unfilled() == []


def test_another_signature_is_another_operator():
    publish(["int link_seven(int)"], 77)
    found, _, error = link("c.module", ["int link_seven(double)"])
    assert found == [None]
    assert "int link_seven(double)" in error
    publish(["int link_seven(double)"], 78)


def test_families_are_loaded_for_what_they_publish():
    linking._expect({"ops_of_no_family": "link_eight link_nine"})
    assert "No module named" in link("d.module", ["int link_nine(int)"])[2]
    publish(["int link_nine(int)"], 99)
    linking._expect({"ops_of_no_family": ""})
    linking._expect({"linking": "link_ten"})  # loaded, and publishes no such thing
    found, _, error = link("d.module", ["int link_ten(int)"])
    assert found == [None]
    assert "int link_ten(int)" in error
    publish(["int link_ten(int)"], 10)
    linking._expect({"linking": ""})
    assert linking._unfilled() == []


def test_functions_of_the_interpreted_tier_are_found_by_family_and_name():
    from autograd_cy._interpreted import _arithmetic_composites as family

    name = next(n for n, f in vars(family).items() if callable(f) and not n.startswith("_"))
    for _ in range(2):
        assert linking._interpreted("_arithmetic_composites", name) is getattr(family, name)
    with pytest.raises(ModuleNotFoundError, match="no_such_family"):
        linking._interpreted("no_such_family", name)
    with pytest.raises(AttributeError, match="no_such_function"):
        linking._interpreted("_arithmetic_composites", "no_such_function")
