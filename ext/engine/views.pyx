# cython: language_level=3
"""In-place history of views, and the operators that it rests on: copy_, fill_, zero_, detach.

# Note [In-place on a view]
A view's storage is its base's. When an operation changes a view in place, the base's history
becomes a CopySlices node: backward takes the window's gradient out of the base's gradient, sends it
through the operation, and puts the result back. The view's own grad_fn is remade, when next asked
for, as as_strided of the base's new history.
"""
cimport cython
from cpython.ref cimport PyObject, Py_INCREF, Py_DECREF, Py_XDECREF
from libc.stdint cimport uint32_t
from autograd_cy._C.batching cimport batch_front, align_batch
from autograd_cy._C.dtypes cimport DT_SIZE, dt_differentiable
from autograd_cy._C.formulas cimport give
from autograd_cy._C.forward cimport copy_tangents
from autograd_cy._C.iterate cimport copy_into, clone_plain, fill_with
from autograd_cy._C.levels cimport top_level, is_batched, lowered
from autograd_cy._C.node cimport *
from autograd_cy._C.optable cimport T
from autograd_cy._C.shapes cimport as_strided_plain
from autograd_cy._C.tensor cimport *


cdef tuple geometry(Tensor t):
    """(sizes, strides, offset in the storage) of a tensor."""
    cdef int i
    return (tuple([t.sizes[i] for i in range(t.nd)]), tuple([t.strides[i] for i in range(t.nd)]),
            (t.ptr - t.mem.data) // DT_SIZE[t.dt])


@cython.final
cdef class CopySlices(Node):
    """History of a base one of whose views was changed in place."""

    cdef int apply(self, PyObject** gin, PyObject** gout) except -1:
        cdef tuple kept = get_args(self)
        cdef Node fn = <Node>kept[0]
        cdef PyObject* few[16]
        cdef PyObject* arrived[1]
        cdef int i
        cdef Tensor grad, result, window, slice_grad, inner
        if gin[0] == NULL:
            return 0
        if fn.n_edges > 16:
            raise RuntimeError("CopySlices: an in-place operation has too many inputs")
        grad = <Tensor>gin[0]
        for i in range(fn.n_edges):
            few[i] = NULL
        base_size, base_stride, base_offset = kept[1]
        size, stride, offset = kept[2]
        if tls_modes() & M_NO_GRAD and not (grad.flags & F_SLOW):
            result = base_layout(grad, base_size, base_stride)
            window = as_strided_plain(result, size, stride, offset - base_offset)
            slice_grad = clone_plain(window)
        else:
            window = None
            result = None
            slice_grad = T._as_strided_gather(grad, base_size, base_stride, base_offset, size,
                                              stride, offset)
        arrived[0] = <PyObject*>slice_grad
        for i in range(fn.n_edges):
            fn.edges[i].skip = self.edges[i].skip
        try:
            fn.apply(arrived, few)
            inner = None
            if few[0] != NULL:
                inner = <Tensor>few[0]
                Py_DECREF(inner)
                few[0] = NULL
            if needs(self, 0):
                if inner is None:
                    inner = T.zeros_like(slice_grad)
                if window is not None:
                    copy_into(window, inner, "CopySlices")
                else:
                    mask = T.ne(T._as_strided_backward(
                        T.ones_like(slice_grad), base_size, base_stride, base_offset, size, stride,
                        offset), wrap_int(0))
                    result = T.where(<Tensor>mask, T._as_strided_backward(
                        inner, base_size, base_stride, base_offset, size, stride, offset), grad)
                gout[0] = give(result)
            for i in range(1, fn.n_edges):
                if needs(self, i):
                    gout[i] = few[i]
                    few[i] = NULL
        finally:
            for i in range(fn.n_edges):
                Py_XDECREF(few[i])
        return 0


cdef Tensor base_layout(Tensor grad, tuple size, tuple stride):
    """A copy of a gradient with the strides of the base."""
    cdef Py_ssize_t shape[64]
    cdef Py_ssize_t strides[64]
    cdef int i
    cdef Tensor r
    for i in range(len(size)):
        shape[i] = size[i]
        strides[i] = stride[i]
    r = tensor_empty_strided(grad.dt, <int>len(size), shape, strides)
    copy_into(r, grad, "CopySlices")
    return r


cdef int rebase_view(Tensor t, Node n) except -1:
    cdef Tensor base = <Tensor>t.base
    cdef CopySlices c = CopySlices.__new__(CopySlices)
    cdef PyObject* old
    cdef int i
    node_init(c, n.n_edges if n.n_edges > 0 else 1, 0, 1)
    c.flags |= N_COPY_SLICES
    set_edge(c, 0, base)
    for i in range(1, n.n_edges):
        if n.edges[i].node != NULL:
            Py_INCREF(<object>n.edges[i].node)
            c.edges[i] = n.edges[i]
    set_args(c, (n, geometry(base), geometry(t)))
    set_history(base, c, 0)
    if base.flags & F_RETAINS_GRAD:
        base.flags &= ~<uint32_t>F_RETAINS_GRAD
    old = t.fn
    t.fn = NULL
    if old != NULL:
        release_node(old)
    t.flags |= F_REQUIRES_GRAD
    t.attr_version = t.mem.version - 1       # remade when next asked for
    return 0


cdef object remake_view_fn(Tensor t):
    cdef unsigned int modes = tls_modes()
    cdef Tensor base = <Tensor>t.base
    cdef Tensor again
    cdef PyObject* old = t.fn
    cdef Node fn
    size, stride, offset = geometry(t)
    tls_set_modes(modes & ~<unsigned int>(M_NO_GRAD | M_INFERENCE))
    try:
        t.attr_version = t.mem.version
        again = T.as_strided(base, size, stride, offset)
    finally:
        tls_set_modes(modes)
    fn = <Node>again.fn
    Py_INCREF(fn)
    t.fn = <PyObject*>fn
    t.out_nr = 0
    t.flags |= F_REQUIRES_GRAD
    if fn.flags & N_TRACKED:
        track(t)
    if old != NULL:
        release_node(old)
    return fn

graph_late.rebase_view = rebase_view
graph_late.remake_view_fn = remake_view_fn


# --- copy_ and its relatives ----------------------------------------------------------------

@cython.final
cdef class CopyBackwards(Node):
    """Gradient of copy_: none for what was overwritten, all for the source."""

    cdef int apply(self, PyObject** gin, PyObject** gout) except -1:
        if gin[0] == NULL:
            return 0
        if needs(self, 0):
            gout[0] = give(T.zeros_like(<Tensor>gin[0]))
        if needs(self, 1):
            gout[1] = give(<Tensor>gin[0])
        return 0


cdef int copy_batched(Tensor self, Tensor src) except -1:
    cdef int level = top_level((self, src))
    self = lowered(self, level)
    src = lowered(src, level)
    if not is_batched(src, level) and not is_batched(self, level):
        T.copy_(self, src)
        return 0
    if not is_batched(self, level):
        raise RuntimeError(
            "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a "
            "Tensor `other` in extra_args that has more elements than `self`. This happened due to "
            "`other` being vmapped over but `self` not being vmapped over in a vmap. Please try to "
            "use out-of-place operators instead of inplace arithmetic, or make `self` with "
            "new_zeros() of a vmapped tensor.")
    T.copy_(batch_front(self, level, False), align_batch(src, level, self.nd, -1))
    return 0


cdef Tensor c_copy_(Tensor self, Tensor src):
    cdef uint32_t flags = self.flags | src.flags
    cdef bint recording = False
    cdef CopyBackwards n
    if flags & F_GRAD_PATH and not (tls_modes() & M_NO_GRAD) and dt_differentiable(self.dt):
        recording = requires_grad(self) or (requires_grad(src) and dt_differentiable(src.dt))
    check_inplace(self, "copy_", recording)
    n = None
    if recording:
        n = CopyBackwards.__new__(CopyBackwards)
        node_init(n, 2, 0, 1)
        set_edge(n, 0, self)
        if dt_differentiable(src.dt):
            set_edge(n, 1, src)
    if flags & F_BATCHED:
        copy_batched(self, src)
    else:
        copy_into(self, src, "copy_")
    bump_version(self)
    if recording:
        rebase_history(self, n)
    if flags & (F_DUAL | F_VIEW) and g_modes & G_FORWARD:
        copy_tangents(self, src)
    return self


cdef Tensor c_detach(Tensor self):
    """The same memory and version counter, without history."""
    cdef Tensor r = tensor_alias(self)
    cdef TensorExtra x
    if self.flags & F_BATCHED:
        x = need_extra(r)
        x.value = T.detach(<Tensor>self.extra.value)
        x.bdim = self.extra.bdim
        x.level = self.extra.level
        r.flags |= F_BATCHED
    return r

T.copy_ = c_copy_
T.detach = c_detach


def copy_(Tensor self not None, src, non_blocking=False):
    """
    Write the elements of `src` into this tensor; they are broadcast and converted.

    Parameters
    ----------
    src : Tensor
    non_blocking : bool
        Without effect on the CPU.

    Returns
    -------
    Tensor
        This tensor.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(3).copy_(ag.ones(1))
    tensor([1., 1., 1.])
    """
    if not isinstance(src, Tensor):
        src = as_operand(src, "copy_", "src")
    return c_copy_(self, <Tensor>src)


def detach(Tensor self not None):
    """
    The same values outside of the graph; memory and version counter are shared.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.ones(2, requires_grad=True).detach().requires_grad
    False
    """
    return c_detach(self)


def detach_(Tensor self not None):
    """
    Take this tensor out of the graph in place; it becomes a leaf.

    Raises
    ------
    RuntimeError
        For a view: the base would have to be detached too.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> y = ag.ones(2, requires_grad=True) * 2
    >>> y.detach_().is_leaf
    True
    """
    cdef PyObject* old
    if self.flags & F_VIEW and requires_grad(self):
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead. If you are using "
            "DistributedDataParallel (DDP) for training, clone the view first.")
    old = self.fn
    self.fn = NULL
    self.out_nr = 0
    self.flags &= ~<uint32_t>(F_REQUIRES_GRAD | F_RETAINS_GRAD)
    if old != NULL:
        release_node(old)
    return self


def fill_(Tensor self not None, value):
    """
    Set every element to `value` (a number or a 0-d tensor).

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(2).fill_(3)
    tensor([3., 3.])
    """
    if isinstance(value, Tensor):
        if (<Tensor>value).nd != 0:
            raise RuntimeError(
                f"fill_ only supports 0-dimension value tensor but got tensor with "
                f"{(<Tensor>value).nd} dimensions.")
        return c_copy_(self, <Tensor>value)
    if self.flags & (F_GRAD_PATH | F_SLOW):
        return c_copy_(self, as_operand(value, "fill_", "value"))
    check_inplace(self, "fill_", False)
    fill_with(self, value)
    bump_version(self)
    return self


def zero_(Tensor self not None):
    """
    Set every element to zero.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.ones(2).zero_()
    tensor([0., 0.])
    """
    return fill_(self, 0)


for _f in (copy_, detach, detach_, fill_, zero_):
    install(Tensor, _f.__name__, _f)
