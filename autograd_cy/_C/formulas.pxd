# cython: language_level=3
"""What generated operators share: gradients in and out of nodes, tangents, integer helpers."""
from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t
from autograd_cy._C.dtypes cimport dt_is_complex
from autograd_cy._C.tensor cimport Tensor
from autograd_cy._C.node cimport Node

# nodes
cdef PyObject* give(Tensor t) noexcept                      # new reference, NULL for None
cdef int give_all(Node n, PyObject** gout, int start, tuple grads) except -1
cdef bint any_needed(Node n) noexcept
cdef tuple materialise(Node n, PyObject** gin)              # missing gradients as zeros
cdef tuple edge_shape(Node n, int i)                       # shape of the input behind edge i
cdef Py_ssize_t edge_ndim(Node n, int i) noexcept
cdef int edge_dtype(Node n, int i) noexcept
cdef Py_ssize_t edge_numel(Node n, int i) noexcept

# flags
cdef uint32_t flags_of(tuple tensors) noexcept
cdef bint any_requires_grad(tuple tensors) noexcept
cdef Tensor overwritten(Tensor t, uint32_t flags)
cdef int check_out(Tensor out, uint32_t flags, str op) except -1
cdef Tensor widened(Tensor a, Tensor out)
cdef int write_out(Tensor out, Tensor value, str op) except -1
cdef int need_exact_out(Tensor out, int dt, str op) except -1
cdef int write_exact_out(Tensor out, Tensor value, str op) except -1
cdef tuple outs_arg(object out, Py_ssize_t n, uint32_t flags, str op)
cdef tuple write_outs(tuple out, tuple values, str op)
cdef object other_out(Tensor out, int dt, str op)
cdef int write_truth_out(Tensor out, Tensor value, str op) except -1

cdef Tensor conjugate_complex(Tensor t)

cdef inline Tensor conjugate(Tensor t):
    """The conjugate that formulas mean; a real tensor itself."""
    return conjugate_complex(t) if dt_is_complex(t.dt) else t

# dtypes that a record claims, as bits of dtype codes
cdef int refuse_dtype(int dt, str op) except -1
cdef int claim_common(Tensor a, Tensor b, uint32_t claimed, str op) except -1

cdef inline int claim(int dt, uint32_t claimed, str op) except -1:
    if not (claimed >> dt) & 1:
        return refuse_dtype(dt, op)
    return 0

cdef inline int claim_promoted(Tensor a, Tensor b, uint32_t claimed, str op) except -1:
    if a.dt == b.dt and (claimed >> a.dt) & 1:
        return 0
    return claim_common(a, b, claimed, op)

# observation (profiler)
cdef int observe_begin(str op) except -1
cdef int observe_end() except -1

# integers in formulas
cdef tuple inverse_permutation(tuple dims)
cdef Py_ssize_t normal_dim(Py_ssize_t dim, Py_ssize_t ndim) except? -1
cdef tuple normal_dims(object dims, Py_ssize_t ndim)
cdef object known_dims(object dims, Py_ssize_t ndim)       # the same, none of them negative
cdef int widest_nd(tuple tensors) noexcept
cdef Py_ssize_t size_at(object sizes, Py_ssize_t i) except? -1
cdef tuple shifted(object dims)
cdef tuple axis_sizes(tuple tensors, Py_ssize_t dim)
cdef Py_ssize_t count_reduced(object shape, object dims) except -1
cdef tuple strides_of(Tensor t)
cdef Py_ssize_t offset_of(Tensor t)
cdef tuple without(object shape, Py_ssize_t dim)
cdef tuple shapes_of(tuple tensors)
cdef object number_of(Tensor t)
cdef bint is_number(Tensor t) noexcept
cdef int viewable(Tensor a, tuple shape) except -1
cdef tuple resolve_shape(Tensor a, tuple shape, str op)

# composites of the table
cdef Tensor positive(Tensor a)
cdef Tensor expand_reduced(Tensor grad, object shape, object dims, bint keepdim)
cdef Tensor sum_to_size(Tensor a, tuple size)
cdef Tensor reshape(Tensor a, tuple shape)
cdef Tensor flatten(Tensor a, Py_ssize_t start, Py_ssize_t end)
cdef Tensor matmul(Tensor a, Tensor b)
cdef Tensor as_complex(Tensor a)
cdef Tensor logit_backward(Tensor grad, Tensor a, object eps)
cdef Tensor pad_corner(Tensor a, object shape)
cdef Tensor movedim(Tensor a, object source, object destination)
cdef tuple chunk(Tensor a, Py_ssize_t chunks, Py_ssize_t dim)
cdef tuple split(Tensor a, object size, Py_ssize_t dim)
cdef Tensor reduce_loss(Tensor values, int reduction)
cdef Tensor insert_dims(Tensor a, Py_ssize_t ndim)
cdef Tensor trailing_dims(Tensor a, Py_ssize_t ndim)
cdef Tensor up_to_2d(Tensor a)
cdef Tensor dense_window(Tensor grad, tuple size, tuple stride, object storage_offset)
cdef Tensor flatten_rows(Tensor a)
cdef Tensor unmerge_batch(Tensor a, Py_ssize_t size)
cdef Tensor batched_linear(Tensor x, Tensor weight, Tensor bias)
cdef Tensor batched_addmm(Tensor a, Tensor mat1, Tensor mat2, Tensor beta, Tensor alpha)
cdef Tensor nll_output(Tensor a, Tensor target, Tensor weight, Py_ssize_t reduction,
                       Py_ssize_t ignore_index)
cdef Tensor nll_backward(Tensor grad, Tensor target, Tensor weight, Tensor total_weight, tuple size,
                         Py_ssize_t reduction, Py_ssize_t ignore_index)
cdef Tensor nll_loss(Tensor a, Tensor target, Tensor weight, Py_ssize_t ignore_index, str reduction)
cdef Tensor cross_entropy_form(Tensor logits, Tensor target, Tensor weight, Py_ssize_t ignore_index,
                               str reduction, double label_smoothing)
cdef Tensor mse_loss(Tensor a, Tensor b, str reduction)
cdef Tensor mse_moved(Tensor moved, Tensor a, Tensor b, Py_ssize_t reduction)
cdef Tensor mse_each(Tensor a, Tensor b, Py_ssize_t reduction)
cdef tuple cat_backward(Tensor grad, object sizes, Py_ssize_t dim)
cdef Tensor value_like(Tensor value, Tensor other)
cdef Tensor scatter_value(Tensor a, Py_ssize_t dim, Tensor index, Tensor value)
cdef Tensor put_copy(Tensor a, object indices, Tensor values, bint accumulate)
cdef Tensor masked_select(Tensor a, Tensor mask)
