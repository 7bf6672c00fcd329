# cython: language_level=3
# build: plain hot
"""Arguments of operators: from Python objects to C values, and checks before any work is done.

The generated Python functions call one converter per argument. Checks of single operators, which
records name, are in ext/shape_rules/rules_common/checks.pxi.
"""
from cpython.number cimport PyNumber_Index
import numpy as _np
from autograd_cy._C.dtypes cimport (
    dt_c_name, dt_category, dt_code, dt_is_complex, dt_is_integral, dt_is_limited, dt_object,
    dt_scalar_name, dt_to_complex, dtype, g_default_dtype, not_for_limited, DT_BF16, DT_BOOL,
    DT_F16, DT_I64, DT_SIZE)
from libc.stdint cimport uint32_t
from autograd_cy._C.iterate cimport broadcast_shape, cast, result_dtype
from autograd_cy._C.placement cimport as_device, device, memory_format
from autograd_cy._C.tensor cimport (
    Tensor, MAX_DIMS, beyond_64_bits, is_python_number, wrap_int, wrap_number, scalar_value,
    requires_grad, check_fits, F_BATCHED, F_WRAPPED)

cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object x, int* overflow) except? -1


cdef str type_name(object x):
    """Return the name of an argument's type for an error; NumPy's types get their module, and
    dtypes and the like that of torch, as in torch."""
    cdef str name = type(x).__name__
    if isinstance(x, (dtype, memory_format, device)):
        return f"torch.{name}"
    return f"numpy.{name}" if type(x).__module__ == "numpy" else name


cdef object wrong_type(object x, str op, str name, int position, str wanted):
    """The TypeError about one argument; a `position` of 0 means that it comes by keyword only."""
    cdef str where = f" (position {position})" if position > 0 else ""
    return TypeError(f"{op}(): argument '{name}'{where} must be {wanted}, not {type_name(x)}")


# --- tensors and numbers --------------------------------------------------------------------

cpdef Tensor tensor_arg(object x, str op, str name, int position):
    if isinstance(x, Tensor):
        return <Tensor>x
    raise wrong_type(x, op, name, position, "Tensor")


cpdef tuple tensors_arg(object x, str op, str name, int position):
    cdef tuple t
    cdef Py_ssize_t i
    if isinstance(x, Tensor) or not isinstance(x, (tuple, list)):
        raise wrong_type(x, op, name, position, "tuple of Tensors")
    t = tuple(x)
    for i in range(len(t)):
        if not isinstance(t[i], Tensor):
            raise TypeError(
                f"{op}(): expected Tensor as element {i} in argument '{name}', but got "
                f"{type_name(t[i])}")
    return t


cpdef Tensor operand_arg(object x, str op, str name, int position):
    """A tensor, or a number as 0-d tensor that gives way in promotion."""
    if isinstance(x, Tensor):
        return <Tensor>x
    if is_python_number(x):
        return wrap_number(x)
    raise wrong_type(x, op, name, position, "Tensor or Number")


cdef Tensor number_alone(Tensor a):
    """A number of which an operator on numbers only makes a tensor: one of the default dtype."""
    cdef int dt = a.dt
    if dt_category(dt) >= 2:
        dt = dt_to_complex(g_default_dtype) if dt_is_complex(dt) else g_default_dtype
    if dt != a.dt:
        return cast(a, dt)
    a.flags &= ~<uint32_t>F_WRAPPED
    return a


cdef int check_no_gradient(Tensor x, str op, str name, int position, str wanted) except -1:
    """A tensor is taken for a number only where no gradient is lost by it."""
    if requires_grad(x):
        where = f" (position {position})" if position > 0 else ""
        raise TypeError(
            f"{op}(): argument '{name}'{where} must be {wanted}, not Tensor that requires grad: "
            "no gradient would reach it; detach it")
    return 0


cpdef Tensor number_arg(object x, str op, str name, int position):
    if is_python_number(x):
        return wrap_number(x)
    if isinstance(x, Tensor) and (<Tensor>x).nd == 0:
        check_no_gradient(<Tensor>x, op, name, position, "Number")
        return wrap_number(x.item())
    raise wrong_type(x, op, name, position, "Number")


