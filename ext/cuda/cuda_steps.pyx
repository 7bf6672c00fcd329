# cython: language_level=3
# build: plain cold
"""Steps of optimizers on CUDA devices: one launch for numbers of parameters, one for elements.

The addresses of parameters, gradients and state go into the arguments of the first launch, and by
it into a table on the device; a list that is too long for one launch takes several. Nothing is
copied to the device or read from it.
"""
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from autograd_cy._C.cuda_launch cimport kernel_id, launch
from autograd_cy._C.cuda_memory cimport Scratch, scratch
from autograd_cy._C.cuda_calls cimport called
from autograd_cy._C.cuda_streams cimport fault_of
from autograd_cy._C.devices cimport current_stream, stream_t
from autograd_cy._C.dtypes cimport DTYPES, DT_BF16, DT_F16, DT_F32, DT_F64
from autograd_cy._C.iterate cimport fill_with
from autograd_cy._C.optimizer_loops cimport *
from autograd_cy._C.step_lists cimport Segment, StepLists, StepPlan
from autograd_cy._C.storage cimport ON_CPU, device_index
from autograd_cy._C.tensor cimport Tensor, element_value, tensor_empty_on

cdef extern from "device/step_arguments.h" nogil:
    enum:
        AG_STEP_THREADS
        AG_STEP_TILE
        AG_STEP_WORDS
    ctypedef struct ag_number:
        void* p
        uint64_t dt
    ctypedef struct ag_step_entry:
        pass
    ctypedef struct ag_step_table:
        ag_step_entry entry[1]
    ctypedef struct ag_begin_args:
        ag_step_table* table
        ag_number lr
        void* fault
        const char* op
        double numbers[20]
        int64_t listed
        uint32_t first, count, arrays, places
        uint64_t words[480]
    ctypedef struct ag_step_args:
        ag_step_table* table
        ag_number grad_scale, found_inf
        uint32_t first, count

include "cuda_types.pxi"

# By number of a loop; one more than the number of a kernel, 0: unknown.
cdef int[STEP_LOOPS] beginnings
cdef int[STEP_LOOPS][DTYPES] steps
memset(beginnings, 0, sizeof(beginnings))
memset(steps, 0, sizeof(steps))


cdef int beginning_of(int loop) except -1:
    if not beginnings[loop]:
        beginnings[loop] = kernel_id("steps", f"begin_{LOOPS[loop]}") + 1
    return beginnings[loop] - 1


cdef int step_of(int loop, int dt) except -1:
    if not steps[loop][dt]:
        steps[loop][dt] = kernel_id("steps", f"{LOOPS[loop]}_{SUFFIXES[dt]}") + 1
    return steps[loop][dt] - 1


