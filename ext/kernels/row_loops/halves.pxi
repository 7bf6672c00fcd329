# Halves: blocks are widened to float32 and go through its loops (part of row_loops.pyx).

cdef void half_rows(int op, int dt, const char* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                    char* acc) noexcept nogil:
    cdef float block[HALVES]
    cdef const uint16_t* q
    cdef Py_ssize_t r, i, length
    cdef double part
    for r in range(rows):
        q = <const uint16_t*>(p + r * step)
        for i from 0 <= i < max(n, <Py_ssize_t>1) by HALVES:
            length = n - i if n - i < HALVES else HALVES
            ag_widen(dt == DT_F16, q + i, block, length)
            table.rows[op][<int>DT_F32](<char*>block, 1, 0, length, <char*>&part)
            if i == 0:
                (<double*>acc)[r] = part
            else:
                table.combine[op][<int>ACC_F64](acc + 8 * r, <char*>&part, 1)


cdef void half_cols(int op, int dt, const char* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                    char* acc) noexcept nogil:
    cdef float block[16 * COLS]
    cdef double part[COLS]
    cdef Py_ssize_t r, i, some
    for r from 0 <= r < rows by 16:
        some = rows - r if rows - r < 16 else 16
        for i in range(some):
            ag_widen(dt == DT_F16, <const uint16_t*>(p + (r + i) * step), block + i * COLS, n)
        if r == 0:
            table.cols[op][<int>DT_F32](<char*>block, some, COLS * 4, n, acc)
        else:
            table.cols[op][<int>DT_F32](<char*>block, some, COLS * 4, n, <char*>part)
            table.combine[op][<int>ACC_F64](acc, <char*>part, n)


cdef void half_arg_rows(int op, int dt, const char* p, Py_ssize_t rows, Py_ssize_t step,
                        Py_ssize_t n, char* values, int64_t* index) noexcept nogil:
    cdef float block[HALVES]
    cdef const uint16_t* q
    cdef Py_ssize_t r, i, length
    cdef float m, best
    cdef int64_t at, place
    for r in range(rows):
        q = <const uint16_t*>(p + r * step)
        best = 0
        place = 0
        for i from 0 <= i < n by HALVES:
            length = n - i if n - i < HALVES else HALVES
            ag_widen(dt == DT_F16, q + i, block, length)
            table.arg_rows[op][<int>DT_F32](<char*>block, 1, 0, length, <char*>&m, &at)
            if i == 0 or (m > best if op == R_MAX else m < best) or (m != m and best == best):
                best = m
                place = i + at
        (<uint16_t*>values)[r] = ag_narrow(dt == DT_F16, best)
        index[r] = place


cdef void half_arg_cols(int op, int dt, const char* p, Py_ssize_t rows, Py_ssize_t step,
                        Py_ssize_t n, char* values, int64_t* index) noexcept nogil:
    cdef float row[COLS]
    cdef float best[COLS]
    cdef Py_ssize_t r, j
    cdef float x, m
    for r in range(rows):
        ag_widen(dt == DT_F16, <const uint16_t*>(p + r * step), row, n)
        for j in range(n):
            x = row[j]
            m = best[j]
            if r == 0 or (x > m if op == R_MAX else x < m) or (x != x and m == m):
                best[j] = x
                index[j] = r
    for j in range(n):
        (<uint16_t*>values)[j] = ag_narrow(dt == DT_F16, best[j])


cdef void half_deviation(int dt, const char* p, Py_ssize_t rows, Py_ssize_t step, Py_ssize_t n,
                         const double* mean, double* acc) noexcept nogil:
    cdef float block[HALVES]
    cdef Py_ssize_t r, i, length
    cdef double part
    for r in range(rows):
        acc[r] = 0
        for i from 0 <= i < n by HALVES:
            length = n - i if n - i < HALVES else HALVES
            ag_widen(dt == DT_F16, <const uint16_t*>(p + r * step) + i, block, length)
            deviation_rows(<const float*>block, 1, 0, length, mean + r, &part)
            acc[r] += part


cdef void fill_halves() noexcept:
    table.half_rows = half_rows
    table.half_cols = half_cols
    table.half_arg_rows = half_arg_rows
    table.half_arg_cols = half_arg_cols
    table.half_deviation = half_deviation
