# cython: language_level=3
"""Shape rules of recurrent layers, whose operands have been checked."""
from autograd_cy._C.outputs cimport result_dense
from autograd_cy._C.tensor cimport Tensor


cdef int matrix_result(Result* r, int dt, Py_ssize_t rows, Py_ssize_t cols) noexcept:
    r.sizes[0] = rows
    r.sizes[1] = cols
    return result_dense(r, dt, 2, r.sizes)


cdef int layer(Result* r, Tensor x, Tensor h, Tensor c, Tensor w_hh, Tensor batch_sizes,
               Py_ssize_t mode, str op) except -1:
    """Output, last states and what is kept. A single step has its state in the output alone."""
    cdef int d
    cdef Py_ssize_t rows = 1, n = w_hh.sizes[0] // gates_of(mode)
    for d in range(x.nd - 1):
        rows *= x.sizes[d]
        r.sizes[d] = x.sizes[d]
    r.sizes[x.nd - 1] = h.sizes[1]
    result_dense(r, x.dt, x.nd, r.sizes)
    matrix_result(r + 1, x.dt, 0 if x.nd == 2 and batch_sizes is None else h.sizes[0], h.sizes[1])
    matrix_result(r + 2, x.dt, 0 if c is None else c.sizes[0], n)
    return matrix_result(r + 3, x.dt, rows, workspace_columns(mode, n))


cdef void gradient(Result* r, Tensor t, bint wanted) noexcept:
    if wanted:
        result_dense(r, t.dt, t.nd, t.sizes)
    else:
        r.sizes[0] = 0
        result_dense(r, t.dt, 1, r.sizes)


cdef int layer_backward(Result* r, Tensor x, Tensor h, Tensor c, Tensor w_ih, Tensor w_hh,
                        Tensor w_hr, Py_ssize_t wanted, str op) except -1:
    """Gradients in the order of the arguments; empty ones for those that nobody wants."""
    gradient(r, x, wanted & OF_X)
    # Those of states are what is carried from step to step.
    gradient(r + 1, h, True)
    gradient(r + 2, x if c is None else c, c is not None)
    gradient(r + 3, w_ih, wanted & OF_IH)
    gradient(r + 4, w_hh, wanted & OF_HH)
    r[5].sizes[0] = w_hh.sizes[0] if wanted & OF_BI else 0
    result_dense(r + 5, x.dt, 1, r[5].sizes)
    r[6].sizes[0] = w_hh.sizes[0] if wanted & OF_BH else 0
    result_dense(r + 6, x.dt, 1, r[6].sizes)
    gradient(r + 7, x if w_hr is None else w_hr, w_hr is not None and wanted & OF_HR)
    return 0