cdef class Steps(StepLists):
    """One step of several parameters on a CUDA device."""
    cdef int device            # code of the device that the parameters are on

    cdef int add(self, tuple params, tuple grads, tuple arrays, tuple numbers) except -1:
        self.device = (<Tensor>params[0]).mem.device if params else ON_CPU
        return StepLists.add(self, params, grads, arrays, numbers)

    cdef int set_number(self, ag_number* x, Tensor t) except -1:
        """A number of one element; one of the host becomes one of the device."""
        cdef Tensor here = t
        x.p = NULL
        x.dt = 0
        if t is None:
            return 0
        if t.mem.device == ON_CPU:
            here = tensor_empty_on(self.device, DT_F64, 0, NULL, NULL)
            fill_with(here, element_value(t.ptr, t.dt))
            self.held.append(here)
        x.p = here.ptr
        x.dt = here.dt == DT_F64
        return 0

    cdef int start(self, Py_ssize_t first) except -1:
        cdef StepPlan* plan = self.plan
        cdef ag_step_args args
        cdef int index = device_index(self.device), dt
        cdef stream_t stream = current_stream(self.device)
        cdef Py_ssize_t i, begun = 0, tiles
        cdef Scratch table = scratch(
            index, sizeof(ag_step_table) + plan.count * sizeof(ag_step_entry), stream)
        cdef list groups = []      # (dtype, entry of the first, how many, tiles)
        # Parameters of one dtype follow each other in the table.
        for dt in (DT_F16, DT_BF16, DT_F32, DT_F64):
            args.count, tiles = 0, 0
            for i in range(plan.count):
                if plan.segments[i].dt == dt:
                    plan.segments[i].like = begun + args.count
                    plan.segments[i].start = tiles
                    tiles += max(1, (plan.segments[i].n + AG_STEP_TILE - 1) // AG_STEP_TILE)
                    args.count += 1
            if args.count:
                groups.append((dt, begun, args.count, tiles))
                begun += args.count
        self.fill_table(<ag_step_table*>table.data, index, stream, first)
        memset(&args, 0, sizeof(args))
        args.table = <ag_step_table*>table.data
        self.set_number(&args.grad_scale, self.scalars[1])
        self.set_number(&args.found_inf, self.scalars[2])
        for dt, args.first, args.count, tiles in groups:
            launch(step_of(plan.loop, dt), index, stream, <unsigned>tiles, 1, 1,
                   AG_STEP_THREADS, 1, 1, 0, &args, sizeof(args))
        return 0

    cdef int fill_table(self, ag_step_table* table, int index, stream_t stream,
                        Py_ssize_t first) except -1:
        """Launches that write the table, each for as many parameters as its arguments hold."""
        cdef StepPlan* plan = self.plan
        cdef ag_begin_args args
        cdef Segment* s
        cdef Py_ssize_t i, most
        cdef Tensor lr = self.scalars[0]
        cdef uint64_t* word
        cdef uint64_t dts
        cdef int k
        memset(&args, 0, sizeof(args))
        args.table = table
        args.fault = <void*>fault_of(index)
        args.op = called(index, plan.op)
        memcpy(args.numbers, &plan.numbers, sizeof(StepNumbers))
        # The rate is the first number of each loop.
        if lr is not None and lr.mem.device == ON_CPU:
            args.numbers[0] = element_value(lr.ptr, lr.dt)
        else:
            self.set_number(&args.lr, lr)
        for i in range(plan.count):
            for k in range(STEP_ARRAYS):
                args.arrays |= <uint32_t>(plan.segments[i].p[k] != NULL) << k
            for k in range(STEP_NUMBERS):
                args.places |= <uint32_t>(plan.segments[i].numbers[k].p != NULL) << k
        most = AG_STEP_WORDS // (bits_of(args.arrays) + bits_of(args.places) + 2)
        i = 0
        while i < plan.count:
            args.first, args.count = <uint32_t>i, 0
            word = args.words
            while i < plan.count and args.count < most:
                s = &plan.segments[i]
                for k in range(STEP_ARRAYS):
                    if args.arrays >> k & 1:
                        word[0] = <uint64_t>s.p[k]
                        word += 1
                dts = 0
                for k in range(STEP_NUMBERS):
                    if args.places >> k & 1:
                        word[0] = <uint64_t>s.numbers[k].p
                        word += 1
                        dts |= <uint64_t>(s.numbers[k].dt == DT_F64) << k
                word[0] = <uint64_t>s.n | <uint64_t>s.like << 48
                word[1] = <uint64_t>s.start | <uint64_t>(s.like >> 16) << 40 | dts << 56
                word += 2
                args.count += 1
                i += 1
            args.listed = first + args.first
            launch(beginning_of(plan.loop), index, stream, 1, 1, 1, AG_STEP_THREADS, 1, 1, 0, &args,
                   sizeof(args))
        return 0


cdef inline int bits_of(uint32_t x) noexcept nogil:
    cdef int n = 0
    while x:
        x &= x - 1
        n += 1
    return n


include "optimizer_kernels.pxi"
include "optimizer_slots.pxi"

KERNELS = SLOTS
