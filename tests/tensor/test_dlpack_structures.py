"""DLPack capsules field by field: what ours say, and what becomes of those that others write."""

import ctypes

import numpy as np
import pytest

import autograd_cy as ag

INT, UINT, FLOAT, OPAQUE, BFLOAT, COMPLEX, BOOL = range(7)


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Legacy(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("deleter", DELETER), ("flags", ctypes.c_uint64), ("tensor", Tensor),
    ]  # fmt: skip


NAMES = {Legacy: b"dltensor", Versioned: b"dltensor_versioned"}
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def fields(capsule, kind):
    m = kind.from_address(pointer_of(capsule, NAMES[kind]))
    d = m.tensor
    return m, (
        d.device, d.device_id, d.ndim, d.code, d.bits, d.lanes, d.shape[: d.ndim],
        d.strides[: d.ndim], d.byte_offset,
    )  # fmt: skip


CODES = {
    ag.bool: (BOOL, 8), ag.uint8: (UINT, 8), ag.int8: (INT, 8), ag.int16: (INT, 16),
    ag.int32: (INT, 32), ag.int64: (INT, 64), ag.float16: (FLOAT, 16), ag.bfloat16: (BFLOAT, 16),
    ag.float32: (FLOAT, 32), ag.float64: (FLOAT, 64), ag.complex64: (COMPLEX, 64),
    ag.complex128: (COMPLEX, 128),
}  # fmt: skip


def test_every_field_is_as_the_tensor():
    wrong = {}
    for dtype, (code, bits) in CODES.items():
        t = ag.zeros(3, 2, dtype=dtype).t()[1:]
        wanted = (1, 0, 2, code, bits, 1, [1, 3], [1, 2], 0)
        for kind, options in ((Legacy, {}), (Versioned, {"max_version": (1, 0)})):
            capsule = t.__dlpack__(**options)
            m, found = fields(capsule, kind)
            if found != wanted or m.tensor.data != t.data_ptr():
                wrong[dtype, kind] = found
            if kind is Versioned and (m.major, m.minor, m.flags) != (1, 0, 0):
                wrong[dtype] = m.major, m.minor, m.flags
    assert not wrong


def test_flags_say_what_is_read_only_and_what_a_copy():
    array = np.zeros(3)
    array.flags.writeable = False
    for t, copy, wanted in (
        (ag.zeros(3), True, 2), (ag.from_numpy(array), None, 1), (ag.from_numpy(array), True, 2)
    ):  # fmt: skip
        m, _ = fields(t.__dlpack__(max_version=(1, 0), copy=copy), Versioned)
        assert m.flags == wanted
        assert (m.tensor.data == t.data_ptr()) is (copy is None)


class Made:
    """A capsule around eight numbers; `deleted` counts the calls of its deleter."""

    def __init__(self, kind=Versioned, shape=(2, 3), strides=(3, 1), **given):
        self.deleted = 0
        self.memory = np.arange(128, dtype=np.uint8)
        self.deleter = DELETER(self.delete)
        self.shape = (ctypes.c_int64 * 70)(*shape)
        self.strides = (ctypes.c_int64 * 70)(*(strides or ()))
        head = {"data": self.memory.ctypes.data, "device": 1, "ndim": len(shape), "code": UINT,
                "bits": 8, "lanes": 1, "byte_offset": 0}  # fmt: skip
        own = {"major": 1, "flags": 0} if kind is Versioned else {}
        self.m = kind(deleter=self.deleter, **own)
        for name, value in (head | given).items():
            setattr(self.m.tensor if name in head else self.m, name, value)
        self.m.tensor.shape = self.shape
        if strides is not None:
            self.m.tensor.strides = self.strides
        self.name = NAMES[kind]
        self.capsule = new_capsule(ctypes.addressof(self.m), self.name, None)

    def delete(self, _):
        self.deleted += 1


