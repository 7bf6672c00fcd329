# Single elements as Python numbers (part of tensor.pyx).

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
    if dt == DT_F16:
        return <double>ag_f16_to_f32((<uint16_t*>p)[0])
    if dt == DT_BF16:
        return <double>ag_bf16_to_f32((<uint16_t*>p)[0])
    if dt == DT_C64:
        return complex((<float*>p)[0], (<float*>p)[1])
    return complex((<double*>p)[0], (<double*>p)[1])


cdef int store_element(char* p, int dt, object value) except -1:
    cdef double complex z
    if dt == DT_BOOL:
        (<uint8_t*>p)[0] = 1 if value else 0
    elif dt <= DT_I64:
        try:
            value = int(value)
            if dt == DT_U8 and -255 <= value < 0:
                value += 256        # torch wraps small negative numbers
            if dt == DT_I64:
                (<int64_t*>p)[0] = value
            elif dt == DT_I32:
                (<int32_t*>p)[0] = value
            elif dt == DT_I16:
                (<int16_t*>p)[0] = value
            elif dt == DT_I8:
                (<int8_t*>p)[0] = value
            else:
                (<uint8_t*>p)[0] = value
        except (OverflowError, ValueError):     # ValueError: int(nan)
            raise RuntimeError(
                f"value cannot be converted to type {dt_object(dt).name} without overflow: {value}"
            ) from None
    elif dt >= DT_C64:
        z = complex(value)
        if dt == DT_C64:
            (<float*>p)[0] = <float>z.real
            (<float*>p)[1] = <float>z.imag
        else:
            (<double*>p)[0] = z.real
            (<double*>p)[1] = z.imag
    else:
        if isinstance(value, (complex, _np.complexfloating)):
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
        raise RuntimeError(
            "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over "
            "calling .item() on a Tensor, please try to rewrite what you're doing with other "
            "operations, such as where()."
        )
    return element_value(t.ptr, t.dt)


cdef object nested_list(Tensor t, int d, const char* p):
    cdef Py_ssize_t i, step
    if d == t.nd:
        return element_value(p, t.dt)
    step = t.strides[d] * DT_SIZE[t.dt]
    return [nested_list(t, d + 1, p + i * step) for i in range(t.sizes[d])]
