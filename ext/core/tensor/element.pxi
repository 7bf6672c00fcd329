# Single elements as Python numbers (part of tensor.pyx).
#
# Complex numbers go part by part: C's x + y*I makes nan of an infinite part and drops the sign of a
# zero.

from cpython.exc cimport PyErr_CheckSignals
from cpython.complex cimport (
    PyComplex_FromDoubles, PyComplex_RealAsDouble, PyComplex_ImagAsDouble)


cdef int store_complex(double* parts, object value) except -1:
    value = complex(value)
    parts[0] = PyComplex_RealAsDouble(value)
    parts[1] = PyComplex_ImagAsDouble(value)
    return 0


cdef object element_value(const char* p, int dt):
    if dt == DT_F32:
        return <double>(<float*>p)[0]
    if dt == DT_F64:
        return (<double*>p)[0]
    if dt == DT_I64:
        return (<int64_t*>p)[0]
    if dt == DT_BOOL:
        return bool((<uint8_t*>p)[0])
    if dt == DT_I32:
        return (<int32_t*>p)[0]
    if dt == DT_U8:
        return (<uint8_t*>p)[0]
    if dt == DT_I8:
        return <int>(<int8_t*>p)[0]
    if dt == DT_I16:
        return (<int16_t*>p)[0]
    if dt == DT_U16:
        return <int>(<uint16_t*>p)[0]
    if dt == DT_U32:
        return (<uint32_t*>p)[0]
    if dt == DT_U64:
        return (<uint64_t*>p)[0]
    if dt == DT_F16:
        return <double>ag_f16_to_f32((<uint16_t*>p)[0])
    if dt == DT_BF16:
        return <double>ag_bf16_to_f32((<uint16_t*>p)[0])
    if dt == DT_C64:
        return PyComplex_FromDoubles((<float*>p)[0], (<float*>p)[1])
    return PyComplex_FromDoubles((<double*>p)[0], (<double*>p)[1])


cdef bint usual(object value, int dt) except -1:
    """Return whether a number is a plain one that certainly fits: nearly all are, and this is
    cheap."""
    cdef int overflow = 0
    cdef long long n
    if type(value) is float:
        return dt == DT_F64 or dt == DT_C128 or dt >= DT_F16 and -60000.0 < <double>value < 60000.0
    if type(value) is int:
        n = PyLong_AsLongLongAndOverflow(value, &overflow)
        return not overflow and (0 <= n < 128 or dt >= DT_F16 and -60000 < n < 60000)
    return False


cdef object beyond_64_bits(object x):
    """The error about an int that no int64 holds, as Python words it."""
    return OverflowError(
        f"int too big to convert: {x} does not fit in 64 bits; give it as a float")


cdef int check_holds(object value, int dt) except -1:
    """Refuse a number to fill with that a dtype can't hold; infinities and NaN fit into floats."""
    cdef char[16] cell
    cdef double most
    if usual(value, dt):
        return 0
    if type(value) is int and not -(1 << 63) <= value < (1 << 64):
        raise beyond_64_bits(value)
    if dt == DT_BOOL:
        return 0
    if isinstance(value, complex) or isinstance(value, _np.complexfloating):
        if dt >= DT_C64:
            check_holds(value.real, DT_F32 if dt == DT_C64 else DT_F64)
            return check_holds(value.imag, DT_F32 if dt == DT_C64 else DT_F64)
        if value.imag != 0:
            raise too_large_for(value, dt)
        value = value.real
    if dt <= DT_I64:
        return store_element(cell, dt, value)
    if dt == DT_F64 or dt == DT_C128:
        return 0
    most = 65504.0 if dt == DT_F16 else 3.3895313892515355e38 if dt == DT_BF16 else (
        3.4028234663852886e38)
    if abs(value) > most and abs(value) != INFINITE:
        raise too_large_for(value, dt)
    return 0


cdef double INFINITE = float("inf")


cdef object too_large_for(object value, int dt):
    return RuntimeError(
        f"value cannot be converted to type {dt_c_name(dt)} without overflow: {value}")


cdef int check_fits(Tensor value, int dt) except -1:
    """check_holds for a 0-d tensor; the usual numbers cost two comparisons."""
    cdef double x
    if value.dt == dt or value.nd or value.flags & (F_BATCHED | F_DEVICE):
        return 0
    if value.dt == DT_F64 and dt >= DT_F16:
        x = (<double*>value.ptr)[0]
        if -60000.0 < x < 60000.0 and value.flags & F_WRAPPED:
            return 0
    reading(value, "a number of a tensor")
    return check_holds(shown_value(value), dt)