@pytest.mark.parametrize("kind", [Legacy, Versioned])
def test_what_others_write_is_read_and_deleted_once(kind):
    wrong = {}
    for name, given, shape, stride, total, nbytes in (
        ("plain", {}, [2, 3], (3, 1), 15, 6),
        ("offset", {"byte_offset": 2}, [2, 3], (3, 1), 27, 6),
        ("no strides", {"strides": None}, [2, 3], (3, 1), 15, 6),
        ("gaps", {"strides": (4, 2)}, [2, 3], (4, 2), 24, 9),
        ("turned", {"strides": (1, 2)}, [2, 3], (1, 2), 15, 6),
        ("spread", {"strides": (0, 1)}, [2, 3], (0, 1), 6, 3),
        ("none", {"shape": (0, 3), "strides": (-7, 1)}, [0, 3], None, 0, 0),
        ("none at the end", {"shape": (3, 0), "strides": None}, [3, 0], None, 0, 0),
        ("one", {"shape": (1, 2), "strides": (-5, 1)}, [1, 2], None, 1, 2),
        ("number", {"shape": (), "strides": ()}, [], (), 0, 1),
        ("host of cuda", {"device": 3}, [2, 3], (3, 1), 15, 6),
        ("64 dimensions", {"shape": (1,) * 64, "strides": None}, [1] * 64, None, 0, 1),
    ):
        made = Made(kind, **given)
        t = ag.from_dlpack(made.capsule)
        found = list(t.shape), t.sum().item(), t.untyped_storage().nbytes()
        if found != (shape, total, nbytes) or (stride is not None and t.stride() != stride):
            wrong[name] = found, t.stride()
        assert made.deleted == 0, name
        view = t.detach()
        del t
        assert made.deleted == 0, name
        del view
        assert made.deleted == 1, name
    assert not wrong


@pytest.mark.parametrize("kind", [Legacy, Versioned])
def test_what_no_tensor_can_show_is_refused_and_deleted(kind):
    for words, given in {
        "at most 64 dimensions, not 65": {"shape": (1,) * 65, "strides": None},
        "at most 64 dimensions, not -1": {"ndim": -1},
        "negative size -2": {"shape": (3, -2)},
        "negative strides": {"strides": (-3, 1)},
        "device of type 2": {"device": 2},
        "multiples of their size": {"code": INT, "bits": 16, "byte_offset": 1},
        "code 0, 8 bits, 2 lanes": {"code": INT, "lanes": 2},
        "code 0, 24 bits": {"code": INT, "bits": 24},
        "code 1, 24 bits": {"code": UINT, "bits": 24},
        "code 2, 8 bits": {"code": FLOAT, "bits": 8},
        "code 4, 32 bits": {"code": BFLOAT, "bits": 32},
        "code 5, 32 bits": {"code": COMPLEX, "bits": 32},
        "code 6, 16 bits": {"code": BOOL, "bits": 16},
        "code 3, 64 bits": {"code": OPAQUE, "bits": 64},
    }.items():
        made = Made(kind, **given)
        with pytest.raises(BufferError, match=words):
            ag.from_dlpack(made.capsule)
        assert made.deleted == 1, words


def test_every_element_type_is_read():
    wrong = {}
    for dtype, (code, bits) in CODES.items():
        t = ag.from_dlpack(Made(shape=(2,), strides=(1,), code=code, bits=bits).capsule)
        if t.dtype != dtype or t.untyped_storage().nbytes() != bits // 4:
            wrong[dtype] = t.dtype
    assert not wrong
    # An address that is a multiple of eight will do for what is longer.
    long = Made(shape=(1,), strides=(1,), code=COMPLEX, bits=128, byte_offset=8)
    assert ag.from_dlpack(long.capsule).numel() == 1
    # Of no elements nobody asks where they lie.
    none = Made(shape=(0,), strides=(1,), code=INT, bits=64, byte_offset=3)
    assert ag.from_dlpack(none.capsule).numel() == 0


def test_another_major_version_stays_with_its_capsule():
    made = Made(major=2, minor=7)
    with pytest.raises(BufferError, match=r"DLPack 2\.7 is not supported"):
        ag.from_dlpack(made.capsule)
    assert made.deleted == 0
    made.m.major = 1
    assert ag.from_dlpack(made.capsule).sum().item() == 15
    assert made.deleted == 1


@pytest.mark.parametrize("kind", [Legacy, Versioned])
def test_memory_without_a_deleter_needs_none(kind):
    made = Made(kind)
    made.m.deleter = DELETER()
    t = ag.from_dlpack(made.capsule)
    assert t.sum().item() == 15
    del t
    assert made.deleted == 0


def test_what_is_read_only_stays_so():
    made = Made(flags=1)
    t = ag.from_dlpack(made.capsule)
    with pytest.raises(RuntimeError, match="read-only"):
        t.add_(1)
    assert ag.from_dlpack(Made(flags=1).capsule, copy=True).add_(1).sum().item() == 21
    assert ag.from_dlpack(Made(flags=2).capsule).add_(1).sum().item() == 21


def test_capsules_that_nobody_takes_give_their_memory_back():
    from autograd_cy._C.exchange import _memory_users

    t = ag.zeros(3)
    for options in ({}, {"max_version": (1, 0)}):
        held = [t.__dlpack__(**options) for _ in range(3)]
        assert _memory_users(t) == 4
        taken = ag.from_dlpack(held[0])
        assert _memory_users(t) == 4
        del held
        assert _memory_users(t) == 2
        del taken
        assert _memory_users(t) == 1