cdef Tensor alpha_arg(object alpha, str op, Tensor a, Tensor b, bint bool_too):
    """The factor of `b`; `bool_too`: one that is a bool may go with numbers."""
    cdef int dt = result_dtype((a, b))
    cdef Tensor t = factor_arg(alpha, op, dt)
    if dt_is_integral(dt) and not dt_is_integral(t.dt):
        raise RuntimeError(
            f"{op}: For integral input tensors, argument alpha must not be a floating point "
            "number.")
    if t.dt == DT_BOOL and dt != DT_BOOL and not bool_too:
        raise RuntimeError(f"{op}: Boolean alpha only supported for Boolean results.")
    if dt == DT_BOOL and t.dt != DT_BOOL:
        return wrap_number(scalar_value(t) != 0)
    if dt_is_complex(t.dt) and not dt_is_complex(dt):
        raise RuntimeError(
            f"{op}: For non-complex input tensors, argument alpha must not be a complex number.")
    # One that was negated before may be what only its negative fits.
    if (dt != DT_BOOL and dt != DT_I64
            and not (dt < DT_I64 and scalar_value(t) == 1 << 8 * DT_SIZE[dt] - 1)):
        check_fits(t, dt)
    return t


cdef Tensor factor_arg(object alpha, str op, int dt):
    """A number that multiplies a result of dtype `dt`."""
    if type(alpha) is int and 1 << 63 <= alpha < 1 << 64:
        if dt == DT_BOOL:
            return wrap_number(True)
        if dt_is_integral(dt):
            raise RuntimeError(
                f"{op}: value cannot be converted to type {dt_c_name(dt)} without overflow: "
                f"{alpha}")
        alpha = float(alpha)    # without a sign, as beside other floats
    return number_arg(alpha, op, "alpha", 0)


cdef Tensor foreign_operand(object x):
    """A tensor or number as operand of a Python operator; None lets Python try the other side.

    None stands for ints of more than 64 bits, too: `answer` of overrides.pyx calls the function,
    which knows what to do with them.
    """
    cdef long long n
    cdef int overflow = 0
    if isinstance(x, Tensor):
        return <Tensor>x
    if type(x) is int:
        n = PyLong_AsLongLongAndOverflow(x, &overflow)
        return wrap_int(n) if overflow == 0 else None
    if is_python_number(x):
        return wrap_number(x)
    return None


# --- plain values ---------------------------------------------------------------------------
# The exact types that programs pass are tested first; whatever else torch takes comes after.

cpdef bint bool_arg(object x, str op, str name, int position) except -1:
    if x is True:
        return True
    if x is False:
        return False
    raise wrong_type(x, op, name, position, "bool")


cpdef Py_ssize_t int_arg(object x, str op, str name, int position) except? -1:
    cdef int overflow = 0
    cdef long long n
    if type(x) is not int:
        x = whole_number(x, op, name, position, "int")
    n = PyLong_AsLongLongAndOverflow(x, &overflow)
    if overflow:
        raise too_large(op, name, position)
    return n


cpdef Py_ssize_t dim_arg(object x, str op, str name, int position) except? -1:
    """
    A number of a dimension. Kernels count dimensions in a C int, so what no tensor can have ends
    here, before it is cut down to a dimension that exists.
    """
    cdef Py_ssize_t n = int_arg(x, op, name, position)
    if n < -MAX_DIMS or n >= MAX_DIMS:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-MAX_DIMS}, {MAX_DIMS - 1}], "
            f"but got {n}): argument '{name}' of {op}()")
    return n


cdef object too_large(str op, str name, int position):
    where = f" (position {position})" if position > 0 else ""
    return ValueError(
        f"{op}(): argument '{name}'{where}: Overflow when unpacking long long; an int must fit in "
        "64 bits")


