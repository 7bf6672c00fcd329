"""Memory that is read only, that another library describes wrongly, or that lies otherwise."""

import ctypes

import numpy as np
import pytest
from call_tables import assert_refused

import autograd_cy as torch

x2, m23 = torch.zeros(2), torch.zeros(2, 3)
frozen = torch.from_numpy(np.frombuffer(bytes(16), dtype=np.float32))


def put(t, *args):
    t.__setitem__(*args)


def crafted(ndim=2, size=2, offset=0):
    """A tensor of memory that another library describes wrongly."""
    capsule = np.ones((2, 3), np.float32).__dlpack__()
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    at = get(capsule, b"dltensor")  # memory, device, ndim, dtype, shape, strides, byte_offset
    ctypes.c_int.from_address(at + 16).value = ndim
    ctypes.c_int64.from_address(ctypes.c_void_p.from_address(at + 24).value).value = size
    ctypes.c_uint64.from_address(at + 40).value = offset

    class Producer:
        def __dlpack__(self, **options):
            return capsule

        def __dlpack_device__(self):
            return 1, 0

    return torch.from_dlpack(Producer())


C_CONTIGUOUS, F_CONTIGUOUS = 0x38, 0x58


def buffer(t, flags):
    """Take a buffer as memoryview() does, with the flags of a consumer in C."""
    room = (ctypes.c_char * 200)()
    get = ctypes.pythonapi.PyObject_GetBuffer
    get.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int]
    get(t, ctypes.addressof(room), flags)
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(room))


# call: (type of error, words of its message)
REFUSED = {
    "put(frozen, 0, 1.0)": (RuntimeError, "read-only"),
    "frozen.fill_(1)": (RuntimeError, "fill_: the tensor shows read-only memory; clone() it first"),
    "x2.untyped_storage()[8]": (IndexError, "index 8 out of range for storage of size 8"),
    "x2.untyped_storage()[-9]": (IndexError, "index -9"),
    "type(x2.numpy().base)()": (TypeError, "cannot be made"),
    "torch.ones(2).to(memory_format=5)": (TypeError, "memory_format"),
    "torch.ones(2).contiguous(memory_format='x')": (TypeError, "memory_format"),
    "torch.asarray(x2, device='meta', copy=False)": (ValueError, "alias memory on another"),
    "crafted(ndim=65)": (BufferError, "from_dlpack: a tensor has at most 64 dimensions, not 65"),
    "crafted(size=-1)": (BufferError, "from_dlpack: negative size -1"),
    "crafted(offset=1)": (
        BufferError,
        "from_dlpack: the elements do not lie on multiples of their size",
    ),
    "buffer(m23, F_CONTIGUOUS)": (BufferError, "the tensor is not contiguous in Fortran order"),
    "buffer(m23.t(), C_CONTIGUOUS)": (
        BufferError,
        "the tensor is not contiguous; use tensor.contiguous()",
    ),
    "torch.full((4,), 1.0, out=frozen)": (
        RuntimeError,
        "full: the output shows read-only memory; clone() it first",
    ),
    "torch.zeros(4, out=frozen)": (
        RuntimeError,
        "zeros: the output shows read-only memory; clone() it first",
    ),
    "frozen.zero_()": (RuntimeError, "zero_: the tensor shows read-only memory; clone() it first"),
    "x2.contiguous(memory_format=torch.channels_last)": (
        RuntimeError,
        "required rank 4 tensor to use channels_last format, got 1 dimensions",
    ),
}


def test_memory_that_cannot_be_used_so_is_refused():
    assert_refused(REFUSED, globals())


def test_what_crafted_memory_may_be():
    assert crafted().tolist() == [[1.0] * 3] * 2
    buffer(m23, C_CONTIGUOUS)
    buffer(m23.t(), F_CONTIGUOUS)


@pytest.mark.parametrize("name", ["cumprod", "cumsum", "logcumsumexp"])
def test_scans_leave_frozen_memory_alone(name, tmp_path):
    """The memory of a file is left alone, too: the process would end."""
    (tmp_path / "numbers").write_bytes(np.full(4, 2.0, np.float32).tobytes())
    mapped = torch.from_numpy(np.memmap(tmp_path / "numbers", np.float32, "r"))
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    for out in (mapped, frozen):
        for given in (x, x[:2]):
            before = out.tolist()
            with pytest.raises(RuntimeError, match=f"{name}: .* read-only memory; clone"):
                getattr(torch, name)(given, 0, out=out)
            assert out.tolist() == before
