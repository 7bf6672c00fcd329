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
def c_void_p_c_int():
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
def c_void_p_c_int_2():
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

# Refused although nobody records, and not refused
with differs("Tensors of torch give no buffer."):
    [error_name(memoryview, x) for x in (iota(2).bfloat16(), torch.empty(2, device="meta"),
        complex_sines(2).conj(), complex_sines(2).conj().imag, iota(2).requires_grad_())]
    bytes(memoryview(iota(4, dtype=torch.uint8)[1:3]))
    bytes(memoryview(iota(4, dtype=torch.uint8)[::2]))
    bytes(memoryview(iota(0, 3)))
    bytes(memoryview(iota(3, 0).t()))

# From arrays: strides where a dimension has one element or none, offsets that aren't multiples
error_name(torch.from_numpy, [1.0])
error_name(torch.from_numpy, np.frombuffer(bytes(9), np.uint8)[1:].view(np.float64))

# To arrays
complex_sines(2).conj().numpy()
complex_sines(2).conj().imag.numpy()
iota(2).numpy(force=1)

def float64_dtype():
    x = iota(2)
    a = x.__array__()
    a[0] = 5
    b = x.__array__(np.dtype("f4"))
    b[1] = 6
    c = x.__array__(np.float64)
    c[0] = 9
    return x

with differs("Torch's has no copy=, which NumPy asks for."):
    iota(2).__array__(np.float64, copy=False)
[error_name(np.asarray, x) for x in (iota(2).requires_grad_(), complex_sines(2).conj(),
    torch.empty(2, device="meta"))]
with differs("What no tensor can hold stays an array."):
    iota(2).__array_wrap__(np.zeros(2, "S3")).tolist()

def numpy_tolist():
    x = iota(3)
    a = x.numpy()
    x.data = iota(2)
    return [a.tolist(), x]

error_name(vmap(lambda x: torch.tensor(x.numpy())), iota(2, 3))

# buffers, pickles and copies
[x := iota(2, 3).t(), y := pickle.loads(pickle.dumps(x)), y.stride(), y.is_leaf, y._is_view(), y]
with differs("pickles of torch don't share memory"):
    [x := iota(4), y := pickle.loads(pickle.dumps((x, x[1:3]))), y[0].fill_(7), y[1],
        metadata(y[1])]
[y := pickle.loads(pickle.dumps(iota(2).requires_grad_())), y.is_leaf, y.requires_grad, y.grad_fn]
[x := iota(2).requires_grad_(), x.sum().backward(), y := copy.deepcopy(x), y.grad, y.grad is x.grad,
    y.is_leaf, y.requires_grad]

def colour_copy():
    x = iota(2)
    x.colour = [1]
    y = copy.deepcopy(x)
    x.colour.append(2)
    return [y.colour, y, copy.copy(x).colour]

copy.deepcopy(iota(2).requires_grad_() * 2)
with differs("torch has another type of error for storages of wrappers"):
    vmap(lambda x: copy.deepcopy(x))(iota(2, 2))
[x := iota(2), y := copy.copy(x), y is x, y.data_ptr() == x.data_ptr()]
copy.deepcopy(nn.Parameter(iota(2))).requires_grad
type(copy.deepcopy(nn.Parameter(iota(2)))).__name__
