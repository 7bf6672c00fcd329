# cython: language_level=3
"""Dispatch to ``__torch_function__``; see Note [Dispatch to overrides] in overrides.pyx."""
from cpython.ref cimport PyObject

cdef bint overriding(PyObject* x) noexcept
# of the binary operator in a slot, whose function is f, or NotImplemented
cdef object answer(object f, int slot, object a, object b)
