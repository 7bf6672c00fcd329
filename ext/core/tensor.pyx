# cython: language_level=3
# build: plain hot
"""The Tensor class: geometry, metadata, and the slots that later layers fill.

Operators are not here: they come from the table (autograd_cy/ops) and are installed on the class
when their module loads. Reading and writing single elements is in tensor/element.pxi, the checks on
strides are in tensor/geometry.pxi, those on gradients in tensor/gradient.pxi.
"""
cimport cython
from cpython.object cimport PyTypeObject, PyObject_GenericSetAttr
from cpython.mem cimport PyMem_Malloc, PyMem_Free
from cpython.ref cimport PyObject, Py_INCREF, Py_DECREF, Py_XDECREF
from cpython.tuple cimport PyTuple_SET_ITEM
from libc.string cimport memset, memcmp
from autograd_cy._C.checked cimport AG_MUL, window_bytes
from types import FunctionType
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from autograd_cy._C.storage cimport (
    ON_CPU, ON_META, StorageImpl, device_index, storage_new, storage_new_on, storage_alias,
    storage_incref, storage_decref, storage_share_version)
from autograd_cy._C.dtypes cimport (
    dt_c_name, dt_differentiable, dt_is_complex, dt_is_float, dt_is_integral, dt_is_signed,
    dt_object, g_default_dtype, DT_BF16, DT_BOOL, DT_C128, DT_C64, DT_F16, DT_F32, DT_F64, DT_I16,
    DT_I32, DT_I64, DT_I8, DT_SIZE, DT_U16, DT_U32, DT_U64, DT_U8)
from autograd_cy._C.placement cimport (
    cpu_device, device_of_code, MF_CHANNELS_LAST, MF_CHANNELS_LAST_3D)
from autograd_cy._C.placement cimport format_code
from autograd_cy._C.placement import device as _device, strided as _strided
from autograd_cy._C.dtypes import _tensor_type_names

import numpy as _np
from autograd_cy._C._warned import warn as _warn

cdef extern from "modes.h":
    modes_t ag_tls_modes

cdef extern from "scalar/types.h":
    float ag_f16_to_f32(uint16_t h) nogil
    uint16_t ag_f32_to_f16(float x) nogil
    float ag_bf16_to_f32(uint16_t h) nogil
    uint16_t ag_f32_to_bf16(float x) nogil

cdef extern from "Python.h":
    ctypedef int (*visitproc)(PyObject*, void*) noexcept
    ctypedef int (*traverseproc)(PyObject*, visitproc, void*) noexcept
    ctypedef int (*inquiry)(PyObject*) noexcept
    ctypedef PyObject* (*newfunc)(PyTypeObject*, PyObject*, PyObject*) except NULL
    void PyType_Modified(PyTypeObject*)
    void PyObject_GC_Track(void*)
    void PyObject_GC_UnTrack(void*)
    long long PyLong_AsLongLongAndOverflow(object x, int* overflow) except? -1
    Py_ssize_t REFCNT "Py_REFCNT"(PyObject*)
    int PyObject_GC_IsTracked(PyObject*)
    PyTypeObject* Py_TYPE(object)
    PyObject** _PyObject_GetDictPtr(object)
    object PyObject_GenericGetDict(object, void*)
    ctypedef struct GCType "PyTypeObject":
        void (*tp_dealloc)(PyObject*) noexcept
        PyTypeObject* tp_base
        traverseproc tp_traverse
        inquiry tp_clear
        PyObject* tp_dict
        PyObject* tp_mro
        unsigned long tp_flags
        Py_ssize_t tp_dictoffset
        PyObject* (*tp_alloc)(PyTypeObject*, Py_ssize_t)
        newfunc tp_new
        void* tp_vectorcall
    PyTypeObject PyFloat_Type, PyLong_Type
    unsigned long Py_TPFLAGS_IMMUTABLETYPE

memset(&upcalls, 0, sizeof(upcalls))
g_modes = 0


cdef modes_t tls_modes() noexcept nogil:
    return ag_tls_modes


