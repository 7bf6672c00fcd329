"""The descriptions of memory for other libraries: flags of capsules, sizes and strides of
buffers."""

import ctypes

import numpy as np

import autograd_cy as ag


def flags(t, **options):
    """The word of flags in a capsule of DLPack 1.0: 1 is read-only, 2 a copy."""
    capsule = t.__dlpack__(max_version=(1, 0), **options)
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.c_uint64.from_address(get(capsule, b"dltensor_versioned") + 24).value


def test_flags_of_capsules():
    frozen = ag.from_numpy(np.frombuffer(bytes(16), dtype=np.float32))
    assert [flags(ag.ones(2)), flags(ag.ones(2), copy=False)] == [0, 0]
    assert [flags(ag.ones(2), copy=True), flags(frozen), flags(frozen, copy=True)] == [2, 1, 2]


class Buffer(ctypes.Structure):
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
                ("strides", ctypes.POINTER(ctypes.c_ssize_t)), ("suboffsets", ctypes.c_void_p),
                ("internal", ctypes.c_void_p)]  # fmt: skip


def buffer_of(x, flags):
    """Return an exporter's answer to a request: sizes and strides, or that it refuses."""
    found = Buffer()
    try:
        ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(x), ctypes.byref(found), flags)
    except (BufferError, ValueError):
        return "refused"
    try:
        shape = found.shape[: found.ndim] if found.ndim and found.shape else None
        strides = found.strides[: found.ndim] if found.ndim and found.strides else None
        return found.len, found.itemsize, shape, strides, bool(found.format)
    finally:
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(found))


ND, STRIDES, FORMAT = 8, 0x18, 4
REQUESTS = [
    0,
    FORMAT,
    ND,
    STRIDES,
    STRIDES | 0x20,
    STRIDES | 0x40,
    STRIDES | 0x80,
    STRIDES | FORMAT,
]
WINDOWS = [
    (shape, strides)
    for shape in ((2, 3), (1, 3), (3, 1), (1, 1), (2, 1, 3), (4,), (1,), ())
    for strides in {(3, 1, 5), (1, 2, 2), (1, 3, 1), (7, 1, 3), (1, 5, 2), (6, 3, 1)}
]


def test_buffers_are_given_as_numpy_gives_them():
    memory = ag.arange(64.0)
    for shape, strides in WINDOWS:
        strides = strides[-len(shape) :] if shape else ()
        x = memory.as_strided(shape, strides)
        theirs = np.lib.stride_tricks.as_strided(
            memory.numpy(), shape, tuple(4 * s for s in strides)
        )
        for flags in REQUESTS:
            ours, expected = buffer_of(x, flags), buffer_of(theirs, flags)
            if expected != "refused" and ours != "refused" and expected[3] and 1 in shape:
                # NumPy tidies up the strides of dimensions of one.
                ours, expected = ours[:3], expected[:3]
            assert ours == expected, (shape, strides, flags)
