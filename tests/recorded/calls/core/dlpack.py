"""Dlpack: calls of tensors and arguments (`ext/core`)."""

import numpy as np

import autograd_cy as torch
from tests.recorded.inputs import complex_sines, differs, error_name, iota, metadata


# DLPack: what is exported, by which kind of capsule
def dlpack_max_version():
    def name(c):
        return repr(c).split('"')[1]
    return [name(iota(2).__dlpack__()), name(iota(2).__dlpack__(max_version=(0, 8))),
        name(iota(2).__dlpack__(max_version=(1, 0))), name(iota(2).__dlpack__(max_version=(2, 0))),
        name(iota(2).__dlpack__(max_version=None))]

[np.from_dlpack(x).tolist() for x in (iota(2, 3).t(), iota(4)[::2], torch.tensor(3.0),
    iota(2, dtype=torch.int64), iota(2, dtype=torch.uint8), iota(2, dtype=torch.bool),
    iota(2, dtype=torch.float16), iota(3, 0), torch.zeros(1, dtype=torch.int8),
    torch.ones(2, dtype=torch.int16), iota(2, dtype=torch.int32), iota(2, dtype=torch.float64))]
[np.from_dlpack(x).dtype.name for x in (iota(1, dtype=torch.bool), iota(1, dtype=torch.uint8),
    iota(1, dtype=torch.int8), iota(1, dtype=torch.int16), iota(1, dtype=torch.int32),
    iota(1, dtype=torch.int64), iota(1, dtype=torch.float16), iota(1), iota(1, dtype=torch.float64),
    complex_sines(1), complex_sines(1, dtype=torch.complex64))]
[torch.from_dlpack(iota(1, dtype=d)).dtype is d
    for d in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128)]
np.from_dlpack(iota(4, 6)[1::2, 1:5:2]).strides
np.from_dlpack(iota(2, 3).t()).strides
np.from_dlpack(iota(2, 3)).shape
with differs("Strides that nobody takes a step by are those of rows"):
    [(x := torch.from_dlpack(y), x.stride(), x.storage_offset(), x.shape)[1:]
        for y in (iota(2, 3).t(), iota(4, 6)[1::2, 1:5:2], torch.tensor(1.0), iota(1, 3).t(),
        iota(1).expand(3), np.zeros((2, 3)).T, np.zeros((1, 3))[::-1], np.zeros((0, 3)),
        np.zeros(()))]
with differs("This ends the process in torch"):
    error_name(torch.from_dlpack, np.zeros(3)[::-1])
error_name(torch.from_dlpack, np.zeros(3, ">f4"))
error_name(torch.from_dlpack, np.zeros(3, "S2"))
with differs("No dtype of ours"):
    error_name(torch.from_dlpack, np.zeros(3, np.uint16))

# what has no __dlpack__ is taken for a capsule
error_name(torch.from_dlpack, 3)
error_name(torch.from_dlpack, None)
[error_name(x.__dlpack__) for x in (iota(2).requires_grad_(), complex_sines(2).conj(),
    iota(2).requires_grad_() * 2)]
with differs("Torch forgets the sign."):
    [error_name(x.__dlpack__) for x in (complex_sines(2).conj().imag,
        torch.empty(2, device="meta"))]
iota(2).requires_grad_().__dlpack__()
complex_sines(2).conj().__dlpack__()
with differs("Torch forgets the sign."):
    complex_sines(2).conj().imag.__dlpack__()
torch.empty(2, device="meta").__dlpack__()
with differs("A BufferError, as of all that can't be exported."):
    torch.empty(2, device="meta").__dlpack_device__()
with differs("An AssertionError says that a program is wrong."):
    iota(2).__dlpack__(stream=1)
    [error_name(lambda: iota(2).__dlpack__(stream=s)) for s in (None, -1, 0, 2)]
tuple(map(int, iota(2).__dlpack_device__()))
error_name(lambda: iota(2).__dlpack__(dl_device=(1, 0)))
with differs("A BufferError, as of all that can't be exported."):
    [error_name(lambda: iota(2).__dlpack__(dl_device=d)) for d in ((4, 0), (1, 1), [1, 0])]
    iota(2).__dlpack__(dl_device=(4, 0))
