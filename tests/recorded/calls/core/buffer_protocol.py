"""Buffer protocol: calls of tensors and arguments (`ext/core`)."""

import copy
import pickle

import numpy as np

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.func import vmap
from tests.recorded.inputs import complex_sines, differs, error_name, iota, metadata


# What the buffer protocol gives for each set of flags: simple, writable, format, shape, strides, C, Fortran, any
@differs("Tensors of torch give no buffer.")
def asked_every():
    import ctypes as C
    n = C.c_ssize_t
    class View(C.Structure):
        _fields_ = [("buf", C.c_void_p), ("obj", C.py_object), ("len", n), ("itemsize", n),
            ("readonly", C.c_int), ("ndim", C.c_int), ("format", C.c_char_p),
            ("shape", C.POINTER(n)), ("strides", C.POINTER(n)), ("sub", C.c_void_p),
            ("internal", C.c_void_p)]
    def asked(x, flags):
        v = View()
        try:
            C.pythonapi.PyObject_GetBuffer(C.py_object(x), C.byref(v), flags)
        except BufferError as e:
            return str(e)
        found = v.buf == x.data_ptr() or x.numel() == 0, v.obj is x, v.len, v.itemsize, v.readonly, v.ndim, v.format, v.shape[
            : v.ndim] if v.shape else None, v.strides[: v.ndim] if v.strides else None, v.sub
        C.pythonapi.PyBuffer_Release(C.byref(v))
        return found
    every = 0, 1, 4, 8, 0x18, 0x1C, 0x38, 0x58, 0x98
    return [asked(iota(2, 3), f) for f in every]

@differs("Tensors of torch give no buffer.")
def asked_every_2():
    import ctypes as C
    n = C.c_ssize_t
    class View(C.Structure):
        _fields_ = [("buf", C.c_void_p), ("obj", C.py_object), ("len", n), ("itemsize", n),
            ("readonly", C.c_int), ("ndim", C.c_int), ("format", C.c_char_p),
            ("shape", C.POINTER(n)), ("strides", C.POINTER(n)), ("sub", C.c_void_p),
            ("internal", C.c_void_p)]
    def asked(x, flags):
        v = View()
        try:
            C.pythonapi.PyObject_GetBuffer(C.py_object(x), C.byref(v), flags)
        except BufferError as e:
            return str(e)
        found = v.buf == x.data_ptr() or x.numel() == 0, v.len, v.ndim, v.shape[
            : v.ndim] if v.shape else None, v.strides[: v.ndim] if v.strides else None
        C.pythonapi.PyBuffer_Release(C.byref(v))
        return found
    every = 0, 1, 4, 8, 0x18, 0x38, 0x58, 0x98
    a = np.zeros(3, np.float32)
    a.flags.writeable = False
    return [[asked(x, f) for f in every] for x in (iota(3, 2).t(), iota(4, 4)[::2, 1:3],
        iota(6)[::2], iota(1, 6)[:, ::2], iota(3, 0).t(), iota(2, 3, 4).transpose(0, 2),
        iota(2, 3, 1).transpose(1, 2), torch.tensor(5.0), iota(1, 1, 3).permute(2, 1, 0),
        iota(1).expand(3), iota(4)[1:3], torch.from_numpy(a), iota(2).bfloat16(),
        iota(3, 2, dtype=torch.int64)[:2].t())]

# What the view holds goes with it
@differs("Tensors of torch give no buffer.")
def memoryview_nbytes():
    x = iota(3)
    v = memoryview(x)
    x.data = iota(5)
    return [v.tolist(), v.nbytes, x.shape, memoryview(x).nbytes]

@differs("Tensors of torch give no buffer.")
def views_release():
    x = iota(1000)
    s = x.untyped_storage()
    views = [memoryview(x) for k in range(5)]
    del x
    return [v.release() for v in views] + [s.nbytes(), s[4]]

# Refused although nobody records, and not refused
@differs("Tensors of torch give no buffer.")
def memoryview_hash():
    x = iota(2).requires_grad_()
    with torch.no_grad():
        found = memoryview(x).nbytes, bytearray(memoryview(x))[:4]
    return [found, error_name(memoryview, x), error_name(hash, memoryview(x.detach()))]

with differs("Tensors of torch give no buffer."):
    [error_name(memoryview, x) for x in (iota(2).bfloat16(), torch.empty(2, device="meta"),
        complex_sines(2).conj(), complex_sines(2).conj().imag, iota(2).requires_grad_())]
    bytes(memoryview(iota(4, dtype=torch.uint8)[1:3]))
    bytes(memoryview(iota(4, dtype=torch.uint8)[::2]))
    bytes(memoryview(iota(0, 3)))
    bytes(memoryview(iota(3, 0).t()))

