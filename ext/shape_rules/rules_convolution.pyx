# cython: language_level=3
"""Shape rules of convolutions."""
from autograd_cy._C.dtypes cimport dt_is_integral, dt_scalar_name, dt_type_name, DT_BOOL, DT_I64
from autograd_cy._C.formats cimport lay_channels_last
from autograd_cy._C.outputs cimport result_dense

from autograd_cy._C.devices cimport lays_channels_last
from autograd_cy._C.tensor cimport F_STRIDED, MAX_DIMS, Tensor, missing_dim, sizes_of

__all__: list[str] = []


cdef Py_ssize_t option(tuple values, int d) except? -1:
    """Return an option for spatial dimension d; one number stands for all."""
    return values[0] if len(values) == 1 else values[d]


cdef int check_option(tuple values, int nd, str name) except -1:
    if len(values) != nd and len(values) != 1:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {nd} values to match the "
            f"convolution dimensions, but got {name}={list(values)}")
    return 0


cdef int check_reach(double reach, str name, tuple values, str op) except -1:
    """Refuse sizes beyond the reach of the arithmetic, and of any memory."""
    if not reach < 1e18:
        raise RuntimeError(f"{op}: {name}={list(values)} is too large for the sizes of the tensors")
    return 0


cdef int check_options(tuple stride, tuple padding, tuple dilation, tuple output_padding,
                       Py_ssize_t groups, int nd) except -1:
    check_option(stride, nd, "stride")
    check_option(padding, nd, "padding")
    check_option(dilation, nd, "dilation")
    if output_padding is not None:
        check_option(output_padding, nd, "output_padding")
        for n in output_padding:
            if n < 0:
                raise RuntimeError("negative output_padding is not supported")
    for n in padding:
        if n < 0:
            raise RuntimeError("negative padding is not supported")
    for n in stride:
        if n <= 0:
            raise RuntimeError("non-positive stride is not supported")
    for n in dilation:
        if n <= 0:
            raise RuntimeError(
                f"dilation should be greater than zero, but got {list(dilation)}")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    return 0


cdef str type_word(Tensor t):
    return dt_type_name(t.dt)


cdef int check_dtypes(Tensor input, Tensor weight, Tensor bias, bint plain, str op) except -1:
    """
    Refuse mixed dtypes and bool. Integers other than int64 are taken by `plain` convolutions alone,
    which are neither transposed nor dilated.
    """
    if input.dt != weight.dt:
        raise RuntimeError(
            f"{op}: Input type ({type_word(input)}) and weight type ({type_word(weight)}) should "
            "be the same; convert one of them with .to(dtype)")
    if bias is not None and bias.dt != input.dt:
        raise RuntimeError(
            f"{op}: Input type ({type_word(input)}) and bias type ({type_word(bias)}) should be "
            "the same; convert one of them with .to(dtype)")
    if input.dt == DT_BOOL or (dt_is_integral(input.dt) and input.dt != DT_I64 and not plain):
        raise NotImplementedError(
            f"\"{op}\" not implemented for '{dt_scalar_name(input.dt)}'; convert the tensors with "
            ".to(dtype)")
    return 0


