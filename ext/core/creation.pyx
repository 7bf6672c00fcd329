# cython: language_level=3
"""Functions that make tensors: from shapes (zeros, full, ...), from ranges, and from data.

How nested sequences become tensors is in sequence.pxi, ranges are in ranges.pxi. Tensors on foreign
memory (from_numpy, from_dlpack) are in exchange.pyx, random ones in random.pyx.
"""
cimport cython
from cpython.buffer cimport PyObject_CheckBuffer
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.list cimport PyList_GET_ITEM, PyList_GET_SIZE
from cpython.long cimport PyLong_CheckExact
from cpython.memoryview cimport PyMemoryView_GET_BUFFER
from cpython.number cimport PyNumber_Index
from cpython.object cimport PyTypeObject
from cpython.ref cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from libc.math cimport ceil, isfinite, trunc, pow as c_pow
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset
from autograd_cy._C.storage cimport StorageImpl, storage_borrow, storage_decref
from autograd_cy._C.dtypes cimport (
    DT_SIZE, DT_BOOL, DT_I64, DT_BF16, DT_F32, DT_F64,
    DT_C64, DT_C128, dt_code, dt_object, dt_promote, dt_from_numpy, dt_is_complex,
    dt_is_integral, dt_differentiable, dt_to_complex, dt_numpy, g_default_dtype)
from autograd_cy._C.placement cimport (
    as_device, format_code, layout as layout_type, MF_CONTIGUOUS, MF_PRESERVE)
from autograd_cy._C.tensor cimport (
    Tensor, MAX_DIMS, F_REQUIRES_GRAD, F_INFERENCE, F_BATCHED, F_DUAL, M_INFERENCE, tls_modes,
    tensor_empty, wrap_at, below_vmaps, tensor_empty_like,
    tensor_empty_strided, tensor_on, tensor_alias, format_strides, check_holds, store_element,
    beyond_64_bits,
    scalar_value,
    requires_grad as needs_grad, is_number, bump_version)
from autograd_cy._C.iterate cimport (
    cast, clone_plain, copy_into, check_writable, resize_out)
from autograd_cy._C.parallel cimport team_size, parallel_range
from autograd_cy._C.exchange cimport from_array, import_dlpack

from itertools import islice as _islice
import warnings as _warnings

import numpy as _np

from autograd_cy._C.tensor import _install, _set_constructor

__all__ = [
    "arange", "as_tensor", "asarray", "empty", "empty_like", "empty_strided", "eye", "frombuffer",
    "full", "full_like", "linspace", "logspace", "ones", "ones_like", "scalar_tensor", "tensor",
    "zeros", "zeros_like",
]

cdef extern from "Python.h":
    PyTypeObject* Py_TYPE(object)
    PyTypeObject PyFloat_Type, PyLong_Type, PyBool_Type, PyList_Type, PyTuple_Type
    double PyLong_AsDouble(object) except? -1
    long long PyLong_AsLongLongAndOverflow(object, int*) except? -1

cdef enum:
    PARALLEL_BYTES = 1 << 20     # shorter fills keep the GIL and one thread


# --- arguments ------------------------------------------------------------------------------

cdef Py_ssize_t one_size(object x, Py_ssize_t position, str op, str name="size") except? -1:
    cdef int overflow = 0
    cdef long long n
    if Py_TYPE(x) != &PyLong_Type:
        if isinstance(x, (bool, float)) or not hasattr(x, "__index__"):
            raise TypeError(
                f"{op}(): argument '{name}' (position {position}) must be tuple of ints, "
                f"not {type(x).__name__}"
            )
        try:
            x = PyNumber_Index(x)
        except TypeError:
            raise TypeError(
                f"{op}(): argument '{name}' (position {position}) must be tuple of ints, "
                f"not {type(x).__name__}"
            ) from None
    n = PyLong_AsLongLongAndOverflow(x, &overflow)
    if overflow:
        raise TypeError(
            f"{op}(): argument '{name}' failed to unpack the object at pos {position} with error "
            f"\"Overflow when unpacking long long\": {x} does not fit in 64 bits"
        )
    return n