# From arrays: strides where a dimension has one element or none, offsets that aren't multiples
[torch.from_numpy(a).stride() for a in (np.zeros((1, 3), np.float32), np.zeros((3, 1))[:, :1],
    np.zeros((4, 6))[::2, ::3], np.zeros((2, 3)).T, np.broadcast_to(np.zeros(1), (3,)).copy(),
    np.zeros((2, 3))[:1], np.zeros((2, 3))[:, 1:2])]
with differs("Strides of what has no elements are those of rows, in NumPy's arrays 0"):
    [(x := torch.from_numpy(a), x.stride(), x.untyped_storage().nbytes(), x.storage_offset())[1:]
        for a in (np.zeros((4, 6))[::2, ::3], np.zeros((4, 6))[1:, 2:], np.zeros(()),
        np.zeros((3, 0, 2)), np.zeros(5)[4:], np.lib.stride_tricks.as_strided(np.zeros(4), (3, 2),
        (8, 8)), np.lib.stride_tricks.as_strided(np.zeros(1), (3,), (0,)))]
error_name(torch.from_numpy, np.zeros((2, 3))[::-1])
error_name(torch.from_numpy, np.zeros((2, 3))[:, ::-1])
error_name(torch.from_numpy, np.zeros(3, ">f8"))
error_name(torch.from_numpy, np.zeros(3, "V8"))
error_name(torch.from_numpy, np.zeros(4, [("a", "i1"), ("b", "i4")])["b"])
error_name(torch.from_numpy, np.zeros(3, "S4"))
error_name(torch.from_numpy, [1.0])
torch.from_numpy(np.float32(1))
error_name(torch.from_numpy, np.frombuffer(bytes(9), np.uint8)[1:].view(np.float64))
with differs("torch refuses those, which have nothing to go back through"):
    [torch.from_numpy(a).shape for a in (np.zeros((1, 3))[::-1], np.zeros((0, 3))[::-1],
        np.zeros((0, 3))[:, ::-1])]

def from_numpy_is_leaf():
    a = np.zeros((2, 3))
    x = torch.from_numpy(a)
    y = x[1:]
    a[1, 2] = 5
    y[0, 0] = 7
    return [x, a.sum(), x.is_leaf, x.requires_grad, metadata(x), metadata(y)]

def from_dlpack_is_inference():
    with torch.inference_mode():
        x = torch.from_numpy(np.ones(2))
        y = torch.from_dlpack(np.ones(2))
        z = torch.from_dlpack(iota(2))
    return [x.is_inference(), y.is_inference(), z.is_inference()]

def still_getrefcount():
    import sys
    a = np.zeros(3)
    before = sys.getrefcount(a)
    x = torch.from_numpy(a)
    held = sys.getrefcount(a) - before
    y = x[1:]
    del x
    still = sys.getrefcount(a) - before
    del y
    return [held, still, sys.getrefcount(a) - before]

def before_getrefcount():
    import sys
    a = np.zeros(3)
    before = sys.getrefcount(a)
    for k in range(5):
        torch.from_dlpack(a)
    return sys.getrefcount(a) - before

# To arrays
[(a := x.numpy(), a.dtype.name, a.shape, a.strides, a.flags.writeable)[1:]
    for x in (iota(2, 3), iota(2, 3).t(), iota(4, 4)[::2, 1:3], torch.tensor(2.0),
    iota(3, dtype=torch.float16), complex_sines(2), iota(2, dtype=torch.bool),
    iota(2, dtype=torch.uint8), iota(1).expand(2, 3))]
[error_name(x.numpy) for x in (iota(2).requires_grad_(), complex_sines(2).conj(),
    complex_sines(2).conj().imag, torch.empty(2, device="meta"), iota(2).requires_grad_() * 2)]
iota(2).requires_grad_().numpy()
complex_sines(2).conj().numpy()
complex_sines(2).conj().imag.numpy()
torch.empty(2, device="meta").numpy()
iota(2).numpy(force=1)
iota(2).numpy(True)
[x.numpy(force=True).tolist() for x in (iota(2).requires_grad_(), torch.tensor([1 + 2j]).conj(),
    torch.tensor([1 + 2j]).conj().imag, iota(4)[::2])]

def numpy_force():
    x = iota(3)
    a = x.numpy(force=True)
    a[0] = 9
    b = x.numpy(force=False)
    b[1] = 8
    return [x, a.tolist(), x._version]

