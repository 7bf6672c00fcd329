# Modes to which every function dispatches, `TorchFunctionMode` (part of overrides.pyx).
#
# While some thread is in such a mode, operators and attributes of plain tensors go through forms
# that dispatch; they are put into the tables of tensor.pyx with the first mode and taken out with
# the last, so programs without modes pay one comparison per function, and nothing per operator.

cdef extern from *:
    """
    /* One form per slot of Upcalls.binary: it calls agc_dispatching with the number of the slot. */
    static PyObject* (*agc_dispatching)(int, PyObject*, PyObject*) = NULL;
    #define AGC_FORM(n) \\
        static PyObject* agc_form##n(PyObject* a, PyObject* b) { return agc_dispatching(n, a, b); }
    AGC_FORM(0) AGC_FORM(1) AGC_FORM(2) AGC_FORM(3) AGC_FORM(4) AGC_FORM(5) AGC_FORM(6) AGC_FORM(7)
    AGC_FORM(8) AGC_FORM(9) AGC_FORM(10) AGC_FORM(11) AGC_FORM(12) AGC_FORM(13) AGC_FORM(14)
    AGC_FORM(15) AGC_FORM(16) AGC_FORM(17) AGC_FORM(18) AGC_FORM(19) AGC_FORM(20) AGC_FORM(21)
    AGC_FORM(22) AGC_FORM(23) AGC_FORM(24) AGC_FORM(25) AGC_FORM(26) AGC_FORM(27) AGC_FORM(28)
    AGC_FORM(29) AGC_FORM(30)
    static PyObject* (*const agc_forms[])(PyObject*, PyObject*) = {
        agc_form0, agc_form1, agc_form2, agc_form3, agc_form4, agc_form5, agc_form6, agc_form7,
        agc_form8, agc_form9, agc_form10, agc_form11, agc_form12, agc_form13, agc_form14,
        agc_form15, agc_form16, agc_form17, agc_form18, agc_form19, agc_form20, agc_form21,
        agc_form22, agc_form23, agc_form24, agc_form25, agc_form26, agc_form27, agc_form28,
        agc_form29, agc_form30};
    """
    void* agc_dispatching
    void* agc_forms[31]

cdef int modes_alive = 0            # of all threads
cdef object _modes = _threading.local()
cdef Upcalls plain_forms          # what the dispatching ones stand for


cdef tuple mode_stack():
    return getattr(_modes, "stack", ())


cdef tuple stacks_below():
    """Chain of what `mode_stack` was before each push: a mode is left without asking for memory."""
    return getattr(_modes, "below", None)


cdef object through_modes(object f, tuple args):
    return dispatch_to_classes(f, args, args, {})


cdef tuple shown_for(int slot, object a, object b):
    """The function that is shown for a binary operator, and its arguments: a tensor is first."""
    if isinstance(a, Tensor):
        return getattr(Tensor, <str>(<list>BINARY_SHOWN)[slot]), (a, b)
    return getattr(Tensor, <str>(<list>REFLECTED_SHOWN)[slot]), (b, a)


cdef object dispatching_binary(int slot, object a, object b):
    if not mode_stack():
        return plain_forms.binary[slot](a, b)
    f, args = shown_for(slot, a, b)
    if not f.__name__.startswith("__"):
        return through_modes(f, args)
    # A special method may leave the answer to the other side, and so to Python.
    return first_answer(f, overriding_args(args), args, {})


cdef object dispatching_unary(int slot, Tensor a):
    if not mode_stack():
        return plain_forms.unary[slot](a)
    return through_modes(getattr(Tensor, <str>(<list>UNARY_SHOWN)[slot]), (a,))


cdef object dispatching_neg(Tensor a):
    return dispatching_unary(U_NEG, a)


cdef object dispatching_pos(Tensor a):
    return dispatching_unary(U_POS, a)


cdef object dispatching_invert(Tensor a):
    return dispatching_unary(U_INVERT, a)


cdef object dispatching_abs(Tensor a):
    return dispatching_unary(U_ABS, a)


def _python_operators():
    """
    By special method: the functions that are shown for operators of two operands and of one, and
    what each reflected one mirrors.
    """
    return BINARY_DISPATCHED, UNARY_DISPATCHED, FORWARD


# What `x[...]` does without a mode: x is plain, or dispatch to its class is disabled (classes with
# overrides have slots of their own), so only indices and what is assigned may have overrides.
cdef getitem_fn own_getitem = NULL
cdef setitem_fn own_setitem = NULL


