# cython: language_level=3
"""Products of vectors and matrices on CUDA devices: by cuBLAS, or by kernels of our own.

All are c = alpha * a @ b + beta * add, of any strides. cuBLAS takes matrices with a unit stride
as they are, transposed, conjugated and in batches; others are packed before. It makes neither
integers nor vectors: kernels of device/products.cuh do, and everything where there is no cuBLAS.
They take all strides, and what is added, in one launch.
"""
from cpython.pycapsule cimport PyCapsule_New
from libc.limits cimport INT_MAX
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset
from autograd_cy._C.cuda_blas cimport (
    BLAS_CONJUGATED, BLAS_PLAIN, BLAS_TURNED, BlasCall, blas_call, use_blas)
from autograd_cy._C.cuda_copies cimport copy as copy_on_device
from autograd_cy._C.cuda_driver cimport multiprocessors
from autograd_cy._C.cuda_launch cimport kernel_id, launch
from autograd_cy._C.cuda_memory cimport Scratch, dense_like, scratch
from autograd_cy._C.devices cimport current_stream
from autograd_cy._C.dtypes cimport (
    DTYPES, DT_F32, DT_I64, DT_SIZE, dt_is_complex, dt_is_integral)
from autograd_cy._C.halves cimport is_half
from autograd_cy._C.iterate cimport contiguous, copy_into, ew2, expand_plain, resolved, to_device
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.rules_products cimport broadcasts
from autograd_cy._C.storage cimport device_index
from autograd_cy._C.tensor cimport (
    F_CONJ, F_DEVICE, F_NEG, Tensor, element_value, tensor_empty_on, tensor_turned, tensor_window)

__all__ = ["KERNELS"]

cdef extern from "device/product_arguments.h" nogil:
    ctypedef struct ag_vector_args:
        void* c
        void* partial
        const void* a
        const void* b
        const void* add
        ag_cell alpha, beta
        int64_t m, k, chunk, parts
        int64_t a_row, a_inner, b_inner, c_row, add_row
        uint64_t conjugated

cdef int K_ADD = kernel_number("add")
cdef int K_MUL = kernel_number("mul")

cdef enum:
    LEFT = 1                   # bits of `conjugated`
    RIGHT = 2
    THREADS = 256              # of all blocks; AG_PRODUCT_THREADS
    SMALL_TILE = 64
    LARGE_TILE = 128
    ROWS_OF_GRID = 1 << 30     # of a matrix times a vector in one launch
    ENOUGH_BLOCKS = 528        # the inner dimension of fewer is split; the same on all devices
    LEAST_CHUNK = 2048         # elements of the inner dimension for each part

cdef Py_ssize_t matrices_of_grid = 65535      # of a batch in one launch


def _set_matrices_of_grid(Py_ssize_t n):
    """Let fewer be a launch's, so that a test needn't run thousands; gives what it was."""
    global matrices_of_grid
    before, matrices_of_grid = matrices_of_grid, n
    return before


# --- kernels by dtype -----------------------------------------------------------------------

cdef enum:
    KERNEL_SMALL, KERNEL_LARGE, KERNEL_ROWS, KERNEL_COLUMNS, KERNEL_FINISH, KERNEL_KINDS

cdef int ids[5][DTYPES]
memset(ids, 0xff, sizeof(ids))     # -1: not looked up yet
_NAMES = ("product", "product_large", "vector_rows", "vector_columns", "vector_finish")
include "cuda_types.pxi"

_IMAGES = {"b": "integers", "i": "integers", "u": "integers", "h": "halves", "f": "floats",
           "c": "complex"}


cdef int kernel(int kind, int dt) except -1:
    if ids[kind][dt] < 0:
        ids[kind][dt] = kernel_id(
            f"products_{_IMAGES[LETTERS[dt]]}", f"{_NAMES[kind]}_{SUFFIXES[dt]}")
    return ids[kind][dt]


cdef Py_ssize_t computed_size(int dt) noexcept:
    """Bytes of a number that sums are made in."""
    return 4 if is_half(dt) or dt < DT_I64 else DT_SIZE[dt]


# --- a product ------------------------------------------------------------------------------