cdef void tls_set_modes(modes_t m) noexcept nogil:
    global ag_tls_modes
    ag_tls_modes = m


include "tensor/size.pxi"


include "tensor/extra.pxi"
include "tensor/duals.pxi"


cdef int track(object o) noexcept:
    if not PyObject_GC_IsTracked(<PyObject*>o):
        PyObject_GC_Track(<PyObject*>o)
    return 0


include "tensor/geometry.pxi"
include "tensor/element.pxi"
include "tensor/buffer.pxi"


include "tensor/construction.pxi"


include "tensor/numbers.pxi"


# --- the class ------------------------------------------------------------------------------

include "tensor/operands.pxi"
include "tensor/gradient.pxi"


@cython.freelist(512)
cdef class Tensor:
    """
    An n-dimensional array that remembers how it was computed.

    Tensors are made by functions such as :func:`autograd_cy.tensor`, :func:`autograd_cy.zeros` or
    :func:`autograd_cy.from_numpy`; ``Tensor(2, 3)`` gives uninitialised memory of that shape.

    Attributes
    ----------
    shape : Size
    dtype : dtype
    requires_grad : bool
        Whether operations on this tensor are recorded.
    grad : Tensor or None
        Gradient that ``backward`` accumulated.
    grad_fn : Node or None
        The operation that made this tensor.
    is_leaf : bool
        Whether the tensor was made by the user, not by a recorded operation.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """

    def __init__(self, *args, device=None):
        cdef Py_ssize_t[MAX_DIMS] shape
        cdef int i, n
        if not (self.flags & F_BLANK):
            return                  # a subclass that was made with its values
        if device is not None:
            kind = _device(device).type
            if kind != "cpu":
                raise RuntimeError("legacy constructor expects device type: cpu but device type: "
                                   f"{kind} was passed; use empty() or tensor() with device=")
        if len(args) == 1:
            _fill(self, args[0])
            if not (self.flags & F_BLANK):
                return
        self.flags &= ~<uint32_t>F_BLANK
        sizes = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
        if not args:
            sizes = (0,)
        n = len(sizes)
        if n > MAX_DIMS:
            raise ValueError(f"a tensor has at most {MAX_DIMS} dimensions, not {n}")
        for i in range(n):
            if isinstance(sizes[i], float):
                raise TypeError(f"Tensor(): sizes must be integers, not {sizes[i]!r}; "
                                "use autograd_cy.tensor(value) for a value")
            try:
                shape[i] = sizes[i]
            except OverflowError:
                raise TypeError(
                    f"Tensor(): argument 'size' failed to unpack the object at pos {i + 1} with "
                    f"error \"Overflow when unpacking long long\": {sizes[i]} is too large"
                ) from None
        replace_storage(self, tensor_empty(g_default_dtype, n, shape))

    def __dealloc__(self):
        cdef PyObject* p
        if self.accumulator != NULL:
            upcalls.accumulator_gone(self.accumulator)
        if self.fn != NULL:
            p = self.fn
            self.fn = NULL
            upcalls.release_node(p)
        p = self.gradient
        self.gradient = NULL
        Py_XDECREF(p)
        p = self.base
        self.base = NULL
        Py_XDECREF(p)
        p = self.attributes
        self.attributes = NULL
        Py_XDECREF(p)
        if self.sizes != NULL and self.sizes != self.dims:
            PyMem_Free(self.sizes)
        if self.mem != NULL:
            storage_decref(self.mem)

    # geometry

    @property
    def shape(self):
        return size_object(self.nd, self.sizes)

    def size(self, dim=None):
        """The shape, or the size of one dimension."""
        if dim is None:
            return size_object(self.nd, self.sizes)
        return self.sizes[any_dim(plain_dim(dim, "size"), self.nd)]

    def stride(self, dim=None):
        """The strides in elements, or that of one dimension."""
        cdef int i
        if dim is None:
            return tuple([self.strides[i] for i in range(self.nd)])
        return self.strides[any_dim(plain_dim(dim, "stride"), self.nd)]

    def dim(self):
        """Number of dimensions."""
        return self.nd

    ndimension = dim

    @property
    def ndim(self):
        return self.nd

    def numel(self):
        """Number of elements."""
        return self.count

    nelement = numel

    def element_size(self):
        """Bytes of one element."""
        return DT_SIZE[self.dt]

    @property
    def itemsize(self):
        return DT_SIZE[self.dt]

    @property
    def nbytes(self):
        return self.count * DT_SIZE[self.dt]

    def storage_offset(self):
        """Offset of the first element in the storage, in elements."""
        return (self.ptr - self.mem.data) // DT_SIZE[self.dt]

    def data_ptr(self):
        """Address of the first element; 0 if there is none."""
        refuse_examples(self, "data_ptr()")
        reading(self, "data_ptr()")
        if self.mem.device == ON_META or self.count == 0:
            return 0
        return <size_t>self.ptr

    def is_contiguous(self, *, memory_format=None):
        """Return whether the elements are in memory in the order of `memory_format` (default: C
        order)."""
        if memory_format is None:
            return tensor_is_contiguous(self)
        return tensor_matches_format(self, format_code(memory_format))

    def is_set_to(self, Tensor tensor not None):
        """Return whether both show the same elements of the same memory."""
        return (self.ptr == tensor.ptr and same_shape(self, tensor)
                and not (self.flags ^ tensor.flags) & F_TURNED
                and (self.nd == 0 or memcmp(self.strides, tensor.strides,
                                            self.nd * sizeof(Py_ssize_t)) == 0))

    @property
    def dtype(self):
        return dt_object(self.dt)

    @property
    def device(self):
        if self.flags & F_DEVICE:
            return device_of_code(self.mem.device)
        return cpu_device

    @property
    def layout(self):
        return _strided

    @property
    def is_cpu(self):
        return not self.flags & F_DEVICE

    @property
    def is_cuda(self):
        return bool(self.flags & F_DEVICE) and device_of_code(self.mem.device).type == "cuda"

    @property
    def is_sparse(self):
        return False

    @property
    def is_quantized(self):
        return False

    @property
    def is_meta(self):
        return self.mem.device == ON_META

    def get_device(self):
        """The number of the device, -1 for the CPU and for ``"meta"``."""
        if not self.flags & F_DEVICE or self.mem.device == ON_META:
            return -1
        return device_index(self.mem.device)

    def is_floating_point(self):
        """Return whether the dtype is a floating one."""
        return dt_is_float(self.dt)

    def is_complex(self):
        """Return whether the dtype is complex."""
        return dt_is_complex(self.dt)

    def is_signed(self):
        """Return whether the dtype has negative values."""
        return dt_is_signed(self.dt)

    def is_conj(self):
        """Return whether the conjugation is still to be done: memory holds the conjugates; see
        conj()."""
        return bool(lazy_bits(self) & F_CONJ)

    def is_neg(self):
        """Return whether the negation is still to be done: memory holds the negatives."""
        return bool(lazy_bits(self) & F_NEG)

    def is_inference(self):
        """Return whether the tensor was made in inference mode."""
        return bool(self.flags & F_INFERENCE)

    # autograd metadata

    @property
    def requires_grad(self):
        return bool(requires_grad(self))

    @requires_grad.setter
    def requires_grad(self, value):
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        if value and self.fn != NULL:
            # As in torch, where the method may be called in vain, but nothing be assigned.
            raise RuntimeError("you can only change requires_grad flags of leaf variables.")
        set_requires_grad(self, value)

    @property
    def is_leaf(self):
        if self.fn != NULL or (self.flags & F_VIEW and requires_grad(self)):
            return upcalls.grad_fn(self) is None       # the history of its base may be newer
        return True

    @property
    def grad_fn(self):
        if not (self.flags & F_GRAD_PATH):
            return None
        return upcalls.grad_fn(self)

    @property
    def output_nr(self):
        return self.out_nr

    @property
    def _version(self):
        if self.flags & F_INFERENCE:
            raise RuntimeError("Inference tensors do not track version counter.")
        return self.mem.version[0]

    def _storage_address(self):
        """Return the address of the storage's first byte; it is the same for all views."""
        return <size_t>self.mem.data

    def _bump_version(self):
        """Note a write that autograd didn't see; see autograd.graph.increment_version."""
        self.mem.version[0] += 1

    @property
    def _base(self):
        if self.base == NULL:
            return None
        return <object>self.base

    def _is_view(self):
        """Return whether autograd knows this tensor as a view of another."""
        return self.base != NULL

    @property
    def data(self):
        cdef StorageImpl* s
        cdef Tensor t
        if self.flags & F_BATCHED:
            return self.detach()
        s = storage_alias(self.mem)
        try:
            t = tensor_on(s, self.ptr, self.dt, self.nd, self.sizes, self.strides)
        finally:
            storage_decref(s)
        t.flags |= self.flags & (F_INFERENCE | F_LAZY)
        return t

    @data.setter
    def data(self, value):
        cdef Tensor source
        if not isinstance(value, Tensor):
            raise TypeError(
                f"Variable data has to be a tensor, but got {type(value).__name__}")
        source = <Tensor>value
        if (self.flags | source.flags) & F_BATCHED:
            raise RuntimeError("vmap: data of a tensor cannot be replaced; use copy_()")
        if (self.flags & F_REQUIRES_GRAD) and not dt_differentiable(source.dt):
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex "
                "dtype"
            )
        reshaped = self.fn != NULL and not same_shape(self, source)
        # As for set_(): graphs of before keep their accumulator, later ones get another, whose
        # gradients are of the new dtype and on the new device.
        retyped = self.dt != source.dt or self.mem.device != source.mem.device
        take_memory(self, source)
        if retyped:
            self.accumulator = NULL
        if reshaped:
            shape_replaced(self)

    @data.deleter
    def data(self):
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    @property
    def grad(self):
        if self.gradient == NULL:
            warn_without_gradient(self)
            return None
        return <object>self.gradient

    @grad.setter
    def grad(self, value):
        assign_gradient(self, value)

    @grad.deleter
    def grad(self):
        assign_gradient(self, None)

    @property
    def retains_grad(self):
        return bool(self.flags & F_RETAINS_GRAD)

    @property
    def name(self):
        return None if self.extra is None else self.extra.name

    # values

    def item(self):
        """The only element as a Python number."""
        reading(self, "item()")
        return scalar_value(self) if not g_modes & G_PROFILE else _seen_reader(self, False)

    def tolist(self):
        """The elements as nested lists of Python numbers."""
        refuse_examples(self, "tolist()")
        reading(self, "tolist()")
        if g_modes & G_PROFILE:
            return _seen_reader(self, None)
        return _list_of(self)

    def __len__(self):
        if self.nd == 0:
            raise TypeError("len() of a 0-d tensor")
        return self.sizes[0]

    def __bool__(self):
        if self.count != 1:
            if self.count == 0:
                raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        if self.flags & F_BATCHED and has_examples(self):
            _refuse_escaped(self, "bool()")
            raise RuntimeError(
                "vmap: It looks like you're attempting to use a Tensor in some data-dependent "
                "control flow. We don't support that yet, because the branch would differ between "
                "examples; use where() instead.")
        reading(self, "bool()")
        if g_modes & G_PROFILE:
            return _seen_reader(self, True)
        return bool(scalar_value(self))

    def __int__(self):
        only_element(self)
        reading(self, "int()")
        value = scalar_value(self) if not g_modes & G_PROFILE else _seen_reader(self, False)
        if type(value) is complex:
            return whole_part(value)
        return int(value)

    def __float__(self):
        only_element(self)
        if self.flags & F_GRAD_PATH and requires_grad(self) and not tls_modes() & M_NO_GRAD:
            warn_once("Converting a tensor with requires_grad=True to a scalar may lead to "
                      "unexpected behavior.\nConsider using tensor.detach() first.")
        reading(self, "float()")
        value = scalar_value(self) if not g_modes & G_PROFILE else _seen_reader(self, False)
        return float(real_part(value, "float64"))

    def __complex__(self):
        only_element(self)
        reading(self, "complex()")
        return complex(scalar_value(self) if not g_modes & G_PROFILE else _seen_reader(self, False))

    def __index__(self):
        if self.count != 1 or not dt_is_integral(self.dt):
            raise TypeError("only integer tensors of a single element can be converted to an index")
        reading(self, "an index")
        return int(scalar_value(self) if not g_modes & G_PROFILE else _seen_reader(self, False))

    def __bytes__(self):
        if self.count == 1:
            return bytes(self.__index__())
        return bytes([x.__index__() for x in self])

    def __reversed__(self):
        """The tensor with its first dimension backwards."""
        return self if self.nd == 0 else self.flip(0)

    def __hash__(self):
        return <Py_ssize_t>(<size_t><PyObject*>self >> 4)

    def __contains__(self, element):
        if isinstance(element, Tensor) or is_python_number(element):
            return bool((self == element).any())
        raise RuntimeError(
            f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
            f"{type(element).__name__}."
        )

    def __getbuffer__(self, Py_buffer* view, int flags):
        export_buffer(self, view, flags)

    def __releasebuffer__(self, Py_buffer* view):
        release_buffer(view)

    def __repr__(self):
        return upcalls.repr(self) if upcalls.repr != NULL else object.__repr__(self)

    def __format__(self, spec):
        # A number on meta has no value to be shown: `print` shows what it is.
        if self.nd == 0 and not (self.mem.device == ON_META and not self.flags & F_BATCHED):
            value = scalar_value(self) if self.flags & F_BATCHED else shown_value(self)
            return value.__format__(spec)
        return object.__format__(self, spec)

    def __iter__(self):
        if self.nd == 0:
            raise TypeError("iteration over a 0-d tensor")
        return upcalls.iterate(self)

    def __getitem__(self, index):
        return upcalls.getitem(self, index)

    def __setitem__(self, index, value):
        upcalls.setitem(self, index, value)

    def __delitem__(self, index):
        raise TypeError("Tensor does not support deleting items; index what is to be left")

    def __setattr__(self, name, value):
        PyObject_GenericSetAttr(self, name, value)
        if _PyObject_GetDictPtr(self)[0] != NULL:
            track(self)

    # Python operators: the table's operators are put into `upcalls` when their modules load.

    def __add__(self, other):
        return sure_binary(B_ADD, self, other)

    def __radd__(self, other):
        return call_binary(B_ADD, self, other)      # it commutes, and the tensor comes first

    def __iadd__(self, other):
        return call_binary(B_IADD, self, other)

    def __sub__(self, other):
        return call_binary(B_SUB, self, other)

    def __rsub__(self, other):
        return call_binary(B_SUB, other, self)

    def __isub__(self, other):
        return call_binary(B_ISUB, self, other)

    def __mul__(self, other):
        return sure_binary(B_MUL, self, other)

    def __rmul__(self, other):
        return call_binary(B_MUL, self, other)

    def __imul__(self, other):
        return call_binary(B_IMUL, self, other)

    def __truediv__(self, other):
        return call_binary(B_DIV, self, other)

    def __rtruediv__(self, other):
        # 1 / x is recorded as its reciprocal, which saves the result instead of x.
        if (self.flags & F_GRAD_PATH and not tls_modes() & M_NO_GRAD and is_python_number(other)
                and other == 1 and requires_grad(self)):
            return self.reciprocal() * other
        return call_binary(B_DIV, other, self)

    def __itruediv__(self, other):
        return call_binary(B_IDIV, self, other)

    def __floordiv__(self, other):
        return call_binary(B_FLOORDIV, self, other)

    def __rfloordiv__(self, other):
        return call_binary(B_FLOORDIV, other, self)

    def __ifloordiv__(self, other):
        return call_binary(B_IFLOORDIV, self, other)

    def __mod__(self, other):
        return call_binary(B_MOD, self, other)

    def __rmod__(self, other):
        return call_binary(B_MOD, other, self)

    def __imod__(self, other):
        return call_binary(B_IMOD, self, other)

    def __pow__(self, other, modulo):
        if modulo is not None:
            return NotImplemented
        return call_binary(B_POW, self, other)

    def __rpow__(self, other, modulo):
        return call_binary(B_POW, other, self)

    def __ipow__(self, other):
        return call_binary(B_IPOW, self, other)

    def __matmul__(self, other):
        return call_binary(B_MATMUL, self, other)

    def __rmatmul__(self, other):
        return call_binary(B_MATMUL, other, self)

    def __and__(self, other):
        return call_binary(B_AND, self, other)

    def __rand__(self, other):
        return call_binary(B_AND, other, self)

    def __iand__(self, other):
        return call_binary(B_IAND, self, other)

    def __or__(self, other):
        return call_binary(B_OR, self, other)

    def __ror__(self, other):
        return call_binary(B_OR, other, self)

    def __ior__(self, other):
        return call_binary(B_IOR, self, other)

    def __xor__(self, other):
        return call_binary(B_XOR, self, other)

    def __rxor__(self, other):
        return call_binary(B_XOR, other, self)

    def __ixor__(self, other):
        return call_binary(B_IXOR, self, other)

    def __lshift__(self, other):
        return call_binary(B_LSHIFT, self, other)

    def __rlshift__(self, other):
        return call_binary(B_LSHIFT, other, self)

    def __ilshift__(self, other):
        return call_binary(B_ILSHIFT, self, other)

    def __rshift__(self, other):
        return call_binary(B_RSHIFT, self, other)

    def __rrshift__(self, other):
        return call_binary(B_RSHIFT, other, self)

    def __irshift__(self, other):
        return call_binary(B_IRSHIFT, self, other)

    def __neg__(self):
        return call_unary(U_NEG, self)

    def __pos__(self):
        return call_unary(U_POS, self)

    def __invert__(self):
        if self.dt > DT_I64:
            raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type "
                            f"tensors, not on {dt_object(self.dt).name}")
        return call_unary(U_INVERT, self)

    def __abs__(self):
        return call_unary(U_ABS, self)

    def __lt__(self, other):
        return call_binary(B_LT, self, other)

    def __le__(self, other):
        return call_binary(B_LE, self, other)

    def __gt__(self, other):
        return call_binary(B_GT, self, other)

    def __ge__(self, other):
        return call_binary(B_GE, self, other)

    def __eq__(self, other):
        result = call_binary(B_EQ, self, other)
        return equal_to_array(self, other) if result is NotImplemented else result

    def __ne__(self, other):
        return call_binary(B_NE, self, other)


