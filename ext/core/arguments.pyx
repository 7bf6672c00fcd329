# cython: language_level=3
"""Arguments of operators: from Python objects to C values, and checks before any work is done.

The generated Python functions call one converter per argument; `check_*` are named by records.
"""
from cpython.number cimport PyNumber_Index
from autograd_cy._C.dtypes cimport dt_is_integral, dt_is_complex, dt_object, DT_BOOL
from autograd_cy._C.iterate cimport result_dtype
from autograd_cy._C.kernel_ids cimport *
from autograd_cy._C.tensor cimport Tensor, is_number, wrap_number, element_value, F_WRAPPED


cdef object wrong_type(object x, str op, str name, str wanted):
    return TypeError(f"{op}(): argument '{name}' must be {wanted}, not {type(x).__name__}")


cdef Tensor tensor_arg(object x, str op, str name):
    if isinstance(x, Tensor):
        return <Tensor>x
    raise wrong_type(x, op, name, "Tensor")


cdef tuple tensors_arg(object x, str op, str name):
    cdef tuple t
    if isinstance(x, Tensor) or not isinstance(x, (tuple, list)):
        raise wrong_type(x, op, name, "tuple of Tensors")
    t = tuple(x)
    for i, y in enumerate(t):
        if not isinstance(y, Tensor):
            raise TypeError(
                f"{op}(): expected Tensor as element {i} in argument '{name}', but got "
                f"{type(y).__name__}")
    return t


cdef Tensor number_arg(object x, str op, str name):
    if is_number(x):
        return wrap_number(x)
    if isinstance(x, Tensor) and (<Tensor>x).nd == 0:
        return wrap_number(element_value((<Tensor>x).ptr, (<Tensor>x).dt))
    raise wrong_type(x, op, name, "Number")


cdef Tensor alpha_arg(object alpha, str op, Tensor a, Tensor b):
    cdef Tensor t = number_arg(alpha, op, "alpha")
    cdef int dt = result_dtype((a, b))
    if dt_is_integral(dt) and not dt_is_integral(t.dt):
        raise RuntimeError(
            f"{op}: For integral input tensors, argument alpha must not be a floating point "
            "number.")
    if dt == DT_BOOL and t.dt != DT_BOOL:
        raise RuntimeError(f"{op}: Boolean alpha only supported for Boolean results.")
    if dt_is_complex(t.dt) and not dt_is_complex(dt):
        raise RuntimeError(
            f"{op}: For non-complex input tensors, argument alpha must not be a complex number.")
    return t


cdef Tensor foreign_operand(object x):
    """A tensor or number as operand of a Python operator; None lets Python try the other side."""
    if isinstance(x, Tensor):
        return <Tensor>x
    if is_number(x):
        return wrap_number(x)
    return None


cdef Py_ssize_t int_arg(object x, str op, str name) except? -1:
    if isinstance(x, int):
        return x
    if isinstance(x, (float, str)):
        raise wrong_type(x, op, name, "int")
    try:
        return PyNumber_Index(x)
    except TypeError:
        raise wrong_type(x, op, name, "int") from None


cdef double float_arg(object x, str op, str name) except? -1.0:
    if is_number(x) and not isinstance(x, complex):
        return x
    if isinstance(x, Tensor) and (<Tensor>x).nd == 0:
        return float(x)
    raise wrong_type(x, op, name, "float")


cdef str str_arg(object x, str op, str name):
    if isinstance(x, str):
        return x
    raise wrong_type(x, op, name, "str")


cdef tuple sizes_arg(object x, str op, str name):
    cdef list out
    if type(x) is tuple:
        for s in <tuple>x:
            if type(s) is not int:
                break
        else:
            return <tuple>x
    if isinstance(x, (tuple, list)):
        out = []
        for i, s in enumerate(x):
            if isinstance(s, (float, str)) or s is None:
                raise TypeError(
                    f"{op}(): argument '{name}' must be tuple of ints, but found element of type "
                    f"{type(s).__name__} at pos {i}")
            out.append(PyNumber_Index(s))
        return tuple(out)
    return (int_arg(x, op, name),)


cdef object dims_arg(object x, str op, str name):
    if isinstance(x, int):
        return x
    return sizes_arg(x, op, name)


cdef tuple unpack_sizes(tuple args):
    """Sizes given as separate arguments or as one sequence."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        return tuple(args[0])
    return args


# --- checks that records name ---------------------------------------------------------------

cdef int check_no_integer_zero(Tensor a, Tensor b) except -1:
    if dt_is_integral(a.dt) and dt_is_integral(b.dt) and b.count and any_zero(b):
        raise RuntimeError("ZeroDivisionError: integer division or remainder by zero")
    return 0


cdef bint any_zero(Tensor b):
    cdef object array
    if b.count == 1:
        return not element_value(b.ptr, b.dt)
    array = b.detach().numpy()
    return bool((array == 0).any())


cdef int check_pow_domain(Tensor a, Tensor b) except -1:
    if (
        dt_is_integral(result_dtype((a, b))) and b.flags & F_WRAPPED
        and element_value(b.ptr, b.dt) < 0
    ):
        raise RuntimeError("pow: Integers to negative integer powers are not allowed.")
    return 0


cdef int check_bool_condition(Tensor c, Tensor a, Tensor b) except -1:
    if c.dt != DT_BOOL:
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{dt_object(c.dt).name}")
    return 0


cdef int check_clamp_bounds(Tensor a, Tensor low, Tensor high) except -1:
    if low is None and high is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if dt_is_complex(a.dt):
        raise RuntimeError("clamp is not supported for complex types")
    return 0


cdef int check_probability(Tensor a, double p, bint train) except -1:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return 0


cdef int check_gelu_kind(Tensor a, str kind) except -1:
    if kind != "none" and kind != "tanh":
        raise RuntimeError("approximate argument must be either none or tanh.")
    return 0


cdef int check_no_bool_subtraction(Tensor a, Tensor b) except -1:
    if a.dt == DT_BOOL and b.dt == DT_BOOL:
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` operator instead.")
    if (
        (a.dt == DT_BOOL and not a.flags & F_WRAPPED)
        or (b.dt == DT_BOOL and not b.flags & F_WRAPPED)
    ):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
            "to invert a mask, use the `~` or `logical_not()` operator instead.")
    return 0


cdef int check_integral_factors(Tensor a, Tensor mat1, Tensor mat2, Tensor beta,
                                Tensor alpha) except -1:
    if dt_is_integral(mat1.dt) and not (dt_is_integral(beta.dt) and dt_is_integral(alpha.dt)):
        raise RuntimeError(
            "addmm: For integral input tensors, arguments beta and alpha must not be floating "
            "point numbers.")
    return 0


cdef int check_integral_value(Tensor a, Tensor x, Tensor y, Tensor value) except -1:
    if dt_is_integral(result_dtype((a, x, y))) and not dt_is_integral(value.dt):
        raise RuntimeError(
            "addcmul: For integral input tensors, argument value must not be a floating point "
            "number.")
    return 0


cdef int check_complex_only(Tensor a) except -1:
    if not dt_is_complex(a.dt):
        raise RuntimeError(
            f"imag is not implemented for tensors with non-complex dtypes, such as "
            f"{dt_object(a.dt).name}.")
    return 0


def _result_type(a, b):
    """dtype of an operation on two operands (tensors or numbers)."""
    cdef Tensor x = foreign_operand(a)
    cdef Tensor y = foreign_operand(b)
    if x is None or y is None:
        raise wrong_type(a if x is None else b, "result_type", "tensor", "Tensor or Number")
    return dt_object(result_dtype((x, y)))
