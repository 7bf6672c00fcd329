# cython: language_level=3
"""The recorder of the profiler: what begins and ends events while the global profile bit is set.

An operator has a local variable ``cdef Scope seen = NULL``, set before anything can fail. What
begin_event() gives it ends when the function is left, by a return or by an error: the C compiler
calls the end (``cleanup``). Everything here runs under the GIL.
"""
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t
from autograd_cy._C.tensor cimport Tensor

cdef extern from *:
    """
    #ifndef AG_SCOPE
    #include <stdint.h>
    typedef struct ag_event {
        int64_t start, end;
        int64_t seq;
        int64_t saved, bytes_moved;
        int32_t name, shape, stack, back;
        int16_t module, team;
        uint8_t scope, flags;
        uint8_t pad[2];
    } ag_event;
    enum { AG_BLOCK = 1 << 16 };     /* bytes of a block of events, and its alignment */
    typedef struct ag_block {
        void (*close)(ag_event *);
        struct ag_block *next;
        void *stream;
        int64_t first;
        int32_t used, held, apart;
        int32_t pad[5];
    } ag_block;
    static inline ag_block *ag_block_of(ag_event *e) {
        return (ag_block *)((uintptr_t)e & ~(uintptr_t)(AG_BLOCK - 1));
    }
    static inline void ag_leave(ag_event **place) {
        if (__builtin_expect(*place != NULL, 0)) ag_block_of(*place)->close(*place);
    }
    #define AG_SCOPE __attribute__((cleanup(ag_leave))) ag_event *
    #endif
    """
    ctypedef struct Event "ag_event":
        int64_t start          # ticks of the clock
        int64_t end            # 0 while it is open
        int64_t seq            # number of the node that the operator made, or -1
        int64_t saved          # bytes that this node keeps
        int64_t bytes_moved    # of operands and results
        int32_t name           # see events()
        int32_t shape          # number of the arguments' description, or -1
        int32_t stack          # number of the Python frames, or -1
        int32_t back           # how many events before this one the one around it is; 0: none
        int16_t module         # number of the module's path, or -1
        int16_t team           # threads of the kernel; those of the event around it while open
        uint8_t scope
        uint8_t flags          # E_*
    ctypedef Event* Scope "AG_SCOPE"

cdef enum:  # Event.scope, as in torch
    S_OPERATOR = 0
    S_BACKWARD = 1
    S_LABEL = 7

cdef enum:  # Event.flags
    E_FAILED = 1           # an exception left it
    E_SHOWN = 2            # a tool was told of it

cdef enum:  # what is recorded beside times
    D_ARGUMENTS = 1
    D_MEMORY = 2
    D_STACK = 4
    D_MODULES = 8

cdef int details                                # the D_* that some session wants

# Numbers of names that a module knows when it is loaded, one a line; gives the first one.
cdef int events(str names) except -1
cdef int number_of_name(str name) noexcept      # of a name that is known later
cdef int type_name_id(object cls, int* outer) noexcept    # of a node's class

cdef Event* begin_event(int name, int scope) noexcept        # NULL: no memory
cdef void close(Event* e) noexcept
cdef void known(Event* e) noexcept      # after begin_event(): its number or its arguments are set
cdef Event* begin_call(int name, tuple args) noexcept  # an operator and its arguments

# --- arguments, between begin_event() and the operator ----------------------------------------
cdef void put_tensor(Tensor t) noexcept
cdef void put_int(long long x) noexcept
cdef void put_float(double x) noexcept
cdef void put_bool(bint x) noexcept
cdef void put_dtype(int code) noexcept
cdef void put_object(object x) noexcept
cdef void put_end(Event* e) noexcept
cdef void note_result(Event* e, object result) noexcept
