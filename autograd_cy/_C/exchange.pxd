# cython: language_level=3
"""Memory that goes in and out without a copy: NumPy, DLPack, and the storage as an object."""
from autograd_cy._C.storage cimport StorageImpl
from autograd_cy._C.tensor cimport Tensor

cdef class StorageBase:
    """Own one reference to a block, so it can be the base of a NumPy array."""
    cdef StorageImpl* mem
    cdef object __weakref__

cdef class UntypedStorage(StorageBase):
    """A block as an object of programs, one for each (Note [Objects that stay])."""
    cdef dict __dict__

cdef StorageBase base_on(StorageImpl* s)      # a new object; takes a new reference to s
cdef UntypedStorage hold(StorageImpl* s)      # the same; `untyped_storage` gives what there is
cdef UntypedStorage hold_as(type cls, StorageImpl* s)    # an object of a subclass
cdef int resize_block(UntypedStorage self, size) except -1
cdef StorageImpl* root_of(StorageImpl* s) noexcept   # the block below the aliases of `.data`
cdef Tensor from_array(object array)          # shares the memory of a NumPy array
cdef object array_of(Tensor t)                # shares the memory of t; no checks
cdef Tensor import_dlpack(object source, object copy)
cdef Tensor tensor_of_interface(object source)     # of __cuda_array_interface__
