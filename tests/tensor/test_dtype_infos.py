"""Limits of dtypes are those of NumPy, and what is said of them is what torch says."""

import ml_dtypes
import numpy as np
import pytest

import autograd_cy as ag

INTS = ("uint8", "int8", "int16", "int32", "int64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = {"complex64": "float32", "complex128": "float64"}
ALL = (*INTS, *FLOATS, *COMPLEX, "bool")


@pytest.mark.parametrize("name", INTS)
def test_limits_of_integers(name):
    found, wanted = ag.iinfo(getattr(ag, name)), np.iinfo(name)
    assert (found.min, found.max, found.bits) == (wanted.min, wanted.max, wanted.bits)
    ends = ag.tensor([found.min, found.max], dtype=getattr(ag, name))
    assert ends.tolist() == [wanted.min, wanted.max]


@pytest.mark.parametrize("name", [*FLOATS, *COMPLEX])
def test_limits_of_floating_numbers(name):
    found = ag.finfo(getattr(ag, name))
    real = COMPLEX.get(name, name)
    wanted = ml_dtypes.finfo(real) if real == "bfloat16" else np.finfo(real)
    for key in ("min", "max", "eps", "tiny", "smallest_normal", "resolution"):
        assert getattr(found, key) == pytest.approx(float(getattr(wanted, key)), rel=2e-3), key
    assert found.bits == wanted.bits and str(found.dtype) == real


@pytest.mark.parametrize("name", ALL)
def test_dtypes_say_what_those_of_torch_say(name):
    torch = pytest.importorskip("torch")

    def said(m):
        dtype = getattr(m, name)
        found = [dtype.is_floating_point, dtype.is_complex, dtype.is_signed, dtype.itemsize]
        found += [str(getattr(dtype, f"to_{kind}")()).split(".")[-1] for kind in ("real", "complex")
                  if name not in (*INTS, "bool", "bfloat16", "float16")]  # fmt: skip
        for kind in (m.iinfo, m.finfo):
            try:
                info = kind(dtype)
            except TypeError as error:
                found.append(str(error).split(" ")[0] if name != "bool" else "")
            else:
                keys = [k for k in ("bits", "min", "max", "eps", "tiny", "smallest_normal",
                                    "resolution", "dtype") if hasattr(info, k)]  # fmt: skip
                found.append([(k, getattr(info, k)) for k in keys])
                # Torch rounds large integers there.
                found.append(repr(info) if name not in ("int32", "int64") else "")
        return found

    assert said(ag) == said(torch)


def test_equal_infos_have_one_hash():
    for a in INTS:
        for b in INTS:
            one, other = ag.iinfo(getattr(ag, a)), ag.iinfo(getattr(ag, b))
            assert (one == other) == (a == b) and (hash(one) == hash(other)) == (a == b)
    for a in FLOATS:
        for b in FLOATS:
            one, other = ag.finfo(getattr(ag, a)), ag.finfo(getattr(ag, b))
            assert (one == other) == (a == b) and (hash(one) == hash(other)) == (a == b)
    assert ag.iinfo(ag.int8) != ag.finfo(ag.float16) and ag.iinfo(ag.int8) != 5


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float64"])
def test_finfo_of_nothing_is_that_of_the_default(name):
    before = ag.get_default_dtype()
    try:
        ag.set_default_dtype(getattr(ag, name))
        assert ag.finfo() == ag.finfo(getattr(ag, name))
    finally:
        ag.set_default_dtype(before)