def _dispatch_to_classes_of_items():
    """Let reading and writing of items dispatch to classes of indices and values, from now on."""
    global own_getitem, own_setitem
    if own_getitem == NULL:
        own_getitem, own_setitem = upcalls.getitem, upcalls.setitem
        upcalls.getitem, upcalls.setitem = looking_getitem, looking_setitem


cdef object looking_getitem(Tensor a, object index):
    if type(index) is not int and has_override(<PyObject*>index):
        return dispatch_to_classes(Tensor.__getitem__, (index,), (a, index), {})
    return own_getitem(a, index)


cdef int looking_setitem(Tensor a, object index, object value) except -1:
    if has_override(<PyObject*>index) or overriding(<PyObject*>value):
        dispatch_to_classes(Tensor.__setitem__, (index, value), (a, index, value), {})
        return 0
    return own_setitem(a, index, value)


cdef object dispatching_getitem(Tensor a, object index):
    if not mode_stack():
        return plain_forms.getitem(a, index)
    return through_modes(Tensor.__getitem__, (a, index))


cdef int dispatching_setitem(Tensor a, object index, object value) except -1:
    if not mode_stack():
        return plain_forms.setitem(a, index, value)
    through_modes(Tensor.__setitem__, (a, index, value))
    return 0


# Note [The first mode and the last]
# They change the tables and attributes for all threads. That is done in one go, in C: a call of
# Python in between would let an interrupt or another thread's mode come when half of it is done.

cdef object _attributes_of = None
cdef list attributes = None     # (name, what Tensor has, its form that dispatches); methods, too


def _set_attributes(f):
    """Set `f`, which makes the list of attributes that dispatch while there is a mode."""
    global _attributes_of
    _attributes_of = f


cdef int show_attributes(bint dispatching) except -1:
    _exchange(attributes, dispatching)
    return 0


def _push_function_mode(mode):
    """From now on this thread's calls go to ``mode.__torch_function__`` first."""
    push_function_mode(mode)


cdef int push_function_mode(object mode) except -1:
    global modes_alive, plain_forms, agc_dispatching, attributes
    cdef tuple stack, below
    cdef int slot
    if attributes is None:
        attributes = _attributes_of()
    stack = mode_stack()
    below = (stack, stacks_below())
    stack = stack + (mode,)
    if modes_alive == 0:
        show_attributes(True)
        plain_forms = upcalls
        agc_dispatching = <void*>dispatching_binary
        for slot in range(B_COUNT):
            upcalls.binary[slot] = <binary_fn>agc_forms[slot]
        upcalls.unary[U_NEG], upcalls.unary[U_POS] = dispatching_neg, dispatching_pos
        upcalls.unary[U_INVERT], upcalls.unary[U_ABS] = dispatching_invert, dispatching_abs
        upcalls.getitem, upcalls.setitem = dispatching_getitem, dispatching_setitem
    modes_alive += 1
    form_upcalls.dispatching = modes_alive
    _modes.stack, _modes.below = stack, below
    return 0


def _pop_function_mode():
    """Leave the innermost mode of this thread, and return it."""
    return pop_function_mode()


cdef object pop_function_mode():
    global modes_alive
    cdef tuple stack = mode_stack(), before = stacks_below()
    cdef int slot
    if not stack:
        raise RuntimeError("there is no function mode to leave")
    if before is not None:
        _modes.below = before[1]
    if before is not None and are_first(<tuple>before[0], stack):
        _modes.stack = before[0]
    else:
        _modes.stack = stack[:len(stack) - 1]
    modes_alive -= 1
    form_upcalls.dispatching = modes_alive
    if modes_alive == 0:
        for slot in range(B_COUNT):
            upcalls.binary[slot] = plain_forms.binary[slot]
        for slot in range(U_COUNT):
            upcalls.unary[slot] = plain_forms.unary[slot]
        upcalls.getitem, upcalls.setitem = plain_forms.getitem, plain_forms.setitem
        show_attributes(False)
    return stack[len(stack) - 1]


cdef bint are_first(tuple below, tuple stack) noexcept:
    """Return whether `below` is `stack` without its last element."""
    cdef Py_ssize_t i
    if len(below) != len(stack) - 1:
        return False
    for i in range(len(below)):
        if below[i] is not stack[i]:
            return False
    return True


