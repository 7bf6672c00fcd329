# cython: language_level=3
# build: plain hot
"""Functions that make tensors: from shapes (zeros, full, ...), from ranges, and from data.

How nested sequences become tensors is in creation/sequence.pxi, ranges are in
creation/ranges.pxi. Tensors on foreign memory (from_numpy, from_dlpack) are in exchange.pyx,
random ones in random.pyx.
"""
cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.buffer cimport PyObject_CheckBuffer
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.list cimport PyList_GET_ITEM, PyList_GET_SIZE
from cpython.long cimport PyLong_CheckExact
from cpython.memoryview cimport PyMemoryView_GET_BUFFER
from cpython.number cimport PyNumber_Index
from cpython.object cimport PyTypeObject
from cpython.pycapsule cimport PyCapsule_CheckExact
from cpython.ref cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from libc.math cimport ceil, isfinite, trunc, pow as c_pow
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset
from autograd_cy._C.arguments cimport int_arg, tensor_arg
from autograd_cy._C.devices cimport pinning_type
from autograd_cy._C.storage cimport (
    ON_CPU, ON_META, ON_PINNED, STORAGE_PINNED, StorageImpl, storage_borrow, storage_decref,
    storage_root)
from autograd_cy._C.dtypes cimport (
    dt_c_name, dt_code, dt_differentiable, dt_from_numpy, dt_is_complex, dt_is_integral,
    dt_is_limited, dt_numpy, dt_object, dt_promote, dt_scalar_name, dt_to_complex, g_default_dtype,
    no_promotion, not_for_limited, DT_BF16, DT_BOOL, DT_C128, DT_C64, DT_F32, DT_F64, DT_I64,
    DT_NONE, DT_SIZE, DT_U64)
from autograd_cy._C.checked cimport checked_add, checked_mul
from autograd_cy._C.constants cimport fill_range, makes_ranges
from autograd_cy._C.default_device cimport default_code, default_device, names_device
from autograd_cy._C.launch cimport capturing, no_launch, note_constant
from autograd_cy._C.placement cimport (
    device_code, device_of_code, format_code, layout as layout_type, MF_CONTIGUOUS, MF_PRESERVE)
from autograd_cy._C.recorder cimport Scope, S_OPERATOR, begin_event, begin_call, events
from autograd_cy._C.tensor cimport (
    Tensor, MAX_DIMS, G_PROFILE, g_modes,
    F_REQUIRES_GRAD, F_BATCHED, F_DUAL, mark_raw,
    F_WRAPPED, tensor_empty, tensor_empty_on, tensor_window, wrap_at, below_vmaps,
    preserved_strides, tensor_empty_like, tensor_on, tensor_alias, format_strides, check_holds,
    store_element,
    beyond_64_bits,
    scalar_value, warn_once,
    requires_grad as needs_grad, is_python_number, bump_version, wrap_double)
from autograd_cy._C.iterate cimport (
    cast, check_writable, clear, clone_plain, copy_into, fill_dense, fill_elements, fill_with,
    ew2, ew3, resize_out, to_device, P_BOOL, P_SAME, P_SKIP_FIRST)
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.exchange cimport from_array, import_dlpack, tensor_of_interface
from autograd_cy._C.out_forms cimport check_out as check_out_form

from itertools import islice as _islice
from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.placement import _need_offered, _offers_accelerator

import numpy as _np

from autograd_cy._C.tensor import _install, _must_be_bool, _set_constructor

cdef int K_ADD = kernel_number("add")
cdef int K_LT = kernel_number("lt")
cdef int K_MUL = kernel_number("mul")
cdef int K_POW = kernel_number("pow")
cdef int K_SUB = kernel_number("sub")
cdef int K_WHERE = kernel_number("where")

cdef int E = events(
    "aten::zeros\naten::ones\naten::full\naten::empty\naten::empty_strided\naten::eye\n"
    "aten::empty_like\naten::zeros_like\naten::ones_like\naten::full_like\naten::new_empty\n"
    "aten::new_zeros\naten::new_ones\naten::new_full\naten::new_empty_strided\n"
    "autograd_cy::new_tensor\naten::arange\naten::linspace\naten::logspace\nautograd_cy::tensor\n"
    "aten::scalar_tensor")
