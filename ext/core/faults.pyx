# cython: language_level=3
# build: plain hot
"""The exceptions of faults, and checks of values on the CPU, as launches; see faults.pxd."""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy
from autograd_cy._C.dtypes cimport DT_F32, DT_F64, DT_SIZE
from autograd_cy._C.index_values cimport first_outside, positions
from autograd_cy._C.iterate cimport cast, contiguous
from autograd_cy._C.launch cimport (
    KIND_CHECK, READS, Launch, begin, capturing, error_of_fault, launch, may_fault, operand)
from autograd_cy._C.storage cimport ON_CPU
from autograd_cy._C.tensor cimport F_BATCHED, F_STRIDED, Tensor

from autograd_cy._C.launch import _note_fault

__all__: list[str] = []

ctypedef fused bits_t:
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef fused real_t:
    float
    double


# --- exceptions -----------------------------------------------------------------------------

cdef object bag_error(Fault* f):
    """Return the error of the indices and offsets of embedding_bag."""
    if f.kind == FAULT_BAG_INDEX:
        text = (f"embedding_bag: Index {f.dim} of input takes value {f.value} which is not in the "
                f"valid range [0, {f.size})")
    elif f.kind == FAULT_BAG_FIRST:
        text = ("offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start "
                f"from position 0. However, got {f.value}")
    elif f.kind == FAULT_BAG_ORDER:
        text = (f"embedding_bag: offsets must not decrease, but offsets[{f.dim}] is {f.value} "
                f"after {f.size}")
    else:
        text = (f"offsets[-1] can not be greater than input's length {f.size} but got offsets[-1] "
                f"of {f.value}")
    return RuntimeError(text)


cdef object loss_error(Fault* f):
    """Return the error of targets and probabilities."""
    if f.kind == FAULT_TARGET:
        return IndexError(f"Target {f.value} is out of bounds.")
    if f.kind == FAULT_PROBABILITY:
        return RuntimeError(
            f"all elements of {'input' if f.dim == 1 else 'target'} should be between 0 and 1")
    if f.kind == FAULT_MARGIN_TARGET:
        return RuntimeError("multi_margin_loss: target out of range")
    if f.kind == FAULT_MARGIN_TARGETS:
        return RuntimeError(
            "multilabel_margin_loss: argument #2 'target' is out of range")
    if f.kind == FAULT_SPAN:
        return RuntimeError(f"Target values should be in [0, {f.size - 1}], but values in range "
                            f"[{f.value}, {f.dim}] were found.")
    if f.kind == FAULT_INPUT_LENGTH or f.kind == FAULT_TARGET_LENGTH:
        return length_error(f)
    return ValueError("var has negative entry/entries")


cdef object length_error(Fault* f):
    """Return the error of the lengths of sequences and targets, for ctc_loss()."""
    if f.value < 0:
        name = "input_lengths" if f.kind == FAULT_INPUT_LENGTH else "target_lengths"
        return RuntimeError(f"ctc_loss: {name} must not be negative, but there is {f.value}")
    if f.kind == FAULT_INPUT_LENGTH:
        return RuntimeError(f"ctc_loss: Expected input_lengths to have value at most {f.size - 1}, "
                            f"but got value {f.value}")
    return RuntimeError(
        f"ctc_loss: Expected tensor to have size at least {f.value} at dimension 1, and {f.dim} at "
        f"dimension 0, but got shape {[f.dim, f.size - 1]} for argument #2 'targets'")


cdef object fault_error(Fault* f):
    error = exception_of(f)
    if capturing():
        _note_fault(str(error))     # whoever catches it decides by values
    return error


cdef object exception_of(Fault* f):
    cdef str op = f.op.decode() if f.op != NULL else ""
    cdef double step
    if f.kind == FAULT_EMBEDDING:
        return IndexError(f"index out of range in self ({op}: index {f.value} in a table of "
                          f"{f.size} rows)")
    if f.kind == FAULT_INDEX or f.kind == FAULT_PLACE:
        return (IndexError if f.kind == FAULT_INDEX else RuntimeError)(
            f"index {f.value} is out of bounds for dimension {f.dim} with size {f.size}")
    if f.kind == FAULT_REDUCED_INDEX:
        return IndexError("index out of range in self")
    if FAULT_BAG_INDEX <= f.kind <= FAULT_BAG_LAST:
        return bag_error(f)
    if f.kind == FAULT_SORTER:
        return RuntimeError("torch.searchsorted(): sorter index out of range")
    if f.kind == FAULT_MASK:
        return RuntimeError(
            "masked_scatter_: Number of elements of source < number of ones in mask "
            f"({f.size - 1} < {f.value})")
    if f.kind == FAULT_ZERO_DIVISION:
        return RuntimeError("ZeroDivisionError: integer division or remainder by zero")
    if f.kind == FAULT_CLASS_BELOW:
        return RuntimeError(f"Class values must be non-negative, but there is {f.value}.")
    if f.kind == FAULT_CLASS_ABOVE:
        return RuntimeError(
            f"Class values must be smaller than num_classes, but there is {f.value} and "
            f"num_classes is {f.size}.")
    if f.kind == FAULT_STEP_COUNT:
        memcpy(&step, &f.value, sizeof(step))
        return ValueError(f"{op}: steps are counted from 1, and NaN is no number of them, but "
                          f"parameter {f.size} has made {step}")
    if f.kind >= FAULT_CHANCE:
        return drawing_error(f)
    return loss_error(f)