cdef int store_element(char* p, int dt, object value) except -1:
    cdef double[2] z
    if dt == DT_BOOL:
        (<uint8_t*>p)[0] = 1 if value else 0
    elif dt <= DT_I64:
        try:
            if value < 0 and not dt_is_signed(dt):
                if isinstance(value, (float, _np.floating)):
                    raise OverflowError
                span = (<object>1) << (8 * DT_SIZE[dt])
                if value > -span:
                    value += span       # torch wraps small negative numbers
            value = int(value)
            if dt == DT_I64:
                (<int64_t*>p)[0] = value
            elif dt == DT_I32:
                (<int32_t*>p)[0] = value
            elif dt == DT_I16:
                (<int16_t*>p)[0] = value
            elif dt == DT_I8:
                (<int8_t*>p)[0] = value
            elif dt == DT_U8:
                (<uint8_t*>p)[0] = value
            elif dt == DT_U16:
                (<uint16_t*>p)[0] = value
            elif dt == DT_U32:
                (<uint32_t*>p)[0] = value
            else:
                (<uint64_t*>p)[0] = value
        except (OverflowError, ValueError):     # ValueError: int(nan)
            raise RuntimeError(
                f"value cannot be converted to type {dt_c_name(dt)} without overflow: {value}"
            ) from None
    elif dt >= DT_C64:
        store_complex(z, value)
        if dt == DT_C64:
            (<float*>p)[0] = <float>z[0]
            (<float*>p)[1] = <float>z[1]
        else:
            (<double*>p)[0] = z[0]
            (<double*>p)[1] = z[1]
    else:
        if type(value) is not float and type(value) is not int and isinstance(
                value, (complex, _np.complexfloating)):
            if not isinstance(value, complex) and value.imag == 0:
                return store_element(p, dt, float(value.real))
            raise TypeError(f"can't convert complex to {dt_object(dt).name}")
        if dt == DT_F32:
            (<float*>p)[0] = <float><double>value
        elif dt == DT_F64:
            (<double*>p)[0] = value
        elif dt == DT_F16:
            (<uint16_t*>p)[0] = ag_f32_to_f16(<float><double>value)
        else:
            (<uint16_t*>p)[0] = ag_f32_to_bf16(<float><double>value)
    return 0


cdef object scalar_value(Tensor t):
    if t.count != 1:
        raise RuntimeError(
            f"a Tensor with {t.count} elements cannot be converted to Scalar "
            f"(shape {list(sizes_of(t))})"
        )
    if t.flags & F_BATCHED and has_examples(t):
        _refuse_escaped(t, "item()")
        raise RuntimeError(
            "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over "
            "calling .item() on a Tensor, please try to rewrite what you're doing with other "
            "operations, such as where()."
        )
    reading(t, "a number of a tensor")
    return shown_value(t)


cdef object shown_value(Tensor t):
    """The only element, to be looked at."""
    if t.flags & (F_LAZY | F_DEVICE):
        t = on_host(below_vmaps(t), "item")
    return element_value(t.ptr, t.dt)


cdef object real_part(object value, str kind):
    """Return the real part of a complex number without an imaginary one; refuse others."""
    if type(value) is not complex:
        return value
    if value.imag != 0:
        raise RuntimeError(
            f"value cannot be converted to type {kind} without overflow: {value}; take complex() "
            "of the tensor, or its .real")
    return value.real


cdef object whole_part(object value):
    """A complex number as int64."""
    cdef int64_t cell
    store_element(<char*>&cell, DT_I64, real_part(value, "int64"))
    return cell


cdef Tensor on_host(Tensor t, str op):
    """The values of a tensor that may be lazy or on another device, to be read here."""
    if t.mem.device == ON_META:
        error = NotImplementedError if op == "tolist" else RuntimeError
        raise error(f"Tensor.{op}() cannot be called on meta tensors: they have no values")
    if t.flags & F_LAZY:
        t = <Tensor>upcalls.resolved(t)
    if t.flags & F_DEVICE:
        t = <Tensor>upcalls.to_host(t)
    return t


cdef object nested_list(Tensor t, int d, const char* p):
    cdef Py_ssize_t i, step
    cdef list items
    if d == t.nd:
        return element_value(p, t.dt)
    items = []
    step = t.strides[d] * DT_SIZE[t.dt]
    if d == t.nd - 1:
        for i in range(t.sizes[d]):
            if i & 0xffff == 0xffff:
                PyErr_CheckSignals()    # a long list can be interrupted
            items.append(element_value(p + i * step, t.dt))
        return items
    for i in range(t.sizes[d]):
        if i & 0xff == 0xff:
            PyErr_CheckSignals()
        items.append(nested_list(t, d + 1, p + i * step))
    return items
