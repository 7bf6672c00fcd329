# cython: language_level=3
"""Lists of parameters and their state, as one step of an optimizer goes over them."""
from autograd_cy._C.launch cimport Fault
from autograd_cy._C.optimizer_loops cimport STEP_ARRAYS, STEP_NUMBERS, StepNumbers
from autograd_cy._C.tensor cimport Tensor

cdef struct Number:
    char* p            # NULL: there is none
    int dt             # float32 or float64; int64 of a number of Python


cdef struct Segment:
    char* p[STEP_ARRAYS]    # NULL: not used
    Number numbers[STEP_NUMBERS]
    int dt
    Py_ssize_t item
    Py_ssize_t start   # elements of the parameters before this one
    Py_ssize_t n
    Py_ssize_t like    # the segment whose numbers are also those of this one, or itself
    StepNumbers c      # of this step, from when it begins


cdef struct StepPlan:
    Fault fault            # a number of steps that is none
    const char* op         # what the error names
    Py_ssize_t first       # the number of the first parameter, in the lists that were given
    int loop               # STEP_*
    double cost            # of an element
    double divisor         # of the gradients, or 0; known when the step begins
    Number lr
    Number grad_scale
    Number found_inf
    StepNumbers numbers    # what is the same for all parameters, and stays
    int last               # the last of the numbers of states, which counts steps, or -1
    Py_ssize_t count
    Py_ssize_t total
    Segment segments[1]    # `count` of them


# One step of several parameters: where they are, and what must be copied back after it. What a
# device does of it, `start`, is up to a subclass.
cdef class StepLists:
    cdef StepPlan* plan
    cdef list held            # tensors that the segments point into
    cdef list rows            # the tensors of each segment, if the thread captures
    cdef list scalars         # those of lr, scale and overflow
    cdef list copies          # (segment, tensor, dense copy, whether written)
    # (address, end, segment, whether written, whether it is used there and not in a copy) of
    # memory of several owners
    cdef list shared_memory

    # Numbers that all parameters share, read when the step runs.
    cdef int shared(self, Tensor lr, Tensor grad_scale, Tensor found_inf) except -1
    # Segments for the parameters; what isn't used is None in `arrays`, () in `numbers`.
    cdef int add(self, tuple params, tuple grads, tuple arrays, tuple numbers) except -1
    cdef int add_numbers(self, int k, tuple numbers) except -1
    cdef int fill(self, Segment* s, tuple lists, tuple arrays, Py_ssize_t i) except -1
    cdef bint overlapping(self) except -1
    # Refuse what can be seen before anything is written.
    cdef int check(self) except -1
    # Run the plan, whose segments are those from `first` on.
    cdef int start(self, Py_ssize_t first) except -1
    cdef int run(self) except -1
    cdef int run_alone(self, Py_ssize_t i) except -1
