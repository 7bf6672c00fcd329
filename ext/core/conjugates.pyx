# cython: language_level=3
"""Which devices have products that read conjugates as they lie; see conjugates.pxd."""
from autograd_cy._C.iterate cimport resolved
from autograd_cy._C.storage cimport MAX_DEVICE_TYPES, device_type
from autograd_cy._C.tensor cimport F_CONJ, F_DEVICE, F_LAZY, Tensor

__all__ = ["take"]

cdef bint[8] taken     # by type; none at first


def take(int type):
    """Let kernels of products of this type of devices have lazy conjugates."""
    if not 0 < type < MAX_DEVICE_TYPES:
        raise ValueError(f"{type} is no type of devices")
    taken[type] = True


cdef Tensor unless_taken(Tensor a):
    if a.flags & F_DEVICE and a.flags & F_LAZY == F_CONJ and taken[device_type(a.mem.device)]:
        return a
    return resolved(a)