cdef int parse_size(tuple args, object size, Py_ssize_t* shape, str op) except -1:
    """Sizes given one by one, or as one sequence; returns how many."""
    cdef Py_ssize_t i, n = PyTuple_GET_SIZE(args)
    cdef object sizes = args
    if size is not None:
        if n:
            raise TypeError(f"{op}() got multiple values for argument 'size'")
        sizes = size if isinstance(size, (tuple, list)) else (size,)
    elif n == 0:
        raise TypeError(f'{op}() missing 1 required positional arguments: "size"')
    elif isinstance(args[0], (tuple, list)):
        if n > 1:
            raise TypeError(f"{op}() takes 1 positional argument but {n} were given")
        sizes = args[0]
    n = len(sizes)
    if n > MAX_DIMS:
        raise ValueError(f"{op}: a tensor has at most {MAX_DIMS} dimensions, not {n}")
    for i in range(n):
        shape[i] = one_size(sizes[i], i + 1, op)
        if shape[i] < 0:
            raise RuntimeError(
                f"{op}: Dimension size must be non-negative, got {shape[i]} in {list(sizes)}"
            )
    return <int>n


cdef int parse_dtype(object dtype, int default) except? -1:
    return default if dtype is None else dt_code(dtype)


cdef int check_placement(object device, object layout, object pin_memory, str op) except -1:
    if device is not None:
        as_device(device)
    if layout is not None:
        if type(layout) is not layout_type:
            raise TypeError(
                f"{op}(): argument 'layout' must be autograd_cy.layout, not {type(layout).__name__}"
            )
    if pin_memory:
        raise RuntimeError(
            f"{op}: pin_memory=True requires a CUDA or other accelerator backend; leave it out."
        )
    return 0


cdef int check_out(Tensor out, object dtype, str op) except -1:
    """What every `out=` tensor must fulfil; its shape is dealt with by resize_out."""
    if needs_grad(out):
        raise RuntimeError(
            f"{op}(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad."
        )
    if dtype is not None and dt_code(dtype) != out.dt:
        raise RuntimeError(
            f"{op}: dtype {dt_object(dt_code(dtype)).name} does not match dtype of out parameter "
            f"({dt_object(out.dt).name})"
        )
    check_writable(out, op)
    return 0


cdef Tensor finish(Tensor t, object requires_grad, str op):
    """Flags of a fresh tensor."""
    if tls_modes() & M_INFERENCE:
        t.flags |= F_INFERENCE
    if requires_grad is False:
        return t
    if requires_grad is not True:
        raise TypeError(
            f"{op}(): argument 'requires_grad' must be bool, not {type(requires_grad).__name__}"
        )
    if not dt_differentiable(t.dt):
        raise RuntimeError(
            "Only Tensors of floating point and complex dtype can require gradients "
            f"({op} made one of {dt_object(t.dt)!r})"
        )
    t.flags |= F_REQUIRES_GRAD
    return t


cdef object number_of(object x, str op, str argument):
    """A Python number: of a number, or of a 0-d tensor that doesn't require grad."""
    if isinstance(x, (float, int, complex)):
        return x
    if isinstance(x, Tensor):
        if (<Tensor>x).nd == 0 and not needs_grad(<Tensor>x):
            return scalar_value(<Tensor>x)
    elif is_number(x):
        return x.item()
    raise TypeError(
        f"{op}(): argument '{argument}' must be Number, not {type(x).__name__}"
    )


cdef int number_dtype(object x) except -1:
    if isinstance(x, bool):
        return DT_BOOL
    if isinstance(x, int):
        return DT_I64
    if isinstance(x, complex):
        return dt_to_complex(g_default_dtype)
    return g_default_dtype


cdef int store_number(char* p, int dt, object value) except -1:
    """Store a fill value; one that the dtype can't hold is a RuntimeError, as in torch."""
    if (type(value) is not float and type(value) is not int and isinstance(value, complex)
            and not dt_is_complex(dt) and dt != DT_BOOL):
        if (<double complex>value).imag == 0:
            value = (<double complex>value).real
        else:
            raise RuntimeError(
                f"value cannot be converted to type {dt_object(dt).name} without overflow: {value}"
            )
    check_holds(value, dt)
    return store_element(p, dt, value)