cdef object drawing_error(Fault* f):
    """Return the error of the parameters of a random distribution."""
    cdef double chance
    if f.kind == FAULT_CHANCE:
        memcpy(&chance, &f.value, sizeof(chance))
        return RuntimeError(f"bernoulli: expected p_in >= 0 && p_in <= 1, but element {f.dim} is "
                            f"{chance}")
    if f.kind == FAULT_WIDTH:
        return RuntimeError("normal expects all elements of std >= 0.0")
    if f.kind == FAULT_WEIGHT:
        return RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    return RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


error_of_fault = fault_error


# --- ranges of integers ---------------------------------------------------------------------

cdef struct RangePlan:
    Fault fault
    const int64_t* k
    Py_ssize_t n
    int64_t low, size, dim
    int kind
    const char* op


cdef Py_ssize_t first_beyond(const int64_t* k, Py_ssize_t n, int64_t low,
                             int64_t size) noexcept nogil:
    """Place of the first one outside low <= k < size, for low <= 0, or -1."""
    cdef Py_ssize_t i
    cdef int64_t bad = 0
    for i in range(n):          # the sign says it
        bad |= <int64_t>(<uint64_t>k[i] - <uint64_t>low)
        bad |= <int64_t>(<uint64_t>size - 1 - <uint64_t>k[i])
    if bad >= 0:
        return -1
    for i in range(n):
        if not low <= k[i] < size:
            return i
    return -1


cdef inline bint worse(int64_t a, int64_t b) noexcept nogil:
    """Tell if a text names `a`, not `b`: the lowest if one is negative, else the largest."""
    return a < b if a < 0 or b < 0 else a > b


cdef void range_run(void* ctx) noexcept nogil:
    cdef RangePlan* plan = <RangePlan*>ctx
    cdef Py_ssize_t at = (first_outside(plan.k, plan.n, plan.size) if plan.low == 0
                          else first_beyond(plan.k, plan.n, plan.low, plan.size))
    cdef Py_ssize_t i
    cdef int64_t high
    plan.fault.kind = FAULT_NONE
    if at >= 0 and plan.kind == FAULT_SPAN:
        high = plan.k[at]
        for i in range(plan.n):
            high = max(high, plan.k[i])
            at = i if plan.k[i] < plan.k[at] else at
        note_fault(&plan.fault, plan.kind, plan.op, plan.k[at], plan.size, high)
    elif at >= 0:
        for i in range(plan.n):     # these texts name the lowest and the largest one
            if (plan.kind == FAULT_CLASS_BELOW and plan.k[i] < plan.k[at]
                    or plan.kind == FAULT_CLASS_ABOVE and plan.k[i] > plan.k[at]
                    or plan.kind >= FAULT_INPUT_LENGTH and worse(plan.k[i], plan.k[at])):
                at = i
        note_fault(&plan.fault, plan.kind, plan.op, plan.k[at], plan.size,
                   at if plan.kind == FAULT_BAG_INDEX else plan.dim)


cdef int check_range(Tensor t, int64_t low, int64_t size, int kind, const char* op,
                     int64_t dim) except -1:
    cdef RangePlan plan
    cdef Launch work
    plan.k = <const int64_t*>t.ptr
    plan.n = t.count
    plan.low = low
    plan.size = size
    plan.dim = dim
    plan.kind = kind
    plan.op = op
    begin(&work, "check of indices", &plan, sizeof(plan), KIND_CHECK)
    operand(&work, &plan.k, t, READS)
    may_fault(&work, &plan.fault)
    launch(&work, range_run, plan.n)
    if plan.fault.kind:
        raise fault_error(&plan.fault)
    return 0


cdef int check_indices(Tensor index, int64_t size, int kind, const char* op, int64_t dim) except -1:
    return check_range(index, 0, size, kind, op, dim)


# --- zeros ----------------------------------------------------------------------------------

cdef struct ZeroPlan:
    Fault fault
    const char* p
    int width               # bytes of a number that count
    int nd                  # at least 1
    Py_ssize_t shape[64]
    Py_ssize_t step[64]     # bytes
    Py_ssize_t rows         # of the last dimension