cdef enum:  # places among them
    E_ZEROS, E_ONES, E_FULL, E_EMPTY, E_EMPTY_STRIDED, E_EYE, E_EMPTY_LIKE, E_ZEROS_LIKE
    E_ONES_LIKE, E_FULL_LIKE, E_NEW_EMPTY, E_NEW_ZEROS, E_NEW_ONES, E_NEW_FULL
    E_NEW_EMPTY_STRIDED, E_NEW_TENSOR, E_ARANGE, E_LINSPACE, E_LOGSPACE, E_TENSOR
    E_SCALAR_TENSOR

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

# --- arguments ------------------------------------------------------------------------------

cdef Py_ssize_t one_size(object x, Py_ssize_t position, str op, str name="size") except? -1:
    cdef int overflow = 0
    cdef long long n
    if Py_TYPE(x) != &PyLong_Type:
        try:
            if isinstance(x, (bool, _np.bool_)):
                raise TypeError("a truth value is no size")
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
    if isinstance(sizes, list):
        sizes = tuple(sizes)    # what __index__ runs may shorten the list
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


cdef int need_sequence(object size, str op) except -1:
    if not isinstance(size, (tuple, list)):
        raise TypeError(
            f"{op}(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}"
        )
    return 0


cdef int parse_dtype(object dtype, int default) except? -1:
    return default if dtype is None else dt_code(dtype)


cdef int check_placement(object device, object layout, object pin_memory, str op) except -1:
    """The code of the device; what else there is to placement must be as it always is here."""
    cdef int code = default_code() if device is None else device_code(device)
    if layout is not None:
        if type(layout) is not layout_type:
            raise TypeError(
                f"{op}(): argument 'layout' must be autograd_cy.layout, not {type(layout).__name__}"
            )
        if (<layout_type>layout).name != "strided":
            raise NotImplementedError(
                f"{op}(): there are dense tensors only, not of the layout {layout}; use "
                "layout=autograd_cy.strided")
    if pin_memory:
        if not pinning_type():
            _need_offered()
        if not pinning_type():
            raise RuntimeError(
                f"{op}: pin_memory=True requires a CUDA or other accelerator backend; leave it "
                "out.")
        if code != ON_CPU:
            raise RuntimeError(f"{op}: Only dense CPU tensors can be pinned, and this one would be "
                               f"on {device_of_code(code)}; leave pin_memory out")
        return ON_PINNED
    return code


def _can_pin():
    """Tell if some device pins memory of the host; CUDA isn't started to find out."""
    return pinning_type() != 0 or _offers_accelerator()


def _is_pinned(Tensor t not None):
    """Tell if it is in memory that some device pinned."""
    return storage_root(below_vmaps(t).mem).kind == STORAGE_PINNED


cdef int check_out(Tensor out, object dtype, object device, str op) except -1:
    """Check an `out=` tensor for all but its shape, with which resize_out deals."""
    check_out_form(out, 0, op)
    if device is not None and device_code(device) != out.mem.device:
        raise RuntimeError(
            f"{op}: device {device} does not match device of out parameter ({out.device})")
    if dtype is not None and dt_code(dtype) != out.dt:
        raise RuntimeError(
            f"{op}: dtype {dt_scalar_name(dt_code(dtype))} does not match dtype of out parameter "
            f"({dt_scalar_name(out.dt)})"
        )
    check_writable(out, op)
    return 0


cdef Tensor set_requires_grad(Tensor t, object requires_grad, str op):
    """`t`, which may be asked to require grad."""
    if requires_grad is False:
        return t
    if requires_grad is not True:
        _must_be_bool(op, "requires_grad", requires_grad)
    if not dt_differentiable(t.dt):
        raise RuntimeError(
            "Only Tensors of floating point and complex dtype can require gradients "
            f"({op} made one of {dt_object(t.dt)!r})"
        )
    t.flags |= F_REQUIRES_GRAD
    return t


cdef object python_number(object x, str op, str argument):
    """A Python number: of a number, or of a 0-d tensor that doesn't require grad."""
    if isinstance(x, (float, int, complex)):
        return x
    if isinstance(x, Tensor):
        if (<Tensor>x).nd == 0 and not needs_grad(<Tensor>x):
            return scalar_value(<Tensor>x)
    elif isinstance(x, _np.bool_):
        return float(x)             # as an operand is
    elif is_python_number(x):
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
                f"value cannot be converted to type {dt_c_name(dt)} without overflow: {value}"
            )
    check_holds(value, dt)
    return store_element(p, dt, value)


