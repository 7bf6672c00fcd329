# cython: language_level=3
# build: plain cold
"""Losses of pairs of elements on CUDA devices: written one by one, or added in one pass.

Kernels are in ext/cuda/device/losses.cuh. Half types are computed and summed in float32 and better,
and rounded once, as on the CPU.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memset

from autograd_cy._C.cuda_launch cimport launch
from autograd_cy._C.cuda_memory cimport Scratch, scratch
from autograd_cy._C.cuda_reduce cimport (
    BLOCKS, join_sums, kernel_of_floats, quotient_up, set_divisor)
from autograd_cy._C.cuda_calls cimport called
from autograd_cy._C.cuda_streams cimport fault_of
from autograd_cy._C.devices cimport current_stream, stream_t
from autograd_cy._C.dtypes cimport DTYPES, DT_F64, DT_SIZE
from autograd_cy._C.iterate cimport (
    broadcast_shape, cast, contiguous, copy_into, expand_plain, resolved)
from autograd_cy._C.rules_loss cimport RED_MEAN, RED_NONE
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport (
    F_STRIDED, MAX_DIMS, Tensor, element_value, tensor_empty_on)

cdef extern from "device/reduction_arguments.h" nogil:
    enum:
        AG_CUDA_DIMS
        AG_LOSS_OPERANDS
        AG_REDUCE_THREADS
    ctypedef struct ag_wide_divisor:
        uint64_t size
    ctypedef struct ag_loss_args:
        void* out
        const void* in_ "in"[4]
        double number[4]
        double parameter
        double scale
        void* total
        double* partial
        int64_t stride[5][8]
        ag_wide_divisor size[8]
        uint64_t n
        void* fault
        const char* op
        uint32_t nd, packed, weighted
        int32_t dt

cdef enum:
    SHARE = 16             # elements of a thread, before there are more blocks

cdef enum:                 # places in FORMULAS
    MSE, L1, SMOOTH_L1, HUBER, CROSS_ENTROPY, LOGITS, WEIGHTED_LOGITS, KL_DIV, KL_DIV_LOG,
    SOFT_MARGIN

cdef tuple FORMULAS = (
    "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
    "logit_cross_entropy", "weighted_logit_cross_entropy", "kl_div", "kl_div_log",
    "soft_margin_loss")
cdef int[10][DTYPES] kernels   # by formula and dtype; one more than the number, 0: unknown
memset(kernels, 0, sizeof(kernels))


cdef int kernel_of_loss(int formula, int dt) except -1:
    if not kernels[formula][dt]:
        kernels[formula][dt] = kernel_of_floats("loss", FORMULAS[formula], dt) + 1
    return kernels[formula][dt] - 1


# --- operands -------------------------------------------------------------------------------

cdef Tensor as_operand(Tensor t, int dt, int nd, const Py_ssize_t* sizes, double* number):
    """The operand in this dtype and shape, or None if it is a number, which is read here."""
    cdef int d
    t = resolved(cast(t, dt))
    if t.mem.device == 0:
        number[0] = element_value(t.ptr, t.dt)
        return None
    if t.nd == nd:
        for d in range(nd):
            if t.sizes[d] != sizes[d]:
                break
        else:
            return t
    return expand_plain(t, nd, sizes, "loss")


cdef int set_places(ag_loss_args* args, tuple operands, int nd, const Py_ssize_t* sizes,
                    int item) except -1:
    """Sizes and strides of operands, the result first, None for what isn't in memory; dimensions
    are sorted by the first of them and joined. Returns 0 if there are too many."""
    cdef int64_t stride[5][64]
    cdef int[64] order
    cdef Py_ssize_t size
    cdef int d, j, k, n = 0, lead = -1
    cdef bint one
    for k in range(AG_LOSS_OPERANDS):
        for d in range(nd):
            stride[k][d] = 0
            if operands[k] is not None:
                stride[k][d] = (<Tensor>operands[k]).strides[d] * item
        if lead < 0 and operands[k] is not None:
            lead = k
    for d in range(nd - 1, -1, -1):
        if sizes[d] == 1:
            continue
        j = n
        while j > 0 and stride[lead][d] < stride[lead][order[j - 1]]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = d
        n += 1
    args.nd = 0
    for j in range(n):
        d = order[j]
        one = args.nd > 0
        if one:
            size = <Py_ssize_t>args.size[args.nd - 1].size
            for k in range(AG_LOSS_OPERANDS):
                one = one and stride[k][d] == size * args.stride[k][args.nd - 1]
        if one:
            set_divisor(&args.size[args.nd - 1], size * sizes[d])
            continue
        if args.nd == AG_CUDA_DIMS:
            return 0
        set_divisor(&args.size[args.nd], sizes[d])
        for k in range(AG_LOSS_OPERANDS):
            args.stride[k][args.nd] = stride[k][d]
        args.nd += 1
    # All dense in one order: elements are where their number says.
    if args.nd == 1:
        one = True
        for k in range(AG_LOSS_OPERANDS):
            one = one and (operands[k] is None or args.stride[k][0] == item)
        if one:
            args.nd = 0
    return 1


cdef inline bint is_aligned(const void* p, int size) noexcept:
    return <size_t>p % size == 0


# --- launches -------------------------------------------------------------------------------

cdef int run_loss(Tensor out, int formula, tuple tensors, int nd, const Py_ssize_t* sizes,
                  double parameter, Py_ssize_t reduction, const char* name) except -1:
    """Run a loss of `tensors`: the input, the target, the weight, the weight of positive targets;
    those that aren't there are None."""
    cdef ag_loss_args args
    cdef Scratch partial
    cdef Tensor t, target = out
    cdef int device = out.mem.device, index = device_index(device), k, d
    cdef int dt = out.dt, item = <int>DT_SIZE[dt], batch = (2 if dt == DT_F64 else 4) * item
    cdef stream_t stream = current_stream(device)
    cdef uint64_t n = 1, blocks
    cdef list operands = []
    for d in range(nd):
        n *= sizes[d]
    if reduction == RED_NONE and n == 0:
        return 0
    memset(&args, 0, sizeof(args))
    for k in range(4):
        t = <Tensor>tensors[k]
        operands.append(None if t is None else as_operand(t, dt, nd, sizes, &args.number[k]))
    if not set_places(&args, (target if reduction == RED_NONE else None, *operands), nd, sizes,
                      item):
        operands = [None if t is None else contiguous(<Tensor>t) for t in operands]
        if reduction == RED_NONE and out.flags & F_STRIDED:
            target = tensor_empty_on(device, dt, nd, sizes, NULL)
        args.nd = 0
    args.packed = args.nd == 0
    for k in range(4):
        if operands[k] is not None:
            args.in_[k] = (<Tensor>operands[k]).ptr
            args.packed &= is_aligned(args.in_[k], batch)
    args.weighted = tensors[2] is not None
    args.parameter = parameter
    args.n = n
    if formula == CROSS_ENTROPY:         # the only one that looks at values
        args.fault = <void*>fault_of(index)
        args.op = called(index, name)
    args.dt = dt
    args.scale = 1
    blocks = min(max(quotient_up(n, SHARE * AG_REDUCE_THREADS), 1), BLOCKS)
    if reduction == RED_NONE:
        args.out = target.ptr
        args.packed &= is_aligned(args.out, batch)
    else:
        if reduction == RED_MEAN:
            args.scale = 1.0 / n if n else NAN
        args.total = out.ptr
        if blocks > 1:
            partial = scratch(index, blocks * sizeof(double), stream)
            args.partial = <double*>partial.data
    launch(kernel_of_loss(formula, dt), index, stream, <unsigned>blocks, 1, 1, AG_REDUCE_THREADS,
           1, 1, 0, &args, sizeof(args))
    if args.partial != NULL:
        join_sums(index, stream, args.partial, blocks, 1, args.scale, out.ptr, dt)
    if target is not out:
        copy_into(out, target, "loss")
    return 0


