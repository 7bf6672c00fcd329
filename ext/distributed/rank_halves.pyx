# cython: language_level=3
"""Reductions of half numbers, which MPI doesn't know.

MPI calls them in the midst of its own work. Handlers of signals don't run within compiled code, so
that none raises there, where an exception ends the job, or calls MPI again.
"""
from autograd_cy._C.creation import frombuffer
from autograd_cy._C.iterate cimport P_SAME, ew2
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.tensor cimport Tensor

__all__ = ["reducer"]


def reducer(dtype, str name):
    """
    Return a function that reduces in float32, then rounds, as mpi4py takes it.

    Parameters
    ----------
    dtype : dtype
        Of the half numbers.
    name : str
        Of the operator.

    Returns
    -------
    callable
        Of two buffers, the second of which it writes, and a datatype.
    """
    cdef int kernel = kernel_number(name)

    def reduce(values, into, _):
        cdef Tensor result = frombuffer(into, dtype=dtype)
        ew2(kernel, frombuffer(values, dtype=dtype), result, P_SAME, result, name)

    return reduce
