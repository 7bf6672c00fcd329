# cython: language_level=3
# Functions of plain tensors that SciPy and LAPACK compute, and the threshold, which other kernels
# make. SciPy is loaded at the first call.
import numpy as _np

from autograd_cy._C.dtypes cimport DT_I64, dt_is_complex, dt_object, g_default_dtype
from autograd_cy._C.indexing cimport tensor_of, values_of
from autograd_cy._C.iterate cimport cast, ew2, ew3, result_dtype, P_BOOL, P_SKIP_FIRST
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.tensor cimport Tensor

cdef int K_LE = kernel_number("le")
cdef int K_WHERE = kernel_number("where")


cdef int floating(int dt):
    return g_default_dtype if dt <= DT_I64 else dt


cdef Tensor apply1(str name, Tensor a):
    """A function of scipy.special, element by element; integers become the default float."""
    from scipy import special
    cdef int dt = floating(a.dt)
    with _np.errstate(all="ignore"):
        return tensor_of(_np.asarray(getattr(special, name)(values_of(cast(a, dt)))), dt)


cdef Tensor apply2(str name, Tensor a, Tensor b):
    from scipy import special
    cdef int dt = result_dtype((a, b))
    with _np.errstate(all="ignore"):
        values = getattr(special, name)(values_of(cast(a, dt)), values_of(cast(b, dt)))
        return tensor_of(_np.asarray(values), dt)


cdef Tensor lgamma_plain(Tensor a):
    """SciPy's, with C's infinity at -inf and no overflow beside 0."""
    from scipy import special
    cdef int dt = floating(a.dt)
    x = values_of(cast(a, dt))
    with _np.errstate(all="ignore"):
        values = special.gammaln(x)
        near = _np.abs(x) < 1e-30
        values = _np.where(near, -_np.log(_np.abs(x)), _np.where(x == -_np.inf, _np.inf, values))
        return tensor_of(_np.asarray(values), dt)      # a half type may not hold them


cdef Tensor digamma_plain(Tensor a):
    return apply1("psi", a)


cdef Tensor polygamma_plain(Tensor a, Py_ssize_t n):
    from scipy import special
    cdef int dt = floating(a.dt)
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n == 0:
        return digamma_plain(a)
    x = values_of(cast(a, dt)).astype(_np.float64)
    with _np.errstate(all="ignore"):
        values = special.polygamma(n, x)
        if n == 1:
            # SciPy knows positive numbers only; psi'(1 - x) + psi'(x) = (pi / sin(pi x))^2.
            # The sine of the distance to a whole number is exactly 0 at the poles.
            sine = _np.sin(_np.pi * (x - _np.rint(x)))
            mirrored = (_np.pi / sine) ** 2 - special.polygamma(1, 1 - x)
            values = _np.where(x > 0, values, mirrored)
        return tensor_of(_np.asarray(values), dt)


cdef Tensor igamma_plain(Tensor a, Tensor x):
    return apply2("gammainc", a, x)


cdef Tensor igammac_plain(Tensor a, Tensor x):
    return apply2("gammaincc", a, x)


# --- thresholds ------------------------------------------------------------------------------

cdef int check_real_for(Tensor number, Tensor a, str name) except -1:
    if dt_is_complex(number.dt) and not dt_is_complex(a.dt):
        raise RuntimeError(
            f"threshold: value cannot be converted to type {dt_object(a.dt).name} without "
            f"overflow: {name} is complex; a real tensor needs a real one")
    return 0


cdef Tensor threshold_plain(Tensor a, Tensor threshold, Tensor value):
    check_real_for(threshold, a, "threshold")
    check_real_for(value, a, "value")
    return ew3(K_WHERE, ew2(K_LE, a, cast(threshold, a.dt), P_BOOL, None, "threshold"),
               cast(value, a.dt), a, P_SKIP_FIRST, None, "threshold")


cdef Tensor threshold_backward_plain(Tensor grad, Tensor a, Tensor threshold):
    return ew3(K_WHERE, ew2(K_LE, a, cast(threshold, a.dt), P_BOOL, None, "threshold_backward"),
               tensor_of(_np.zeros(()), grad.dt), grad, P_SKIP_FIRST, None,
               "threshold_backward")
