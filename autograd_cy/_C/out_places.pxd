# cython: language_level=3
"""Whether results may go where ``out=`` says."""
from autograd_cy._C.placement cimport device_of_code
from autograd_cy._C.tensor cimport Tensor


cdef inline bint apart(Tensor out, int dt, Tensor a) noexcept:
    """Whether a step may write a result of dtype `dt` to `out` while `a` is read."""
    return (out is not None and out.dt == dt and out.mem != a.mem
            and out.mem.device == a.mem.device)


cdef inline object other_device(Tensor out, int device, str op):
    return RuntimeError(
        f"{op}: Expected out tensor to have device {device_of_code(device)}, but got "
        f"{device_of_code(out.mem.device)} instead")
