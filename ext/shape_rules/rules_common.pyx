# cython: language_level=3
# build: plain hot
"""Shape rules of many operators, and checks that records name.

A shape rule checks the arguments of an operator and says of which dtype and shape the results are,
the same for all devices. It reads no values. The last argument is the operator's name, for errors.
"""
from libc.math cimport isfinite
from libc.stdint cimport int64_t
from libc.string cimport memset
from autograd_cy._C.dtypes cimport (
    dt_c_name, dt_is_complex, dt_is_float, dt_is_integral, dt_real, dt_scalar_name, dt_type_name,
    DT_BF16, DT_BOOL, DT_C128, DT_F16, DT_F32, DT_F64, DT_I64, DT_SIZE, DT_U8)
from autograd_cy._C.faults cimport check_no_zero
from autograd_cy._C.iterate cimport result_dtype
from autograd_cy._C.metadata cimport normal_dims
from autograd_cy._C.outputs cimport result_like
from autograd_cy._C.storage cimport ON_CPU
from autograd_cy._C.tensor cimport (
    below_vmaps, check_fits, normal_dim, scalar_value, sizes_of, warn_once, F_BATCHED, F_WRAPPED)


cdef int same(Result* r, Tensor a, str op) except -1:
    return result_like(r, a, a.dt)


cdef int reversed_dims(Result* r, Tensor a, tuple dims, str op) except -1:
    """`a` reversed along dimensions, each given once."""
    if dims:
        normal_dims(dims, a.nd)
    return result_like(r, a, a.dt)


# --- dimensions -----------------------------------------------------------------------------

cdef int dims_mask(object dims, int nd, char* mask) except -1:
    cdef int d
    if dims is None or (isinstance(dims, (tuple, list)) and len(dims) == 0):
        memset(mask, 1, nd)
        return 0
    memset(mask, 0, nd + 1)
    if not isinstance(dims, (tuple, list)):
        mask[normal_dim(dims, nd)] = 1
        return 0
    for dim in dims:
        d = normal_dim(dim, nd)
        if mask[d]:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
        mask[d] = 1
    return 0


cdef int result_reduced(Result* r, int dt, Tensor a, const char* mask, bint keepdim) except -1:
    cdef int d, n = 0
    for d in range(a.nd):
        if not mask[d]:
            r.sizes[n] = a.sizes[d]
            n += 1
        elif keepdim:
            r.sizes[n] = 1
            n += 1
    r.dt = dt
    r.nd = n
    r.strided = False
    return 0


include "rules_common/checks.pxi"
