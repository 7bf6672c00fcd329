# cython: language_level=3
"""The element types, torch's promotion lattice, finfo and iinfo."""
import sys

import numpy as np

from autograd_cy._C.sealed cimport seal

include "dtype_table.pxi"

# Names of the CPU tensor types, as error messages show them.
_TENSOR_TYPES = tuple([name + "Tensor" for name in _SCALARS])
cdef int _i
for _i in range(DTYPES):
    DT_SIZE[_i] = _sizes[_i]
g_default_dtype = DT_F32


cdef class dtype:
    """
    An element type of a tensor.

    The instances are attributes of the package (``autograd_cy.float32``); none can be made.

    Attributes
    ----------
    itemsize : int
        Bytes of one element.
    is_floating_point, is_complex, is_signed : bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.float32.itemsize
    4
    """

    @property
    def is_floating_point(self):
        return dt_is_float(self.code)

    @property
    def is_complex(self):
        return dt_is_complex(self.code)

    @property
    def is_signed(self):
        return dt_is_signed(self.code)

    @property
    def _scalar(self):
        """The name of the scalar type, as messages show it."""
        return dt_scalar_name(self.code)

    @property
    def _number(self):
        """The name of the type of a number that doesn't fit, as messages show it."""
        return dt_c_name(self.code)

    def to_real(self):
        """The dtype of the real part."""
        return dt_object(dt_real(self.code))

    def to_complex(self):
        """The complex dtype that holds this one."""
        if dt_is_limited(self.code):
            raise RuntimeError(f"Unknown Complex ScalarType for {_SCALARS[self.code]}")
        return dt_object(dt_to_complex(self.code))

    def __repr__(self):
        return f"autograd_cy.{self.name}"

    def __hash__(self):
        return 7919 + self.code

    def __eq__(self, other):
        if isinstance(other, dtype):
            return self.code == (<dtype>other).code
        return NotImplemented

    def __reduce__(self):
        return (_dtype_by_name, (self.name,))


cdef list _objects = []
for _i in range(DTYPES):
    _d = dtype.__new__(dtype)
    (<dtype>_d).code = _i
    (<dtype>_d).name = _NAMES[_i]
    (<dtype>_d).itemsize = _sizes[_i]
    _objects.append(_d)

seal(dtype, "dtype objects cannot be made; use autograd_cy.float32 and the others")

_bool, uint8, uint16, uint32, uint64, int8, int16, int32, int64 = _objects[:9]
float16, bfloat16, float32, float64, complex64, complex128 = _objects[9:]


def _dtype_by_name(name):
    return _objects[_NAMES.index(name)]


def _tensor_type_names():
    return _TENSOR_TYPES


cdef dtype dt_object(int code):
    return <dtype>_objects[code]


# --- names in messages ----------------------------------------------------------------------
# PyTorch's errors name a dtype in one of three ways, whichever its code has at hand.

# They are in `_MESSAGE_NAMES` of dtype_table.pxi.

cdef str dt_scalar_name(int dt):
    """Return the name of the scalar type, "Long", as most errors show it."""
    return <str>_MESSAGE_NAMES[dt_object(dt).name][0]


cdef str dt_type_name(int dt):
    """Return the name of the type in C++, "long int", as errors of products show it."""
    return <str>_MESSAGE_NAMES[dt_object(dt).name][1]


cdef str dt_c_name(int dt):
    """Return the name of the type that a number doesn't fit, "int64_t"."""
    return <str>_MESSAGE_NAMES[dt_object(dt).name][2]


# Rows: promotion of the row's dtype with each column's (order of the codes).
cdef int[DTYPES + 1][DTYPES + 1] _promote

cdef int promote_rule(int a, int b) noexcept:
    cdef int lo, hi
    if a == b:
        return a
    lo, hi = (a, b) if a < b else (b, a)
    if hi == DT_NONE:
        return DT_NONE
    if dt_is_limited(a) or dt_is_limited(b):    # as in torch, with floats alone
        return hi if dt_is_float(hi) else DT_NONE
    if hi == DT_C128:
        return DT_C128
    if hi == DT_C64:
        return DT_C128 if lo == DT_F64 else DT_C64
    if hi >= DT_F16:
        if lo == DT_F16 and hi == DT_BF16:
            return DT_F32
        return hi
    if lo == DT_BOOL:
        return hi
    if lo == DT_U8:
        return DT_I16 if hi == DT_I8 else hi
    return hi

cdef int _j
for _i in range(DTYPES + 1):
    for _j in range(DTYPES + 1):
        _promote[_i][_j] = promote_rule(_i, _j)


cdef int dt_promote(int a, int b) noexcept nogil:
    return _promote[a][b]


cdef object no_promotion(int a, int b):
    return RuntimeError(
        "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
        f"{_SCALARS[a]} and {_SCALARS[b]}; convert one of them with .to(dtype)")


cdef object not_for_limited(int dt, str op):
    return NotImplementedError(
        f"\"{op}\" not implemented for '{_SCALARS[dt]}'; convert the operands with .to(dtype)")


cdef int dt_to_complex(int d) noexcept nogil:
    if d >= DT_C64:
        return d
    if d == DT_F64:
        return DT_C128
    if d >= DT_F16:
        return DT_C64
    return DT_C128 if g_default_dtype == DT_F64 else DT_C64


cdef dict _numpy_codes = {}
cdef list _numpy_dtypes = []
for _i in range(DTYPES):
    if _i == DT_BF16:
        _numpy_dtypes.append(None)
    else:
        _numpy_dtypes.append(np.dtype(_NAMES[_i]))
        _numpy_codes[np.dtype(_NAMES[_i])] = _i


