# cython: language_level=3
"""
Composites of the family pooling: records in autograd_cy/ops/pooling.py name them.

The functions of users, for any number `n` of dimensions: they check what was given, in torch's
words, and call the operators, which pool the last dimensions of any tensor.
"""
from autograd_cy._C.dtypes cimport dt_is_complex, dt_is_float, dt_scalar_name, DT_I64

from autograd_cy._C.devices cimport has_kernel
from autograd_cy._C.rules_pooling cimport pooled_size
from autograd_cy._C.tensor cimport (
    F_SLOW, M_NO_GRAD, Tensor, device_of, dims_of, normal_dim, requires_grad, sizes_of, tls_modes)
include "operators_of_pooling_composites.pxi"

cdef tuple COUNTS = ("", "one int", "two ints", "three ints")
cdef tuple AXES = ("", "W", "HW", "THW")


# --- arguments ------------------------------------------------------------------------------

cdef tuple for_each(object numbers, int n, str op, str name):
    """One number for each dimension; a single one stands for all."""
    cdef tuple x = <tuple>numbers
    cdef str omitted, words
    for value in x:
        if not -0x80000000 <= <Py_ssize_t>value < 0x80000000:
            raise RuntimeError(
                f"{op}: {name}: integer out of range: {value} does not fit in 32 bits")
    if len(x) == n:
        return x
    if len(x) == 1:
        return x * n
    if n == 1 and op == "max_pool1d":
        omitted = "None, " if name == "stride" else ""
        words = "tuple" if name in ("kernel_size", "dilation") else ", or tuple"
        raise RuntimeError(
            f"{op}() {name} must be {omitted}an int, list of ints{'' if words[0] == ',' else ' or'}"
            f"{words if words[0] == ',' else ' ' + words} of ints of size 1 but got size {len(x)}")
    if n == 1:
        raise RuntimeError(f"{op}() argument '{name}' should contain one int (got {len(x)})")
    omitted = "omitted, " if name == "stride" else ""
    words = "be either" if name == "dilation" else "be" if op == "avg_pool3d" else "either be"
    raise RuntimeError(
        f"{op}: {name} must {words} {omitted}a single int, or a tuple of {COUNTS[n]}")


cdef str by_axis(str name, tuple values):
    """"kH: 2 kW: 3", as torch names sizes of windows."""
    axes = "HW" if len(values) == 1 else AXES[len(values)]
    values = (1,) + values if len(values) == 1 else values
    return " ".join([f"{name}{axis}: {value}" for axis, value in zip(axes, values)])


cdef str join_words(Py_ssize_t planes, list sizes):
    return "x".join([str(x) for x in [planes, *([1] if len(sizes) == 1 else []), *sizes]])


cdef int refuse_dtype(Tensor a, str op) except -1:
    raise NotImplementedError(f"\"{op}\" not implemented for '{dt_scalar_name(a.dt)}'")


cdef int check_1d_max(Tensor a, tuple kernel, tuple stride, tuple padding, tuple dilation,
                      bint ceil_mode) except -1:
    cdef Py_ssize_t k = kernel[0], s = stride[0], p = padding[0], e = dilation[0], size
    if a.nd < 2 or a.nd > 3 or a.sizes[a.nd - 1] == 0 or a.sizes[a.nd - 2] == 0:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{list(sizes_of(a))}")
    for name, value in (("kernel_size", k), ("stride", s)):
        if value <= 0:
            raise RuntimeError(f"max_pool1d() {name} must be greater than zero, but got {value}")
    if p < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {p}")
    if p > k // 2:
        raise RuntimeError(
            "max_pool1d() padding should be at most half of kernel size, but got "
            f"padding={p} and kernel_size={k}")
    if e <= 0:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {e}")
    size = pooled_size(a.sizes[a.nd - 1], k, s, p, e, ceil_mode)
    if size <= 0:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {size}")
    return 0