# --- memory of fresh tensors, an event of its own -------------------------------------------

cdef Tensor empty_on(int device, int dt, int n, const Py_ssize_t* shape, const Py_ssize_t* strides):
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_event(E + E_EMPTY, S_OPERATOR)
    return tensor_empty_on(device, dt, n, shape, strides)


cdef Tensor empty_on_cpu(int dt, int n, const Py_ssize_t* shape):
    return empty_on(ON_CPU, dt, n, shape, NULL)


cdef Tensor empty_like_plain(Tensor a, int dt):
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_event(E + E_EMPTY, S_OPERATOR)
    return tensor_empty_like(a, dt)


# --- plain tensors of one value -------------------------------------------------------------

cdef Tensor zeros_plain(int dt, int ndim, const Py_ssize_t* shape):
    cdef Tensor t = empty_on_cpu(dt, ndim, shape)
    clear(t)
    return t


cdef Tensor ones_plain(int dt, int ndim, const Py_ssize_t* shape):
    cdef Tensor t = empty_on_cpu(dt, ndim, shape)
    fill_dense(t, 1)
    return t


# Fresh tensors are dense, whatever the order of their dimensions: one run of memory to fill.

cdef Tensor zeros_like_plain(Tensor a):
    cdef Tensor t = empty_like_plain(a, a.dt)
    clear(t)
    return t


cdef Tensor ones_like_plain(Tensor a):
    return full_like_plain(a, 1)


cdef Tensor full_like_plain(Tensor a, double value):
    cdef Tensor t = empty_like_plain(a, a.dt)
    fill_dense(t, value)
    return t


cdef Tensor eye_plain(int device, int dt, const Py_ssize_t* shape):
    cdef Tensor t = empty_on(device, dt, 2, shape, NULL)
    clear(t)
    set_diagonal(t)
    return t


cdef int set_diagonal(Tensor t) except -1:
    cdef Py_ssize_t n = min(t.sizes[0], t.sizes[1]), step = t.strides[0] + t.strides[1]
    return fill_with(tensor_window(t, 1, &n, &step, 0), 1)


cdef Tensor like(Tensor a, int dt, object memory_format):
    """An uninitialised tensor of a's shape; by default of its order of dimensions too."""
    return like_on(a, dt, memory_format, a.mem.device)


cdef Tensor like_on(Tensor a, int dt, object memory_format, int device):
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int format = MF_PRESERVE if memory_format is None else format_code(memory_format)
    if a.flags & F_BATCHED:
        return wrap_at(like_on(<Tensor>a.extra.value, dt, memory_format, device), a.extra.bdim,
                       a.extra.level)
    if format == MF_PRESERVE:
        if a.mem.device == device:
            return empty_like_plain(a, dt)
        preserved_strides(a, strides)
    else:
        format_strides(a.nd, a.sizes, format, strides)
    return empty_on(device, dt, a.nd, a.sizes, strides)


# --- from a shape ---------------------------------------------------------------------------

cdef Tensor fill_new(int dt, int n, const Py_ssize_t* shape, const char* item, int device,
                     Tensor out, str op):
    """`out` or a fresh tensor, with `item` (of the right dtype) everywhere."""
    cdef Tensor t
    if out is None:
        t = empty_on(device, dt, n, shape, NULL)
        fill_elements(t, item)
        return t
    resize_out(out, n, shape, op)
    t = tensor_empty(out.dt, 0, NULL)
    memcpy(t.ptr, item, <size_t>DT_SIZE[out.dt])
    t.flags |= F_WRAPPED
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
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_ZEROS, args)
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef char[16] item
    cdef int n = parse_size(args, size, shape, "zeros")
    cdef int where = check_placement(device, layout, pin_memory, "zeros")
    if out is None and where == ON_CPU:
        return set_requires_grad(zeros_plain(parse_dtype(dtype, g_default_dtype), n, shape),
                                 requires_grad, "zeros")
    if out is not None:
        check_out(out, dtype, device, "zeros")
    memset(item, 0, 16)
    return set_requires_grad(fill_new(parse_dtype(dtype,
                                                  g_default_dtype) if out is None else out.dt, n,
                                      shape,
                                      item, where, out, "zeros"), requires_grad, "zeros")