cdef object whole_number(object x, str op, str name, int position, str wanted):
    """`x` as int: an index in Python's sense, but neither a truth value nor an array."""
    if isinstance(x, Tensor):
        integral = dt_is_integral((<Tensor>x).dt) and (<Tensor>x).dt != DT_BOOL
        if not integral or (<Tensor>x).count != 1:
            raise wrong_type(x, op, name, position, wanted)
    elif isinstance(x, (bool, _np.bool_, _np.ndarray)):    # older NumPy takes its bools for ints
        raise wrong_type(x, op, name, position, wanted)
    try:
        return PyNumber_Index(x)
    except TypeError:
        raise wrong_type(x, op, name, position, wanted) from None


cpdef double float_arg(object x, str op, str name, int position) except? -1.0:
    if type(x) is float:
        return x
    if is_python_number(x) and not isinstance(x, (complex, _np.complexfloating)):
        return float(x)
    if isinstance(x, Tensor) and (<Tensor>x).nd == 0 and not dt_is_complex((<Tensor>x).dt):
        check_no_gradient(<Tensor>x, op, name, position, "float")
        return float(x.item())
    raise wrong_type(x, op, name, position, "float")


cpdef str str_arg(object x, str op, str name, int position):
    if isinstance(x, str):
        return x
    raise wrong_type(x, op, name, position, "str")


cpdef str choice_arg(object x, str op, str name, int position, tuple words):
    """One of some words."""
    if isinstance(x, str):
        if x in words:
            return x
        raise RuntimeError(f"{op}(): argument '{name}' must be one of "
                           f"{', '.join([repr(w) for w in words])}, not {x!r}")
    raise wrong_type(x, op, name, position, "str")


cpdef int dtype_arg(object x, str op, str name, int position) except -2:
    """The code of a dtype, or of a type that means one; -1 for None."""
    if x is None:
        return -1
    if type(x) is dtype:
        return (<dtype>x).code
    try:
        return dt_code(x)
    except TypeError:
        raise wrong_type(x, op, name, position, "torch.dtype") from None


cpdef int format_arg(object x, str op, str name, int position) except -2:
    if x is None:
        return -1
    if type(x) is memory_format:
        return (<memory_format>x).code
    raise wrong_type(x, op, name, position, "torch.memory_format")


cpdef object device_arg(object x, str op, str name, int position):
    """A device, from what means one, or None."""
    if x is None:
        return None
    if isinstance(x, bool) or not isinstance(x, (device, str, int)):
        raise wrong_type(x, op, name, position, "torch.device")
    return as_device(int_arg(x, op, name, position) if type(x) is int else x)


cpdef object generator_arg(object x, str op, str name, int position):
    """A generator, or None."""
    if x is not None:
        from autograd_cy._C.random import Generator     # which is imported after this module
        if not isinstance(x, Generator):
            raise wrong_type(x, op, name, position, "torch.Generator")
    return x


cpdef tuple sizes_arg(object x, str op, str name, int position):
    """Several ints; one stands for itself."""
    cdef int overflow = 0
    cdef list out
    if type(x) is tuple:
        for s in <tuple>x:
            if type(s) is not int:
                break
            PyLong_AsLongLongAndOverflow(s, &overflow)
            if overflow:
                raise TypeError(
                    f"{op}(): argument '{name}' failed to unpack the object at pos "
                    f"{(<tuple>x).index(s) + 1} with error \"Overflow when unpacking long long\": "
                    f"{s} does not fit in 64 bits")
        else:
            return <tuple>x
    if not isinstance(x, (tuple, list)):
        x = whole_number(x, op, name, position, "tuple of ints")
        return (int_arg(x, op, name, position),)
    out = []
    for i, s in enumerate(x):
        if type(s) is not int:
            try:
                s = whole_number(s, op, name, position, "int")
            except TypeError:
                raise TypeError(
                    f"{op}(): argument '{name}'{f' (position {position})' if position > 0 else ''} "
                    f"must be tuple of ints, but found element of type {type_name(s)} at pos {i}"
                ) from None
        out.append(s)
    return sizes_arg(tuple(out), op, name, position)


