"""DLPack, both ways: capsules, flags, and deleters that run exactly once."""

import ctypes
import gc
import weakref

import numpy as np
import pytest

import autograd_cy as ag

DTYPES = [np.uint8, np.int8, np.int16, np.int32, np.int64, np.float16, np.float32, np.float64]
DTYPES += [np.complex64, np.complex128, np.bool_]


def capsule_name(capsule):
    get = ctypes.pythonapi.PyCapsule_GetName
    get.restype, get.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return get(capsule)


class Producer:
    """Pass on the capsule of an array, as an older or newer library would."""

    def __init__(self, array, device=(1, 0), versions=True):
        self.array, self.device, self.versions = array, device, versions

    def __dlpack__(self, **options):
        if not self.versions and options:
            raise TypeError("unexpected keyword")
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device


def numpy_since(version):
    """Skip the test where NumPy's own DLPack is older than the test asks for."""
    older = np.lib.NumpyVersion(np.__version__) < version
    return pytest.mark.skipif(older, reason=f"DLPack of NumPy before {version}")


# Bool and read-only memory came with version 1 of DLPack.
OF_NUMPY = [
    pytest.param(dtype, marks=numpy_since("2.1.0")) if dtype == np.bool_ else dtype
    for dtype in DTYPES
]


@pytest.mark.parametrize("dtype", OF_NUMPY)
def test_numpy_reads_our_memory(dtype):
    t = ag.from_numpy(np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype))
    for source in (t, t.t(), t[1], t[:, 1:]):
        a = np.from_dlpack(source)
        assert a.dtype == dtype
        assert a.tolist() == source.tolist()
        assert a.ctypes.data == source.data_ptr()


@pytest.mark.parametrize("dtype", OF_NUMPY)
@pytest.mark.parametrize("versions", [True, False])
def test_we_read_the_memory_of_numpy(dtype, versions):
    a = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
    for source in (a, a.T, a[1], a[:, 1:], a[0, 0:1]):
        t = ag.from_dlpack(Producer(source, versions=versions))
        assert t.tolist() == source.tolist()
        assert t.numpy().dtype == dtype
        assert t.data_ptr() == source.ctypes.data


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,)])
def test_0d_and_empty_arrays_go_both_ways(shape):
    assert ag.from_dlpack(np.ones(shape)).shape == shape
    assert np.from_dlpack(ag.ones(shape)).shape == shape


def test_bfloat16_comes_back_from_our_own_capsule():
    t = ag.tensor([1.5, -2.0], dtype=ag.bfloat16)
    for version in (None, (1, 0)):
        r = ag.from_dlpack(t.__dlpack__(max_version=version))
        assert r.dtype == ag.bfloat16
        assert r.data_ptr() == t.data_ptr()
        assert r.tolist() == [1.5, -2.0]


def test_device_is_the_cpu():
    assert ag.ones(2).__dlpack_device__() == (1, 0)


def test_name_of_the_capsule_follows_the_version():
    t = ag.ones(2)
    assert capsule_name(t.__dlpack__()) == b"dltensor"
    assert capsule_name(t.__dlpack__(max_version=(0, 8))) == b"dltensor"
    assert capsule_name(t.__dlpack__(max_version=(1, 0))) == b"dltensor_versioned"
    assert capsule_name(t.__dlpack__(max_version=(2, 0))) == b"dltensor_versioned"


@pytest.mark.parametrize("version", [None, (1, 0)])
class TestCapsules:
    def test_are_renamed_and_taken_once(self, version):
        capsule = ag.ones(2).__dlpack__(max_version=version)
        t = ag.from_dlpack(capsule)
        assert capsule_name(capsule).startswith(b"used_dltensor")
        with pytest.raises(RuntimeError, match="consumed only once"):
            ag.from_dlpack(capsule)
        assert t.tolist() == [1, 1]

    def test_keep_the_memory_until_the_consumer_is_gone(self, version):
        gc.collect()
        before = ag.memory_summary()["live_blocks"]
        capsule = ag.ones(1000).__dlpack__(max_version=version)
        assert ag.memory_summary()["live_blocks"] == before + 1
        t = ag.from_dlpack(capsule)
        del capsule
        assert t.tolist() == [1] * 1000
        view = t[10:]
        del t
        assert view.tolist() == [1] * 990
        del view
        assert ag.memory_summary()["live_blocks"] == before

    def test_free_the_memory_when_nobody_takes_them(self, version):
        gc.collect()
        before = ag.memory_summary()["live_blocks"]
        capsule = ag.ones(1000).__dlpack__(max_version=version)
        del capsule
        assert ag.memory_summary()["live_blocks"] == before

    def test_of_numpy_release_the_array_once(self, version):
        class Array(np.ndarray):
            pass

        a = np.ones(3).view(Array)
        alive = weakref.ref(a)
        t = ag.from_dlpack(Producer(a, versions=version is not None))
        del a
        gc.collect()
        assert alive() is not None
        assert t.tolist() == [1, 1, 1]
        del t
        gc.collect()
        assert alive() is None