def ones(*args, size=None, Tensor out=None, dtype=None, layout=None, device=None,
         requires_grad=False, pin_memory=False):
    """
    A tensor of ones.

    Parameters
    ----------
    *args, size, out, dtype, layout, device, requires_grad, pin_memory
        As for :func:`zeros`.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.ones(3)
    tensor([1., 1., 1.])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_ONES, args)
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef char[16] item
    cdef int n = parse_size(args, size, shape, "ones")
    cdef int where = check_placement(device, layout, pin_memory, "ones")
    cdef int dt
    if out is None and where == ON_CPU:
        return set_requires_grad(ones_plain(parse_dtype(dtype, g_default_dtype), n, shape),
                                 requires_grad, "ones")
    if out is not None:
        check_out(out, dtype, device, "ones")
    dt = parse_dtype(dtype, g_default_dtype) if out is None else out.dt
    store_element(item, dt, 1)
    return set_requires_grad(fill_new(dt, n, shape, item, where, out, "ones"), requires_grad,
                             "ones")


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
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_FULL, (size, fill_value))
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef char[16] item
    cdef int n, dt, where
    need_sequence(size, "full")
    n = parse_size((), size, shape, "full")
    where = check_placement(device, layout, pin_memory, "full")
    value = python_number(fill_value, "full", "fill_value")
    if out is None:
        dt = parse_dtype(dtype, number_dtype(value))
    else:
        check_out(out, dtype, device, "full")
        dt = out.dt
    store_number(item, dt, value)
    return set_requires_grad(fill_new(dt, n, shape, item, where, out, "full"), requires_grad,
                             "full")


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
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_EMPTY, args)
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int n = parse_size(args, size, shape, "empty")
    cdef int dt, format
    cdef int where = check_placement(device, layout, pin_memory, "empty")
    if out is not None:
        check_out(out, dtype, device, "empty")
        return set_requires_grad(resize_out(out, n, shape, "empty"), requires_grad, "empty")
    dt = parse_dtype(dtype, g_default_dtype)
    if memory_format is not None:
        format = format_code(memory_format)
        if format == MF_PRESERVE:
            raise RuntimeError("empty: unsupported memory format preserve_format; use empty_like")
        if format != MF_CONTIGUOUS:
            format_strides(n, shape, format, strides)
            return set_requires_grad(tensor_empty_on(where, dt, n, shape, strides), requires_grad,
                                     "empty")
    return set_requires_grad(tensor_empty_on(where, dt, n, shape, NULL), requires_grad, "empty")


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
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_EMPTY_STRIDED, (size, stride))
    cdef int where = check_placement(device, layout, pin_memory, "empty_strided")
    return strided_empty(size, stride, where, parse_dtype(dtype, g_default_dtype), requires_grad,
                         "empty_strided", None)


cdef Tensor strided_empty(object size, object stride, int where, int dt, object requires_grad,
                          str op, Tensor like):
    """Uninitialised memory with given strides, for each example that `like` stands for."""
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
    if like is not None and like.flags & F_BATCHED:
        return set_requires_grad(strided_examples(like, dt, n, shape, strides, where),
                                 requires_grad, op)
    return set_requires_grad(empty_on(where, dt, n, shape, strides), requires_grad, op)


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
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_EYE, (n, m))
    cdef Py_ssize_t[2] shape
    cdef char[16] zero
    shape[0] = int_arg(n, "eye", "n", 1)
    shape[1] = shape[0] if m is None else int_arg(m, "eye", "m", 2)
    if shape[0] < 0:
        raise RuntimeError(f"n must be greater or equal to 0, got {n}")
    if shape[1] < 0:
        raise RuntimeError(f"m must be greater or equal to 0, got {m}")
    cdef int where = check_placement(device, layout, pin_memory, "eye")
    if out is None:
        return set_requires_grad(eye_plain(where, parse_dtype(dtype, g_default_dtype), shape),
                                 requires_grad,
                                 "eye")
    check_out(out, dtype, device, "eye")
    memset(zero, 0, 16)
    fill_new(out.dt, 2, shape, zero, where, out, "eye")
    set_diagonal(out)
    return set_requires_grad(out, requires_grad, "eye")


include "creation/likes.pxi"
include "creation/ranges.pxi"
include "creation/sequence.pxi"
