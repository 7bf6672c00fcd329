# cython: language_level=3
"""Hooks of tensors and nodes: where they are kept, and how a backward runs them.

Order, for a node that runs: hooks of its output tensors, ``retain_grad``, (the task takes captured
gradients here), the node's pre-hooks, the node, for a leaf the post-accumulate hooks, the node's
hooks. Each sees what the one before left; an undefined gradient is None to all of them.
"""
from cpython.ref cimport PyObject, Py_INCREF, Py_DECREF, Py_XDECREF
from autograd_cy._C.accumulate cimport Busy, hold
from autograd_cy._C.node cimport *
from autograd_cy._C.tensor cimport *
include "operators_of_hooks.pxi"

from weakref import ref as _ref


class HookDict(dict):
    """Hooks by the number of their handle, in the order of registration."""

    __slots__ = ("__weakref__",)


cdef class HandleContext(Restoring):
    """Remove hooks, at the end of a block in C: no interrupt comes between (see modes.pxi)."""
    cdef public object _hooks       # weak reference to a HookDict, or None
    cdef public object id
    cdef public tuple handles       # others that are removed together

    def remove(self):
        """Remove the hook; a second call does nothing."""
        _remove(self._hooks, self.id, self.handles)

    def __enter__(self):
        self.ending = (_remove, (self._hooks, self.id, self.handles))
        hold_change(self)
        return self

    def __exit__(self, kind=None, error=None, traceback=None):
        self.ending = None
        undo_change(self)
        self.remove()


def _remove(reference, number, handles):
    hooks = reference() if reference is not None else None
    if hooks is not None:
        hooks.pop(number, None)
    if handles is not None:
        for handle in handles:
            handle.remove()


# --- running --------------------------------------------------------------------------------

cdef str hook_name(object hook):
    return getattr(hook, "__name__", None) or type(hook).__name__


cdef int check_hook_result(PyObject* before, object after, object hook) except -1:
    cdef Tensor t, old
    if not isinstance(after, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(after).__name__}' "
                        f"(hook '{hook_name(hook)}' must return a Tensor or None)")
    if before == NULL:
        raise RuntimeError("can't replace a None gradient with a non-None value (hook "
                           f"'{hook_name(hook)}' returned a Tensor of shape "
                           f"{list(sizes_of(<Tensor>after))}; return None where there is no "
                           "gradient)")
    t = <Tensor>after
    old = <Tensor>before
    if not same_shape(old, t):
        raise RuntimeError(f"hook '{hook_name(hook)}' has changed the size of value (from "
                           f"{list(sizes_of(old))} to {list(sizes_of(t))})")
    if t.dt != old.dt:
        raise RuntimeError(f"hook '{hook_name(hook)}' has changed the type of value (from "
                           f"{tensor_type_name(old)} to {tensor_type_name(t)})")
    if t.mem.device != old.mem.device:
        raise RuntimeError(f"hook '{hook_name(hook)}' has changed the type of value (from "
                           f"{tensor_type_name(old)} on {old.device} to {tensor_type_name(t)} on "
                           f"{t.device})")
    return 0


cdef int run_tensor_hooks(object hooks, PyObject** slot) except -1:
    """Hooks on a tensor's gradient; each sees the result of the one before."""
    cdef object r
    cdef PyObject* old
    for hook in list(hooks.values()):
        r = hook(<object>slot[0] if slot[0] != NULL else None)
        if r is None:
            continue
        check_hook_result(slot[0], r, hook)
        old = slot[0]
        Py_INCREF(r)
        slot[0] = <PyObject*>r
        Py_DECREF(<object>old)
    return 0


cdef tuple gradients_as_tuple(PyObject** p, int n):
    cdef int i
    return tuple([<object>p[i] if p[i] != NULL else None for i in range(n)])


cdef int store_gradients(object r, PyObject** p, int n, object hook) except -1:
    """Write the gradients that a node hook returned."""
    cdef int i
    cdef PyObject* old
    if not isinstance(r, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(r).__name__}' "
                        f"(hook '{hook_name(hook)}' must return a tuple of {n} gradients or None)")
    if len(r) != n:
        raise RuntimeError(f"hook '{hook_name(hook)}' has returned an incorrect number of values "
                           f"(got {len(r)}, but expected {n})")
    for i in range(n):
        if r[i] is not None:
            check_hook_result(p[i], r[i], hook)
    for i in range(n):
        old = p[i]
        if r[i] is None:
            p[i] = NULL
        else:
            Py_INCREF(r[i])
            p[i] = <PyObject*>r[i]
        Py_XDECREF(old)
    return 0


cdef int tensor_hooks_of(Node n, PyObject** gin) except -1:
    cdef NodeExtra x = n.extra
    cdef int i
    if x.tensor_hooks:
        for nr, hooks in list(x.tensor_hooks.items()):    # in the order of registration
            run_tensor_hooks(hooks, &gin[<int>nr])
    if x.retain_hooks:
        for i in range(n.n_out):
            if gin[i] != NULL and i in x.retain_hooks:
                x.retain_hooks[i](<object>gin[i])
    return 0


