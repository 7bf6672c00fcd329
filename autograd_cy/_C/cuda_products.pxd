# cython: language_level=3
"""Products on CUDA devices, for operators that are made of them."""
from libc.stdint cimport int64_t, uint64_t
from autograd_cy._C.devices cimport stream_t
from autograd_cy._C.tensor cimport Tensor

# Of device/product_arguments.h, which modules of this package include.
cdef extern from * nogil:
    ctypedef struct ag_cell:
        uint64_t word[2]
    ctypedef struct ag_product_args:
        void* c
        const void* a
        const void* b
        const void* add
        ag_cell alpha, beta
        int64_t m, n, k, outer
        int64_t a_row, a_inner, a_outer, a_batch
        int64_t b_inner, b_column, b_outer, b_batch
        int64_t c_row, c_column, c_batch
        int64_t add_row, add_column, add_batch
        uint64_t conjugated

# Tensors that the addresses belong to stand beside it.
cdef struct Product:
    ag_product_args args
    Py_ssize_t batch
    int dt
    int index                  # of the device
    bint wide                  # c is float32, whatever a and b are: for cuBLAS alone
    stream_t stream
    const char* op

# A single product without factors, of a result of this dtype.
cdef int begin_product(Product* t, const char* op, Tensor out, Py_ssize_t m, Py_ssize_t n,
                       Py_ssize_t k) except -1
cdef int set_factor(Product* t, ag_cell* cell, object real, double imag) except -1
# Put the product on the stream. The tensors are those that the addresses belong to.
cdef int launch_product(Product* t, Tensor out, Tensor a, Tensor b, Tensor add=*,
                        bint vector=*) except -1
# The same by cuBLAS. 0: done; 1: it can't.
cdef int by_blas(Product* t, Tensor out, Tensor a, Tensor b, Tensor add) except -1

# c = a @ b, or with `add` c += a @ b, of memory of a device on its current stream: c is (m, n), a
# (m, k), or (k, m) if it is turned, b (k, n) or (n, k). In rows with leading dimensions, which
# aren't less than the rows are long.
cdef int multiply(const char* op, int dt, int device, bint turn_a, bint turn_b, Py_ssize_t m,
                  Py_ssize_t n, Py_ssize_t k, const void* a, Py_ssize_t lda, const void* b,
                  Py_ssize_t ldb, bint add, void* c, Py_ssize_t ldc) except -1
