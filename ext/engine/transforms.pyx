# cython: language_level=3
"""The engine's part of autograd_cy.func: leaves of a transformation, and tensors that lead outside.

# Note [Graphs of nested transformations]
A transformation differentiates with respect to its own leaves. Whether its backward must itself be
recorded depends on what else its graph was built from: another leaf, or a tensor whose value below
its vmap requires grad. `needs_graph` looks for either; without, backward runs unrecorded, as it
does for a plain gradient. What backward code of Python uses (a custom Function, hooks on saved
tensors) is known afterwards, from the gradients: those that don't depend on anything outside lose
their graph.
"""
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t
from autograd_cy._C.dtypes cimport dt_differentiable, dt_object
from autograd_cy._C.forward cimport follow_base
from autograd_cy._C.levels cimport lift
from autograd_cy._C.node cimport (
    Node, N_ACCUMULATE, N_COPY_SLICES, N_PYTHON, accumulated_variable, current_fn)
from autograd_cy._C.tensor cimport (
    Tensor, TensorExtra, tensor_alias, copy_special, put_dual, requires_grad,
    vmap_level, F_BATCHED, F_DUAL, F_INFERENCE, F_REQUIRES_GRAD,
    F_VIEW)
include "operators_of_transforms.pxi"

cdef uint32_t N_SEEN = <uint32_t>1 << 30       # visited by the walk that is going on


cdef Tensor bare_alias(Tensor t):
    """Return an alias with vmap wrapper and tangents, without history."""
    cdef Tensor r = tensor_alias(t)
    if t.flags & F_VIEW:
        follow_base(t)
    if t.flags & (F_DUAL | F_BATCHED):
        copy_special(r, t)
    return r


def _start(Tensor t not None, bint connect):
    """
    The tensor that a transformation differentiates with respect to, in place of its argument.

    A new leaf; with `connect` and an argument that requires grad, an alias that leads on to it.
    """
    cdef Tensor r
    if not dt_differentiable(t.dt):
        raise RuntimeError(
            "only Tensors of floating point dtype can require gradients (and complex ones); an "
            f"argument to differentiate is {dt_object(t.dt)!r}")
    t = lift(t, vmap_level())
    if connect and requires_grad(t):
        return T._alias(t)
    r = bare_alias(t)
    r.flags = (r.flags | F_REQUIRES_GRAD) & ~<uint32_t>F_INFERENCE
    return r


def _end(Tensor t not None):
    """A leaf of `_start` whose transformation has ended: nobody asks for its gradient any more."""
    if t.fn == NULL:
        t.flags &= ~<uint32_t>F_REQUIRES_GRAD


def _without_graph(Tensor t not None, bint deep):
    """`t` without history; with `deep` also what is below its vmaps."""
    cdef Tensor r
    cdef TensorExtra x
    if t.flags & F_DUAL:
        r = tensor_alias(t)
        copy_special(r, t)
        put_dual(r, _without_graph(<Tensor>t.extra.tangent, deep), t.extra.forward,
                 <Tensor>t.extra.primal)
    elif not requires_grad(t) and not (deep and t.flags & F_BATCHED):
        return t
    else:
        r = bare_alias(t)
    if deep and r.flags & F_BATCHED:
        x = r.extra
        x.value = _without_graph(<Tensor>x.value, True)
    return r


# --- what a graph leads to ------------------------------------------------------------------