cdef int begin_product(Product* t, const char* op, Tensor out, Py_ssize_t m, Py_ssize_t n,
                       Py_ssize_t k) except -1:
    """A single product without factors."""
    memset(t, 0, sizeof(Product))
    t.op = op
    t.dt = out.dt
    t.index = device_index(out.mem.device)
    t.stream = current_stream(out.mem.device)
    t.batch = 1
    t.args.c = out.ptr
    t.args.m, t.args.n, t.args.k, t.args.outer = m, n, k, 1
    set_factor(t, &t.args.alpha, 1, 0)
    return 0


cdef int set_factor(Product* t, ag_cell* cell, object real, double imag) except -1:
    cdef double x
    cdef int64_t whole
    if dt_is_integral(t.dt):
        whole = int(real)
        memcpy(&cell.word[0], &whole, 8)
        return 0
    x = real
    memcpy(&cell.word[0], &x, 8)
    memcpy(&cell.word[1], &imag, 8)
    return 0


cdef inline double part_of(const ag_cell* cell, int i) noexcept:
    cdef double x
    memcpy(&x, &cell.word[i], 8)
    return x


cdef inline bint is_zero(Product* t, const ag_cell* cell) noexcept:
    if dt_is_integral(t.dt):
        return cell.word[0] == 0
    return part_of(cell, 0) == 0 and part_of(cell, 1) == 0


cdef Tensor left(Product* t, Tensor a, int first):
    """Let `a`, whose matrix is in dimensions first, first + 1, be the left operand."""
    a = operand_of(t, a, LEFT)
    t.args.a = a.ptr
    t.args.a_row, t.args.a_inner = a.strides[first], a.strides[first + 1]
    return a


cdef Tensor right(Product* t, Tensor b, int first):
    b = operand_of(t, b, RIGHT)
    t.args.b = b.ptr
    t.args.b_inner, t.args.b_column = b.strides[first], b.strides[first + 1]
    return b


cdef Tensor right_vector(Product* t, Tensor v):
    v = operand_of(t, v, RIGHT)
    t.args.b = v.ptr
    t.args.b_inner = v.strides[0]
    return v


cdef Tensor operand_of(Product* t, Tensor x, int bit):
    """An operand whose values are in memory, or their conjugates, which is noted."""
    if x.flags & F_NEG:
        return resolved(x)
    if x.flags & F_CONJ:
        t.args.conjugated |= bit
        return tensor_turned(x, F_CONJ)
    return x


# --- by our kernels -------------------------------------------------------------------------

cdef int by_tiles(Product* t) except -1:
    cdef ag_product_args args = t.args
    cdef Py_ssize_t tile = LARGE_TILE, first, item = DT_SIZE[t.dt], blocks
    cdef int kind = KERNEL_LARGE
    blocks = tiles(args.m, LARGE_TILE) * tiles(args.n, LARGE_TILE) * t.batch
    # Small tiles keep more multiprocessors busy; a sum is the same in either.
    if not (is_half(t.dt) or t.dt == DT_F32) or (
            args.m <= SMALL_TILE or args.n <= SMALL_TILE or blocks < multiprocessors(t.index)):
        tile, kind = SMALL_TILE, KERNEL_SMALL
    blocks = tiles(args.m, tile) * tiles(args.n, tile)
    for first in range(0, t.batch, matrices_of_grid):
        launch(kernel(kind, t.dt), t.index, t.stream, <unsigned>blocks, 1,
               <unsigned>min(t.batch - first, matrices_of_grid), THREADS, 1, 1, 0, &args,
               sizeof(args))
        args.c = <char*>args.c + matrices_of_grid * args.c_batch * item
        args.a = <char*>args.a + matrices_of_grid * args.a_batch * item
        args.b = <char*>args.b + matrices_of_grid * args.b_batch * item
        if args.add != NULL:
            args.add = <char*>args.add + matrices_of_grid * args.add_batch * item
    return 0


cdef inline Py_ssize_t tiles(Py_ssize_t n, Py_ssize_t size) noexcept:
    return (n + size - 1) // size