cdef inline bint zero_in_row(const bits_t* p, Py_ssize_t step, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef bint any_zero = False
    if step == sizeof(bits_t):
        for i in range(n):          # without an exit it runs at the speed of memory
            any_zero |= p[i] == 0
        return any_zero
    for i in range(n):
        any_zero |= (<const bits_t*>(<const char*>p + i * step))[0] == 0
    return any_zero


cdef bint has_zero(const ZeroPlan* plan, const char* p) noexcept nogil:
    cdef Py_ssize_t n = plan.shape[plan.nd - 1], step = plan.step[plan.nd - 1]
    if plan.width == 1:
        return zero_in_row(<const uint8_t*>p, step, n)
    if plan.width == 2:
        return zero_in_row(<const uint16_t*>p, step, n)
    if plan.width == 4:
        return zero_in_row(<const uint32_t*>p, step, n)
    return zero_in_row(<const uint64_t*>p, step, n)


cdef void zero_run(void* ctx) noexcept nogil:
    cdef ZeroPlan* plan = <ZeroPlan*>ctx
    cdef Py_ssize_t row, rest
    cdef const char* p
    cdef int d
    plan.fault.kind = FAULT_NONE
    for row in range(plan.rows):
        p = plan.p
        rest = row
        for d in range(plan.nd - 2, -1, -1):
            p += rest % plan.shape[d] * plan.step[d]
            rest = rest // plan.shape[d]
        if has_zero(plan, p):
            note_fault(&plan.fault, FAULT_ZERO_DIVISION, NULL, 0, 0, 0)
            return


cdef int check_no_zero(Tensor t, int width) except -1:
    cdef ZeroPlan plan
    cdef Launch work
    cdef int d
    if t.count == 0:
        return 0
    plan.p = t.ptr
    plan.width = width
    plan.nd = 0
    plan.rows = 1
    if not t.flags & F_STRIDED:
        plan.nd = 1
        plan.shape[0] = t.count
        plan.step[0] = DT_SIZE[t.dt]
    else:
        for d in range(t.nd):
            if t.strides[d] == 0 or t.sizes[d] == 1:
                continue            # the same elements again
            plan.shape[plan.nd] = t.sizes[d]
            plan.step[plan.nd] = t.strides[d] * DT_SIZE[t.dt]
            plan.nd += 1
        if plan.nd == 0:
            plan.nd = 1
            plan.shape[0] = 1
            plan.step[0] = DT_SIZE[t.dt]
        for d in range(plan.nd - 1):
            plan.rows *= plan.shape[d]
    begin(&work, "check of a divisor", &plan, sizeof(plan), KIND_CHECK)
    operand(&work, &plan.p, t, READS)
    may_fault(&work, &plan.fault)
    launch(&work, zero_run, t.count)
    if plan.fault.kind:
        raise fault_error(&plan.fault)
    return 0


# --- negative numbers -----------------------------------------------------------------------

cdef struct SignPlan:
    Fault fault
    const char* p
    int dt
    Py_ssize_t n


cdef inline bint below_zero(const real_t* p, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef bint any_below = False
    for i in range(n):
        any_below |= p[i] < 0
    return any_below


cdef void sign_run(void* ctx) noexcept nogil:
    cdef SignPlan* plan = <SignPlan*>ctx
    plan.fault.kind = FAULT_NONE
    if (below_zero(<const float*>plan.p, plan.n) if plan.dt == DT_F32
            else below_zero(<const double*>plan.p, plan.n)):
        note_fault(&plan.fault, FAULT_VARIANCE, NULL, 0, 0, 0)


cdef int check_variance(Tensor t) except -1:
    cdef SignPlan plan
    cdef Launch work
    if t.dt != DT_F32 and t.dt != DT_F64:
        t = cast(t, DT_F64)
    t = contiguous(t)
    plan.p = t.ptr
    plan.dt = t.dt
    plan.n = t.count
    begin(&work, "check of variances", &plan, sizeof(plan), KIND_CHECK)
    operand(&work, &plan.p, t, READS)
    may_fault(&work, &plan.fault)
    launch(&work, sign_run, plan.n)
    if plan.fault.kind:
        raise fault_error(&plan.fault)
    return 0


# --- for operators written in Python ----------------------------------------------------------
# Under vmap values can't be looked at, meta has none, and another device checks its own, by the
# operator `_checked_values`.

CLASS_BELOW: int = FAULT_CLASS_BELOW
CLASS_ABOVE: int = FAULT_CLASS_ABOVE
MARGIN_TARGET: int = FAULT_MARGIN_TARGET
MARGIN_TARGETS: int = FAULT_MARGIN_TARGETS
SPAN: int = FAULT_SPAN
INPUT_LENGTH: int = FAULT_INPUT_LENGTH
TARGET_LENGTH: int = FAULT_TARGET_LENGTH
VARIANCE: int = FAULT_VARIANCE


def looks_at(Tensor t not None):
    """True if the host sees the values."""
    return not t.flags & F_BATCHED and t.mem.device == ON_CPU


def check_here(Tensor t not None, int64_t low, int64_t high, int fault):
    """Refuse integers outside low <= k < high, or negative variances, by the error of the fault."""
    if not t.count:
        return
    if fault == FAULT_VARIANCE:
        check_variance(t)
    else:
        check_range(positions(t), low, high, fault, NULL, 0)
