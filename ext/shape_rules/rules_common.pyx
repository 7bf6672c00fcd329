# cython: language_level=3
"""Shape rules of many operators.

A shape rule checks the arguments of an operator and says of which dtype and shape the results are,
the same for all devices. It reads no values. The last argument is the operator's name, for errors.
"""
from autograd_cy._C.outputs cimport result_like

__all__: list[str] = []


cdef int same(Result* r, Tensor a, str op) except -1:
    return result_like(r, a, a.dt)