cdef int dt_code(object d) except -1:
    if type(d) is dtype:
        return (<dtype>d).code
    if d is float:
        return DT_F64          # as in NumPy and torch; a float without dtype gives the default
    if d is complex:
        return DT_C128
    if d is int:
        return DT_I64
    if d is bool:
        return DT_BOOL
    if isinstance(d, (np.dtype, type)):
        try:
            return dt_from_numpy(np.dtype(d))
        except TypeError:
            pass
    raise TypeError(f"dtype must be an autograd_cy.dtype (such as autograd_cy.float32), not {d!r}")


cdef object dt_numpy(int code):
    if code == DT_BF16:
        if _numpy_dtypes[code] is None:
            try:
                import ml_dtypes
            except ImportError:
                raise TypeError(
                    "NumPy has no bfloat16: install the package ml_dtypes "
                    "(pip install 'autograd_cy[bfloat16]'), or convert with .float() first"
                ) from None
            _numpy_dtypes[code] = np.dtype(ml_dtypes.bfloat16)
        return _numpy_dtypes[code]
    return _numpy_dtypes[code]


cdef int dt_from_numpy(object np_dtype) except -1:
    code = _numpy_codes.get(np_dtype)
    if code is not None:
        return code
    if np_dtype.name == "bfloat16":
        return DT_BF16
    raise TypeError(
        f"can't convert np.ndarray of type {np_dtype}. The only supported types are: float64, "
        "float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, "
        "uint16, uint8, bool, and bfloat16 of ml_dtypes."
    )


def promote_types(type1, type2):
    """
    The smallest dtype that both promote to.

    Parameters
    ----------
    type1, type2 : dtype

    Returns
    -------
    dtype

    Raises
    ------
    RuntimeError
        If one is uint16, uint32 or uint64 and the other neither the same nor a float.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.promote_types(ag.int32, ag.float32)
    autograd_cy.float32
    """
    cdef int a = dt_code(type1), b = dt_code(type2), both = dt_promote(a, b)
    if both == DT_NONE:
        raise no_promotion(a, b)
    return dt_object(both)


def can_cast(from_, to):
    """
    Return whether torch's casting rules allow `from_` to be written into `to`.

    A complex does not go into a real, a float not into an integer, and a number not into a bool.

    Parameters
    ----------
    from_, to : dtype

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        If one is no dtype.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.can_cast(ag.float64, ag.int64)
    False
    """
    return dt_category(dt_code(from_)) <= dt_category(dt_code(to))


def get_default_dtype():
    """
    The floating dtype that Python floats become.

    Returns
    -------
    dtype

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.get_default_dtype()
    autograd_cy.float32
    """
    return dt_object(g_default_dtype)


def set_default_dtype(d):
    """
    Set the floating dtype that Python floats become.

    Parameters
    ----------
    d : dtype
        A floating dtype.

    Raises
    ------
    TypeError
        If `d` is no floating dtype.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.set_default_dtype(ag.float32)
    """
    global g_default_dtype
    if type(d) is not dtype or not dt_is_float((<dtype>d).code):
        raise TypeError(f"only floating-point types are supported as the default type, not {d!r}")
    g_default_dtype = (<dtype>d).code


# (eps, smallest normal, max, bits, decimal digits) of the floating types.
cdef dict _FINFO = {
    "float16": (2.0**-10, 2.0**-14, 65504.0, 16, 1e-3),
    "bfloat16": (2.0**-7, 2.0**-126, (2.0 - 2.0**-7) * 2.0**127, 16, 1e-2),
    "float32": (2.0**-23, 2.0**-126, (2.0 - 2.0**-23) * 2.0**127, 32, 1e-6),
    "float64": (2.0**-52, 2.0**-1022, sys.float_info.max, 64, 1e-15),
}


class finfo:
    """
    Limits of a floating or complex dtype.

    Parameters
    ----------
    type : dtype, optional
        The default dtype if left out; for a complex dtype, that of its parts.

    Attributes
    ----------
    bits : int
    eps, max, min, tiny, smallest_normal, resolution : float
    dtype : str

    Raises
    ------
    TypeError
        If the dtype is an integer or bool.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.finfo(ag.float32).eps
    1.1920928955078125e-07
    """

    def __init__(self, type=None):
        code = g_default_dtype if type is None else dt_code(type)
        if not dt_differentiable(code):
            raise TypeError(
                f"torch.finfo() requires a floating point input type, not {dt_object(code)!r}. "
                "Use iinfo to handle integers."
            )
        self.dtype = _NAMES[dt_real(code)]
        self.eps, self.tiny, self.max, self.bits, self.resolution = _FINFO[self.dtype]
        self.smallest_normal = self.tiny
        self.min = -self.max

    def __repr__(self):
        return (f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
                f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
                f"dtype={self.dtype})")

    def __eq__(self, other):
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self):
        return hash(("finfo", self.dtype))


class iinfo:
    """
    Limits of an integer dtype.

    Parameters
    ----------
    type : dtype

    Attributes
    ----------
    bits, max, min : int
    dtype : str

    Raises
    ------
    TypeError
        If the dtype is not an integer.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.iinfo(ag.int8).max
    127
    """

    def __init__(self, type):
        code = dt_code(type)
        if not (DT_U8 <= code <= DT_I64):
            raise TypeError(
                f"torch.iinfo() requires an integer input type, not {dt_object(code)!r}. "
                "Use finfo to handle floating types."
            )
        self.dtype = _NAMES[code]
        self.bits = 8 * _sizes[code]
        signed = dt_is_signed(code)
        self.max = 2 ** (self.bits - signed) - 1
        self.min = -(2 ** (self.bits - 1)) if signed else 0

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"

    def __eq__(self, other):
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self):
        return hash(("iinfo", self.dtype))