cdef inline int run_pair(Tensor out, int formula, Tensor a, Tensor b, Tensor weight,
                         Tensor pos_weight, double parameter, Py_ssize_t reduction,
                         const char* name) except -1:
    return run_loss(out, formula, (a, b, weight, pos_weight), a.nd, a.sizes, parameter, reduction,
                    name)


# --- losses ---------------------------------------------------------------------------------

cdef int mse_into(Tensor out, Tensor a, Tensor b, Py_ssize_t reduction) except -1:
    cdef Py_ssize_t[MAX_DIMS] sizes
    cdef int nd = broadcast_shape((a, b), sizes, "mse_loss")
    return run_loss(out, MSE, (a, b, None, None), nd, sizes, 0, reduction, "mse_loss")


cdef int l1_into(Tensor out, Tensor a, Tensor b, Py_ssize_t reduction) except -1:
    return run_pair(out, L1, a, b, None, None, 0, reduction, "l1_loss")


cdef int smooth_l1_into(Tensor out, Tensor a, Tensor b, double beta,
                        Py_ssize_t reduction) except -1:
    return run_pair(out, SMOOTH_L1, a, b, None, None, beta, reduction, "smooth_l1_loss")


cdef int huber_into(Tensor out, Tensor a, Tensor b, double delta, Py_ssize_t reduction) except -1:
    return run_pair(out, HUBER, a, b, None, None, delta, reduction, "huber_loss")


