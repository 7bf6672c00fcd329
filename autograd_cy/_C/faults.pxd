# cython: language_level=3
"""Faults: errors that values cause, as plain structs.

A kernel that finds a value which it must not work with notes it in a `Fault`, without the GIL and
without Python. What started the kernel turns it into the exception by `fault_error`: at once on the
CPU, eagerly and when a captured program runs again, and at the next synchronisation on a device
whose kernels run later. A fault keeps the first bad value.
"""
from libc.stdint cimport int64_t
from autograd_cy._C.launch cimport Fault
from autograd_cy._C.tensor cimport Tensor

# What is wrong; `value`, `size` and `dim` are what the text needs.
cdef enum:
    FAULT_NONE = 0
    FAULT_EMBEDDING = 1          # value: index, size: rows of the table
    FAULT_INDEX = 2              # value, size, dim: IndexError
    FAULT_PLACE = 3              # the same as RuntimeError, as gather and scatter raise it
    FAULT_REDUCED_INDEX = 4      # of index_reduce
    FAULT_BAG_INDEX = 5          # value, size: rows, dim: place in the input
    FAULT_BAG_FIRST = 6          # value: the first offset
    FAULT_BAG_ORDER = 7          # value: offset, size: the one before, dim: its place
    FAULT_BAG_LAST = 8           # value: the last offset, size: number of indices
    FAULT_SORTER = 10
    FAULT_TARGET = 11            # value: the target
    FAULT_ZERO_DIVISION = 12
    FAULT_PROBABILITY = 13       # dim: 1 of the input, 2 of the target
    FAULT_CLASS_BELOW = 14       # value: a class of one_hot
    FAULT_CLASS_ABOVE = 15       # value, size: number of classes
    FAULT_MARGIN_TARGET = 16     # of multi_margin_loss
    FAULT_MARGIN_TARGETS = 17    # of multilabel_margin_loss; size: number of classes
    FAULT_VARIANCE = 18          # a negative one
    FAULT_SPAN = 19              # value, dim: least and largest target; size: number of classes
    FAULT_MASK = 20              # of masked_scatter; value: ones, size: one more than elements
    FAULT_INPUT_LENGTH = 21      # of ctc_loss; value, size: one more than the longest
    FAULT_TARGET_LENGTH = 22     # the same; dim: number of examples
    FAULT_STEP_COUNT = 23        # value: the bits of a float64, size: number of the parameter
    FAULT_CHANCE = 24            # of bernoulli; value: the bits of a float64, dim: its place
    FAULT_WIDTH = 25             # a negative one of normal
    FAULT_WEIGHT = 26            # of multinomial
    FAULT_WEIGHTS = 27           # the same: all of a row are zero

# The exception for it, to be raised.
cdef object fault_error(Fault* f)


cdef inline void note_fault(Fault* f, int kind, const char* op, int64_t value, int64_t size,
                            int64_t dim) noexcept nogil:
    """Note it, unless there was one before."""
    if f.kind == FAULT_NONE:
        f.kind = kind
        f.op = op
        f.value = value
        f.size = size
        f.dim = dim


# Checks of values on the CPU, as launches of kind CHECK. Each looks at memory, writes nothing, and
# raises the exception for the first value that it refuses; a replay of it does the same. What it
# checks must be written after it.

# low <= k < size for all elements of a dense int64 tensor; `op` and `dim` are what the text needs.
cdef int check_range(Tensor t, int64_t low, int64_t size, int kind, const char* op,
                     int64_t dim) except -1
# The same of indices that count from 0.
cdef int check_indices(Tensor index, int64_t size, int kind, const char* op, int64_t dim) except -1
# No integer is 0 in its lowest `width` bytes; any strides.
cdef int check_no_zero(Tensor t, int width) except -1
# No number is below 0.
cdef int check_variance(Tensor t) except -1
