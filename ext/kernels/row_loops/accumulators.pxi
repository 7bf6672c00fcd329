# Accumulators of the reductions: joining two of them, and rounding to the dtype of the result
# (part of row_loops.pyx).

cdef void add_i64(int64_t* dst, const int64_t* src, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        dst[j] += src[j]


cdef void mul_i64(uint64_t* dst, const uint64_t* src, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        dst[j] *= src[j]


cdef void add_f64(double* dst, const double* src, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        dst[j] += src[j]


cdef void mul_f64(double* dst, const double* src, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        dst[j] *= src[j]


cdef void keep_best(num_t* dst, order_t* src, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        dst[j] = better(dst[j], (<num_t*>src)[j], src)


cdef void add_c128(double* dst, const double* src, Py_ssize_t n) noexcept nogil:
    add_f64(dst, src, 2 * n)


cdef void mul_c128(double* dst, const double* src, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        times(dst + 2 * j, src[2 * j], src[2 * j + 1])


cdef void finish_int(const int64_t* acc, int_t* out, Py_ssize_t n, Py_ssize_t stride,
                     double scale) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        out[j * stride] = <int_t>acc[j]


cdef void finish_bool(const int64_t* acc, uint8_t* out, Py_ssize_t n, Py_ssize_t stride,
                      double scale) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        out[j * stride] = acc[j] != 0


cdef void finish_real(const double* acc, real_t* out, Py_ssize_t n, Py_ssize_t stride,
                      double scale) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        out[j * stride] = <real_t>(acc[j] * scale)


cdef void finish_complex(const double* acc, real_t* out, Py_ssize_t n, Py_ssize_t stride,
                         double scale) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        out[2 * j * stride] = <real_t>(acc[2 * j] * scale)
        out[2 * j * stride + 1] = <real_t>(acc[2 * j + 1] * scale)


cdef void finish_f16(const double* acc, uint16_t* out, Py_ssize_t n, Py_ssize_t stride,
                     double scale) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        out[j * stride] = ag_narrow(True, <float>(acc[j] * scale))


cdef void finish_bf16(const double* acc, uint16_t* out, Py_ssize_t n, Py_ssize_t stride,
                      double scale) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        out[j * stride] = ag_narrow(False, <float>(acc[j] * scale))


cdef void fill_accumulators() noexcept:
    table.combine[<int>R_SUM][<int>ACC_I64] = <combine_fn>add_i64
    table.combine[<int>R_PROD][<int>ACC_I64] = <combine_fn>mul_i64
    table.combine[<int>R_MAX][<int>ACC_I64] = <combine_fn>keep_best[int64_t, Largest]
    table.combine[<int>R_MIN][<int>ACC_I64] = <combine_fn>keep_best[int64_t, Smallest]
    table.combine[<int>R_SUM][<int>ACC_F64] = <combine_fn>add_f64
    table.combine[<int>R_SQUARES][<int>ACC_F64] = <combine_fn>add_f64
    table.combine[<int>R_PROD][<int>ACC_F64] = <combine_fn>mul_f64
    table.combine[<int>R_MAX][<int>ACC_F64] = <combine_fn>keep_best[double, Largest]
    table.combine[<int>R_MIN][<int>ACC_F64] = <combine_fn>keep_best[double, Smallest]
    table.combine[<int>R_SUM][<int>ACC_C128] = <combine_fn>add_c128
    table.combine[<int>R_PROD][<int>ACC_C128] = <combine_fn>mul_c128
    table.finish[<int>ACC_I64][<int>DT_BOOL] = <finish_fn>finish_bool
    table.finish[<int>ACC_I64][<int>DT_U8] = <finish_fn>finish_int[uint8_t]
    table.finish[<int>ACC_I64][<int>DT_I8] = <finish_fn>finish_int[int8_t]
    table.finish[<int>ACC_I64][<int>DT_I16] = <finish_fn>finish_int[int16_t]
    table.finish[<int>ACC_I64][<int>DT_I32] = <finish_fn>finish_int[int32_t]
    table.finish[<int>ACC_I64][<int>DT_I64] = <finish_fn>finish_int[int64_t]
    table.finish[<int>ACC_F64][<int>DT_F16] = <finish_fn>finish_f16
    table.finish[<int>ACC_F64][<int>DT_BF16] = <finish_fn>finish_bf16
    table.finish[<int>ACC_F64][<int>DT_F32] = <finish_fn>finish_real[float]
    table.finish[<int>ACC_F64][<int>DT_F64] = <finish_fn>finish_real[double]
    table.finish[<int>ACC_C128][<int>DT_C64] = <finish_fn>finish_complex[float]
    table.finish[<int>ACC_C128][<int>DT_C128] = <finish_fn>finish_complex[double]
