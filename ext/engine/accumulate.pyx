# cython: language_level=3
# build: plain hot
"""Gradients on their way: fitted to the shape and dtype of what they belong to, added up in place
where nobody else sees the buffer, and put into the ``grad`` of a leaf.
"""
from cpython.ref cimport PyObject, Py_INCREF, Py_DECREF, Py_REFCNT
from autograd_cy._C.dtypes cimport dt_is_complex, dt_object
from autograd_cy._C.iterate cimport ew2, copy_into
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.node cimport *
from autograd_cy._C.placement cimport device_of_code
from autograd_cy._C.reduce cimport sum_to_shape_fast
from autograd_cy._C.tensor cimport *
include "operators_of_accumulate.pxi"

from autograd_cy._C.dtypes import dtype as _dtype

cdef int K_ADD = kernel_number("add")

cdef extern from *:
    """
    static _Thread_local int ag_any_layout;
    """
    int any_layout "ag_any_layout"      # of this thread: whether `grad` may have any strides


def _set_any_layout(bint value):
    """Choose whether gradients of this thread keep their layout as ``grad``; return what was."""
    global any_layout
    cdef bint before = any_layout != 0
    any_layout = value
    return before


def _any_layout():
    """Tell what `_set_any_layout` has chosen for this thread."""
    return any_layout != 0


# --- leaves that want gradients of another dtype ------------------------------------------------
# What was chosen is in `retain_hook` of the leaf's extra, a tuple of the dtype or None: only
# tensors that are no leaves keep that hook.

cdef int leaf_only(Tensor t, str verb) except -1:
    if t.fn != NULL:
        raise RuntimeError(f"grad_dtype can only be {verb} on leaf tensors.")
    return 0


def _grad_dtype(Tensor t not None):
    """The dtype of the gradients that a leaf keeps; None for any."""
    leaf_only(t, "accessed")
    if t.extra is None or t.extra.retain_hook is None:
        return dt_object(t.dt)
    return t.extra.retain_hook[0]


def _set_grad_dtype(Tensor t not None, value):
    """Choose the dtype of the gradients that a leaf keeps; None for any."""
    cdef Tensor old
    leaf_only(t, "set")
    if value is not None and not isinstance(value, _dtype):
        raise RuntimeError(
            f"grad_dtype must be a torch.dtype or None, but got {type(value).__name__}")
    if value is not None and value is not dt_object(t.dt) and not (
            value.is_floating_point or value.is_complex):
        raise RuntimeError(
            f"grad_dtype must be a floating point or complex dtype, but got {value.name}")
    if value is not None and t.gradient != NULL:
        old = <Tensor>t.gradient
        if dt_object(old.dt) is not value:
            raise RuntimeError(
                f"Cannot set grad_dtype to '{value.name}' because there is already a gradient with "
                f"dtype '{dt_object(old.dt).name}'. Please clear the gradient (.grad = None) "
                "before changing grad_dtype, or ensure the new grad_dtype matches the existing "
                "gradient's dtype.")
    need_extra(t).retain_hook = (value,)
    if t.accumulator != NULL:
        # Formulas read the dtype there: for any dtype it is the leaf's own.
        (<Node>t.accumulator).metas[0].dt = t.dt if value is None else value.code


cdef bint takes_any_dtype(Node target) noexcept:
    cdef Tensor t
    if not target.flags & N_ACCUMULATE:
        return False
    t = <Tensor>target.args
    return (t.extra is not None and t.extra.retain_hook is not None
            and (<tuple>t.extra.retain_hook)[0] is None)

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident()
    ctypedef struct TypeObject "PyTypeObject":
        Py_ssize_t tp_basicsize, tp_dictoffset, tp_weaklistoffset
        unsigned long tp_flags
    TypeObject* Py_TYPE(PyObject*)
    void Py_SET_TYPE(PyObject*, TypeObject*)

cdef extern from "unistd.h" nogil:
    int usleep(unsigned int)