cdef int cross_entropy_into(Tensor out, Tensor a, Tensor b, Tensor weight,
                            Py_ssize_t reduction) except -1:
    return run_pair(out, CROSS_ENTROPY, a, b, weight, None, 0, reduction,
                    "binary_cross_entropy")


cdef int logit_cross_entropy_into(Tensor out, Tensor a, Tensor b, Tensor weight, Tensor pos_weight,
                                  Py_ssize_t reduction) except -1:
    return run_pair(out, LOGITS if pos_weight is None else WEIGHTED_LOGITS, a, b, weight,
                    pos_weight, 0, reduction, "binary_cross_entropy_with_logits")


cdef int kl_div_into(Tensor out, Tensor a, Tensor b, Py_ssize_t reduction,
                     bint log_target) except -1:
    return run_pair(out, KL_DIV_LOG if log_target else KL_DIV, a, b, None, None, 0, reduction,
                    "kl_div")


cdef int soft_margin_into(Tensor out, Tensor a, Tensor b, Py_ssize_t reduction) except -1:
    return run_pair(out, SOFT_MARGIN, a, b, None, None, 0, reduction, "soft_margin_loss")


# --- the column of the device -----------------------------------------------------------------

cdef const char* PAIRS = "int (Tensor, Tensor, Tensor, Py_ssize_t)"
cdef const char* PARAMETER = "int (Tensor, Tensor, Tensor, double, Py_ssize_t)"

KERNELS = {
    "_mse_loss": PyCapsule_New(<void*>mse_into, PAIRS, NULL),
    "_l1_loss": PyCapsule_New(<void*>l1_into, PAIRS, NULL),
    "_smooth_l1_loss": PyCapsule_New(<void*>smooth_l1_into, PARAMETER, NULL),
    "_huber_loss": PyCapsule_New(<void*>huber_into, PARAMETER, NULL),
    "_binary_cross_entropy": PyCapsule_New(
        <void*>cross_entropy_into, "int (Tensor, Tensor, Tensor, Tensor, Py_ssize_t)", NULL),
    "_logit_cross_entropy": PyCapsule_New(
        <void*>logit_cross_entropy_into,
        "int (Tensor, Tensor, Tensor, Tensor, Tensor, Py_ssize_t)", NULL),
    "_kl_div": PyCapsule_New(
        <void*>kl_div_into, "int (Tensor, Tensor, Tensor, Py_ssize_t, bint)", NULL),
    "_soft_margin_loss": PyCapsule_New(<void*>soft_margin_into, PAIRS, NULL),
}
