# cython: language_level=3
# build: plain cold
"""Activations of plain tensors that have numbers as parameters, or halves of a tensor as operands.

What has neither is an elementwise kernel by itself (the formulas are in scalar/activation.h).
"""
from autograd_cy._C.rules_common cimport real_number, slope_range
from autograd_cy._C.dtypes cimport dt_object, dt_real, dt_scalar_name
from autograd_cy._C.dtypes import finfo as _finfo
from autograd_cy._C.iterate cimport cast, ew2, ew3, ewn, P_SAME
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.shapes cimport narrow_plain
from autograd_cy._C.tensor cimport (
    Tensor, normal_dim, scalar_value, tensor_empty_like, wrap_double)

__all__: list[str] = []

cdef int K_CELU = kernel_number("celu")
cdef int K_CELU_BACKWARD = kernel_number("celu_backward")
cdef int K_CLAMP = kernel_number("clamp")
cdef int K_ELU = kernel_number("elu")
cdef int K_ELU_BACKWARD = kernel_number("elu_backward")
cdef int K_GLU = kernel_number("glu")
cdef int K_GLU_GATE = kernel_number("glu_gate")
cdef int K_HARDTANH_BACKWARD = kernel_number("hardtanh_backward")
cdef int K_LEAKY_RELU = kernel_number("leaky_relu")
cdef int K_LEAKY_RELU_BACKWARD = kernel_number("leaky_relu_backward")
cdef int K_MUL = kernel_number("mul")
cdef int K_SHRINK_BACKWARD = kernel_number("shrink_backward")
cdef int K_SOFTPLUS = kernel_number("softplus")
cdef int K_SOFTPLUS_BACKWARD = kernel_number("softplus_backward")
cdef int K_SOFTSHRINK = kernel_number("softshrink")


cdef int check_real(Tensor number, Tensor a, str op) except -1:
    return real_number(number, dt_real(a.dt), op)


cdef double number_in(Tensor t) except? -1:
    return scalar_value(t)


# --- lines with a bend at 0 ------------------------------------------------------------------

cdef Tensor elu(Tensor a, Tensor alpha, Tensor out):
    check_real(alpha, a, "elu")
    return ew2(K_ELU, a, alpha, P_SAME, out, "elu")


cdef Tensor elu_backward(Tensor grad, Tensor a, Tensor alpha):
    return ew3(K_ELU_BACKWARD, grad, a, alpha, P_SAME, None, "elu_backward")


cdef Tensor celu(Tensor a, Tensor alpha, Tensor out):
    cdef double value
    check_real(alpha, a, "celu")
    value = number_in(alpha)
    if value == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return ew3(K_CELU, a, alpha, wrap_double(1 / value), P_SAME, out, "celu")


cdef Tensor celu_backward(Tensor grad, Tensor a, Tensor alpha):
    return ew3(K_CELU_BACKWARD, grad, a, wrap_double(1 / number_in(alpha)), P_SAME, None,
               "elu_backward")


cdef Tensor leaky_relu(Tensor a, Tensor slope, Tensor out):
    check_real(slope, a, "leaky_relu")
    return ew2(K_LEAKY_RELU, a, slope, P_SAME, out, "leaky_relu")


cdef Tensor leaky_relu_backward(Tensor grad, Tensor a, Tensor slope):
    return ew3(K_LEAKY_RELU_BACKWARD, grad, a, slope, P_SAME, None,
               "leaky_relu_backward")


cdef Tensor rrelu_eval(Tensor a, Tensor lower, Tensor upper, Tensor out):
    cdef double[2] at
    slope_range(a, lower, upper, at)
    return ew2(K_LEAKY_RELU, a, wrap_double((at[0] + at[1]) / 2), P_SAME, out, "rrelu")


cdef Tensor rrelu_backward(Tensor grad, Tensor a, Tensor lower, Tensor upper):
    cdef double[2] at
    slope_range(a, lower, upper, at)
    return leaky_relu_backward(grad, a, wrap_double((at[0] + at[1]) / 2))


cdef Tensor rrelu_noisy(Tensor a, Tensor noise, Tensor lower, Tensor upper, Tensor out):
    return ew2(K_MUL, a, noise, P_SAME, out, "rrelu")


# --- bounds ----------------------------------------------------------------------------------

cdef Tensor hardtanh(Tensor a, Tensor low, Tensor high, Tensor out):
    check_real(low, a, "hardtanh")
    check_real(high, a, "hardtanh")
    return ew3(K_CLAMP, a, cast(low, a.dt), cast(high, a.dt), P_SAME,
               out, "hardtanh")


cdef Tensor hardtanh_backward(Tensor grad, Tensor a, Tensor low, Tensor high):
    return ewn(K_HARDTANH_BACKWARD, (grad, a, low, high), P_SAME, None,
               "hardtanh_backward")


cdef int check_within(Tensor a, double end) except -1:
    most = float(_finfo(dt_object(a.dt)).max)
    if not 0 <= end <= most:
        raise RuntimeError(f"lambda must be in range [0, {most:g}] for input dtype "
                           f"{dt_scalar_name(a.dt)}, but found {end:g}")
    return 0


cdef Tensor softshrink(Tensor a, Tensor end, Tensor out):
    cdef double value
    check_real(end, a, "softshrink")
    value = number_in(end)
    if not 0 <= value <= 60000:     # within all dtypes
        check_within(a, value)
    return ew2(K_SOFTSHRINK, a, end, P_SAME, out, "softshrink")


cdef Tensor shrink_backward(Tensor grad, Tensor a, Tensor end):
    return ew3(K_SHRINK_BACKWARD, grad, a, end, P_SAME, None, "shrink_backward")


# --- gates -----------------------------------------------------------------------------------

cdef Tensor softplus(Tensor a, Tensor beta, Tensor threshold, Tensor out):
    check_real(beta, a, "softplus")
    check_real(threshold, a, "softplus")
    return ew3(K_SOFTPLUS, a, beta, threshold, P_SAME, out, "softplus")


cdef Tensor softplus_backward(Tensor grad, Tensor a, Tensor beta, Tensor threshold):
    return ewn(K_SOFTPLUS_BACKWARD, (grad, a, beta, threshold), P_SAME,
               None, "softplus_backward")


cdef Py_ssize_t half_of(Tensor a, Py_ssize_t dim) except -1:
    """Half the size of a dimension."""
    if a.nd == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    dim = normal_dim(dim, a.nd)
    if a.sizes[dim] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size "
                           f"{a.sizes[dim]}")
    return a.sizes[dim] // 2


cdef Tensor glu(Tensor a, Py_ssize_t dim, Tensor out):
    cdef Py_ssize_t half = half_of(a, dim)
    return ew2(K_GLU, narrow_plain(a, dim, 0, half), narrow_plain(a, dim, half, half), P_SAME, out,
               "glu")


cdef Tensor glu_backward(Tensor grad, Tensor a, Py_ssize_t dim):
    cdef Py_ssize_t half = half_of(a, dim)
    cdef Tensor first = narrow_plain(a, dim, 0, half), gate = narrow_plain(a, dim, half, half)
    cdef Tensor result = tensor_empty_like(a, a.dt)
    ew2(K_GLU, grad, gate, P_SAME, narrow_plain(result, dim, 0, half), "glu_backward")
    ew3(K_GLU_GATE, grad, first, gate, P_SAME, narrow_plain(result, dim, half, half),
        "glu_backward")
    return result
