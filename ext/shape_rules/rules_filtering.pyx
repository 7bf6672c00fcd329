# cython: language_level=3
"""Shape rules of filters along a dimension."""
from autograd_cy._C.dtypes cimport dt_scalar_name, DT_I16, DT_I64, DT_U8
from autograd_cy._C.outputs cimport result_dense
from autograd_cy._C.tensor cimport describe_tensor

__all__: list[str] = []


cdef int checked(Tensor a, Tensor bounds, Tensor weight, Py_ssize_t behind, str op) except -1:
    cdef int wanted = DT_I16 if a.dt == DT_U8 else a.dt
    if not 0 <= behind < a.nd:
        raise IndexError(f"{op}: {behind} dimensions behind one of {describe_tensor(a)}")
    if bounds.dt != DT_I64 or bounds.nd != 2 or bounds.sizes[1] != 2:
        raise RuntimeError(f"{op}: bounds are int64 of shape (n, 2), not {describe_tensor(bounds)}")
    if weight.dt != wanted or weight.nd != 2 or weight.sizes[0] != bounds.sizes[0]:
        raise RuntimeError(
            f"{op}: weights of {bounds.sizes[0]} elements are {dt_scalar_name(wanted)} of shape "
            f"({bounds.sizes[0]}, taps), not {describe_tensor(weight)}")
    return 0


cdef int filtered(Result* r, Tensor a, Tensor bounds, Tensor weight, Py_ssize_t behind,
                  str op) except -1:
    checked(a, bounds, weight, behind, op)
    result_dense(r, a.dt, a.nd, a.sizes)
    r.sizes[a.nd - 1 - behind] = bounds.sizes[0]
    return 0


cdef int filtered_backward(Result* r, Tensor grad, Tensor bounds, Tensor weight,
                           Py_ssize_t behind, Py_ssize_t size, str op) except -1:
    checked(grad, bounds, weight, behind, op)
    if size < 0 or grad.sizes[grad.nd - 1 - behind] != bounds.sizes[0]:
        raise RuntimeError(
            f"{op}: bounds of {bounds.sizes[0]} elements and a size of {size} don't fit "
            f"{describe_tensor(grad)}")
    result_dense(r, grad.dt, grad.nd, grad.sizes)
    r.sizes[grad.nd - 1 - behind] = size
    return 0