def tolist_numpy():
    x = iota(2).requires_grad_()
    with torch.no_grad():
        a = x.numpy()
    return a.tolist()

np.asarray(iota(2)).dtype.name
np.asarray(iota(2), dtype=np.float64).dtype.name
np.array(iota(2), dtype="int32").tolist()
iota(2).__array__(np.float32).dtype.name

def array_float64():
    x = iota(2)
    a = x.__array__()
    a[0] = 5
    b = x.__array__(np.dtype("f4"))
    b[1] = 6
    c = x.__array__(np.float64)
    c[0] = 9
    return x

@differs("Torch's has no copy=, which NumPy asks for.")
def array_copy():
    x = iota(2)
    a = x.__array__(copy=True)
    a[0] = 5
    b = x.__array__(np.float32, copy=False)
    b[1] = 6
    return [x, error_name(lambda: x.__array__(np.float64, copy=False)),
        x.__array__(np.float64, copy=True).dtype.name,
        x.__array__(np.float64, copy=None).dtype.name]

with differs("Torch's has no copy=, which NumPy asks for."):
    iota(2).__array__(np.float64, copy=False)
[error_name(np.asarray, x) for x in (iota(2).requires_grad_(), complex_sines(2).conj(),
    torch.empty(2, device="meta"))]
type(np.sin(iota(2))).__name__
type(np.add(iota(2), 1)).__name__
np.add(iota(2), 1).dtype is torch.float32
type(np.sign(iota(2, dtype=torch.int64))).__name__
with differs("What no tensor can hold stays an array."):
    iota(2).__array_wrap__(np.zeros(2, "S3")).tolist()
with differs("Torch's takes no context."):
    iota(2).__array_wrap__(np.array(3.0))
    iota(2).__array_wrap__(np.array("ab"), None, True)
    iota(2).__array_wrap__(np.array("ab"), None, False)
    iota(2).__array_wrap__(np.arange(3)[::-1]).tolist()

def numpy_tolist():
    x = iota(3)
    a = x.numpy()
    x.data = iota(2)
    return [a.tolist(), x]

def numpy_tolist_2():
    x = iota(3)
    a = x.numpy()
    b = a[1:]
    del x, a
    return b.tolist()

error_name(vmap(lambda x: torch.tensor(x.numpy())), iota(2, 3))
vmap(lambda x: torch.tensor(1.0).numpy().item() + x)(iota(2))

# buffers, pickles and copies
def itemsize_readonly():
    def seen(x):
        v = memoryview(np.asarray(x))
        return v.itemsize, v.shape, v.strides, v.readonly
    return seen(iota(2, 3)), seen(iota(2, 3).t()), seen(iota(2, dtype=torch.int64)), seen(iota(2,
        dtype=torch.bool)), seen(complex_sines(2))

[x := iota(2, 3).t(), y := pickle.loads(pickle.dumps(x)), y.stride(), y.is_leaf, y._is_view(), y]
[x := complex_sines(2).conj(), y := pickle.loads(pickle.dumps(x)), y.is_conj(), y]
[x := complex_sines(2).conj().imag, y := pickle.loads(pickle.dumps(x)), y.is_neg(), y]
with differs("pickles of torch don't share memory"):
    [x := iota(4), y := pickle.loads(pickle.dumps((x, x[1:3]))), y[0].fill_(7), y[1],
        metadata(y[1])]
[y := pickle.loads(pickle.dumps(iota(2).requires_grad_())), y.is_leaf, y.requires_grad, y.grad_fn]
[(y.device, y.shape, y.stride()) for y in [pickle.loads(pickle.dumps(torch.zeros(2, 3,
    device="meta")))]]
[x := iota(2).requires_grad_(), x.sum().backward(), y := copy.deepcopy(x), y.grad, y.grad is x.grad,
    y.is_leaf, y.requires_grad]

def colour_copy():
    x = iota(2)
    x.colour = [1]
    y = copy.deepcopy(x)
    x.colour.append(2)
    return [y.colour, y, copy.copy(x).colour]

[x := iota(2), y := copy.deepcopy([x, x, x[1:]]), y[0] is y[1], y[2].fill_(9), y[0]]
copy.deepcopy(iota(2).requires_grad_() * 2)
with differs("torch has another type of error for storages of wrappers"):
    vmap(lambda x: copy.deepcopy(x))(iota(2, 2))
[x := iota(2), y := copy.copy(x), y is x, y.data_ptr() == x.data_ptr()]
copy.deepcopy(nn.Parameter(iota(2))).requires_grad
type(copy.deepcopy(nn.Parameter(iota(2)))).__name__