cpdef tuple ints_arg(object x, str op, str name, int position):
    """Several ints in a sequence."""
    if not isinstance(x, (tuple, list)):
        raise wrong_type(x, op, name, position, "tuple of ints")
    return sizes_arg(x, op, name, position)


cpdef object dims_arg(object x, str op, str name, int position):
    """One dimension or several."""
    cdef int overflow = 0
    if type(x) is int:
        PyLong_AsLongLongAndOverflow(x, &overflow)
        if overflow:
            raise too_large(op, name, position)
        return x
    if not isinstance(x, (tuple, list)):
        return int_arg(whole_number(x, op, name, position, "tuple of ints"), op, name, position)
    return sizes_arg(x, op, name, position)


cpdef tuple fixed_arg(object x, str op, str name, int position, tuple words):
    """Convert to as many ints as the type says; one int stands for all."""
    cdef Py_ssize_t n = int(words[0])
    cdef tuple sizes = sizes_arg((x,) if type(x) is int else x, op, name, position)
    if not isinstance(x, (tuple, list)):
        return sizes * n
    if len(sizes) != n:
        raise RuntimeError(
            f"{op}: It is expected {name} equals to {n}, but got size {len(sizes)}; give {n} ints, "
            "or one for all")
    return sizes


cdef dict UNITED = {"ints": "tuple of ints"}


cpdef object union_arg(object x, str op, str name, int position, tuple words):
    """Convert an argument of one of several types; the types do not overlap, but for numbers."""
    if isinstance(x, Tensor) and "Tensor" in words:
        return x
    if isinstance(x, str) and "str" in words:
        return x
    if isinstance(x, (tuple, list)) and "ints" in words:
        return sizes_arg(x, op, name, position)
    if type(x) is int and "int" in words:
        return int_arg(x, op, name, position)
    if "float" in words and is_python_number(x) and not isinstance(
            x, (complex, _np.complexfloating)):
        return x
    wanted = " or ".join([UNITED.get(word, word) for word in words])
    if "int" in words:
        return int_arg(whole_number(x, op, name, position, wanted), op, name, position)
    raise wrong_type(x, op, name, position, wanted)


cpdef object padding_arg(object x, str op, str name, int position):
    """Margins: several ints, one for all, or a word that says how large they are."""
    if type(x) is bytes:
        x = (<bytes>x).decode("latin-1")
    return x if type(x) is str else sizes_arg(x, op, name, position)


cpdef double correction_arg(object x, str op, str name, int position) except? -1.0:
    """Return the number to subtract from the count of a variance; None means 1."""
    return 1.0 if x is None else float_arg(within_64_bits(x), op, name, position)


cdef object within_64_bits(object x):
    """A number as it is; an int must fit in 64 bits, as PyTorch's scalars do."""
    if type(x) is int and not -1 << 63 <= x < 1 << 64:
        raise OverflowError(f"int too big to convert: {x} does not fit in 64 bits")
    return x


cpdef Py_ssize_t start_arg(object x, str op, str name, int position) except? -1:
    """An int, or a 0-d tensor of one."""
    if isinstance(x, Tensor) and ((<Tensor>x).nd or (<Tensor>x).dt == DT_BOOL
                                  or not dt_is_integral((<Tensor>x).dt)):
        raise RuntimeError(
            f"{op}: {name} must be an 0-dim integral Tensor. (got one of dtype "
            f"{dt_scalar_name((<Tensor>x).dt)} and {(<Tensor>x).nd} dimensions)")
    return int_arg(x, op, name, position)


cpdef object order_arg(object x, str op, str name, int position):
    """The order of a norm: a number, a name, or None for the usual one."""
    if x is None or isinstance(x, str) or (is_python_number(x) and not isinstance(x, complex)):
        return within_64_bits(x)
    if isinstance(x, Tensor) and (<Tensor>x).nd == 0:
        check_no_gradient(<Tensor>x, op, name, position, "Number or str")
        return x.item()
    raise wrong_type(x, op, name, position, "Number or str")