with differs("A copy has no such bit."):
    torch.from_dlpack(complex_sines(2).conj().__dlpack__(copy=True))
    [error_name(lambda: complex_sines(2).conj().__dlpack__(copy=c)) for c in (None, False, True)]

# A capsule is taken once
def from_dlpack_split():
    c = iota(3).__dlpack__()
    x = torch.from_dlpack(c)
    return [x, repr(c).split('"')[1], error_name(torch.from_dlpack, c)]

def from_dlpack_split_2():
    c = iota(3).__dlpack__(max_version=(1, 0))
    x = torch.from_dlpack(c)
    return [x, repr(c).split('"')[1], error_name(torch.from_dlpack, c)]

def from_dlpack_iota():
    c = iota(3).__dlpack__()
    x = torch.from_dlpack(c)
    return torch.from_dlpack(c)

# Memory is shared, or not
def version_data_ptr():
    x = iota(3)
    y = torch.from_dlpack(x)
    y[0] = 5
    return [x, x.data_ptr() == y.data_ptr(), metadata(y), x._version]

def from_dlpack_data_ptr():
    x = iota(3)
    y = torch.from_dlpack(x, copy=True)
    y[0] = 5
    z = torch.from_dlpack(x, copy=False)
    z[1] = 7
    u = torch.from_dlpack(x, copy=None)
    u[2] = 8
    return [x, y, x.data_ptr() == y.data_ptr()]

def iota_dlpack():
    x = iota(3)
    y = torch.from_dlpack(x.__dlpack__())
    y[0] = 5
    return x

with differs("A capsule may be copied, too."):
    [x := iota(3), y := torch.from_dlpack(x.__dlpack__(), copy=True), y.data_ptr() == x.data_ptr()]

def from_dlpack_tolist():
    a = np.zeros(3)
    y = torch.from_dlpack(a)
    y[1] = 2
    a[2] = 3
    return [y, a.tolist()]

def from_dlpack_tolist_2():
    a = np.zeros(3)
    y = torch.from_dlpack(a, copy=True)
    y[1] = 2
    a[2] = 3
    return [y, a.tolist()]

@differs("Torch doesn't know which memory is read-only.")
def dlpack_from_numpy():
    a = np.zeros(2)
    a.flags.writeable = False
    return [error_name(torch.from_dlpack(a).add_, 1), error_name(torch.from_numpy(a).__dlpack__),
        error_name(lambda: torch.from_numpy(a).__dlpack__(max_version=(1, 0))),
        error_name(torch.from_dlpack(torch.from_numpy(a)).zero_),
        torch.from_dlpack(torch.from_numpy(a), copy=True).add_(1),
        error_name(lambda: torch.from_numpy(a).__dlpack__(copy=True)),
        error_name(np.from_dlpack(torch.from_numpy(a)).__setitem__, 0, 1)]

@differs("Torch doesn't know which memory is read-only.")
def dlpack_from_numpy_2():
    a = np.zeros(2)
    a.flags.writeable = False
    return torch.from_numpy(a).__dlpack__()

# Producers that are old, elsewhere, or newer than any
def init_dlpack():
    class Old:
        def __init__(self, x):
            self.x = x
        def __dlpack__(self, stream=None):
            return self.x.__dlpack__()
        def __dlpack_device__(self):
            return (1, 0)
    x = iota(3)
    y = torch.from_dlpack(Old(x))
    y[0] = 5
    return [y, x]

def init_dlpack_2():
    class Old:
        def __init__(self, x):
            self.x = x
        def __dlpack__(self):
            return self.x.__dlpack__()
        def __dlpack_device__(self):
            return (1, 0)
    x = iota(3)
    y = torch.from_dlpack(Old(x), copy=True)
    y[0] = 5
    return [y, x]

@differs("A BufferError, as of all that can't be read.")
def told_asked():
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
def far_dlpack():
    class Far:
        def __dlpack__(self, **options):
            return iota(3).__dlpack__()
        def __dlpack_device__(self):
            return (7, 1)
    return torch.from_dlpack(Far())

def none1_from_dlpack():
    class None1:
        def __dlpack__(self, **options):
            return None
        def __dlpack_device__(self):
            return (1, 0)
    return torch.from_dlpack(None1())

def fails_from_dlpack():
    class Fails:
        def __dlpack__(self, **options):
            raise ValueError("not now")
        def __dlpack_device__(self):
            return (1, 0)
    return torch.from_dlpack(Fails())

