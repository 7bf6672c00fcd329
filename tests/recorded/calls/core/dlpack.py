"""Dlpack: calls of tensors and arguments (`ext/core`)."""

import numpy as np

import autograd_cy as torch
from tests.recorded.inputs import complex_sines, differs, error_name, iota

# what has no __dlpack__ is taken for a capsule
iota(2).requires_grad_().__dlpack__()
complex_sines(2).conj().__dlpack__()
with differs("Torch forgets the sign."):
    complex_sines(2).conj().imag.__dlpack__()
torch.empty(2, device="meta").__dlpack__()
with differs("A BufferError, as of all that can't be exported."):
    torch.empty(2, device="meta").__dlpack_device__()
with differs("An AssertionError says that a program is wrong."):
    iota(2).__dlpack__(stream=1)
tuple(map(int, iota(2).__dlpack_device__()))
error_name(lambda: iota(2).__dlpack__(dl_device=(1, 0)))
with differs("A BufferError, as of all that can't be exported."):
    [error_name(lambda: iota(2).__dlpack__(dl_device=d)) for d in ((4, 0), (1, 1), [1, 0])]
    iota(2).__dlpack__(dl_device=(4, 0))
with differs("A copy has no such bit."):
    [error_name(lambda: complex_sines(2).conj().__dlpack__(copy=c)) for c in (None, False, True)]

# A capsule is taken once
def from_dlpack_torch():
    c = iota(3).__dlpack__()
    x = torch.from_dlpack(c)
    return torch.from_dlpack(c)

# Memory is shared, or not
def from_dlpack_torch_2():
    x = iota(3)
    y = torch.from_dlpack(x.__dlpack__())
    y[0] = 5
    return x

def from_dlpack_tolist():
    a = np.zeros(3)
    y = torch.from_dlpack(a, copy=True)
    y[1] = 2
    a[2] = 3
    return [y, a.tolist()]

@differs("Torch doesn't know which memory is read-only.")
def from_dlpack_from_numpy():
    a = np.zeros(2)
    a.flags.writeable = False
    return [error_name(torch.from_dlpack(a).add_, 1), error_name(torch.from_numpy(a).__dlpack__),
        error_name(lambda: torch.from_numpy(a).__dlpack__(max_version=(1, 0))),
        error_name(torch.from_dlpack(torch.from_numpy(a)).zero_),
        torch.from_dlpack(torch.from_numpy(a), copy=True).add_(1),
        error_name(lambda: torch.from_numpy(a).__dlpack__(copy=True)),
        error_name(np.from_dlpack(torch.from_numpy(a)).__setitem__, 0, 1)]

@differs("Torch doesn't know which memory is read-only.")
def writeable_from_numpy():
    a = np.zeros(2)
    a.flags.writeable = False
    return torch.from_numpy(a).__dlpack__()

# Producers that are old, elsewhere, or newer than any
@differs("A BufferError, as of all that can't be read.")
def from_dlpack_copy():
    asked = []
    class Told:
        def __init__(self, where):
            self.where = where
        def __dlpack__(self, **options):
            asked.append(options)
            return iota(3).__dlpack__(max_version=options["max_version"])
        def __dlpack_device__(self):
            return self.where
    return [torch.from_dlpack(Told((1, 0))), torch.from_dlpack(Told([1, 0]), copy=False),
        torch.from_dlpack(Told((3, 0)), copy=True), error_name(torch.from_dlpack, Told((2, 0))),
        asked]

@differs("Torch reads any memory whose device it doesn't know.")
def from_dlpack_torch_3():
    class Far:
        def __dlpack__(self, **options):
            return iota(3).__dlpack__()
        def __dlpack_device__(self):
            return (7, 1)
    return torch.from_dlpack(Far())

def from_dlpack_value_error():
    class Fails:
        def __dlpack__(self, **options):
            raise ValueError("not now")
        def __dlpack_device__(self):
            return (1, 0)
    return torch.from_dlpack(Fails())

# Structures made by hand: a version, bits, lanes, dimensions, sizes, strides, devices that no tensor has
@differs("This ends the process in torch.")
def c_int32_dict():
    import ctypes as C
    freed = []
    class Tensor1(C.Structure):
        _fields_ = [("data", C.c_void_p), ("kind", C.c_int32), ("id", C.c_int32),
            ("ndim", C.c_int32), ("code", C.c_uint8), ("bits", C.c_uint8), ("lanes", C.c_uint16),
            ("shape", C.POINTER(C.c_int64)), ("strides", C.POINTER(C.c_int64)),
            ("offset", C.c_uint64)]
    FREE = C.CFUNCTYPE(None, C.c_void_p)
    class Versioned(C.Structure):
        _fields_ = [("major", C.c_uint32), ("minor", C.c_uint32), ("context", C.c_void_p),
            ("free", FREE), ("flags", C.c_uint64), ("t", Tensor1)]
    new = C.pythonapi.PyCapsule_New
    new.restype = C.py_object
    new.argtypes = [C.c_void_p, C.c_char_p, C.c_void_p]
    kept = []
    def made(shape=(2,), strides=None, code=2, bits=32, lanes=1, kind=1, offset=0, major=1, flags=0,
        free=True, ndim=None):
        data = (C.c_float * 8)(*range(8))
        v = Versioned()
        s = (C.c_int64 * 8)(*shape)
        z = strides and (C.c_int64 * 8)(*strides)
        v.major, v.flags, v.free = major, flags, FREE(lambda p: freed.append(1)) if free else FREE()
        v.t = Tensor1(C.addressof(data), kind, 0, len(shape) if ndim is None else ndim, code, bits,
            lanes, s, z, offset)
        kept.append((data, v, s, z))
        return new(C.addressof(v), b"dltensor_versioned", None)
    def tried(**how):
        try:
            x = torch.from_dlpack(made(**how))
            return x.dtype, x.stride(), x.tolist(), x.untyped_storage().nbytes()
        except Exception as e:
            return type(e).__name__, str(e)
    return [[tried(**how) for how in (dict(), dict(shape=(2, 3)),
        dict(shape=(2, 3), strides=(1, 2)), dict(shape=(2, 3), strides=(3, 1)),
        dict(shape=(1, 3), strides=(-5, 2)), dict(shape=(2, 0), strides=(-1, 7)),
        dict(shape=(), ndim=0), dict(shape=(3,), strides=(0,)), dict(offset=4), dict(offset=2),
        dict(shape=(2,), strides=(-1,)), dict(shape=(-1,)), dict(ndim=65), dict(ndim=-1),
        dict(kind=4), dict(kind=3), dict(major=0), dict(major=2), dict(lanes=2), dict(code=9),
        dict(code=2, bits=8), dict(code=0, bits=64, shape=(1,)), dict(code=0, bits=16),
        dict(code=0, bits=8), dict(code=0, bits=32), dict(code=0, bits=12), dict(code=1, bits=8),
        dict(code=1, bits=16), dict(code=6, bits=8), dict(code=6, bits=16), dict(code=4, bits=16),
        dict(code=4, bits=32), dict(code=5, bits=64, shape=(1,)),
        dict(code=5, bits=128, shape=(1,)), dict(code=5, bits=32),
        dict(code=2, bits=64, shape=(1,)), dict(code=2, bits=16), dict(free=False),)], len(freed),]

# what is no capsule
[error_name(torch.from_dlpack, x) for x in (3, None, [1], "a", object())]
torch.from_dlpack(3)