cdef Tensor fit_gradient(Node target, int nr, Tensor grad, Node source, int index):
    """A gradient in the shape and dtype of what it belongs to; errors name both nodes."""
    cdef OutMeta* m = &target.metas[nr]
    cdef int i
    cdef Py_ssize_t size
    cdef tuple shape
    cdef bint same = grad.nd == m.ndim
    if same:
        for i in range(m.ndim):
            if grad.sizes[i] != m.shape[i]:
                same = False
                break
    if not same:
        if not expandable(m, grad):
            raise RuntimeError(
                f"Function {source.node_name() if source is not None else 'backward'} returned an "
                f"invalid gradient at index {index} - got {list(sizes_of(grad))} but expected "
                f"shape compatible with {list(size_object(m.ndim, m.shape))}")
        if grad.flags & (F_GRAD_PATH | F_SLOW | F_DEVICE):     # the short way is the CPU's
            # The leading dimensions of one element alone: nothing to sum.
            same = True
            for i in range(grad.nd):
                size = m.shape[i - grad.nd + m.ndim] if i >= grad.nd - m.ndim else 1
                same = same and grad.sizes[i] == size
            shape = tuple(size_object(m.ndim, m.shape))
            grad = T.reshape(grad, shape) if same else T.sum_to_size(grad, shape)
        else:
            grad = sum_to_shape_fast(grad, m.ndim, m.shape)
    if grad.mem.device != m.device:
        raise RuntimeError(
            f"Function {source.node_name() if source is not None else 'backward'} returned an "
            f"invalid gradient at index {index} - expected device {device_of_code(m.device)} but "
            f"got {device_of_code(grad.mem.device)}")
    if grad.dt != m.dt:
        if takes_any_dtype(target):
            return grad
        if dt_is_complex(grad.dt) and not dt_is_complex(m.dt):
            # Formulas leave the real part to us; from programs a complex one is a mistake.
            if source is not None and source.flags & N_PYTHON:
                raise RuntimeError(
                    f"Function {source.node_name()} returned an invalid gradient at index {index} "
                    f"- expected a real gradient of {dt_object(m.dt).name} but got "
                    f"{dt_object(grad.dt).name}; return its .real")
            grad = T.real(grad)
        if grad.dt != m.dt:
            grad = T._to_dtype(grad, m.dt)
    return grad


cdef bint expandable(OutMeta* m, Tensor grad) noexcept:
    cdef int shift = grad.nd - m.ndim, i
    if shift < 0:
        return False
    for i in range(m.ndim):
        if m.shape[i] != grad.sizes[shift + i] and m.shape[i] != 1:
            return False
    return True


cdef inline bint owned_by_buffer(PyObject* p) noexcept:
    """Nobody else sees this tensor or its memory."""
    return (Py_REFCNT(<object>p) == 1 and (<Tensor>p).mem.refcount == 1 and (<Tensor>p).base == NULL
            and not ((<Tensor>p).flags & (F_SLOW | F_REQUIRES_GRAD | F_STRIDED))
            and (<Tensor>p).extra is None)


cdef int add_gradients(PyObject** slot, PyObject* grad, bint create_graph) except -1:
    """Add a gradient (takes the reference) to the one in a buffer."""
    cdef PyObject* old = slot[0]
    cdef Tensor total
    if (
        not create_graph and same_shape(<Tensor>old, <Tensor>grad)
        and (<Tensor>old).dt == (<Tensor>grad).dt
    ):
        if owned_by_buffer(old) and not ((<Tensor>grad).flags & F_SLOW):
            ew2(K_ADD, <Tensor>old, <Tensor>grad, 0, <Tensor>old, "add_")
            Py_DECREF(<object>grad)
            return 0
        if owned_by_buffer(grad) and not ((<Tensor>old).flags & F_SLOW):
            ew2(K_ADD, <Tensor>grad, <Tensor>old, 0, <Tensor>grad, "add_")
            slot[0] = grad
            Py_DECREF(<object>old)
            return 0
    total = T.add(<Tensor>old, <Tensor>grad)
    Py_INCREF(total)
    slot[0] = <PyObject*>total
    Py_DECREF(<object>old)
    Py_DECREF(<object>grad)
    return 0


