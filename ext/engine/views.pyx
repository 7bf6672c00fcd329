# cython: language_level=3
# build: plain hot
"""History of views: what an in-place operation on one of them does to the base.

# Note [In-place on a view]
A view's storage is its base's. When an operation changes a view in place, the base's history
becomes a CopySlices node: backward takes the window's gradient out of the base's gradient, sends it
through the operation, and puts the result back. The view's own grad_fn is remade, when next asked
for, as as_strided of the base's new history.

# Note [Views of parts]
A view of a complex base may be real (`view_as_real`, `real`, `imag`), one of a real base complex
(`view_as_complex`). Where the dtypes differ, geometries are counted in real numbers: a complex
tensor gets a last dimension of 2, and its strides and offset are doubled. The gradient of a complex
tensor has the memory format of the tensor itself, so it is read as parts in the same way.

A view may be the conjugate or the negative of its window (Note [Lazy bits] in lazy.pyx). Gradients
hold values, not memory, so what relates the values of both is done to the gradient of the window,
and undone, for it is its own inverse.

The operations themselves are in inplace.pyx.
"""
import math
cimport cython
from cpython.mem cimport PyMem_Malloc, PyMem_Free
from cpython.ref cimport PyObject, Py_INCREF, Py_XDECREF
from libc.stdint cimport uint32_t
from libc.string cimport memset
from autograd_cy._C.dtypes cimport DT_SIZE, dt_is_complex
from autograd_cy._C.node_io cimport give
from autograd_cy._C.lazy cimport resolve_bits, turned_view, whole_bits, window_bits
from autograd_cy._C.iterate cimport copy_into, clone_plain, clone_format, fill_with
from autograd_cy._C.node cimport *
from autograd_cy._C.placement cimport MF_CONTIGUOUS
from autograd_cy._C.shapes cimport as_strided_plain, view_as_real_plain, view_as_complex_plain
from autograd_cy._C.tensor cimport *
include "operators_of_views.pxi"

cdef enum:
    FEW_EDGES = 16

cdef enum:  # what the elements of a view are to its base, see Note [Views of parts]
    SAME_PARTS = 0
    REAL_OF_COMPLEX = 1
    COMPLEX_OF_REAL = 2


cdef int relation(Tensor base, Tensor view) noexcept:
    if dt_is_complex(base.dt) == dt_is_complex(view.dt):
        return SAME_PARTS
    return REAL_OF_COMPLEX if dt_is_complex(base.dt) else COMPLEX_OF_REAL