cdef int check_windows(tuple kernel, tuple stride, tuple padding, tuple dilation) except -1:
    """Check the sizes, steps and paddings of windows."""
    cdef Py_ssize_t k, s, p, e
    cdef int d
    for d in range(<int>len(kernel)):
        k, s, p, e = kernel[d], stride[d], padding[d], dilation[d]
        if s == 0:
            raise RuntimeError("stride should not be zero")
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > ((k - 1) * e + 1) // 2 and k > 0 and e > 0:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, "
                f"kernel_size={k} and dilation={e}")
    for name, letter, values in (("kernel size", "k", kernel), ("stride", "d", stride),
                                 ("dilation", "dilation", dilation)):
        for value in <tuple>values:
            if value <= 0:
                raise RuntimeError(
                    f"{name} should be greater than zero, but got {by_axis(letter, values)}")
    return 0


cdef int check_pool(Tensor a, str op, tuple kernel, tuple stride, tuple padding, tuple dilation,
                    bint ceil_mode) except -1:
    """Windows, then the input's dimensions, then how many windows there are."""
    cdef int n = <int>len(kernel), d, first = a.nd - n - 1
    cdef bint average = op.startswith("avg"), positive = True, smaller = False
    cdef list small = [], large = []
    if a.nd < n + 1 or a.nd > n + 2:
        if n == 1:
            raise RuntimeError(
                f"Expected 2 to 3 dimensions, but got {a.nd}-dimensional tensor for argument #1 "
                f"'self' (while checking arguments for {op})")
        if average and n == 2 and a.nd < 3:
            normal_dim(-3, a.nd)
        if not average or n == 3:
            raise RuntimeError(
                f"non-empty {n + 1}D or {n + 2}D (batch mode) tensor expected for input")
    check_windows(kernel, stride, padding, dilation)
    for d in range(first if first > 0 else 0, a.nd):
        if a.sizes[d] == 0:
            positive = False
            break
    if not positive and n == 3:
        raise RuntimeError(
            f"{op}(): Expected input's non-batch dimensions to have positive length, but input "
            f"has a shape of {list(sizes_of(a))} and non-batch dimension {d - first} has length "
            "zero!")
    if not positive or a.nd > n + 2:
        raise RuntimeError(
            f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with optional 0 dim batch size "
            f"for input, but got:{list(sizes_of(a))}")
    positive = True
    for d in range(n):
        large.append(a.sizes[first + 1 + d])
        small.append(pooled_size(large[d], kernel[d], stride[d], padding[d], dilation[d],
                                 ceil_mode))
        positive = positive and small[d] > 0
        smaller = smaller or large[d] < kernel[d]
    if smaller and average and n == 3:
        raise RuntimeError(
            f"input image ({by_axis('', tuple(large))}) smaller than kernel size "
            f"({by_axis('k', kernel)})")
    if not positive:
        raise RuntimeError(
            f"Given input size: ({join_words(a.sizes[first], large)}). Calculated output size: "
            f"({join_words(a.sizes[first], small)}). Output size is too small")
    return 0


# --- windows of one kernel ------------------------------------------------------------------

cdef tuple largest_windows(Tensor a, Py_ssize_t n, tuple kernel, object stride, tuple padding,
                           tuple dilation, bint ceil_mode):
    """Sizes, steps, paddings and dilations of windows, one for each dimension."""
    cdef str op = f"max_pool{n}d"
    cdef tuple steps
    kernel = for_each(kernel, <int>n, op, "kernel_size")
    steps = for_each(stride, <int>n, op, "stride") if stride else kernel
    padding = for_each(padding, <int>n, op, "padding")
    dilation = for_each(dilation, <int>n, op, "dilation")
    if n == 1:
        check_1d_max(a, kernel, steps, padding, dilation, ceil_mode)
    else:
        check_pool(a, op, kernel, steps, padding, dilation, ceil_mode)
    if dt_is_complex(a.dt) or a.dt == 0:
        refuse_dtype(a, "max_pool1d_impl" if n == 1 else op)
    return kernel, steps, padding, dilation


cdef tuple max_pool_form(Tensor a, Py_ssize_t n, tuple kernel, object stride, tuple padding,
                         tuple dilation, bint ceil_mode):
    cdef tuple steps
    kernel, steps, padding, dilation = largest_windows(
        a, n, kernel, stride, padding, dilation, ceil_mode)
    return T._max_pool(a, kernel, steps, padding, dilation, ceil_mode)


