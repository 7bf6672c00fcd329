# cython: language_level=3
"""Loads the elementwise loops of the generated kern module, for the SIMD target in use."""
from cpython.pycapsule cimport PyCapsule_GetPointer

from autograd_cy._C import cpu as _cpu

_kern = _cpu.load("kern")
KT = <kernel_table*>PyCapsule_GetPointer(_kern.table_capsule(), "autograd_cy.kernel_table")

cdef dict _numbers = {name: number for number, name in enumerate(_kern.KERNELS)}


cdef int kernel_number(str name) except -1:
    try:
        return _numbers[name]
    except KeyError:
        raise ImportError(
            f"there is no elementwise kernel {name!r}; build autograd_cy again") from None
