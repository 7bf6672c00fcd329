# cython: language_level=3
# build: plain hot
"""Memory of tensors as mpi4py takes it, and which tensors an operation between ranks may write.

A small operation between ranks takes some microseconds, so that what is asked of each of its
tensors is asked here.
"""
from autograd_cy._C.dtypes cimport DTYPES, dtype
from autograd_cy._C.iterate cimport resolved
from autograd_cy._C.storage cimport ON_CPU, ON_META
from autograd_cy._C.tensor cimport (
    F_BATCHED, F_BLANK, F_DEVICE, F_INFERENCE, F_REQUIRES_GRAD, F_TURNED, F_VIEW, M_NO_GRAD,
    Tensor, bump_version, itemsize, reading, refuse_examples, tensor_alias, tensor_is_contiguous,
    tls_modes)

__all__ = [
    "Own", "are_alike", "buffer_of", "buffers_of", "is_free", "is_plain", "overlap",
    "refuse_wrapper", "set_mpi", "values_of",
]

cdef object from_address = None    # of mpi4py's class for memory
cdef list datatypes = [None] * DTYPES


def set_mpi(buffer, dict types):
    """
    Note how mpi4py takes memory.

    Parameters
    ----------
    buffer : type
        ``mpi4py.MPI.buffer``.
    types : dict
        Datatypes of MPI by dtype.
    """
    global from_address
    cdef dtype each
    from_address = buffer.fromaddress
    for each, value in types.items():
        datatypes[each.code] = value


cdef inline bint plain(Tensor t) noexcept:
    """Return whether the values lie on the host in C order, as they are."""
    if t.flags & (F_BATCHED | F_BLANK | F_DEVICE | F_TURNED) or t.mem.device != ON_CPU:
        return False
    return tensor_is_contiguous(t)


def is_plain(Tensor t not None):
    """
    Return whether the values of a tensor lie on the host in C order, as they are.

    Parameters
    ----------
    t : Tensor

    Returns
    -------
    bool
    """
    return plain(t)


def refuse_wrapper(Tensor t not None):
    """
    Refuse a tensor that stands for all examples of a vmap.

    Parameters
    ----------
    t : Tensor

    Raises
    ------
    RuntimeError
    """
    refuse_examples(t, "distributed")


def values_of(Tensor t not None):
    """
    Return what an operation sends of a plain tensor, and keeps while MPI reads it.

    Parameters
    ----------
    t : Tensor

    Returns
    -------
    Tensor
        The same memory, which stays if the tensor gets another one meanwhile; a copy where bools
        are neither 0 nor 1 in memory, since other ranks take them as they come.
    """
    return resolved(tensor_alias(t))


def is_free(Tensor t not None):
    """
    Return whether an operation may write a tensor without a further look.

    Parameters
    ----------
    t : Tensor

    Returns
    -------
    bool
        False where the tensor takes part in a graph, is read-only, or isn't plain: somebody else
        decides then.
    """
    if t.flags & (F_INFERENCE | F_REQUIRES_GRAD) or not plain(t) or t.mem.readonly:
        return False
    return not t.flags & F_VIEW or tls_modes() & M_NO_GRAD != 0 or not (
        (<Tensor>t.base).flags & F_REQUIRES_GRAD)


def are_alike(tensors, Tensor like not None):
    """
    Return whether all are tensors with as many elements of the same dtype, on any device but meta.

    Parameters
    ----------
    tensors : object
        Anything but a list is not.
    like : Tensor

    Returns
    -------
    bool
    """
    cdef Tensor t
    if type(tensors) is not list:
        return False
    for each in <list>tensors:
        if not isinstance(each, Tensor):
            return False
        t = <Tensor>each
        if t.dt != like.dt or t.count != like.count or t.mem.device == ON_META:
            return False
    return True


def overlap(Tensor a not None, Tensor b not None):
    """
    Return whether two tensors in C order share memory.

    Parameters
    ----------
    a, b : Tensor

    Returns
    -------
    bool
    """
    look_at(a)
    look_at(b)
    return (a.mem.device == b.mem.device
            and a.ptr < b.ptr + b.count * itemsize(b) and b.ptr < a.ptr + a.count * itemsize(a))


cdef int look_at(Tensor t) except -1:
    """Refuse a tensor whose memory isn't that of its values alone, as its address does."""
    refuse_examples(t, "data_ptr()")
    return reading(t, "data_ptr()")


cdef object memory_at(size_t address, Py_ssize_t nbytes):
    return from_address(address, nbytes)


cdef list part_of(Tensor t, Py_ssize_t start, Py_ssize_t stop):
    """The elements of a plain tensor from `start` to `stop` as mpi4py takes them."""
    cdef Py_ssize_t size = itemsize(t)
    datatype = datatypes[t.dt]
    if datatype is None:
        raise TypeError(f"distributed: tensors of {t.dtype} can't be sent; convert them first")
    return [
        memory_at(<size_t>t.ptr + <size_t>(start * size), (stop - start) * size),
        stop - start, datatype]


def buffer_of(Tensor t not None):
    """
    Return the memory of a tensor in C order as mpi4py takes it: memory, count and datatype.

    Parameters
    ----------
    t : Tensor

    Returns
    -------
    list

    Raises
    ------
    TypeError
        If MPI has no such numbers.
    """
    look_at(t)
    return part_of(t, 0, t.count)


def buffers_of(Tensor t not None, bounds):
    """
    Return the elements from each bound to the next of a tensor in C order, as `buffer_of` does.

    Parameters
    ----------
    t : Tensor
    bounds : sequence of int

    Returns
    -------
    list of list
    """
    cdef Py_ssize_t start = 0, stop
    cdef bint begun = False
    look_at(t)
    buffers = []
    for stop in bounds:
        if begun:
            buffers.append(part_of(t, start, stop))
        start, begun = stop, True
    return buffers


cdef class Own:
    """
    Where an operation writes, if that is the tensor itself: a plain one.

    Parameters
    ----------
    memory : Tensor
    """

    cdef readonly Tensor memory

    def __init__(self, Tensor memory not None):
        # Not the tensor, which may get other memory while MPI writes this one.
        self.memory = tensor_alias(memory)

    def finish(self):
        """Note that the tensor has been written."""
        bump_version(self.memory)
