# cython: language_level=3
# build: plain hot
"""Saved tensors under hooks: packing, unpacking, and the handles behind ``_raw_saved_*``.

A slot without hooks holds the tensor; with hooks it holds a Packed, which knows how to get the
tensor back. Which hooks apply is thread-local: the innermost pair that was pushed.
"""
from cpython.ref cimport PyObject, Py_INCREF, Py_XDECREF
from libc.stdint cimport uint32_t
from autograd_cy._C.forms cimport keep_message
from autograd_cy._C.levels cimport place_alias
from autograd_cy._C.node cimport *
from autograd_cy._C.sealed cimport seal
from autograd_cy._C.tensor cimport *
from autograd_cy._C.engine import _carry_thread_state, _undo_in_the_end

import threading as _threading


# This thread's stack of pairs, the innermost first: (pack, unpack, the stack below), or (); and the
# message of those who forbid hooks. A chain is left without asking for memory.
cdef object _state = _threading.local()


cdef tuple hook_stack():
    return getattr(_state, "stack", ())


cdef object refusal():
    return getattr(_state, "refusal", None)


cdef class Packed:
    """The object that a slot holds instead of its tensor."""
    cdef object value
    cdef object unpack
    cdef Tensor dual          # holds the tangents of a dual until their level ends, or None


cdef int pack_with(Node n, int slot, Tensor t, object pack, object unpack) except -1:
    """Put what `pack` makes of a tensor into a slot."""
    cdef Saved* s = &n.saved[slot]
    cdef Packed p = Packed.__new__(Packed)
    cdef modes_t modes = tls_modes()
    cdef uint32_t version = t.mem.version[0]
    cdef PyObject* old
    cdef Tensor shown = t
    # What the hook returns may hold anything, this node included.
    node_track(n)
    if s.edge <= -2 and t.fn == NULL:
        shown = graph_free_alias(t)     # an output: shown as the user knows it
        attach(shown, <PyObject*>n, -2 - s.edge)
    tls_set_modes((modes | M_NO_GRAD) & ~<modes_t>M_SAVED_HOOKS)
    try:
        p.value = pack(shown)
    except Exception as error:
        keep_message(error)     # the hook may be in C, and leave no trace of its own
        raise
    finally:
        tls_set_modes(modes)
    if t.mem.version[0] != version:
        raise RuntimeError(
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input "
            "to pack hook cannot be modified by in-place operations as this can lead to unexpected "
            "side-effects. Return a new tensor instead.")
    p.unpack = unpack
    if t.flags & F_DUAL:
        # Whatever the hooks make of the values; on an alias, so that these aren't kept.
        p.dual = tensor_alias(<Tensor>t.extra.tangent)
        put_dual(p.dual, <Tensor>t.extra.tangent, t.extra.forward, <Tensor>t.extra.primal)
    old = s.obj
    Py_INCREF(p)
    s.obj = <PyObject*>p
    Py_XDECREF(old)
    return 0


cdef int pack_saved(Node n, int slot, Tensor t) except -1:
    cdef tuple innermost = hook_stack()
    return pack_with(n, slot, t, innermost[0], innermost[1])


cdef object unpack_saved(Node n, int slot):
    """The tensor of a packed slot, with its history and tangents."""
    cdef Tensor dual = (<Packed>n.saved[slot].obj).dual
    cdef Tensor t = <Tensor>unpacked(n, slot)
    if dual is None or not (dual.flags & F_DUAL) or t.flags & F_DUAL:
        return t
    t = place_alias(t)
    put_dual(t, <Tensor>dual.extra.tangent, dual.extra.forward, <Tensor>dual.extra.primal)
    return t


cdef object unpacked(Node n, int slot):
    """The tensor of a packed slot, with the history that was recorded for it."""
    cdef Saved* s = &n.saved[slot]
    cdef Packed p = <Packed>s.obj
    cdef int edge = s.edge
    cdef Tensor t, r
    cdef PyObject* to
    value = p.unpack(p.value)
    if not isinstance(value, Tensor):
        raise TypeError("Output of saved tensor unpack_hook expected to be a Tensor but got result "
                        f"of type {type(value).__name__}")
    t = <Tensor>value
    if edge <= -2:
        r = graph_free_alias(t)
        attach(r, <PyObject*>n, -2 - edge)
        return r
    if edge < 0 or edge >= n.n_edges or n.edges[edge].node == NULL:
        return t
    to = n.edges[edge].node
    if (<Node>to).flags & N_ACCUMULATE and accumulated_variable(<Node>to) is t:
        return t
    if t.fn == to and t.out_nr == n.edges[edge].nr:
        return t
    r = graph_free_alias(t)
    attach(r, to, n.edges[edge].nr)
    return r


# --- handles --------------------------------------------------------------------------------