cdef class Walk:
    """Nodes still to visit, and all that were visited."""
    cdef PyObject** nodes
    cdef Py_ssize_t count, capacity, next

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.count):
            (<Node>self.nodes[i]).flags &= ~N_SEEN
        PyMem_Free(self.nodes)

    cdef int add(self, PyObject* p) except -1:
        cdef PyObject** more
        if p == NULL or (<Node>p).flags & N_SEEN:
            return 0
        if self.count == self.capacity:
            more = <PyObject**>PyMem_Realloc(
                self.nodes, (2 * self.capacity + 256) * sizeof(PyObject*))
            if more == NULL:
                raise MemoryError()
            self.nodes = more
            self.capacity = 2 * self.capacity + 256
        (<Node>p).flags |= N_SEEN
        self.nodes[self.count] = p
        self.count += 1
        return 0

    cdef bint look_at(self, Tensor t, list own) except -1:
        """
        Return whether a tensor whose value backward uses requires grad outside; its tangents'
        graphs are visited too. Its own graph is the caller's to visit.
        """
        cdef Tensor x
        while t is not None:
            x = t
            while x.flags & F_DUAL:
                if self.enter(<Tensor>x.extra.tangent, own):
                    return True
                x = <Tensor>x.extra.primal
                if x is None:
                    break
            if not (t.flags & F_BATCHED):
                return False
            t = <Tensor>t.extra.value
            if requires_grad(t):
                return True
        return False

    cdef bint enter(self, Tensor t, list own) except -1:
        """Visit the graph of t; whether it is a leaf of somebody else, or leads outside itself."""
        cdef Node fn
        if requires_grad(t):
            fn = current_fn(t)
            if fn is not None:
                self.add(<PyObject*>fn)
            elif not is_own(t, own):
                return True
        return self.look_at(t, own)

    cdef bint enter_all(self, Tensor t, list own) except -1:
        """Enter a tensor and all that it is made of: tangents, and the tensors below vmaps."""
        cdef Node fn
        cdef Tensor x
        while True:
            if requires_grad(t):
                fn = current_fn(t)
                if fn is not None:
                    self.add(<PyObject*>fn)
                elif not is_own(t, own):
                    return True
            x = t
            while x is not None and x.flags & F_DUAL:
                if self.enter_all(<Tensor>x.extra.tangent, own):
                    return True
                x = <Tensor>x.extra.primal
            if not t.flags & F_BATCHED:
                return False
            t = <Tensor>t.extra.value


cdef bint is_own(Tensor t, list own):
    for x in own:
        if x is t:
            return True
    return False


cdef bint is_outside(Tensor t, list own) except -1:
    """Tell whether somebody else may ask for the gradient of a leaf."""
    return requires_grad(t) and not is_own(t, own)


cdef enum:
    LEADS_OUTSIDE = 1
    MAY_LEAD = 2


cdef int leads_outside(tuple tensors, list own) except -1:
    """0, LEADS_OUTSIDE, or MAY_LEAD: code of Python may use anything."""
    cdef bint unknown = False
    cdef Walk w = Walk.__new__(Walk)
    cdef Node n
    cdef PyObject* p
    cdef int i
    cdef Tensor t
    for t in tensors:
        if w.enter(t, own):
            return LEADS_OUTSIDE
    while w.next < w.count:
        n = <Node>w.nodes[w.next]
        w.next += 1
        if n.flags & N_ACCUMULATE:
            if is_outside(accumulated_variable(n), own):
                return LEADS_OUTSIDE
            continue
        unknown = unknown or n.flags & N_PYTHON
        for i in range(n.n_edges):
            w.add(n.edges[i].node)
        if n.flags & N_COPY_SLICES and n.args != NULL:
            w.add(<PyObject*>(<tuple>n.args)[0])
        for i in range(n.n_saved):
            p = n.saved[i].obj
            if p == NULL or isinstance(<object>p, (float, int)):
                continue
            if not isinstance(<object>p, Tensor):
                unknown = True      # packed by a hook
                continue
            t = <Tensor>p
            if t.flags & (F_DUAL | F_BATCHED) and w.look_at(t, own):
                return LEADS_OUTSIDE
    return MAY_LEAD if unknown else 0


def _needs_graph(tuple tensors, tuple leaves):
    """
    Return whether gradients of `tensors` depend on something that requires grad beside `leaves`.

    0 is no, 1 is yes; 2 is that only the gradients themselves will tell: see `_depends_outside`.
    """
    return leads_outside(tensors, list(leaves))


def _depends_outside(Tensor t not None, tuple leaves):
    """Return whether `t` was computed from something that requires grad beside `leaves`."""
    cdef Walk w = Walk.__new__(Walk)
    cdef list own = list(leaves)
    cdef Node n
    cdef int i
    if w.enter_all(t, own):
        return True
    while w.next < w.count:
        n = <Node>w.nodes[w.next]
        w.next += 1
        if n.flags & N_ACCUMULATE:
            if is_outside(accumulated_variable(n), own):
                return True
            continue
        for i in range(n.n_edges):
            w.add(n.edges[i].node)
        if n.flags & N_COPY_SLICES and n.args != NULL:
            w.add(<PyObject*>(<tuple>n.args)[0])
    return False