cdef int before_node(Node n, PyObject** gin) except -1:
    if n.extra is None or not n.extra.pre_hooks:
        return 0
    for hook in list(n.extra.pre_hooks.values()):
        r = hook(gradients_as_tuple(gin, n.n_out))
        if r is not None:
            store_gradients(r, gin, n.n_out, hook)
    return 0


cdef int after_node(Node n, PyObject** gin, PyObject** gout) except -1:
    if not n.extra.post_hooks:
        return 0
    cdef int first = first_edge(n)
    for hook in list(n.extra.post_hooks.values()):
        r = hook(gradients_as_tuple(gout + first, n.n_edges - first),
                 gradients_as_tuple(gin, n.n_out))
        if r is not None:
            store_gradients(r, gout + first, n.n_edges - first, hook)
    return 0


cdef int after_accumulation(Tensor variable) except -1:
    """Post-accumulate hooks of the leaf."""
    cdef TensorExtra x = variable.extra
    if x is None or not x.post_hooks:
        return 0
    for hook in list(x.post_hooks.values()):
        r = hook(variable)
        if r is not None and r is not variable:
            if not isinstance(r, Tensor):
                raise TypeError(f"expected Variable, but hook returned '{type(r).__name__}' "
                                f"(post accumulate grad hook '{hook_name(hook)}' should return "
                                "None)")
            raise RuntimeError(
                "Tensor post accumulate grad hooks should return None. Hook "
                f"'{hook_name(hook)}' returned '{type(r).__name__}'; it may change tensor.grad in "
                "place, or set it")
    return 0


# --- where hooks live -----------------------------------------------------------------------

def _tensor_hooks(Tensor t not None):
    """The dictionary that hooks on this tensor's gradient live in."""
    cdef PyObject* p
    cdef Node n
    cdef TensorExtra x
    if not requires_grad(t):
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    p = gradient_node(t)
    n = <Node>p
    Py_DECREF(n)
    track(t)
    if n.flags & N_ACCUMULATE:
        track(n)
        x = need_extra(t)
        if x.hooks is None:
            x.hooks = HookDict()
        return x.hooks
    node_track(n)
    if node_extra(n).tensor_hooks is None:
        n.extra.tensor_hooks = {}
    if t.out_nr not in n.extra.tensor_hooks:
        n.extra.tensor_hooks[t.out_nr] = HookDict()
    return n.extra.tensor_hooks[t.out_nr]


def _hooks_of(Tensor t not None):
    """The dictionary of the hooks on this tensor's gradient, None if it has none."""
    cdef Node n
    if not requires_grad(t):
        return None
    n = current_fn(t)
    if n is None:
        return None if t.extra is None else t.extra.hooks or None
    if n.extra is None or n.extra.tensor_hooks is None:
        return None
    return n.extra.tensor_hooks.get(t.out_nr) or None


def _node_hooks(Node n not None, bint before):
    """The dictionary of a node's hooks that run before or after it."""
    if before:
        if node_extra(n).pre_hooks is None:
            n.extra.pre_hooks = HookDict()
        return n.extra.pre_hooks
    if node_extra(n).post_hooks is None:
        n.extra.post_hooks = HookDict()
    return n.extra.post_hooks


def _post_accumulate_hooks(Tensor t not None):
    """The dictionary of a leaf's hooks that run after its ``grad`` was added to."""
    cdef TensorExtra x
    if not requires_grad(t):
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if current_fn(t) is not None:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    x = need_extra(t)
    if x.post_hooks is None:
        x.post_hooks = HookDict()
    track(t)
    if t.accumulator != NULL:
        track(<object>t.accumulator)
    return x.post_hooks


# --- retain_grad ----------------------------------------------------------------------------

cdef class RetainGrad:
    """Put the gradient that arrives at a non-leaf into its ``grad``."""
    cdef object tensor
    cdef Busy busy

    def __init__(self, tensor):
        self.tensor = _ref(tensor)

    def __call__(self, Tensor grad not None):
        cdef Tensor t = self.tensor()
        cdef PyObject* before
        cdef bint mine
        if t is None:
            return
        mine = hold(&self.busy)
        try:
            if t.gradient != NULL:
                grad = T.add(<Tensor>t.gradient, grad)
            before = t.gradient
            Py_INCREF(grad)
            t.gradient = <PyObject*>grad
            Py_XDECREF(before)
        finally:
            if mine:
                self.busy.held = False


cdef object c_retain_grad(Tensor t):
    cdef Node n
    if not requires_grad(t):
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    n = current_fn(t)
    if n is None or t.flags & F_RETAINS_GRAD:
        return None
    if node_extra(n).retain_hooks is None:
        n.extra.retain_hooks = {}
    n.extra.retain_hooks[t.out_nr] = RetainGrad(t)
    t.flags |= F_RETAINS_GRAD
    return None


def retain_grad(Tensor self not None):
    """
    Let ``backward`` fill the ``grad`` of this non-leaf tensor too.

    Raises
    ------
    RuntimeError
        If the tensor doesn't require grad.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(2, requires_grad=True)
    >>> y = x * 2
    >>> y.retain_grad()
    >>> y.sum().backward()
    >>> y.grad
    tensor([1., 1.])
    """
    return c_retain_grad(self)


install(Tensor, "retain_grad", retain_grad)