cdef int only_element(Tensor t) except -1:
    if t.count != 1:
        raise ValueError(
            "only one element tensors can be converted to Python scalars, not one of shape "
            f"{list(sizes_of(t))}; use tolist()")
    return 0


def _type_name(Tensor t not None):
    """Such as ``"autograd_cy.FloatTensor"``."""
    return tensor_type_name(t)


def _dtype_of_type_name(str name):
    """The dtype that a tensor type's name stands for; the module in front may be any."""
    short = name.rpartition(".")[2]
    if short not in _tensor_type_names():
        raise ValueError(f"invalid type: '{name}'")
    return dt_object(_tensor_type_names().index(short))


def _attributes(self):
    """The instance's dictionary."""
    track(self)
    return PyObject_GenericGetDict(self, NULL)


def _name_class(bint as_torch):
    """Name the class as its users import it, in messages and repr and as ``Tensor.__module__``."""
    (<PyTypeObject*>Tensor).tp_name = "torch.Tensor" if as_torch else "autograd_cy.Tensor"
    PyType_Modified(<PyTypeObject*>Tensor)


_name_class(False)
Size.__module__ = "autograd_cy"

include "tensor/requires_grad.pxi"
include "tensor/modes.pxi"
include "tensor/subclasses.pxi"
include "tensor/installed.pxi"
include "tensor/lifetime.pxi"