cdef Tensor max_pool1d(Tensor a, tuple kernel, object stride, tuple padding, tuple dilation,
                       bint ceil_mode):
    """Places are only needed for the gradient, and take longer to write than values."""
    cdef tuple steps
    kernel, steps, padding, dilation = largest_windows(
        a, 1, kernel, stride, padding, dilation, ceil_mode)
    if (not a.flags & F_SLOW and (tls_modes() & M_NO_GRAD or not requires_grad(a))
            and has_kernel(device_of(a), "_max_pool_values")):
        return T._max_pool_values(a, kernel, steps, padding, dilation, ceil_mode)
    return <Tensor>T._max_pool(a, kernel, steps, padding, dilation, ceil_mode)[0]


cdef Tensor avg_pool_form(Tensor a, Py_ssize_t n, tuple kernel, object stride, tuple padding,
                          bint ceil_mode, bint count_include_pad, object divisor):
    cdef str op = f"avg_pool{n}d"
    cdef tuple steps
    kernel = for_each(kernel, <int>n, op, "kernel_size")
    steps = for_each(stride, <int>n, op, "stride") if stride else kernel
    padding = for_each(padding, <int>n, op, "padding")
    if divisor is not None and divisor == 0:
        raise RuntimeError("divisor must be not zero")
    check_pool(a, op, kernel, steps, padding, (1,) * n, ceil_mode)
    if not dt_is_float(a.dt) and a.dt != DT_I64:
        refuse_dtype(a, "avg_pool3d_out_frame" if n == 3 else "avg_pool2d")
    return T._avg_pool(a, kernel, steps, padding, ceil_mode, count_include_pad, divisor)


# --- a given number of windows --------------------------------------------------------------

cdef tuple check_adaptive(Tensor a, int n, tuple size, str op, bint average):
    """The sizes of the result."""
    cdef int d
    if n == 1 and len(size) != 1:
        raise RuntimeError(
            f"{op}() argument 'output_size' should contain one int (got {len(size)})")
    if len(size) != n:
        raise RuntimeError(f"{op}: output_size must be {n}")
    if a.nd < n + 1 or a.nd > n + 2:
        if n == 1:
            raise RuntimeError(
                f"Expected 2 to 3 dimensions, but got {a.nd}-dimensional tensor for argument #1 "
                f"'self' (while checking arguments for {op})")
        raise RuntimeError(
            f"{op}(): Expected {n + 1}D or {n + 2}D tensor, but got{'' if average else ':'} "
            f"{list(sizes_of(a))}")
    # No channels are no error where nothing is compared, but of three dimensions in torch.
    for d in range(a.nd - n if average and n < 3 else 1, a.nd):
        if a.sizes[d] == 0:
            raise RuntimeError(
                f"{op}(): Expected input to have non-zero size for non-batch dimensions, but input "
                f"has sizes {list(sizes_of(a))} with dimension {d} being empty")
    for x in size:
        if x < 0 and average:
            raise RuntimeError(
                f"{op}: elements of output_size must be greater than or equal to 0 but received "
                f"{{{', '.join([str(x) for x in size])}}}")
        if x < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {x}: "
                f"{list(sizes_of(a)[:a.nd - n]) + list(size)}")
    if not dt_is_float(a.dt):
        refuse_dtype(a, f"{op[:len(op) - 2]}{n if n == 3 else 2}d{'_cpu' if n == 3 else ''}")
    return size


cdef Tensor adaptive_avg_form(Tensor a, Py_ssize_t n, tuple size):
    size = check_adaptive(a, <int>n, size, f"adaptive_avg_pool{n}d", True)
    return T._adaptive_avg_pool(a, size)


cdef tuple adaptive_max_form(Tensor a, Py_ssize_t n, tuple size):
    size = check_adaptive(a, <int>n, size, f"adaptive_max_pool{n}d", False)
    return T._adaptive_max_pool(a, size)


# --- elements by their places ---------------------------------------------------------------

cdef Tensor pooled_at(Tensor a, Tensor indices, Py_ssize_t n):
    """The elements of each plane (the last n dimensions) at places that count in it."""
    cdef tuple size = dims_of(a), taken = dims_of(indices)
    cdef Py_ssize_t d, lead = len(taken) - n, inside = 1, count = 1
    for d in range(n):
        inside *= size[lead + d]
        count *= taken[lead + d]
    a = T.gather(T.reshape(a, size[:lead] + (inside,)), lead,
                 T.reshape(indices, taken[:lead] + (count,)))
    return T.reshape(a, taken)