cdef class SavedTensor:
    """
    A tensor that a node has saved (``grad_fn._raw_saved_self`` and the like).

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(2, requires_grad=True)
    >>> y = x * x
    >>> y.grad_fn._raw_saved_self.register_hooks(lambda t: t.detach() + 0, lambda t: t)
    >>> y.sum().backward()
    >>> x.grad
    tensor([2., 2.])
    """
    cdef Node node
    cdef int slot

    def register_hooks(self, pack_hook, unpack_hook):
        """
        Keep `pack_hook(tensor)` instead of the tensor; `unpack_hook` must give a tensor back.

        Raises
        ------
        RuntimeError
            If hooks are there already, nothing was saved, or it was freed.
        TypeError
            If a hook isn't callable.
        """
        cdef Saved* s = &self.node.saved[self.slot]
        if not callable(pack_hook) or not callable(unpack_hook):
            raise TypeError("register_hooks(): incompatible function arguments: expected two "
                            f"callables, got {type(pack_hook).__name__} and "
                            f"{type(unpack_hook).__name__}")
        if s.obj == NULL:
            if self.node.flags & N_FREED:
                raise RuntimeError(
                    "Calling register_hooks on a saved tensor after it has been freed. Saved "
                    "intermediate values of the graph are freed when you call .backward() or "
                    "autograd.grad(). Specify retain_graph=True if you need to backward through "
                    "the graph a second time or if you need to access saved variables after "
                    "calling backward.")
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is "
                               "forbidden")
        if isinstance(<object>s.obj, Packed):
            raise RuntimeError("Calling register_hooks on a saved tensor whose hooks have already "
                               "been set. Hint: only one pair of hooks is allowed at a time.")
        pack_with(self.node, self.slot, unpack(self.node, self.slot)
                  if isinstance(<object>s.obj, (float, int)) else <Tensor>s.obj, pack_hook,
                  unpack_hook)

    def unpack(self):
        """The saved tensor, after the version check and the unpack hook."""
        cdef Saved* s = &self.node.saved[self.slot]
        if s.obj == NULL and not self.node.flags & N_FREED:
            return None
        return unpack(self.node, self.slot)

    @property
    def data(self):
        """The content of the slot: the packed object, or the tensor."""
        cdef Saved* s = &self.node.saved[self.slot]
        if s.obj != NULL and isinstance(<object>s.obj, Packed):
            return (<Packed>s.obj).value
        return self.unpack()

    @property
    def unpack_hook(self):
        cdef Saved* s = &self.node.saved[self.slot]
        if s.obj != NULL and isinstance(<object>s.obj, Packed):
            return (<Packed>s.obj).unpack
        return None


cdef object raw_saved(Node n, int slot):
    cdef SavedTensor s
    if slot >= n.n_saved:
        raise freed_error(n)            # an empty node, made by __new__
    s = SavedTensor.__new__(SavedTensor)
    s.node = n
    s.slot = slot
    return s


# --- the stack of default hooks -------------------------------------------------------------

cdef int note_state() except -1:
    """Hooks of a backward may change what applies inside of it, but not what applies after it."""
    if tls_modes() & M_IN_BACKWARD:
        _undo_in_the_end(_put_hooks, _get_hooks())
    return 0


cdef int set_bit() except -1:
    if hook_stack():
        tls_set_modes(tls_modes() | M_SAVED_HOOKS)
    else:
        tls_set_modes(tls_modes() & ~<modes_t>M_SAVED_HOOKS)
    return 0


def _push_hooks(pack, unpack):
    """From now on what this thread saves goes through this pair."""
    if refusal() is not None:
        raise RuntimeError(refusal())
    note_state()
    _state.stack = (pack, unpack, hook_stack())
    set_bit()


def _pop_hooks():
    if not hook_stack():
        raise RuntimeError("there are no saved-tensor hooks to take away")
    note_state()
    _state.stack = hook_stack()[2]
    set_bit()


# Made beforehand: to leave must not ask for memory.
cdef tuple _popping = (_pop_hooks, ())


cdef class HooksContext(Restoring):
    """Enter and leave its pair of hooks in C: no interrupt comes between (see modes.pxi)."""
    cdef public object pack_hook
    cdef public object unpack_hook

    def __enter__(self):
        self.ending = _popping
        _push_hooks(self.pack_hook, self.unpack_hook)
        hold_change(self)

    def __exit__(self, kind=None, error=None, traceback=None):
        self.ending = _popping              # also of one that is entered twice
        undo_change(self)


cdef class NoHooksContext(Restoring):
    """Forbids hooks, with a message."""
    cdef readonly object message

    def __init__(self, message):
        self.message = message

    def __enter__(self):
        # What needs memory comes before the change, here and below.
        self.ending = (_forbid_hooks, (refusal(),))
        _forbid_hooks(self.message)
        hold_change(self)

    def clone(self):
        """A fresh context of the same kind."""
        return type(self)(self.message)


# --- watching writes ------------------------------------------------------------------------

def _write_guards():
    """Return the callbacks for this thread's writes, see allow_mutation_on_saved_tensors."""
    return getattr(_state, "guards", ())


cdef class GuardContext(Restoring):
    """Hooks and write guard in one: those of what ``_make_guard()`` of the class gives."""

    def __enter__(self):
        if _write_guards():
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        guard = type(self)._make_guard()
        guards = (guard,)
        self.ending = (_end_guard, guards)
        _push_hooks(guard._pack, guard._unpack)
        _state.guards = guards
        self.before = tls_modes()
        self.mask = M_GUARD_SAVED
        tls_set_modes(self.before | M_GUARD_SAVED)
        hold_change(self)
        return guard


def _end_guard(guard):
    _state.guards = ()
    _pop_hooks()
    guard.clear()


def _forbid_hooks(message):
    """Let _push_hooks raise with `message` (None: allow it again); returns what held before."""
    before = refusal()
    if message is not None and hook_stack():
        raise RuntimeError(message)
    note_state()
    _state.refusal = message
    return before


def _get_hooks():
    return hook_stack(), refusal()


def _put_hooks(state):
    _state.stack, _state.refusal = state
    set_bit()


_carry_thread_state(_get_hooks, _put_hooks)

seal(SavedTensor, "Trying to create a SavedTensor object from Python is forbidden. Ask a node for "
     "_raw_saved_...", RuntimeError)
seal(Packed, "Packed objects cannot be made; see saved_tensors_hooks")

graph_upcalls.pack_saved = pack_saved
graph_upcalls.unpack_saved = unpack_saved
graph_upcalls.raw_saved = raw_saved