[torch.from_dlpack(iota(2), device="cpu"), torch.from_dlpack(iota(2), device=None)]
with differs("Only the shape is taken, which torch refuses."):
    torch.from_dlpack(iota(2), device="meta").device.type

# Structures made by hand: a version, bits, lanes, dimensions, sizes, strides, devices that no tensor has
@differs("This ends the process in torch.")
def free_major():
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

def freed_early():
    import ctypes as C
    freed = []
    class Tensor1(C.Structure):
        _fields_ = [("data", C.c_void_p), ("kind", C.c_int32), ("id", C.c_int32),
            ("ndim", C.c_int32), ("code", C.c_uint8), ("bits", C.c_uint8), ("lanes", C.c_uint16),
            ("shape", C.POINTER(C.c_int64)), ("strides", C.POINTER(C.c_int64)),
            ("offset", C.c_uint64)]
    FREE = C.CFUNCTYPE(None, C.c_void_p)
    class Legacy(C.Structure):
        _fields_ = [("t", Tensor1), ("context", C.c_void_p), ("free", FREE)]
    new = C.pythonapi.PyCapsule_New
    new.restype = C.py_object
    new.argtypes = [C.c_void_p, C.c_char_p, C.c_void_p]
    data = (C.c_float * 8)(*range(8))
    s = (C.c_int64 * 2)(2, 3)
    v = Legacy(Tensor1(C.addressof(data), 1, 0, 2, 2, 32, 1, s, None, 0), None,
        FREE(lambda p: freed.append(1)))
    x = torch.from_dlpack(new(C.addressof(v), b"dltensor", None))
    y = x[1]
    x.add_(1)
    del x
    early = list(freed)
    found = y.tolist()
    del y
    return [early, found, freed, list(data)]

@differs("The version is the first here, and copies and read-only memory are marked as such.")
def told_c_int32():
    import ctypes as C
    seen = []
    class Tensor1(C.Structure):
        _fields_ = [("data", C.c_void_p), ("kind", C.c_int32), ("id", C.c_int32),
            ("ndim", C.c_int32), ("code", C.c_uint8), ("bits", C.c_uint8), ("lanes", C.c_uint16),
            ("shape", C.POINTER(C.c_int64)), ("strides", C.POINTER(C.c_int64)),
            ("offset", C.c_uint64)]
    class Versioned(C.Structure):
        _fields_ = [("major", C.c_uint32), ("minor", C.c_uint32), ("context", C.c_void_p),
            ("free", C.c_void_p), ("flags", C.c_uint64), ("t", Tensor1)]
    get = C.pythonapi.PyCapsule_GetPointer
    get.restype = C.c_void_p
    get.argtypes = [C.py_object, C.c_char_p]
    def told(x, **how):
        c = x.__dlpack__(max_version=(1, 0), **how)
        v = Versioned.from_address(get(c, b"dltensor_versioned"))
        d = v.t
        return v.major, v.minor, v.flags & 3, d.kind, d.id, d.ndim, d.code, d.bits, d.lanes, d.shape[
            : d.ndim], d.strides[: d.ndim], d.offset, (d.data or 0) - x.data_ptr() == 0
    a = np.zeros(2)
    a.flags.writeable = False
    return [[told(iota(2, 3, dtype=d).t()) for d in (torch.bool, torch.uint8, torch.int8,
        torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32,
        torch.float64, torch.complex64, torch.complex128)], told(iota(2), copy=True),
        told(iota(2), copy=False), told(torch.from_numpy(a)), told(torch.from_numpy(a), copy=True),
        told(torch.tensor(1.0))]

# Nothing is kept by what was not taken
def held_getrefcount():
    import sys
    a = np.zeros(3)
    before = sys.getrefcount(a)
    x = torch.from_numpy(a)
    for k in range(4):
        x.__dlpack__()
        x.__dlpack__(max_version=(1, 0))
        torch.from_dlpack(x)
    c = [x.__dlpack__(), x.__dlpack__(max_version=(1, 0))]
    del x
    held = sys.getrefcount(a) - before
    c.clear()
    return [held, sys.getrefcount(a) - before]

# what is no capsule
[error_name(torch.from_dlpack, x) for x in (3, None, [1], "a", object())]
torch.from_dlpack(3)