# --- filling --------------------------------------------------------------------------------

cdef struct Fill:
    char* p
    const char* item
    int size


cdef void fill_range(void* ctx, Py_ssize_t lo, Py_ssize_t hi) noexcept nogil:
    cdef Fill* f = <Fill*>ctx
    cdef char* p = f.p + lo * f.size
    cdef Py_ssize_t i, n = (hi - lo) * f.size, done
    cdef bint same = True
    for i in range(1, f.size):
        if f.item[i] != f.item[0]:
            same = False
            break
    if same:
        memset(p, f.item[0], <size_t>n)
        return
    for i in range(min(n, 256) // f.size):
        memcpy(p + i * f.size, f.item, <size_t>f.size)
    # Copy what is there behind itself; 4096 bytes stay in the nearest cache.
    done = min(n, 256) // f.size * f.size
    while done < n:
        i = min(min(done, 4096), n - done)
        memcpy(p + done, p, <size_t>i)
        done += i


cdef int fill_elements(char* p, Py_ssize_t n, const char* item, int size) noexcept:
    """Write one element `n` times."""
    cdef Fill f
    cdef int threads
    f.p = p
    f.item = item
    f.size = size
    if n * size < PARALLEL_BYTES:
        if n:
            fill_range(&f, 0, n)
        return 0
    with nogil:
        threads = team_size(<double>n * size / 4)
        if threads <= 1:
            fill_range(&f, 0, n)
        else:
            parallel_range(fill_range, &f, n, threads)
    return 0


cdef inline int clear(Tensor t) noexcept:
    cdef char[16] zero
    cdef Py_ssize_t n = t.count * DT_SIZE[t.dt]
    if n < PARALLEL_BYTES:
        memset(t.ptr, 0, <size_t>n)
        return 0
    memset(zero, 0, 16)
    return fill_elements(t.ptr, t.count, zero, <int>DT_SIZE[t.dt])


cdef int fill_dense(Tensor t, double value) except -1:
    cdef char[16] item
    if t.dt == DT_F32:
        (<float*>item)[0] = <float>value
    elif t.dt == DT_F64:
        (<double*>item)[0] = value
    elif t.dt == DT_I64:
        (<int64_t*>item)[0] = <int64_t>value
    else:
        store_element(item, t.dt, value)
    return fill_elements(t.ptr, t.count, item, <int>DT_SIZE[t.dt])


cdef Tensor zeros_plain(int dt, int ndim, const Py_ssize_t* shape):
    cdef Tensor t = tensor_empty(dt, ndim, shape)
    clear(t)
    return t


cdef Tensor ones_plain(int dt, int ndim, const Py_ssize_t* shape):
    cdef Tensor t = tensor_empty(dt, ndim, shape)
    fill_dense(t, 1)
    return t


# Fresh tensors are dense, whatever the order of their dimensions: one run of memory to fill.

cdef Tensor zeros_like_plain(Tensor a):
    cdef Tensor t = tensor_empty_like(a, a.dt)
    clear(t)
    return t


cdef Tensor ones_like_plain(Tensor a):
    return full_like_plain(a, 1)


cdef Tensor full_like_plain(Tensor a, double value):
    cdef Tensor t = tensor_empty_like(a, a.dt)
    fill_dense(t, value)
    return t


cdef Tensor eye_plain(int dt, Py_ssize_t rows, Py_ssize_t columns):
    cdef Py_ssize_t[2] shape = [rows, columns]
    cdef Tensor t = zeros_plain(dt, 2, shape)
    set_diagonal(t)
    return t


cdef int set_diagonal(Tensor t) except -1:
    cdef char[16] one
    cdef Py_ssize_t i, item = DT_SIZE[t.dt]
    store_element(one, t.dt, 1)
    for i in range(min(t.sizes[0], t.sizes[1])):
        memcpy(t.ptr + i * (t.strides[0] + t.strides[1]) * item, one, <size_t>item)
    return 0


cdef Tensor like(Tensor a, int dt, object memory_format):
    """An uninitialised tensor of a's shape; by default of its order of dimensions too."""
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int format
    if a.flags & F_BATCHED:
        return wrap_at(like(<Tensor>a.extra.value, dt, memory_format), a.extra.bdim, a.extra.level)
    if memory_format is None:
        return tensor_empty_like(a, dt)
    format = format_code(memory_format)
    if format == MF_PRESERVE:
        return tensor_empty_like(a, dt)
    format_strides(a.nd, a.sizes, format, strides)
    return tensor_empty_strided(dt, a.nd, a.sizes, strides)


# --- from a shape ---------------------------------------------------------------------------

cdef Tensor filled(int dt, int n, const Py_ssize_t* shape, const char* item, Tensor out, str op):
    """`out` or a fresh tensor, with `item` (of the right dtype) everywhere."""
    cdef Tensor t
    if out is None:
        t = tensor_empty(dt, n, shape)
        fill_elements(t.ptr, t.count, item, <int>DT_SIZE[dt])
        return t
    resize_out(out, n, shape, op)
    t = tensor_empty(out.dt, 0, NULL)
    memcpy(t.ptr, item, <size_t>DT_SIZE[out.dt])
    copy_into(out, t, op)
    bump_version(out)
    return out


def zeros(*args, size=None, Tensor out=None, dtype=None, layout=None, device=None,
          requires_grad=False, pin_memory=False):
    """
    A tensor of zeros.

    Parameters
    ----------
    *size : int
        The shape, as numbers or as one sequence.
    out : Tensor, optional
        Written instead of a new tensor, and resized if need be.
    dtype : dtype, optional
        The default dtype if left out.
    layout, device, pin_memory
        As in torch; only dense CPU tensors exist.
    requires_grad : bool
        Whether operations on the tensor are recorded.

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        If a size is negative, or `requires_grad` is set for an integer dtype.
    TypeError
        If a size is no integer.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef char[16] item
    cdef int n = parse_size(args, size, shape, "zeros")
    check_placement(device, layout, pin_memory, "zeros")
    if out is None:
        return finish(zeros_plain(parse_dtype(dtype, g_default_dtype), n, shape),
                      requires_grad, "zeros")
    check_out(out, dtype, "zeros")
    memset(item, 0, 16)
    return finish(filled(out.dt, n, shape, item, out, "zeros"), requires_grad, "zeros")


def ones(*args, size=None, Tensor out=None, dtype=None, layout=None, device=None,
         requires_grad=False, pin_memory=False):
    """
    A tensor of ones. The parameters are those of :func:`zeros`.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.ones(3)
    tensor([1., 1., 1.])
    """
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef char[16] item
    cdef int n = parse_size(args, size, shape, "ones")
    check_placement(device, layout, pin_memory, "ones")
    if out is None:
        return finish(ones_plain(parse_dtype(dtype, g_default_dtype), n, shape),
                      requires_grad, "ones")
    check_out(out, dtype, "ones")
    store_element(item, out.dt, 1)
    return finish(filled(out.dt, n, shape, item, out, "ones"), requires_grad, "ones")


def full(size, fill_value, *, Tensor out=None, dtype=None, layout=None, device=None,
         requires_grad=False, pin_memory=False):
    """
    A tensor of one value.

    Parameters
    ----------
    size : sequence of int
    fill_value : number
        Without `dtype` it decides the dtype: bool, int64, the default dtype or its complex one.
    out, dtype, layout, device, requires_grad, pin_memory
        As for :func:`zeros`.

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        If the dtype cannot hold the value.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.full((2, 2), 7)
    tensor([[7, 7],
            [7, 7]])
    """
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef char[16] item
    cdef int n, dt
    if not isinstance(size, (tuple, list)):
        raise TypeError(
            f"full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}"
        )
    n = parse_size((), size, shape, "full")
    check_placement(device, layout, pin_memory, "full")
    value = number_of(fill_value, "full", "fill_value")
    if out is None:
        dt = parse_dtype(dtype, number_dtype(value))
    else:
        check_out(out, dtype, "full")
        dt = out.dt
    store_number(item, dt, value)
    return finish(filled(dt, n, shape, item, out, "full"), requires_grad, "full")


def empty(*args, size=None, Tensor out=None, dtype=None, layout=None, device=None,
          requires_grad=False, pin_memory=False, memory_format=None):
    """
    A tensor of uninitialised memory.

    Parameters
    ----------
    memory_format : memory_format, optional
        Order of the dimensions in memory; ``contiguous_format`` if left out.
    *size, out, dtype, layout, device, requires_grad, pin_memory
        As for :func:`zeros`.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.empty(2, 3).shape
    autograd_cy.Size([2, 3])
    """
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int n = parse_size(args, size, shape, "empty")
    cdef int dt, format
    check_placement(device, layout, pin_memory, "empty")
    if out is not None:
        check_out(out, dtype, "empty")
        return finish(resize_out(out, n, shape, "empty"), requires_grad, "empty")
    dt = parse_dtype(dtype, g_default_dtype)
    if memory_format is not None:
        format = format_code(memory_format)
        if format == MF_PRESERVE:
            raise RuntimeError("empty: unsupported memory format preserve_format; use empty_like")
        if format != MF_CONTIGUOUS:
            format_strides(n, shape, format, strides)
            return finish(tensor_empty_strided(dt, n, shape, strides), requires_grad, "empty")
    return finish(tensor_empty(dt, n, shape), requires_grad, "empty")


def empty_strided(size, stride, *, dtype=None, layout=None, device=None, requires_grad=False,
                  pin_memory=False):
    """
    A tensor of uninitialised memory with given strides.

    Parameters
    ----------
    size, stride : sequence of int
        The strides count elements; they may overlap.
    dtype, layout, device, requires_grad, pin_memory
        As for :func:`zeros`.

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        If there are not as many strides as sizes, or one is negative.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    check_placement(device, layout, pin_memory, "empty_strided")
    return strided_empty(size, stride, parse_dtype(dtype, g_default_dtype), requires_grad,
                         "empty_strided")


cdef Tensor strided_empty(object size, object stride, int dt, object requires_grad, str op):
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int i, n = parse_size((), size, shape, op)
    stride = tuple(stride) if isinstance(stride, (tuple, list)) else (stride,)
    if len(stride) != n:
        raise RuntimeError(
            f"{op}: dimensionality of sizes ({n}) must match dimensionality of strides "
            f"({len(stride)})"
        )
    for i in range(n):
        strides[i] = one_size(stride[i], i + 1, op, "stride")
    return finish(tensor_empty_strided(dt, n, shape, strides), requires_grad, op)


def eye(n, m=None, *, Tensor out=None, dtype=None, layout=None, device=None, requires_grad=False,
        pin_memory=False):
    """
    A matrix with ones on the diagonal and zeros elsewhere.

    Parameters
    ----------
    n : int
        Rows.
    m : int, optional
        Columns; `n` if left out.
    out, dtype, layout, device, requires_grad, pin_memory
        As for :func:`zeros`.

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        If a size is negative.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.eye(2, 3)
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    cdef Py_ssize_t[2] shape
    cdef char[16] zero
    shape[0] = one_size(n, 1, "eye")
    shape[1] = shape[0] if m is None else one_size(m, 2, "eye")
    if shape[0] < 0:
        raise RuntimeError(f"n must be greater or equal to 0, got {n}")
    if shape[1] < 0:
        raise RuntimeError(f"m must be greater or equal to 0, got {m}")
    check_placement(device, layout, pin_memory, "eye")
    if out is None:
        return finish(eye_plain(parse_dtype(dtype, g_default_dtype), shape[0], shape[1]),
                      requires_grad, "eye")
    check_out(out, dtype, "eye")
    memset(zero, 0, 16)
    filled(out.dt, 2, shape, zero, out, "eye")
    set_diagonal(out)
    return finish(out, requires_grad, "eye")


include "likes.pxi"
include "ranges.pxi"
include "sequence.pxi"