# Note [Busy leaves]
# A long addition runs without the GIL. Two threads that add to one leaf must not interleave, so the
# accumulator is marked, and whoever comes second sleeps until the mark is gone. A mark of a thread
# that was left behind by a fork has the number of another process.
cdef long long g_process = 0


def _note_fork():
    """Called in a forked child: marks from before are those of threads that are gone."""
    global g_process
    g_process += 1


cdef bint hold(Busy* b) except -1:
    cdef long long thread = <long long>PyThread_get_thread_ident()
    while b.held and b.process == g_process:
        if b.thread == thread:
            return False            # it holds this already, further up
        with nogil:
            usleep(20)
    b.held = True
    b.process = g_process
    b.thread = thread
    return True


cdef int accumulate_into(Tensor variable, PyObject* grad, bint create_graph) except -1:
    """Add a gradient to `variable.grad`; takes the reference."""
    cdef Node n
    cdef Busy* b
    if variable.accumulator == NULL:
        return put_gradient(variable, grad, create_graph)
    n = <Node>variable.accumulator
    b = <Busy*>&n.attrs[0]                      # an accumulator has no attributes of its own
    if not hold(b):
        return put_gradient(variable, grad, create_graph)
    try:
        return put_gradient(variable, grad, create_graph)
    finally:
        b.held = False


cdef bint becomes_grad(Tensor variable, PyObject* grad, bint create_graph) noexcept:
    """
    Return whether a gradient becomes ``grad`` as it is: nobody has it but the caller, by one
    reference, and it has the strides of the variable.
    """
    cdef Tensor g = <Tensor>grad            # a second reference
    return (variable.gradient == NULL and not create_graph and Py_REFCNT(g) == 2
            and g.mem.refcount == 1 and g.base == NULL and not g.flags & F_LAZY
            and layout_fits(g, variable))


cdef int put_gradient(Tensor variable, PyObject* grad, bint create_graph) except -1:
    cdef Tensor g = <Tensor>grad
    cdef Tensor old
    cdef PyObject* before
    Py_DECREF(g)                                # `g` holds it now
    if not (variable.flags & F_REQUIRES_GRAD):  # taken away since the graph was made
        return 0
    if g.flags & F_BATCHED and not (variable.flags & F_BATCHED
                                    and variable.extra.level >= g.extra.level):
        raise RuntimeError(
            "backward() called inside a functorch transform (vmap): a tensor from outside would "
            "get the gradient of each example. This is not supported, please use func.grad or "
            "func.vjp instead or call backward() outside of vmap.")
    if variable.gradient == NULL:
        if not becomes_grad(variable, <PyObject*>g, create_graph):
            if g.flags & ~F_LAZY & F_SLOW:
                g = T.clone(g, -1)
            elif create_graph:              # recorded as a copy into new memory
                g = T.copy_(empty_like_variable(g, variable), g)
            else:
                g = copy_in_layout(g, variable)
        Py_INCREF(g)
        variable.gradient = <PyObject*>g
        return 0
    old = <Tensor>variable.gradient
    if g.dt != old.dt:                          # of a leaf that takes any dtype
        g = T._to_dtype(g, old.dt)
    if create_graph or (old.flags | g.flags) & ~F_LAZY & F_SLOW:
        g = T.add(old, g)
        Py_INCREF(g)
        before = variable.gradient
        variable.gradient = <PyObject*>g
        Py_DECREF(<object>before)
        return 0
    ew2(K_ADD, old, g, 0, old, "add_")
    bump_version(old)
    return 0


cdef bint layout_fits(Tensor g, Tensor variable) noexcept:
    cdef int i
    if any_layout:
        return True
    if not tensor_is_dense(variable):
        return not (g.flags & F_STRIDED)
    for i in range(variable.nd):
        if variable.sizes[i] != 1 and g.strides[i] != variable.strides[i]:
            return False
    return True