cpdef tuple indices_arg(object x, str op, str name, int position):
    """Tensors, and None for dimensions that are taken whole."""
    cdef tuple t
    if not isinstance(x, (tuple, list)):
        raise wrong_type(x, op, name, position, "tuple of Tensors")
    t = tuple(x)
    for i, y in enumerate(t):
        if y is not None and not isinstance(y, Tensor):
            raise TypeError(
                f"{op}(): expected Tensor as element {i} in argument '{name}', but got "
                f"{type_name(y)}")
    return t


# --- whole lists of arguments ---------------------------------------------------------------

cdef tuple sizes_of_call(tuple args, object named, str op, str name):
    """Return the sizes that came as separate ints, as one sequence, or by name."""
    if named is not None:
        if args:
            raise TypeError(f"{op}() got multiple values for argument '{name}'")
        return sizes_arg(named, op, name, 0)
    if not args:
        raise TypeError(f"{op}() missing 1 required positional argument: '{name}'")
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        return sizes_arg(args[0], op, name, 1)
    return sizes_arg(args, op, name, 1)


def _check_arguments(str op, *rows):
    """The checks of generated functions for Python: rows of (value, kind, name, position)."""
    for x, kind, name, position in rows:
        if kind == "Tensor":
            tensor_arg(x, op, name, position)
        elif kind == "Tensor[]":
            tensors_arg(x, op, name, position)
        elif kind == "int":
            int_arg(x, op, name, position)
        elif kind == "float":
            float_arg(x, op, name, position)
        elif kind == "bool":
            bool_arg(x, op, name, position)
        elif kind == "sections":
            union_arg(x, op, name, position, ("int", "ints"))
        else:
            raise ValueError(f"_check_arguments: no kind {kind!r}")


def _result_type(a, b):
    """dtype of an operation on two operands (tensors or numbers)."""
    cdef Tensor x = foreign_operand(a)
    cdef Tensor y = foreign_operand(b)
    if type(a) is int and x is None or type(b) is int and y is None:
        from autograd_cy._tensors.unsigned_numbers import unsigned_taken
        operands = unsigned_taken("result_type", (a, b), {})
        if operands is None:
            raise beyond_64_bits(a if x is None else b)
        return _result_type(*operands[0])
    if x is None or y is None:
        raise wrong_type(a if x is None else b, "result_type", "tensor", 0, "Tensor or Number")
    return dt_object(result_dtype((x, y)))


# --- dtypes that a record takes -------------------------------------------------------------

cdef int refuse_dtype(int dt, uint32_t allowed, str op, object words) except -1:
    if dt_is_limited(dt) and (type(words) is not str or (allowed >> <int>DT_I64) & 1):
        raise not_for_limited(dt, op)
    if type(words) is dict:         # by the letter of the class of dtypes
        words = words.get("bifc"[dt_category(dt)] if dt not in (DT_F16, DT_BF16) else "h")
        if words is not None:
            raise RuntimeError(f"{op}: {words.format(dt_scalar_name(dt))}")
    if words is not None:
        raise RuntimeError(f"{op}: {words}, not {dt_scalar_name(dt)}; convert them first")
    raise NotImplementedError(
        f"{op}: not implemented for '{dt_scalar_name(dt)}'; convert the tensors first")


cdef int check_common_dtype(Tensor a, Tensor b, uint32_t allowed, str op, object words,
                            int kind) except -1:
    """
    Refuse a promoted dtype.

    `kind` is 1 where shapes are broadcast, 2 where `a` takes the result, too. Torch looks at these
    before the dtype.
    """
    cdef int dt = result_dtype((a, b))
    cdef Py_ssize_t[64] shape
    if kind and not (allowed >> dt) & 1 and not (a.flags | b.flags) & F_BATCHED:
        broadcast_shape((a, b), shape, op)
        if kind == 2 and dt_category(dt) > dt_category(a.dt):
            raise RuntimeError(
                f"{op}: result type {dt_scalar_name(dt)} can't be cast to the desired output type "
                f"{dt_scalar_name(a.dt)}")
    return check_dtype(dt, allowed, op, words)