def _call_within_mode(mode, f, tuple args, dict kwargs):
    """`f(*args, **kwargs)` in a mode."""
    push_function_mode(mode)
    try:
        return f(*args, **kwargs)
    finally:
        pop_function_mode()


def _function_modes():
    """The modes of this thread, the innermost last."""
    return mode_stack()


def _put_function_modes(tuple stack):
    """Replace the modes of this thread for a while, by fewer; the number alive stays."""
    _modes.stack = stack


cdef object dispatch_to_innermost(object f, tuple types, tuple args, dict kwargs):
    """Call the innermost mode; the calls that it makes see the modes outside of it."""
    cdef tuple stack = mode_stack()
    cdef tuple outer = stack[:len(stack) - 1]
    mode = stack[len(stack) - 1]
    _modes.stack = outer
    try:
        return mode.__torch_function__(f, types, args, kwargs)
    finally:
        # It may have left outer modes, or entered others that stay: it is the innermost again.
        _modes.stack = stack if mode_stack() is outer else mode_stack() + (mode,)


# --- mixed precision --------------------------------------------------------------------------

cdef class Entered:
    """
    The state before each entry of a context that was not left yet.

    A chain and no list: to grow and to shrink, that asks for memory, and may not get any.
    """
    # (enabled, dtype, cache_enabled, whether a mode was pushed, what was before, whether this one
    # is on, the keys of the first two)
    cdef tuple last


cdef class AutocastContext(Restoring):
    """
    The part of `autocast` that changes state: items of the thread's ``_state``, and its modes of
    functions.

    Here and not in Python, so that no interrupt comes in between (Note [Interrupts and modes]). One
    object may be entered again while it is.
    """
    cdef readonly bint _enabled
    cdef readonly bint _here
    cdef readonly object fast_dtype
    cdef readonly object _cache_enabled
    cdef str enabled_key           # where `_state` has what is changed, of one type of devices
    cdef str dtype_key
    cdef Entered entered

    def _hold(self, str kind, bint enabled, bint here, fast_dtype, cache_enabled):
        """Say what holds inside, for devices of a type."""
        self.enabled_key = "enabled" if kind == "cpu" else f"enabled on {kind}"
        self.dtype_key = "dtype" if kind == "cpu" else f"dtype on {kind}"
        self._enabled, self._here, self.fast_dtype = enabled, here, fast_dtype
        self._cache_enabled = None if cache_enabled is None else bool(cache_enabled)
        self.entered = Entered()

    def __enter__(self):
        # A subclass's __init__ may not have called ours.
        if self.entered is None:
            raise RuntimeError(f"{type(self).__name__}: autocast.__init__() was not called")
        cdef dict state = type(self)._state.__dict__
        cdef bint push = self._enabled and not state["pushed"]
        # From here on no key is new, so that nothing needs memory.
        cdef tuple before = (
            state.setdefault(self.enabled_key, False), state.setdefault(self.dtype_key, None),
            state["cache_enabled"], push, self.entered.last, self._enabled, self.enabled_key,
            self.dtype_key)
        self.ending = (_leave_all, (state, self.entered))
        if push:
            push_function_mode(type(self)._mode)
            state["pushed"] = state["pushed"] + 1
        self.entered.last = before
        hold_change(self)
        if self._here:
            state[self.enabled_key], state[self.dtype_key] = self._enabled, self.fast_dtype
            state["regions"] = state["regions"] + self._enabled
        if self._cache_enabled is not None:
            state["cache_enabled"] = self._cache_enabled
        state["nesting"] = state["nesting"] + 1
        return self

    def __exit__(self, kind=None, error=None, traceback=None):
        if self.entered is None or self.entered.last is None:
            raise RuntimeError(f"{type(self).__name__} is left that was not entered")
        leave_autocast(type(self)._state.__dict__, self.entered)
        self.held = self.entered.last is not None
        if not self.held:
            self.ending = None


cdef int leave_autocast(dict state, Entered entered) except -1:
    cdef tuple before = entered.last
    entered.last = before[4]
    state[before[6]], state[before[7]], state["cache_enabled"] = before[0], before[1], before[2]
    if before[5]:
        state["regions"] = state["regions"] - 1
    state["nesting"] = state["nesting"] - 1
    if not state["nesting"]:
        state["cache"].clear()
    if before[3]:
        pop_function_mode()
        state["pushed"] = state["pushed"] - 1
    return 0


def _leave_all(dict state, Entered entered):
    while entered.last is not None:
        leave_autocast(state, entered)