cdef int convolution(Result* r, Tensor input, Tensor weight, Tensor bias, tuple stride,
                     tuple padding, tuple dilation, bint transposed, tuple output_padding,
                     Py_ssize_t groups, str op) except -1:
    cdef int nd = weight.nd - 2, d
    cdef Py_ssize_t channels, results, n, kernel, s, step
    cdef Py_ssize_t[64] padded
    cdef bint plain = not transposed
    if not 1 <= nd <= 3:
        raise RuntimeError(
            f"{op}: expected weight to have one, two or three spatial dimensions, but got shape "
            f"{list(sizes_of(weight))}")
    check_options(stride, padding, dilation, output_padding, groups, nd)
    if input.nd != weight.nd:
        raise RuntimeError(
            f"Expected {weight.nd}-dimensional input for {weight.nd}-dimensional weight "
            f"{list(sizes_of(weight))}, but got {input.nd}-dimensional input of size "
            f"{list(sizes_of(input))} instead")
    for d in range(nd):
        plain = plain and option(dilation, d) == 1
    if weight.sizes[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but "
            f"got weight of size {list(sizes_of(weight))} instead")
    if weight.sizes[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size {list(sizes_of(weight))} instead")
    channels = weight.sizes[0] if transposed else weight.sizes[1] * groups
    results = weight.sizes[1] * groups if transposed else weight.sizes[0]
    if input.sizes[1] != channels:
        raise RuntimeError(
            f"Given {'transposed=1' if transposed else f'groups={groups}'}, weight of size "
            f"{list(sizes_of(weight))}, expected input{list(sizes_of(input))} to have {channels} "
            f"channels, but got {input.sizes[1]} channels instead")
    if bias is not None and (bias.nd != 1 or bias.sizes[0] != results):
        raise RuntimeError(
            f"Given {'transposed=1, ' if transposed else ''}weight of size "
            f"{list(sizes_of(weight))}, expected bias to be 1-dimensional with {results} elements, "
            f"but got bias of size {list(sizes_of(bias))} instead")
    check_dtypes(input, weight, bias, plain, op)
    r.sizes[0] = input.sizes[0]
    r.sizes[1] = results
    for d in range(nd):
        n, kernel, s = input.sizes[2 + d], weight.sizes[2 + d], option(stride, d)
        if kernel <= 0:
            raise RuntimeError(
                f"{op}: kernel size should be greater than zero, but got weight of size "
                f"{list(sizes_of(weight))}")
        check_reach(<double>option(dilation, d) * kernel, "dilation", dilation, op)
        check_reach(option(padding, d), "padding", padding, op)
        step = option(dilation, d) * (kernel - 1) + 1
        if transposed:
            check_reach(<double>n * s, "stride", stride, op)
            if n <= 0:
                raise RuntimeError(
                    f"{op}: expected input with spatial dimensions that are not empty, but got "
                    f"size {list(sizes_of(input))}")
            check_reach(option(output_padding, d), "output_padding", output_padding, op)
            if option(output_padding, d) >= max(s, option(dilation, d)):
                raise RuntimeError(
                    f"{op}: output padding must be smaller than either stride or dilation, but got "
                    f"output_padding: {list(output_padding)} stride: {list(stride)} dilation: "
                    f"{list(dilation)}")
            r.sizes[2 + d] = (n - 1) * s - 2 * option(padding, d) + step + option(
                output_padding, d)
            if r.sizes[2 + d] <= 0:
                raise RuntimeError(
                    f"Given input size per channel: {list(sizes_of(input))[2:]}. Calculated output "
                    f"size in dimension {2 + d}: {r.sizes[2 + d]}. Output size is too small")
            continue
        padded[d] = n + 2 * option(padding, d)
        if n <= 0 or padded[d] < step:
            raise RuntimeError(
                f"Calculated padded input size per channel: ({sizes_text(input, padding, 1)}). "
                f"Kernel size: ({sizes_text(weight, dilation, 0)}). Kernel size can't be greater "
                "than actual input size")
        r.sizes[2 + d] = (padded[d] - step) // s + 1
    result_dense(r, input.dt, input.nd, r.sizes)
    if nd > 1 and said_channels_last(weight) and lays_channels_last(input.mem.device):
        lay_channels_last(r)
    return 0


cdef bint said_channels_last(Tensor w) noexcept:
    """Tell whether a weight that fits both formats (1x1, one channel) has channels-last strides."""
    cdef int d = w.nd - 1
    if w.flags & F_STRIDED or w.strides[1] != 1:
        return False
    return w.strides[d] == w.sizes[1] and (
        w.sizes[1] != 1 or w.strides[1] != w.strides[2] * w.sizes[2])


cdef str sizes_text(Tensor t, tuple option_of, bint padded):
    cdef int d
    cdef list texts = []
    for d in range(t.nd - 2):
        n = option(option_of, d)
        texts.append(str(t.sizes[2 + d] + 2 * n if padded else n * (t.sizes[2 + d] - 1) + 1))
    return " x ".join(texts)


cdef int check_gradient(Tensor grad, Tensor other, tuple size, bint of_input, tuple stride,
                        tuple padding, tuple dilation, bint transposed, tuple output_padding,
                        Py_ssize_t groups, str op) except -1:
    """
    Check that the arguments of backward have the shapes of the forward pass.

    Hooks for saved tensors may give back anything, and kernels trust the shapes.
    """
    cdef int nd = <int>len(size) - 2, d
    cdef bint fits = grad.nd == nd + 2 and other.nd == nd + 2
    cdef Py_ssize_t[MAX_DIMS] sizes
    cdef const Py_ssize_t* images = &other.sizes[0]
    cdef const Py_ssize_t* weight = &sizes[0]
    cdef Py_ssize_t inner, outer, large, small, step
    if fits:
        for d in range(nd + 2):
            sizes[d] = size[d]
        if of_input:
            images, weight = weight, images
        inner, outer = (1, 0) if not transposed else (0, 1)
        fits = grad.sizes[0] == images[0] and images[1] == weight[inner] * (
            1 if transposed else groups) and grad.sizes[1] == weight[outer] * (
            groups if transposed else 1)
    for d in range(2, nd + 2 if fits else 0):
        large, small = images[d], grad.sizes[d]
        step = option(dilation, d - 2) * (weight[d] - 1) + 1
        if transposed:
            fits = fits and small == (large - 1) * option(stride, d - 2) - 2 * option(
                padding, d - 2) + step + option(output_padding, d - 2)
        else:
            large += 2 * option(padding, d - 2) - step
            fits = fits and large >= 0 and small == large // option(stride, d - 2) + 1
    if not fits:
        first, second = ("weight", "input") if of_input else ("input", "weight")
        raise RuntimeError(
            f"{op}: a gradient of shape {list(sizes_of(grad))} and {first} of shape "
            f"{list(sizes_of(other))} don't fit {second} of shape {list(size)}; a hook for saved "
            "tensors has to give back what was saved")
    if grad.dt != other.dt:
        raise RuntimeError(
            f"{op}: Input type ({type_word(grad)}) and {'weight' if of_input else 'input'} type "
            f"({type_word(other)}) should be the same; convert one of them with .to(dtype)")
    return 0


cdef int input_gradient(Result* r, Tensor grad, Tensor weight, tuple size, tuple stride,
                        tuple padding, tuple dilation, bint transposed, tuple output_padding,
                        Py_ssize_t groups, str op) except -1:
    check_gradient(grad, weight, size, True, stride, padding, dilation, transposed,
                   output_padding, groups, op)
    return sized(r, grad, size)


cdef int weight_gradient(Result* r, Tensor grad, Tensor input, tuple size, tuple stride,
                         tuple padding, tuple dilation, bint transposed, tuple output_padding,
                         Py_ssize_t groups, str op) except -1:
    check_gradient(grad, input, size, False, stride, padding, dilation, transposed,
                   output_padding, groups, op)
    return sized(r, grad, size)


cdef int sized(Result* r, Tensor a, tuple size) except -1:
    """A gradient of this shape."""
    cdef int d
    for d in range(len(size)):
        r.sizes[d] = size[d]
    return result_dense(r, a.dt, <int>len(size), r.sizes)


# --- windows as columns ---------------------------------------------------------------------

cdef int two(tuple values, Py_ssize_t least, str name, str text, str op) except -1:
    for n in values:
        if n < least:
            raise RuntimeError(f"{op}: {text}, but got {name}={list(values)}")
    return 0


cdef int check_windows(tuple kernel_size, tuple dilation, tuple padding, tuple stride,
                       str op) except -1:
    two(kernel_size, 1, "kernel_size", "kernel size should be greater than zero", op)
    two(dilation, 1, "dilation", "dilation should be greater than zero", op)
    two(padding, 0, "padding", "padding should be non-negative", op)
    two(stride, 1, "stride", "stride should be greater than zero", op)
    return 0


cdef Py_ssize_t places_of(Py_ssize_t size, tuple kernel_size, tuple dilation, tuple padding,
                          tuple stride, int d, str op) except? -1:
    check_reach(<double>option(dilation, d) * option(kernel_size, d), "dilation", dilation, op)
    check_reach(option(padding, d), "padding", padding, op)
    check_reach(size, "output_size", (size,), op)
    cdef Py_ssize_t reach = option(dilation, d) * (option(kernel_size, d) - 1) + 1
    cdef Py_ssize_t span = size + 2 * option(padding, d) - reach
    return span // option(stride, d) + 1 if span >= 0 else 0


cdef int unfolded(Result* r, Tensor a, tuple kernel_size, tuple dilation, tuple padding,
                  tuple stride, str op) except -1:
    cdef Py_ssize_t height, width
    check_windows(kernel_size, dilation, padding, stride, op)
    if a.nd not in (3, 4) or 0 in (<tuple>tuple(sizes_of(a)))[a.nd - 3:]:
        text = (
            f"{op}: Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other "
            f"non-zero dimensions for input, but got: {list(sizes_of(a))}")
        raise missing_dim(a.nd, a.nd, text) if a.nd < 2 else RuntimeError(text)
    height = places_of(a.sizes[a.nd - 2], kernel_size, dilation, padding, stride, 0, op)
    width = places_of(a.sizes[a.nd - 1], kernel_size, dilation, padding, stride, 1, op)
    if height < 1 or width < 1:
        raise RuntimeError(
            f"{op}: Given input with spatial size ({a.sizes[a.nd - 2]}, {a.sizes[a.nd - 1]}), "
            f"kernel_size={kernel_size}, dilation={dilation}, padding={padding}, calculated shape "
            f"of the array of sliding blocks as ({height}, {width}), but its components must be at "
            "least one.")
    check_reach(<double>a.sizes[a.nd - 3] * option(kernel_size, 0) * option(kernel_size, 1),
                "kernel_size", kernel_size, op)
    check_reach(<double>height * width, "padding", padding, op)
    r.sizes[0] = a.sizes[0]
    r.sizes[a.nd - 3] = a.sizes[a.nd - 3] * option(kernel_size, 0) * option(kernel_size, 1)
    r.sizes[a.nd - 2] = height * width
    return result_dense(r, a.dt, a.nd - 1, r.sizes)


cdef int folded(Result* r, Tensor a, tuple output_size, tuple kernel_size, tuple dilation,
                tuple padding, tuple stride, str op) except -1:
    cdef Py_ssize_t height, width, taps
    two(output_size, 1, "output_size", "output_size should be greater than zero", op)
    check_windows(kernel_size, dilation, padding, stride, op)
    if a.nd not in (2, 3) or 0 in (<tuple>tuple(sizes_of(a)))[a.nd - 2:]:
        raise RuntimeError(
            f"{op}: Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(sizes_of(a))}")
    check_reach(<double>option(kernel_size, 0) * option(kernel_size, 1), "kernel_size",
                kernel_size, op)
    taps = option(kernel_size, 0) * option(kernel_size, 1)
    if a.sizes[a.nd - 2] % taps:
        raise RuntimeError(
            f"{op}: Expected size of input's dimension 1 to be divisible by the product of "
            f"kernel_size, but got input.size(1)={a.sizes[a.nd - 2]} and "
            f"kernel_size={kernel_size}.")
    height = places_of(option(output_size, 0), kernel_size, dilation, padding, stride, 0, op)
    width = places_of(option(output_size, 1), kernel_size, dilation, padding, stride, 1, op)
    check_reach(<double>height * width, "output_size", output_size, op)
    if height < 1 or height * width != a.sizes[a.nd - 1]:
        raise RuntimeError(
            f"{op}: Given output_size={output_size}, kernel_size={kernel_size}, "
            f"dilation={dilation}, padding={padding}, stride={stride}, expected size of input's "
            f"dimension 2 to match the calculated number of sliding blocks {height} * {width} = "
            f"{height * width}, but got input.size(2)={a.sizes[a.nd - 1]}.")
    r.sizes[0] = a.sizes[0]
    r.sizes[a.nd - 2] = a.sizes[a.nd - 2] // taps
    r.sizes[a.nd - 1] = option(output_size, 0)
    r.sizes[a.nd] = option(output_size, 1)
    return result_dense(r, a.dt, a.nd + 1, r.sizes)
