// Values that a kernel refuses: the first one is noted for the host, which raises the exception at
// the next synchronisation (raise_fault in cuda_streams.pyx). The kernel leaves the element out and
// goes on. `op` says which call it was (cuda_calls.pyx): a kernel writes it as it is.
#pragma once
#include "kernel.cuh"

// What is wrong, as in _C/faults.pxd.
enum {
    AG_FAULT_NONE = 0,
    AG_FAULT_EMBEDDING = 1,
    AG_FAULT_INDEX = 2,
    AG_FAULT_PLACE = 3,
    AG_FAULT_REDUCED_INDEX = 4,
    AG_FAULT_BAG_INDEX = 5,
    AG_FAULT_BAG_FIRST = 6,
    AG_FAULT_BAG_ORDER = 7,
    AG_FAULT_BAG_LAST = 8,
    AG_FAULT_SORTER = 10,
    AG_FAULT_TARGET = 11,
    AG_FAULT_ZERO_DIVISION = 12,
    AG_FAULT_PROBABILITY = 13,
    AG_FAULT_CLASS_BELOW = 14,
    AG_FAULT_CLASS_ABOVE = 15,
    AG_FAULT_MARGIN_TARGET = 16,
    AG_FAULT_MARGIN_TARGETS = 17,
    AG_FAULT_VARIANCE = 18,
    AG_FAULT_SPAN = 19,
    AG_FAULT_MASK = 20,
    AG_FAULT_INPUT_LENGTH = 21,
    AG_FAULT_TARGET_LENGTH = 22,
    AG_FAULT_STEP_COUNT = 23,
    AG_FAULT_CHANCE = 24,
    AG_FAULT_WIDTH = 25,
    AG_FAULT_WEIGHT = 26,
    AG_FAULT_WEIGHTS = 27
};

struct ag_fault {
    int kind; // 0: none, -1: somebody is about to write it
    const char *op;
    int64_t value, size, dim;
};

// Note it, unless there was one before. The host looks at `kind` alone, so that is written last.
static __device__ __noinline__ void ag_note_fault(ag_fault *f, int kind, const char *op,
                                                  int64_t value, int64_t size, int64_t dim)
{
    if (atomicCAS(&f->kind, 0, -1) != 0)
        return;
    f->op = op;
    f->value = value;
    f->size = size;
    f->dim = dim;
    __threadfence_system();
    *(volatile int *)&f->kind = kind;
}