@numpy_since("2.1.0")
class TestReadOnly:
    def test_flag_is_honoured(self):
        a = np.ones(3)
        a.flags.writeable = False
        t = ag.from_dlpack(a)
        with pytest.raises(RuntimeError, match="read-only"):
            t.add_(1)
        assert a.tolist() == [1, 1, 1]

    def test_flag_is_set(self):
        t = ag.frombuffer(b"abc", dtype=ag.uint8)
        assert not np.from_dlpack(t).flags.writeable
        with pytest.raises(BufferError, match="read-only"):
            t.__dlpack__()


class TestCopy:
    def test_true_copies_both_ways(self):
        t = ag.zeros(2)
        assert ag.from_dlpack(t.__dlpack__(copy=True)).data_ptr() != t.data_ptr()
        a = np.zeros(2)
        r = ag.from_dlpack(a, copy=True)
        a[0] = 1
        assert r.tolist() == [0, 0]
        assert ag.from_dlpack(t.__dlpack__(), copy=True).data_ptr() != t.data_ptr()

    def test_false_shares(self):
        a = np.zeros(2)
        assert ag.from_dlpack(a, copy=False).data_ptr() == a.ctypes.data


class TestRefused:
    def test_tensor_that_requires_grad(self):
        x = ag.ones(2, requires_grad=True)
        with pytest.raises(BufferError, match="Can't export tensors that require gradient"):
            x.__dlpack__()
        assert np.from_dlpack(x.detach()).tolist() == [1, 1]

    def test_streams_and_other_devices_of_a_consumer(self):
        with pytest.raises(ValueError, match="stream should be None on cpu"):
            ag.ones(2).__dlpack__(stream=1)
        with pytest.raises(BufferError, match="CPU"):
            ag.ones(2).__dlpack__(dl_device=(2, 0))
        assert ag.ones(2).__dlpack__(stream=-1, dl_device=(1, 0)) is not None

    def test_producer_on_another_device(self):
        with pytest.raises(BufferError, match="device"):
            ag.from_dlpack(Producer(np.ones(2), device=(2, 0)))

    def test_negative_strides(self):
        with pytest.raises(BufferError, match="negative strides"):
            ag.from_dlpack(np.arange(4)[::-1])

    def test_element_types_that_no_tensor_has(self):
        with pytest.raises((BufferError, RuntimeError)):
            ag.from_dlpack(np.ones(2, dtype=np.longdouble))

    def test_what_has_no_dlpack(self):
        with pytest.raises(RuntimeError, match="no __dlpack__"):
            ag.from_dlpack([1.0])

    def test_other_capsules(self):
        from autograd_cy._C import random_loops_base

        with pytest.raises(RuntimeError, match="invalid capsule"):
            ag.from_dlpack(random_loops_base.table_capsule())

    def test_error_of_the_producer_comes_through(self):
        class Broken(Producer):
            def __dlpack__(self, **options):
                raise ZeroDivisionError("no")

        with pytest.raises(ZeroDivisionError):
            ag.from_dlpack(Broken(None))


def test_import_makes_a_leaf_without_grad():
    t = ag.from_dlpack(np.ones(2))
    assert t.is_leaf
    assert not t.requires_grad


class FieldsOfATensor(ctypes.Structure):
    """DLTensor of dlpack.h, up to the type of its elements."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
    ]  # fmt: skip


# By the codes of dlpack.h: int, uint, float, opaque, bfloat, complex, bool, float8.
STRANGE = [(0, 128, 1), (0, 4, 1), (1, 4, 1), (1, 128, 1), (2, 8, 1), (2, 128, 1), (3, 64, 1)]
STRANGE += [(4, 32, 1), (5, 32, 1), (5, 16, 1), (6, 32, 1), (7, 8, 1), (2, 32, 2), (5, 64, 0)]


@pytest.mark.parametrize("kind", STRANGE, ids=str)
def test_other_types_of_elements_are_refused(kind):
    capsule = ag.ones(2, dtype=ag.float64).__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    fields = FieldsOfATensor.from_address(pointer(capsule, b"dltensor"))
    assert (fields.ndim, fields.code, fields.bits, fields.lanes) == (1, 2, 64, 1)
    fields.code, fields.bits, fields.lanes = kind
    with pytest.raises(BufferError, match="no tensor has this element type"):
        ag.from_dlpack(capsule)
