# cython: language_level=3
# build: plain cold
"""Random numbers on CUDA devices: for a seed those of the CPU, bit for bit.

Key and position of a generator are on its device, where the kernels read them and move the position
on. Bad parameters are noted by the kernels, and raise at the next synchronisation.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from autograd_cy._C.cuda_calls cimport called
from autograd_cy._C.cuda_launch cimport blocks_for, kernel_id, launch
from autograd_cy._C.cuda_memory cimport Scratch, scratch
from autograd_cy._C.cuda_streams cimport fault_of
from autograd_cy._C.devices cimport current_stream, stream_t
from autograd_cy._C.dtypes cimport DT_F64, dt_is_complex, dt_real, dt_twin
from autograd_cy._C.iterate cimport (
    cast, clear, contiguous, copy_into, ew2, ew3, expand_plain, to_device, P_BOOL, P_SAME,
    P_SKIP_FIRST)
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.random_fills cimport largest_below
from autograd_cy._C.random_loops cimport (
    RANDOM_BERNOULLI, RANDOM_BERNOULLI_EACH, RANDOM_EXPONENTIAL, RANDOM_INTEGER, RANDOM_NORMAL,
    RANDOM_UNIFORM, chunk_elements)
from autograd_cy._C.sizes cimport parts
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport Tensor, scalar_value, wrap_double, wrap_int

cdef extern from "device/random_arguments.h" nogil:
    enum:
        AG_RANDOM_THREADS
        AG_PERMUTATION_THREADS
    ctypedef struct ag_random_args:
        void* out
        uint64_t* state
        const double* p
        double a, b, top
        uint64_t range
        int64_t base
        uint64_t n, chunks
        void* fault
        const char* op
        int32_t dt
    ctypedef struct ag_permutation_args:
        int64_t* out
        uint64_t* state
        uint64_t* claimed
        int64_t n
        uint64_t chunks
    ctypedef struct ag_parameters_args:
        const double* x
        uint64_t rows, columns
        void* fault
        const char* op

cdef int K_ADD = kernel_number("add")
cdef int K_GT = kernel_number("gt")
cdef int K_MUL = kernel_number("mul")
cdef int K_WHERE = kernel_number("where")

cdef enum:
    FEW = 4096             # elements that a small block permutes

# By kind, as in random_loops.pxd: kernels of float32 and below, and of float64.
cdef int[6][2] kernels
cdef int permute, check_widths, check_weights
for _kind, _floats, _doubles in (
        (RANDOM_UNIFORM, "uniform_floats", "uniform_doubles"),
        (RANDOM_NORMAL, "normal_floats", "normal_doubles"),
        (RANDOM_EXPONENTIAL, "exponential_floats", "exponential_doubles"),
        (RANDOM_BERNOULLI, "ones", "ones"), (RANDOM_BERNOULLI_EACH, "ones_each", "ones_each"),
        (RANDOM_INTEGER, "integers", "integers")):
    kernels[<int>_kind][0] = kernel_id("random", _floats)
    kernels[<int>_kind][1] = kernel_id("random", _doubles)
permute = kernel_id("random", "permutation")
check_widths = kernel_id("random", "check_widths")
check_weights = kernel_id("random", "check_weights")


cdef int run_fill(int kind, ag_random_args* args, Tensor out, Tensor state,
                  const char* name) except -1:
    """Fill `out`, which is in C order."""
    cdef int device = out.mem.device, index = device_index(device)
    args.dt = dt_twin(out.dt)
    args.n = out.count
    if dt_is_complex(out.dt):
        args.dt = dt_real(out.dt)
        args.n = 2 * <uint64_t>out.count
    if args.n == 0:
        return 0
    args.out = out.ptr
    args.state = <uint64_t*>state.ptr
    args.chunks = parts(<Py_ssize_t>args.n, chunk_elements(kind, args.dt))
    if kind == RANDOM_BERNOULLI_EACH:      # no other finds a bad value
        args.fault = <void*>fault_of(index)
        args.op = called(index, name)
    return launch(kernels[kind][args.dt == DT_F64], index, current_stream(device),
                  blocks_for(index, <Py_ssize_t>(16 * args.chunks), AG_RANDOM_THREADS), 1, 1,
                  AG_RANDOM_THREADS, 1, 1, 0, args, sizeof(ag_random_args))


cdef int uniform(Tensor out, double lo, double hi, Tensor state) except -1:
    cdef ag_random_args args
    memset(&args, 0, sizeof(args))
    args.a = lo
    args.b = hi - lo
    args.top = largest_below(hi, dt_real(out.dt)) if hi > lo else lo
    return run_fill(RANDOM_UNIFORM, &args, out, state, "uniform")


cdef int normal(Tensor out, double mean, double std, Tensor state) except -1:
    cdef ag_random_args args
    memset(&args, 0, sizeof(args))
    args.a = mean
    args.b = std
    if not dt_is_complex(out.dt):
        return run_fill(RANDOM_NORMAL, &args, out, state, "normal")
    # Half of the variance for each part; the mean goes to the real part.
    args.a = 0
    args.b = std * 0.70710678118654752
    run_fill(RANDOM_NORMAL, &args, out, state, "normal")
    if mean:
        ew2(K_ADD, out, cast(wrap_double(mean), out.dt), P_SAME, out, "normal_")
    return 0


cdef int exponential(Tensor out, double rate, Tensor state) except -1:
    cdef ag_random_args args
    memset(&args, 0, sizeof(args))
    args.a = 1.0 / rate
    return run_fill(RANDOM_EXPONENTIAL, &args, out, state, "exponential")


cdef int zeros_and(Tensor out, double one, double p, Tensor state) except -1:
    cdef ag_random_args args
    memset(&args, 0, sizeof(args))
    args.a = one
    args.range = <uint64_t>(p * 4294967296.0)
    return run_fill(RANDOM_BERNOULLI, &args, out, state, "bernoulli")


cdef int bernoulli(Tensor out, double p, Tensor state) except -1:
    return zeros_and(out, 1, p, state)


cdef inline Tensor doubles(Tensor p, Tensor out):
    return contiguous(cast(to_device(p, out.mem.device), DT_F64))


cdef int bernoulli_each(Tensor out, Tensor p, Tensor state) except -1:
    cdef ag_random_args args
    memset(&args, 0, sizeof(args))
    p = cast(to_device(p, out.mem.device), DT_F64)
    p = contiguous(expand_plain(p, out.nd, out.sizes, "bernoulli_"))
    args.p = <const double*>p.ptr
    return run_fill(RANDOM_BERNOULLI_EACH, &args, out, state, "bernoulli")


cdef int random(Tensor out, Py_ssize_t low, Py_ssize_t last, Tensor state) except -1:
    cdef ag_random_args args
    memset(&args, 0, sizeof(args))
    args.base = low
    args.range = <uint64_t>last - <uint64_t>low + 1
    return run_fill(RANDOM_INTEGER, &args, out, state, "random")


# --- around tensors -------------------------------------------------------------------------

cdef int look_at(int kernel, Tensor x, uint64_t rows, uint64_t columns, const char* name) except -1:
    """Let the device look at float64, in C order."""
    cdef ag_parameters_args args
    cdef int device = x.mem.device, index = device_index(device)
    cdef Py_ssize_t threads = x.count if kernel == check_widths else (
        <Py_ssize_t>rows * AG_RANDOM_THREADS)
    if x.count == 0:
        return 0
    args.x = <const double*>x.ptr
    args.rows, args.columns = rows, columns
    args.fault = <void*>fault_of(index)
    args.op = called(index, name)
    return launch(kernel, index, current_stream(device),
                  blocks_for(index, threads, AG_RANDOM_THREADS), 1, 1, AG_RANDOM_THREADS, 1, 1, 0,
                  &args, sizeof(args))


cdef int around(Tensor out, Tensor mean, Tensor std, Tensor state) except -1:
    cdef Tensor wide = doubles(std, out)
    look_at(check_widths, wide, wide.count, 1, "normal")
    normal(out, 0, 1, state)
    ew2(K_MUL, out, cast(std, out.dt), P_SAME, out, "normal")
    ew2(K_ADD, out, cast(mean, out.dt), P_SAME, out, "normal")
    return 0


cdef int normal_mean(Tensor out, Tensor mean, double std, Tensor state) except -1:
    normal(out, 0, std, state)
    ew2(K_ADD, out, cast(mean, out.dt), P_SAME, out, "normal")
    return 0


cdef int normal_std(Tensor out, double mean, Tensor std, Tensor state) except -1:
    return around(out, wrap_double(mean), std, state)


cdef int normal_both(Tensor out, Tensor mean, Tensor std, Tensor state) except -1:
    return around(out, mean, std, state)


cdef int weights(Tensor out, Tensor a) except -1:
    """Weights of categories in float64."""
    cdef uint64_t columns = max(out.sizes[out.nd - 1], 1) if out.nd else 1
    copy_into(out, a, "multinomial")
    if a.nd > 1 and a.sizes[a.nd - 1] == 0 and a.sizes[0] > 0:
        raise RuntimeError("multinomial: there is no category to draw from")
    if a.nd == 1 and a.count == 0:
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    return look_at(check_weights, out, <uint64_t>out.count // columns, columns, "multinomial")


# --- masks, slopes and permutations -----------------------------------------------------------

cdef int scaled_mask(Tensor out, double keep, Tensor state) except -1:
    if keep <= 0.0:
        return clear(out)
    return zeros_and(out, 1.0 / keep, keep, state)


cdef int rrelu_slopes(Tensor out, Tensor a, Tensor lower, Tensor upper, Tensor state) except -1:
    uniform(out, scalar_value(lower), scalar_value(upper), state)
    ew3(K_WHERE, ew2(K_GT, a, wrap_int(0), P_BOOL, None, "rrelu"), cast(wrap_int(1), out.dt), out,
        P_SKIP_FIRST, out, "rrelu")
    return 0


cdef int permutation(Tensor out, Tensor state) except -1:
    cdef ag_permutation_args args
    cdef int device = out.mem.device, index = device_index(device)
    cdef stream_t stream = current_stream(device)
    cdef Scratch claimed
    if out.count == 0:
        return 0
    claimed = scratch(index, 8 * out.count, stream)
    args.out = <int64_t*>out.ptr
    args.state = <uint64_t*>state.ptr
    args.claimed = <uint64_t*>claimed.data
    args.n = out.count
    args.chunks = parts(out.count, 32)
    return launch(permute, index, stream, 1, 1, 1,
                  AG_RANDOM_THREADS if out.count <= FEW else AG_PERMUTATION_THREADS, 1, 1, 0,
                  &args, sizeof(args))


# --- the column of the device -----------------------------------------------------------------

cdef const char* CHANCE = "int (Tensor, double, Tensor)"
cdef const char* BOUNDS = "int (Tensor, double, double, Tensor)"
cdef const char* EACH = "int (Tensor, Tensor, Tensor)"

KERNELS = {
    "_uniform": PyCapsule_New(<void*>uniform, BOUNDS, NULL),
    "_normal": PyCapsule_New(<void*>normal, BOUNDS, NULL),
    "_exponential": PyCapsule_New(<void*>exponential, CHANCE, NULL),
    "_bernoulli": PyCapsule_New(<void*>bernoulli, CHANCE, NULL),
    "_bernoulli_like": PyCapsule_New(<void*>bernoulli, CHANCE, NULL),
    "_bernoulli_each": PyCapsule_New(<void*>bernoulli_each, EACH, NULL),
    "_bernoulli_of": PyCapsule_New(<void*>bernoulli_each, EACH, NULL),
    "_random": PyCapsule_New(
        <void*>random, "int (Tensor, Py_ssize_t, Py_ssize_t, Tensor)", NULL),
    "_randperm": PyCapsule_New(<void*>permutation, "int (Tensor, Tensor)", NULL),
    "_normal_mean": PyCapsule_New(
        <void*>normal_mean, "int (Tensor, Tensor, double, Tensor)", NULL),
    "_normal_std": PyCapsule_New(<void*>normal_std, "int (Tensor, double, Tensor, Tensor)", NULL),
    "_normal_both": PyCapsule_New(
        <void*>normal_both, "int (Tensor, Tensor, Tensor, Tensor)", NULL),
    "_category_weights": PyCapsule_New(<void*>weights, "int (Tensor, Tensor)", NULL),
    "_dropout_mask": PyCapsule_New(<void*>scaled_mask, CHANCE, NULL),
    "_channel_mask": PyCapsule_New(<void*>bernoulli, CHANCE, NULL),
    "_element_mask": PyCapsule_New(<void*>bernoulli, CHANCE, NULL),
    "_rrelu_noise": PyCapsule_New(
        <void*>rrelu_slopes, "int (Tensor, Tensor, Tensor, Tensor, Tensor)", NULL),
}
