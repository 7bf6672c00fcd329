# Shapes as Python sees them (part of tensor.pyx).

from operator import index as _index


class Size(tuple):
    """
    The shape of a tensor: a tuple of sizes.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(2, 3).shape
    autograd_cy.Size([2, 3])
    """

    __slots__ = ()

    def __new__(cls, sizes=()):
        sizes = tuple(sizes)
        for i, s in enumerate(sizes):
            if type(s) is not int:
                try:
                    sizes = (*sizes[:i], _index(s), *sizes[i + 1:])
                except TypeError:
                    raise TypeError(
                        f"torch.Size() takes an iterable of 'int' (item {i} is "
                        f"'{type(s).__name__}')") from None
        return tuple.__new__(cls, sizes)

    def numel(self):
        """Number of elements of a tensor of this shape."""
        n = 1
        for s in self:
            n *= s
        return n

    def __repr__(self):
        return f"autograd_cy.Size([{', '.join(map(str, self))}])"

    def __add__(self, other):
        if not isinstance(other, tuple):
            return NotImplemented
        return Size(tuple.__add__(self, other))

    def __radd__(self, other):
        if not isinstance(other, tuple):
            return NotImplemented
        return Size(other + tuple(self))

    def __mul__(self, n):
        return Size(tuple.__mul__(self, n))

    __rmul__ = __mul__

    def __getitem__(self, i):
        r = tuple.__getitem__(self, i)
        return Size(r) if isinstance(i, slice) else r

    def __reduce__(self):
        return (Size, (tuple(self),))


cdef PyTypeObject* _size_type = <PyTypeObject*>Size


cdef object size_object(int ndim, const Py_ssize_t* shape):
    # tuple.__new__(Size, ...) costs three times as much.
    cdef PyObject* raw = (<GCType*>_size_type).tp_alloc(_size_type, ndim)
    cdef object item
    cdef int i
    if raw == NULL:
        raise MemoryError()
    cdef object r = <object>raw
    Py_DECREF(r)
    for i in range(ndim):
        item = shape[i]
        Py_INCREF(item)
        PyTuple_SET_ITEM(r, i, item)
    return r


cdef object sizes_of(Tensor t):
    return size_object(t.nd, t.sizes)


cdef tuple dims_of(Tensor t):
    cdef int i
    return tuple([t.sizes[i] for i in range(t.nd)])