cdef int by_vectors(Product* t) except -1:
    """A matrix times a column, or a row times a matrix."""
    cdef ag_product_args* p = &t.args
    cdef ag_vector_args v
    cdef Py_ssize_t first, rows, item = DT_SIZE[t.dt]
    v.alpha, v.beta = p.alpha, p.beta
    v.partial = NULL
    v.k = p.k
    v.add = p.add
    v.c = p.c
    v.conjugated = p.conjugated
    if p.n == 1:
        v.a, v.b = p.a, p.b
        rows = p.m
        v.a_row, v.a_inner, v.b_inner = p.a_row, p.a_inner, p.b_inner
        v.c_row, v.add_row = p.c_row, p.add_row
    else:
        v.a, v.b = p.b, p.a
        rows = p.n
        v.a_row, v.a_inner, v.b_inner = p.b_column, p.b_inner, p.a_inner
        v.c_row, v.add_row = p.c_column, p.add_column
        v.conjugated = (p.conjugated & LEFT) << 1 | (p.conjugated & RIGHT) >> 1
    for first in range(0, rows, ROWS_OF_GRID):
        v.m = min(rows - first, <Py_ssize_t>ROWS_OF_GRID)
        rows_by_vector(t, &v)
        v.c = <char*>v.c + ROWS_OF_GRID * v.c_row * item
        v.a = <char*>v.a + ROWS_OF_GRID * v.a_row * item
        if v.add != NULL:
            v.add = <char*>v.add + ROWS_OF_GRID * v.add_row * item
    return 0


cdef int rows_by_vector(Product* t, ag_vector_args* v) except -1:
    """Threads take what lies side by side: along the rows, or one for each."""
    cdef bint along = v.a_inner == 1 or v.a_row != 1 or v.m == 1
    cdef unsigned wide = 32, high = THREADS // 32
    cdef Py_ssize_t blocks
    cdef Scratch partial = None
    if not along:
        wide, high = THREADS, 1
        blocks = tiles(v.m, THREADS)
    elif v.k <= 1024:
        blocks = tiles(v.m, high)
    else:
        wide, high = THREADS, 1
        blocks = v.m
    v.parts, v.chunk = 1, max(v.k, <int64_t>1)
    if blocks < ENOUGH_BLOCKS and v.k >= 2 * LEAST_CHUNK:
        v.chunk = max(tiles(v.k, tiles(ENOUGH_BLOCKS, blocks)), <Py_ssize_t>LEAST_CHUNK)
        v.parts = tiles(v.k, v.chunk)
        partial = scratch(t.index, v.parts * v.m * computed_size(t.dt), t.stream)
        v.partial = partial.data
    launch(kernel(KERNEL_ROWS if along else KERNEL_COLUMNS, t.dt), t.index, t.stream,
           <unsigned>blocks, <unsigned>v.parts, 1, wide, high, 1, 0, v, sizeof(ag_vector_args))
    if v.parts > 1:
        launch(kernel(KERNEL_FINISH, t.dt), t.index, t.stream, <unsigned>tiles(v.m, 8), 1, 1, 32, 8,
               1, 0, v, sizeof(ag_vector_args))
    return 0


# --- by cuBLAS ------------------------------------------------------------------------------

cdef bint blas_layout(Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t row, Py_ssize_t column,
                      bint conjugated, int* turn, int* ld) noexcept:
    """Find how cuBLAS, to which rows are columns, can read a matrix without a copy; False if it
    can't.

    What it reads in place of rows is transposed here, and only that can be conjugated.
    """
    cdef Py_ssize_t apart
    if not conjugated and (column == 1 or columns == 1) and (row >= columns or rows == 1):
        turn[0] = BLAS_PLAIN
        apart = max(row if rows != 1 else columns, columns)
    elif (row == 1 or rows == 1) and (column >= rows or columns == 1):
        turn[0] = BLAS_CONJUGATED if conjugated else BLAS_TURNED
        apart = max(column if columns != 1 else rows, rows)
    else:
        return False
    ld[0] = <int>max(apart, <Py_ssize_t>1)
    return apart <= INT_MAX