cdef Tensor copy_in_layout(Tensor g, Tensor variable):
    """A copy with the strides of a dense variable, otherwise C-contiguous."""
    cdef Tensor r
    r = empty_like_variable(g, variable)
    try:
        copy_into(r, g, "accumulate")
    except RuntimeError:
        if same_shape(g, variable):
            raise
        raise RuntimeError(
            f"Function AccumulateGrad got an invalid gradient - got {list(sizes_of(g))} but "
            f"expected shape compatible with {list(sizes_of(variable))}: the tensor was reshaped "
            "in place where nothing is recorded") from None
    return r


cdef Tensor empty_like_variable(Tensor g, Tensor variable):
    if tensor_is_dense(variable):
        return tensor_empty_on(g.mem.device, g.dt, variable.nd, variable.sizes, variable.strides)
    return tensor_empty_on(g.mem.device, g.dt, g.nd, g.sizes, NULL)


# --- tensors that change their places -----------------------------------------------------------

def _swap(Tensor a not None, Tensor b not None):
    """
    Exchange what two tensors are: class, memory, history, gradient, hooks and attributes.

    Raises
    ------
    RuntimeError
        If the classes differ in their layout (``__slots__``), or something would take one of them
        for the other: a view, a graph, a transformation.
    """
    cdef TypeObject* ta = Py_TYPE(<PyObject*>a)
    cdef TypeObject* tb = Py_TYPE(<PyObject*>b)
    cdef int i
    if a is b:
        return
    if (ta.tp_basicsize != tb.tp_basicsize or ta.tp_dictoffset != tb.tp_dictoffset
            or ta.tp_weaklistoffset != tb.tp_weaklistoffset):
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    for i, t in enumerate((a, b)):
        if (<Tensor>t).flags & (F_BATCHED | F_DUAL):
            raise RuntimeError(f"Cannot swap t{i + 1} because it belongs to a transformation (vmap "
                               "or forward mode)")
        if (<Tensor>t).fn != NULL or (<Tensor>t).accumulator != NULL:
            raise RuntimeError(
                f"Cannot swap t{i + 1} because a graph leads to it, which would go on with the "
                "other one; run backward or delete the results first")
        if (<Tensor>t).flags & F_VIEW or (<Tensor>t).mem.refcount > 1:
            raise RuntimeError(
                f"Cannot swap t{i + 1} because other tensors (views, detached ones) use its memory "
                "and would be taken for those of the other one; delete them before, or swap a "
                "clone()")
    exchange_fields(a, b)
    if ta != tb:
        # Each object owns a reference to its class, and they exchange these.
        Py_SET_TYPE(<PyObject*>a, tb)
        Py_SET_TYPE(<PyObject*>b, ta)
    track(a)
    track(b)


cdef int exchange_fields(Tensor a, Tensor b) except -1:
    cdef Py_ssize_t[10] dims
    cdef bint a_inline = a.sizes == a.dims, b_inline = b.sizes == b.dims
    cdef TensorExtra extra = a.extra
    cdef PyObject* p
    cdef int i
    a.extra = b.extra
    b.extra = extra
    a.mem, b.mem = b.mem, a.mem
    a.ptr, b.ptr = b.ptr, a.ptr
    a.count, b.count = b.count, a.count
    a.sizes, b.sizes = b.sizes, a.sizes
    a.strides, b.strides = b.strides, a.strides
    a.flags, b.flags = b.flags, a.flags
    a.dt, b.dt = b.dt, a.dt
    a.nd, b.nd = b.nd, a.nd
    a.creation, b.creation = b.creation, a.creation
    a.own_tangent, b.own_tangent = b.own_tangent, a.own_tangent
    a.out_nr, b.out_nr = b.out_nr, a.out_nr
    a.attr_version, b.attr_version = b.attr_version, a.attr_version
    p = a.gradient
    a.gradient = b.gradient
    b.gradient = p
    p = a.attributes
    a.attributes = b.attributes
    b.attributes = p
    for i in range(10):
        dims[i] = a.dims[i]
        a.dims[i] = b.dims[i]
        b.dims[i] = dims[i]
    if b_inline:
        a.sizes = a.dims
        a.strides = a.dims + a.nd
    if a_inline:
        b.sizes = b.dims
        b.strides = b.dims + b.nd
    return 0