cdef tuple geometry(Tensor t):
    """(sizes, strides, offset in the storage) of a tensor."""
    cdef int i
    return (tuple([t.sizes[i] for i in range(t.nd)]), tuple([t.strides[i] for i in range(t.nd)]),
            (t.ptr - t.mem.data) // DT_SIZE[t.dt])


cdef tuple in_parts(tuple complex_geometry):
    """The geometry of a complex tensor, counted in real numbers."""
    size, stride, offset = complex_geometry
    return (size + (2,), tuple([2 * s for s in stride]) + (1,), 2 * offset)


cdef Py_ssize_t extent(tuple size, tuple stride) except -1:
    """Number of elements between the first and the last one, both counted."""
    cdef Py_ssize_t n = 1
    for count, step in zip(size, stride):
        if count == 0:
            return 0
        n += (count - 1) * step
    return n


cdef bint is_within(tuple base, tuple window) except -1:
    """Return whether a window reaches nothing but elements of the base, which leaves no gaps."""
    cdef Py_ssize_t shift = window[2] - base[2], n = extent(window[0], window[1])
    cdef Py_ssize_t whole = extent(base[0], base[1])
    return n == 0 or (shift >= 0 and shift + n <= whole and whole == math.prod(base[0]))


@cython.final
cdef class CopySlices(Node):
    """
    History of a base one of whose views was changed in place.

    Its arguments are the node of the in-place operation, whose input 0 is the view; the geometry of
    the base; those of base and view in common units; what the view's elements are to the base;
    whether the view lies inside of it; and the lazy bits of the base and of the window.
    """

    cdef int apply(self, PyObject** gin, PyObject** gout) except -1:
        cdef tuple args = get_args(self)
        cdef Node fn = <Node>args[0]
        cdef PyObject* few[FEW_EDGES]
        cdef PyObject** inner = few
        cdef int i, n = fn.n_edges
        if gin[0] == NULL:
            return 0
        if n > FEW_EDGES:
            inner = <PyObject**>PyMem_Malloc(n * sizeof(PyObject*))
            if inner == NULL:
                raise MemoryError()
        memset(inner, 0, n * sizeof(PyObject*))
        try:
            if tls_modes() & M_NO_GRAD and not ((<Tensor>gin[0]).flags & F_SLOW) and args[5]:
                self.apply_plain(args, <Tensor>gin[0], inner, gout)
            else:
                self.apply_recorded(args, <Tensor>gin[0], inner, gout)
            for i in range(1, n):
                if needs(self, i):
                    gout[i] = inner[i]
                    inner[i] = NULL
        finally:
            for i in range(n):
                Py_XDECREF(inner[i])
            if inner != few:
                PyMem_Free(inner)
        return 0

    def name(self):
        """``"torch::autograd::CopySlices"``, as programs know it."""
        return "torch::autograd::CopySlices"

    cdef int apply_plain(self, tuple args, Tensor grad, PyObject** inner,
                         PyObject** gout) except -1:
        """Compute on memory: copy the gradient with the strides of the base, replace its window."""
        cdef Node fn = <Node>args[0]
        cdef PyObject* arrived[1]
        cdef int parts = args[4]
        cdef Tensor result = base_layout(resolve_bits(grad, <uint32_t>args[6]), args[1][0],
                                         args[1][1])
        cdef Tensor viewed = view_as_real_plain(result) if parts == REAL_OF_COMPLEX else result
        cdef Tensor window = as_strided_plain(viewed, args[3][0], args[3][1],
                                              args[3][2] - args[2][2])
        cdef Tensor slice_grad, back
        if parts == COMPLEX_OF_REAL:
            slice_grad = view_as_complex_plain(clone_format(window, MF_CONTIGUOUS))
        else:
            slice_grad = clone_plain(window)
        slice_grad = resolve_bits(slice_grad, <uint32_t>args[7])
        arrived[0] = <PyObject*>slice_grad
        fn.apply(arrived, inner)
        if not needs(self, 0):
            return 0
        if inner[0] == NULL:
            fill_with(window, 0)
        else:
            back = resolve_bits(fit_gradient(<Tensor>inner[0], slice_grad), <uint32_t>args[7])
            if tensor_has_overlap(window):
                # Only fill_ writes to overlapping memory, and its gradient is zero.
                fill_with(window, 0)
            elif parts == COMPLEX_OF_REAL:
                copy_into(window, view_as_real_plain(clone_format(back, MF_CONTIGUOUS)),
                          "CopySlices")
            else:
                copy_into(window, back, "CopySlices")
        gout[0] = give(resolve_bits(result, <uint32_t>args[6]))
        return 0

    cdef int apply_recorded(self, tuple args, Tensor grad, PyObject** inner,
                            PyObject** gout) except -1:
        """By operators, which record: for gradients with a graph, tangents or a batch."""
        cdef Node fn = <Node>args[0]
        cdef PyObject* arrived[1]
        cdef int parts = args[4]
        cdef Tensor slice_grad, back, ones, mask, result
        base_size, base_stride, base_offset = args[2]
        size, stride, offset = args[3]
        grad = resolve_bits(grad, <uint32_t>args[6])
        if parts == REAL_OF_COMPLEX:
            grad = T.view_as_real(T.resolve_conj(grad))
        slice_grad = T._as_strided_gather(grad, base_size, base_stride, base_offset, size, stride,
                                          offset)
        if parts == COMPLEX_OF_REAL:
            slice_grad = T.view_as_complex(T._dense_pairs(slice_grad))
        slice_grad = resolve_bits(slice_grad, <uint32_t>args[7])
        arrived[0] = <PyObject*>slice_grad
        fn.apply(arrived, inner)
        if not needs(self, 0):
            return 0
        ones = fill_sized(grad, size)
        mask = T.ne(T._as_strided_backward(ones, base_size, base_stride, base_offset, size, stride,
                                           offset), wrap_int(0))
        result = T.where(mask, wrap_int(0), grad)
        if inner[0] != NULL:
            back = resolve_bits(fit_gradient(<Tensor>inner[0], slice_grad), <uint32_t>args[7])
            if parts == COMPLEX_OF_REAL:
                back = T.view_as_real(T.resolve_conj(back))
            result = T.where(mask, T._as_strided_backward(back, base_size, base_stride, base_offset,
                                                          size, stride, offset), result)
        if parts == REAL_OF_COMPLEX:
            result = T.view_as_complex(result)
        gout[0] = give(resolve_bits(result, <uint32_t>args[6]))
        return 0


cdef Tensor fit_gradient(Tensor grad, Tensor like):
    """A gradient in the dtype of the window, and its real part if that is real."""
    if grad.dt == like.dt:
        return grad
    if dt_is_complex(grad.dt) and not dt_is_complex(like.dt):
        grad = T._real(grad)
    return grad if grad.dt == like.dt else T._to_dtype(grad, like.dt)


cdef Tensor fill_sized(Tensor a, tuple size):
    """Ones of a shape, of a's dtype on its device, outside of the graph."""
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef int i
    cdef Tensor r
    for i in range(len(size)):
        shape[i] = size[i]
    r = tensor_empty_on(a.mem.device, a.dt, <int>len(size), shape, NULL)
    fill_with(r, 1)
    return r


cdef Tensor base_layout(Tensor grad, tuple size, tuple stride):
    """A copy of a gradient with the strides of the base."""
    cdef Py_ssize_t shape[64]
    cdef Py_ssize_t strides[64]
    cdef int i
    cdef Tensor r
    for i in range(len(size)):
        shape[i] = size[i]
        strides[i] = stride[i]
    r = tensor_empty_on(grad.mem.device, grad.dt, <int>len(size), shape, strides)
    copy_into(r, grad, "CopySlices")
    return r


cdef int rebase_view(Tensor t, Node n) except -1:
    cdef Tensor base = <Tensor>t.base
    cdef CopySlices c = CopySlices.__new__(CopySlices)
    cdef tuple of_base = geometry(base), common = of_base, window = geometry(t)
    cdef int parts = relation(base, t), i
    if parts == REAL_OF_COMPLEX:
        common = in_parts(of_base)
    elif parts == COMPLEX_OF_REAL:
        window = in_parts(window)
    node_init(c, n.n_edges if n.n_edges > 0 else 1, 0, 1)
    c.flags |= N_COPY_SLICES
    set_edge(c, 0, base)
    for i in range(1, n.n_edges):
        if n.edges[i].node != NULL:
            Py_INCREF(<object>n.edges[i].node)
            c.edges[i] = n.edges[i]
    if n.flags & N_TRACKED:
        node_track(c)
    set_args(c, (n, of_base, common, window, parts, is_within(common, window),
                 whole_bits(base, t), window_bits(base, t)))
    set_history(base, c, 0)
    t.flags |= F_REQUIRES_GRAD
    t.attr_version = t.mem.version[0] - 1       # remade when next asked for
    if t.flags & F_RETAINS_GRAD:
        remake_view_fn(t)
    return 0


cdef void drop_edges(Node n):
    cdef PyObject* p
    cdef int i
    for i in range(n.n_edges):
        p = n.edges[i].node
        n.edges[i].node = NULL
        if p != NULL:
            release_node(p)


cdef bint reshapes(Tensor base, Tensor t) noexcept:
    """Return whether a view shows all of its base, in the order of memory."""
    return base.dt == t.dt and base.count == t.count and not (base.flags | t.flags) & F_STRIDED


cdef object remake_view_fn(Tensor t):
    cdef modes_t modes = tls_modes()
    cdef Tensor base = <Tensor>t.base
    cdef Tensor again
    cdef PyObject* old = t.fn
    cdef Node fn
    cdef int parts = relation(base, t)
    cdef tuple window = geometry(t)
    cdef bint cut = not (base.flags & F_REQUIRES_GRAD)
    if parts == COMPLEX_OF_REAL:
        window = in_parts(window)
    size, stride, offset = window
    if cut:
        # The base was taken out of the graph, and changed: no gradient goes on from here.
        base = tensor_alias(base)
        base.flags |= F_REQUIRES_GRAD
    tls_set_modes(modes & ~<modes_t>(M_NO_GRAD | M_INFERENCE))
    try:
        t.attr_version = t.mem.version[0]
        if t.flags & F_REPLAY and reshapes(base, t):
            again = T.view(base, size)
        elif parts == REAL_OF_COMPLEX:
            again = T.as_strided(T.view_as_real(turned_view(base, whole_bits(base, t))), size,
                                 stride, offset)
        else:
            again = T.as_strided(base, size, stride, offset)
            if parts == COMPLEX_OF_REAL:
                again = T.view_as_complex(again)
        again = turned_view(again, window_bits(base, t))
    except BaseException:
        t.attr_version = t.mem.version[0] - 1
        raise
    finally:
        tls_set_modes(modes)
    fn = <Node>again.fn
    if cut:
        drop_edges(fn)
    if t.flags & F_RETAINS_GRAD:
        move_retained(t, fn, again.out_nr)
    Py_INCREF(fn)
    t.fn = <PyObject*>fn
    t.out_nr = again.out_nr
    t.flags |= F_REQUIRES_GRAD
    if fn.flags & N_TRACKED:
        track(t)
    if old != NULL:
        release_node(old)
    return fn

graph_upcalls.rebase_view = rebase_view
graph_upcalls.remake_view_fn = remake_view_fn
