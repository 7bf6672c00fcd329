# cython: language_level=3
"""Gradients on their way: fitted to the shape and dtype of what they belong to, added up in place
where nobody else sees the buffer, and put into the ``grad`` of a leaf.
"""
from cpython.ref cimport PyObject, Py_INCREF, Py_DECREF, Py_REFCNT
from autograd_cy._C.dtypes cimport dt_is_complex, dt_differentiable, dt_object
from autograd_cy._C.iterate cimport ew2, copy_into
from autograd_cy._C.kernel_ids cimport K_ADD
from autograd_cy._C.node cimport *
from autograd_cy._C.optable cimport T
from autograd_cy._C.reduce cimport sum_to_shape_fast
from autograd_cy._C.tensor cimport *

from _thread import allocate_lock as _allocate_lock
from os import register_at_fork as _register_at_fork

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident()


cdef Tensor fit_gradient(Node target, int nr, Tensor grad, Node source, int index):
    """A gradient in the shape and dtype of what it belongs to; errors name both nodes."""
    cdef OutMeta* m = &target.metas[nr]
    cdef int i
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
        if grad.flags & (F_GRAD_PATH | F_SLOW):
            grad = T.sum_to_size(grad, tuple(size_object(m.ndim, m.shape)))
        else:
            grad = sum_to_shape_fast(grad, m.ndim, m.shape)
    if grad.dt != m.dt:
        if dt_is_complex(grad.dt) and not dt_is_complex(m.dt):
            grad = T.real(grad)
        if grad.dt != m.dt:
            if not dt_differentiable(grad.dt) and source is not None and source.flags & N_PYTHON:
                raise RuntimeError(
                    f"Function {source.node_name()} returned an invalid gradient at index {index} "
                    f"- expected a floating or complex gradient but got {dt_object(grad.dt).name}")
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
    if old == NULL:
        slot[0] = grad
        return 0
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


# Note [Several threads at one leaf]
# Adding a long gradient releases the GIL, and another thread may come to the same leaf meanwhile.
# So a thread holds the leaf while it adds, and the others wait for its lock. Short gradients are
# added in one go. A thread that comes back to a leaf that it holds (from a hook) goes on at once.
cdef enum:
    ADDED_IN_ONE_GO = 4096           # fewer elements are added without releasing the GIL

cdef dict g_held_leaves = {}         # id of the leaf -> (thread, lock)
_register_at_fork(after_in_child=g_held_leaves.clear)      # the child hasn't got those threads


cdef object hold_leaf(Tensor variable):
    """The lock of a leaf that this thread holds from now on; None if it did before."""
    key = <size_t><PyObject*>variable
    thread = PyThread_get_thread_ident()
    holder = g_held_leaves.get(key)
    while holder is not None:
        if holder[0] == thread:
            return None
        with holder[1]:              # waits
            pass
        holder = g_held_leaves.get(key)
    lock = _allocate_lock()
    lock.acquire()
    g_held_leaves[key] = (thread, lock)
    return lock


cdef int accumulate_into(Tensor variable, PyObject* grad, bint create_graph) except -1:
    """Add a gradient to `variable.grad`; takes the reference."""
    cdef object lock
    if (<Tensor>grad).count < ADDED_IN_ONE_GO:
        return put_gradient(variable, grad, create_graph)
    try:
        lock = hold_leaf(variable)
    except BaseException:            # interrupted
        Py_DECREF(<object>grad)
        raise
    if lock is None:
        return put_gradient(variable, grad, create_graph)
    try:
        put_gradient(variable, grad, create_graph)
    finally:
        g_held_leaves.pop(<size_t><PyObject*>variable, None)     # empty in a child of the fork
        lock.release()
    return 0


cdef int put_gradient(Tensor variable, PyObject* grad, bint create_graph) except -1:
    cdef Tensor g = <Tensor>grad
    cdef Tensor old, total
    cdef PyObject* before
    cdef bint own = False
    Py_DECREF(g)                                # `g` holds it now
    # Recorded additions may run hooks, which may change .grad: then look again.
    while True:
        before = variable.gradient
        if before == NULL:
            # The buffer becomes .grad if nobody else has it and it lies in memory as the variable
            # does. References: the local name, and nobody else.
            if not own and not (
                    not create_graph and Py_REFCNT(g) == 1 and g.mem.refcount == 1
                    and g.base == NULL and layout_fits(g, variable)):
                if create_graph or g.flags & F_SLOW:
                    g = T.clone(g, -1)
                else:
                    g = copy_in_layout(g, variable)
                own = True
                continue
            Py_INCREF(g)
            variable.gradient = <PyObject*>g
            return 0
        old = <Tensor>before
        if not (create_graph or (old.flags | g.flags) & F_SLOW):
            ew2(K_ADD, old, g, 0, old, "add_")
            bump_version(old)
            return 0
        total = T.add(old, g)
        if variable.gradient == before:
            Py_INCREF(total)
            variable.gradient = <PyObject*>total
            Py_DECREF(<object>before)
            return 0


cdef bint layout_fits(Tensor g, Tensor variable) noexcept:
    cdef int i
    if not tensor_is_dense(variable):
        return not (g.flags & F_STRIDED)
    for i in range(variable.nd):
        if variable.sizes[i] != 1 and g.strides[i] != variable.strides[i]:
            return False
    return True


cdef Tensor copy_in_layout(Tensor g, Tensor variable):
    """A copy with the strides of a dense variable, otherwise C-contiguous."""
    cdef Tensor r
    if tensor_is_dense(variable):
        r = tensor_empty_strided(g.dt, variable.nd, variable.sizes, variable.strides)
    else:
        r = tensor_empty(g.dt, g.nd, g.sizes)
    copy_into(r, g, "accumulate")
    return r
