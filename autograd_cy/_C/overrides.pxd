# cython: language_level=3
"""Who is asked by ``__torch_function__``; see Note [Asking] in overrides.pyx."""
from cpython.ref cimport PyObject

cdef bint overriding(PyObject* x) noexcept
cdef object answer(object f, object a, object b)     # of a binary operator, or NotImplemented
