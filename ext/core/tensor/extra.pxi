# What few tensors have: batches of vmap and tangents (part of tensor.pyx).

cdef class TensorExtra:
    def __cinit__(self):
        self.bdim = -1
        self.level = -1

    def __dealloc__(self):
        unlink_dual(self)


cdef TensorExtra need_extra(Tensor t):
    if t.extra is None:
        t.extra = TensorExtra()
    return t.extra