cdef Tensor in_order(Tensor t, const void* p, Py_ssize_t batch, Py_ssize_t step, Py_ssize_t rows,
                     Py_ssize_t columns, Py_ssize_t row, Py_ssize_t column, bint conjugated):
    """A copy in C order of the matrices of an operand, or of the one that stands for a batch."""
    cdef Py_ssize_t[3] sizes
    cdef Py_ssize_t[3] strides
    cdef Tensor window
    sizes[0], sizes[1], sizes[2] = (1 if step == 0 else batch), rows, columns
    strides[0], strides[1], strides[2] = step, row, column
    window = tensor_window(t, 3, sizes, strides, (<char*>p - t.ptr) // DT_SIZE[t.dt])
    if conjugated:
        window = tensor_turned(window, F_CONJ)
    return contiguous(window)


cdef int swap(Product* t) noexcept:
    """The transposed product: c.T = b.T @ a.T."""
    cdef ag_product_args p = t.args
    cdef ag_product_args* to = &t.args
    to.a, to.b = p.b, p.a
    to.m, to.n = p.n, p.m
    to.a_row, to.a_inner, to.a_batch = p.b_column, p.b_inner, p.b_batch
    to.b_inner, to.b_column, to.b_batch = p.a_inner, p.a_row, p.a_batch
    to.c_row, to.c_column = p.c_column, p.c_row
    to.add_row, to.add_column = p.add_column, p.add_row
    to.conjugated = (p.conjugated & LEFT) << 1 | (p.conjugated & RIGHT) >> 1
    return 0


cdef int by_blas(Product* t, Tensor out, Tensor a, Tensor b, Tensor add) except -1:
    """0: done; 1: cuBLAS can't, and nothing was changed but `c`, which has what is added."""
    cdef BlasCall call
    cdef ag_product_args* p = &t.args
    cdef ag_product_args args_before = t.args
    cdef int turn_c = 0, done
    cdef Tensor target = out, packed_a, packed_b
    cdef Py_ssize_t[3] sizes
    cdef bint fits_int = p.m <= INT_MAX and p.n <= INT_MAX and p.k <= INT_MAX
    if not fits_int:
        return 1
    # Overlapping batches, or a c of other strides, are made in memory of their own.
    if not blas_layout(p.m, p.n, p.c_row, p.c_column, False, &turn_c, &call.ldc):
        sizes[0], sizes[1], sizes[2] = t.batch, p.m, p.n
        target = tensor_empty_on(out.mem.device, t.dt, 3, sizes, NULL)
        p.c = target.ptr
        p.c_row, p.c_column, p.c_batch = p.n, 1, p.m * p.n
        if add is not None:
            add_to(t, target, add)
        done = by_blas(t, target, a, b, None)
        if done == 0:
            write_back(&args_before, t.batch, out, target)
        t.args = args_before
        return done
    if add is not None:
        add_to(t, out, add)
    if turn_c != BLAS_PLAIN:
        swap(t)
        a, b = b, a
    # Rows are columns there, so that the product is c.T = b.T @ a.T, and b comes first.
    if not blas_layout(p.k, p.n, p.b_inner, p.b_column, p.conjugated & RIGHT, &call.turn_a,
                       &call.lda):
        packed_b = in_order(b, p.b, t.batch, p.b_batch, p.k, p.n, p.b_inner, p.b_column,
                            p.conjugated & RIGHT)
        p.b = packed_b.ptr
        p.b_batch = 0 if p.b_batch == 0 else p.k * p.n
        call.turn_a, call.lda = BLAS_PLAIN, <int>p.n
    if not blas_layout(p.m, p.k, p.a_row, p.a_inner, p.conjugated & LEFT, &call.turn_b, &call.ldb):
        packed_a = in_order(a, p.a, t.batch, p.a_batch, p.m, p.k, p.a_row, p.a_inner,
                            p.conjugated & LEFT)
        p.a = packed_a.ptr
        p.a_batch = 0 if p.a_batch == 0 else p.m * p.k
        call.turn_b, call.ldb = BLAS_PLAIN, <int>p.k
    call.op, call.dt, call.batch, call.wide = t.op, t.dt, t.batch, t.wide
    call.m, call.n, call.k = <int>p.n, <int>p.m, <int>p.k
    call.a, call.b, call.c = p.b, p.a, p.c
    call.step_a, call.step_b, call.step_c = p.b_batch, p.a_batch, p.c_batch
    call.alpha[0], call.alpha[1] = part_of(&p.alpha, 0), part_of(&p.alpha, 1)
    call.beta[0], call.beta[1] = part_of(&p.beta, 0), part_of(&p.beta, 1)
    done = blas_call(&call, t.index, t.stream)
    t.args = args_before
    return done


cdef int add_to(Product* t, Tensor c, Tensor add) except -1:
    """Put what is added where cuBLAS adds to, unless it is there."""
    cdef ag_product_args* p = &t.args
    cdef Py_ssize_t[3] sizes
    if p.add == p.c and p.c_row == p.add_row and p.c_column == p.add_column and (
            p.c_batch == p.add_batch):
        return 0
    sizes[0], sizes[1], sizes[2] = t.batch, p.m, p.n
    return copy_on_device(window_of(c, p.c, sizes, p.c_batch, p.c_row, p.c_column),
                          window_of(add, p.add, sizes, p.add_batch, p.add_row, p.add_column),
                          False, t.stream)


cdef Tensor window_of(Tensor t, const void* p, const Py_ssize_t* sizes, Py_ssize_t step,
                      Py_ssize_t row, Py_ssize_t column):
    cdef Py_ssize_t[3] strides
    strides[0], strides[1], strides[2] = step, row, column
    return tensor_window(t, 3, sizes, strides, (<char*>p - t.ptr) // DT_SIZE[t.dt])


cdef int write_back(
        const ag_product_args* p, Py_ssize_t batch, Tensor out, Tensor source) except -1:
    cdef Py_ssize_t[3] sizes
    sizes[0], sizes[1], sizes[2] = batch, p.m, p.n
    return copy_on_device(window_of(out, p.c, sizes, p.c_batch, p.c_row, p.c_column), source, False,
                          current_stream(out.mem.device))


# --- which of them --------------------------------------------------------------------------

cdef int launch_product(Product* t, Tensor out, Tensor a, Tensor b, Tensor add=None,
                        bint vector=False) except -1:
    """Put the product on the stream. The tensors are those that the addresses belong to."""
    cdef ag_product_args* p = &t.args
    if p.m == 0 or p.n == 0 or t.batch == 0:
        return 0
    # A factor of 0: nobody looks at the operands, but in half types, as on the CPU.
    if not is_half(t.dt) and is_zero(t, &p.alpha):
        p.k = 0
    if not vector and p.k > 0 and p.outer == 1 and not is_zero(t, &p.alpha) and use_blas(t.dt):
        if by_blas(t, out, a, b, add) == 0:
            return 0
    if (p.n == 1 or p.m == 1) and t.batch == 1 and p.outer == 1:
        return by_vectors(t)
    return by_tiles(t)


cdef inline void result_matrix(Product* t, Tensor out, int first) noexcept:
    t.args.c_row, t.args.c_column = out.strides[first], out.strides[first + 1]


cdef int mm(Tensor out, Tensor a, Tensor b) except -1:
    cdef Product t
    begin_product(&t, b"mm", out, a.sizes[0], b.sizes[1], a.sizes[1])
    result_matrix(&t, out, 0)
    a = left(&t, a, 0)
    b = right(&t, b, 0)
    return launch_product(&t, out, a, b)


cdef Tensor left_batch(Product* t, Tensor a):
    a = left(t, a, 1)
    t.args.a_batch = a.strides[0]
    return a


cdef Tensor right_batch(Product* t, Tensor b):
    b = right(t, b, 1)
    t.args.b_batch = b.strides[0]
    return b


cdef int bmm(Tensor out, Tensor a, Tensor b) except -1:
    cdef Product t
    begin_product(&t, b"bmm", out, a.sizes[1], b.sizes[2], a.sizes[2])
    t.batch = a.sizes[0]
    result_matrix(&t, out, 1)
    t.args.c_batch = out.strides[0]
    a = left_batch(&t, a)
    b = right_batch(&t, b)
    return launch_product(&t, out, a, b)


cdef int dot(Tensor out, Tensor a, Tensor b) except -1:
    cdef Product t
    begin_product(&t, b"dot", out, 1, 1, a.count)
    a = operand_of(&t, a, LEFT)
    t.args.a = a.ptr
    t.args.a_inner = a.strides[0]
    b = right_vector(&t, b)
    return launch_product(&t, out, a, b, None, True)


cdef int vdot(Tensor out, Tensor a, Tensor b) except -1:
    cdef Product t
    begin_product(&t, b"vdot", out, 1, 1, a.count)
    a = operand_of(&t, a, LEFT)
    if dt_is_complex(a.dt):
        t.args.conjugated ^= LEFT
    t.args.a = a.ptr
    t.args.a_inner = a.strides[0]
    b = right_vector(&t, b)
    return launch_product(&t, out, a, b, None, True)


cdef int mv(Tensor out, Tensor a, Tensor b) except -1:
    cdef Product t
    begin_product(&t, b"mv", out, a.sizes[0], 1, a.sizes[1])
    t.args.c_row = out.strides[0]
    a = left(&t, a, 0)
    b = right_vector(&t, b)
    return launch_product(&t, out, a, b, None, True)


cdef int multiply(const char* op, int dt, int device, bint turn_a, bint turn_b, Py_ssize_t m,
                  Py_ssize_t n, Py_ssize_t k, const void* a, Py_ssize_t lda, const void* b,
                  Py_ssize_t ldb, bint add, void* c, Py_ssize_t ldc) except -1:
    cdef Product t
    cdef ag_product_args* p = &t.args
    memset(&t, 0, sizeof(Product))
    t.op, t.dt, t.batch = op, dt, 1
    t.index = device_index(device)
    t.stream = current_stream(device)
    p.a, p.b, p.c = a, b, c
    p.m, p.n, p.k, p.outer = m, n, k, 1
    p.a_row, p.a_inner = 1 if turn_a else lda, lda if turn_a else 1
    p.b_inner, p.b_column = 1 if turn_b else ldb, ldb if turn_b else 1
    p.c_row, p.c_column = ldc, 1
    set_factor(&t, &p.alpha, 1, 0)
    if add:
        set_factor(&t, &p.beta, 1, 0)
        p.add, p.add_row, p.add_column = c, ldc, 1
    # cuBLAS reads all of these as they are, and so makes no copy, for which it would take tensors.
    if max(m, n, k, lda, ldb, ldc) > INT_MAX:
        return 0 if m == 0 or n == 0 else by_tiles(&t)
    return launch_product(&t, None, None, None)


# --- products with sums ---------------------------------------------------------------------

cdef bint read_factor(Product* t, Tensor factor, ag_cell* cell) except -1:
    """Return whether it is a number on the host, which is then stored."""
    if factor.flags & F_DEVICE:
        return False
    value = element_value(factor.ptr, factor.dt)
    if isinstance(value, complex):
        if value.imag != 0 and not dt_is_complex(t.dt):
            return False
        set_factor(t, cell, value.real, value.imag)
    else:
        set_factor(t, cell, value, 0)
    return True


cdef int add_product(Product* t, Tensor out, Tensor c, Tensor a, Tensor b, Tensor beta,
                     Tensor alpha, str op, bint vector=False) except -1:
    """out = beta * c + alpha * a @ b; c may be out. Where beta is 0, nobody looks at c."""
    cdef Tensor r
    if read_factor(t, beta, &t.args.beta) and read_factor(t, alpha, &t.args.alpha):
        if is_zero(t, &t.args.beta):
            return launch_product(t, out, a, b, None, vector)
        c = resolved(to_device(c, out.mem.device))
        c = expand_plain(c, out.nd, out.sizes, op)
        t.args.add = c.ptr
        set_add(t, c, vector)
        return launch_product(t, out, a, b, c, vector)
    # A factor that is on the device: elementwise kernels read it there.
    set_factor(t, &t.args.alpha, 1, 0)
    set_factor(t, &t.args.beta, 0, 0)
    r = dense_like(out)
    t.args.c = r.ptr
    t.args.c_batch = r.strides[0] if r.nd == 3 else 0
    if vector:
        t.args.c_row = r.strides[0]
    else:
        result_matrix(t, r, r.nd - 2)
    launch_product(t, r, a, b, None, vector)
    r = ew2(K_MUL, r, alpha, 0, None, op)
    ew2(K_ADD, r, ew2(K_MUL, c, beta, 0, None, op), 0, out, op)
    return 0


cdef int set_add(Product* t, Tensor c, bint vector) except -1:
    if vector:
        t.args.add_row = c.strides[0]
        return 0
    t.args.add_row, t.args.add_column = c.strides[c.nd - 2], c.strides[c.nd - 1]
    t.args.add_batch = c.strides[0] if c.nd == 3 else 0
    return 0


cdef int addmm(Tensor out, Tensor c, Tensor a, Tensor b, Tensor beta, Tensor alpha) except -1:
    cdef Product t
    begin_product(&t, b"addmm", out, a.sizes[0], b.sizes[1], a.sizes[1])
    result_matrix(&t, out, 0)
    a = left(&t, a, 0)
    b = right(&t, b, 0)
    return add_product(&t, out, c, a, b, beta, alpha, "addmm")


cdef int baddbmm(Tensor out, Tensor c, Tensor a, Tensor b, Tensor beta, Tensor alpha) except -1:
    cdef Product t
    begin_product(&t, b"baddbmm", out, a.sizes[1], b.sizes[2], a.sizes[2])
    t.batch = a.sizes[0]
    result_matrix(&t, out, 1)
    t.args.c_batch = out.strides[0]
    a = left_batch(&t, a)
    b = right_batch(&t, b)
    return add_product(&t, out, c, a, b, beta, alpha, "baddbmm")


cdef int addmv(Tensor out, Tensor c, Tensor a, Tensor b, Tensor beta, Tensor alpha) except -1:
    cdef Product t
    begin_product(&t, b"addmv", out, a.sizes[0], 1, a.sizes[1])
    t.args.c_row = out.strides[0]
    a = left(&t, a, 0)
    b = right_vector(&t, b)
    return add_product(&t, out, c, a, b, beta, alpha, "addmv", True)


cdef int addbmm(Tensor out, Tensor c, Tensor a, Tensor b, Tensor beta, Tensor alpha) except -1:
    """The sum of the products is one product: of all matrices side by side, and one below the
    other. Our kernel takes them where they lie."""
    cdef Product t
    cdef Py_ssize_t[3] sizes
    cdef Py_ssize_t[3] strides
    cdef Py_ssize_t batch = a.sizes[0], k = a.sizes[2]
    begin_product(&t, b"addbmm", out, out.sizes[0], out.sizes[1], k)
    result_matrix(&t, out, 0)
    if batch and use_blas(t.dt):
        a, b = resolved(a), resolved(b)
        if a.strides[0] != k * a.strides[2]:
            sizes[0], sizes[1], sizes[2] = a.sizes[1], batch, k
            strides[0], strides[1], strides[2] = a.strides[1], a.strides[0], a.strides[2]
            a = contiguous(tensor_window(a, 3, sizes, strides, 0))
            t.args.a, t.args.a_row, t.args.a_inner = a.ptr, a.strides[0], 1
        else:
            t.args.a, t.args.a_row, t.args.a_inner = a.ptr, a.strides[1], a.strides[2]
        if b.strides[0] != k * b.strides[1]:
            b = contiguous(b)
        t.args.b, t.args.b_inner, t.args.b_column = b.ptr, b.strides[1], b.strides[2]
        t.args.k = batch * k
    else:
        a = left_batch(&t, a)
        b = right_batch(&t, b)
        t.args.outer = batch
        t.args.a_outer, t.args.b_outer = t.args.a_batch, t.args.b_batch
        t.args.a_batch = t.args.b_batch = 0
        if batch == 0:
            t.args.k = 0
    return add_product(&t, out, c, a, b, beta, alpha, "addbmm")


# --- linear ---------------------------------------------------------------------------------

cdef bint find_rows(Tensor x, int nd, Py_ssize_t* rows, Py_ssize_t* apart) noexcept:
    """Count the rows of the first `nd` dimensions, and find the stride between them, if it is
    one."""
    cdef int d
    rows[0], apart[0] = 1, 0
    for d in range(nd - 1, -1, -1):
        if x.sizes[d] == 1:
            continue
        if rows[0] == 1:
            apart[0] = x.strides[d]
        elif x.strides[d] != rows[0] * apart[0]:
            return False
        rows[0] *= x.sizes[d]
    return True


cdef int linear(Tensor out, Tensor x, Tensor weight, Tensor bias) except -1:
    cdef Product t
    cdef Py_ssize_t rows = 0, apart = 0, apart_out = 0
    cdef bint vector = weight.nd == 1
    cdef Tensor target = out
    if out.count == 0:
        return 0
    if bias is not None:
        bias = resolved(to_device(bias, out.mem.device))
    if not find_rows(x, x.nd - 1, &rows, &apart):
        x = contiguous(x)
        find_rows(x, x.nd - 1, &rows, &apart)
    if not find_rows(out, x.nd - 1, &rows, &apart_out):
        target = dense_like(out)
        find_rows(target, x.nd - 1, &rows, &apart_out)
    begin_product(&t, b"linear", target, rows, 1 if vector else weight.sizes[0], x.sizes[x.nd - 1])
    x = operand_of(&t, x, LEFT)
    t.args.a, t.args.a_row, t.args.a_inner = x.ptr, apart, x.strides[x.nd - 1]
    t.args.c_row = apart_out
    weight = operand_of(&t, weight, RIGHT)
    t.args.b = weight.ptr
    t.args.b_inner = weight.strides[weight.nd - 1]
    if not vector:
        t.args.b_column = weight.strides[0]
        t.args.c_column = target.strides[target.nd - 1]
    if bias is not None:
        bias = bias_rows(&t, target, bias, x.nd - 1)
        set_factor(&t, &t.args.beta, 1, 0)
    launch_product(&t, target, x, weight, bias, vector)
    if target is not out:
        copy_into(out, target, "linear")
    return 0


cdef Tensor bias_rows(Product* t, Tensor out, Tensor bias, int nd):
    """Return the tensor to add to the rows of all results, and set its address and strides."""
    cdef Py_ssize_t[2] sizes
    cdef Py_ssize_t rows = 0, apart = 0
    if bias.count == 1:         # one for all outputs
        t.args.add = bias.ptr
        return bias
    if bias.nd > 1 and broadcasts(bias.nd, bias.sizes, out.nd, out.sizes):
        bias = expand_plain(bias, out.nd, out.sizes, "linear")
        if not find_rows(bias, nd, &rows, &apart):
            bias = contiguous(bias)
            find_rows(bias, nd, &rows, &apart)
        t.args.add, t.args.add_row, t.args.add_column = bias.ptr, apart, bias.strides[nd]
        return bias
    sizes[0], sizes[1] = t.args.m, t.args.n
    bias = expand_plain(bias, 2, sizes, "linear")
    t.args.add, t.args.add_row, t.args.add_column = bias.ptr, bias.strides[0], bias.strides[1]
    return bias


# --- the table ------------------------------------------------------------------------------

cdef const char* TWO = "int (Tensor, Tensor, Tensor)"
cdef const char* LINEAR = "int (Tensor, Tensor, Tensor, Tensor)"
cdef const char* SUMS = "int (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)"

KERNELS = {
    "mm": PyCapsule_New(<void*>mm, TWO, NULL),
    "bmm": PyCapsule_New(<void*>bmm, TWO, NULL),
    "dot": PyCapsule_New(<void*>dot, TWO, NULL),
    "vdot": PyCapsule_New(<void*>vdot, TWO, NULL),
    "mv": PyCapsule_New(<void*>mv, TWO, NULL),
    "addmm": PyCapsule_New(<void*>addmm, SUMS, NULL),
    "baddbmm": PyCapsule_New(<void*>baddbmm, SUMS, NULL),
    "addmv": PyCapsule_New(<void*>addmv, SUMS, NULL),
    "addbmm": PyCapsule_New(<void*>addbmm, SUMS, NULL),
    "linear": PyCapsule_New(<void*>linear, LINEAR, NULL),
}
