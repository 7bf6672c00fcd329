# cython: language_level=3
"""Custom Functions: the node that is also their `ctx`, and ``Function.apply``.

What users see (Function, its context methods, once_differentiable) is plain Python in
autograd_cy/autograd/function.py; the steps that every call makes are here.
"""
cimport cython
from cpython.ref cimport PyObject, Py_INCREF
from libc.stdint cimport uint32_t
from autograd_cy._C.dtypes cimport dt_differentiable
from autograd_cy._C.events cimport note_node
from autograd_cy._C.recorder cimport Event, Scope, begin_call, number_of_name
from autograd_cy._C.forward cimport forward_level, set_tangent, zero_tangent
from autograd_cy._C.levels cimport place_alias, primal_at, tangent_at
from autograd_cy._C.node cimport *
from autograd_cy._C.tensor cimport *
include "operators_of_function.pxi"

cdef extern from "Python.h":
    void Py_CLEAR(PyObject*)

from autograd_cy._C._warned import warn as _warn

from autograd_cy._C.engine import _keeps_graph
from autograd_cy._C.overrides import _disabled_torch_function_impl as _no_override
from autograd_cy._C.tensor import _must_be_bool

# Set by autograd_cy.autograd.function.
cdef object _base = None              # Function itself
cdef object _bind = None              # fills in defaults and keyword arguments of `forward`
cdef object _batched_apply = None     # apply under vmap


def _set_function(base, bind):
    """The class that custom Functions derive from, and how arguments are bound to `forward`."""
    global _base, _bind
    _base, _bind = base, bind


def _set_batched_apply(f):
    """`f(cls, args, split)` is what ``apply`` does instead of ``forward`` under vmap."""
    global _batched_apply
    _batched_apply = f


cdef class FunctionNode(Node):
    """The recorded call of a custom Function, and the `ctx` of its methods."""
    cdef public object to_save               # given to save_for_backward, until apply is done
    cdef public object saved_for_forward     # given to save_for_forward, until jvp is done
    cdef public object dirty_tensors
    cdef public object non_differentiable
    cdef public object needs_input_grad
    cdef bint with_zeros                     # what undefined gradients are for backward
    cdef bint zeros_for_nondiff              # the same for outputs that have no derivative
    cdef tuple is_tensor                     # per argument of apply
    cdef int first                           # edge that stands at place 0 (see keep_first)
    cdef bint taken                          # saved tensors were read, and may be so once only

    def __cinit__(self):
        self.with_zeros = self.zeros_for_nondiff = True

    cdef str node_name(self):
        return type(self).__name__

    cdef tuple saved_names(self):
        return ()

    @property
    def materialize_grads(self):
        """True if backward gets zeros where a gradient is undefined."""
        return self.with_zeros

    @materialize_grads.setter
    def materialize_grads(self, value):
        _must_be_bool("set_materialize_grads", "value", value, 1)
        self.with_zeros = value

    @property
    def _materialize_non_diff_grads(self):
        """If False, outputs that have no derivative bring None instead of zeros."""
        return self.zeros_for_nondiff

    @_materialize_non_diff_grads.setter
    def _materialize_non_diff_grads(self, value):
        _must_be_bool("set_materialize_non_diff_grads", "value", value, 1)
        self.zeros_for_nondiff = value

    def maybe_clear_saved_tensors(self):
        """Let saved tensors go, unless the running backward keeps its graph; so outside of one."""
        if not _keeps_graph():
            release_saved(self)

    @property
    def saved_tensors(self):
        cdef int i
        cdef tuple tensors
        if self.saved_for_forward is not None:
            return self.saved_for_forward
        if self.taken:
            raise RuntimeError(
                "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True "
                "is set on the autograd.Function. Either access saved_tensors only once, or set "
                f"clear_saved_tensors_on_access=False. ({type(self)._forward_cls.__name__})")
        if self.flags & N_FREED:
            raise freed_error(self)
        tensors = tuple([recorded(self, i) if self.saved[i].obj != NULL else None
                         for i in range(self.n_saved)])
        if is_set(self, "clear_saved_tensors_on_access"):
            release_saved(self)
            self.taken = True
        return tensors

    @property
    def _raw_saved_tensors(self):
        cdef int i
        if self.flags & N_FREED:
            raise freed_error(self)
        return tuple([graph_upcalls.raw_saved(self, i) for i in range(self.n_saved)])

    cdef int apply(self, PyObject** gin, PyObject** gout) except -1:
        cdef int i
        cdef bint boxed
        cdef list grads = []
        for i in range(self.n_out):
            if gin[i] != NULL:
                grads.append(<object>gin[i])
            elif self.with_zeros and self.metas[i].defined:
                grads.append(zeros_for(self, i))
            else:
                grads.append(None)
        boxed = is_set(self, "boxed_grads_call")
        if boxed and self.extra is None:
            # The list alone holds them: a backward that empties it gives their memory back.
            for i in range(self.n_out):
                Py_CLEAR(gin[i])
        deliver(self, call_backward(self, grads, boxed), gout)
        return 0


cdef tuple as_plain_tuple(object value):
    """Return the results of a function as a tuple, from one object or a tuple of any class."""
    return tuple(value) if isinstance(value, tuple) else (value,)


cdef bint is_set(FunctionNode ctx, str option) except -1:
    """Tell whether the class of a Function has an option, which must be True or False."""
    cdef object value = getattr(type(ctx)._forward_cls, option)
    if value is not True and value is not False:
        raise RuntimeError(f"{option} must be a bool, got {type(value).__name__} "
                           f"({type(ctx)._forward_cls.__name__})")
    return value


cdef object call_backward(FunctionNode ctx, list grads, bint boxed):
    cdef object cls = type(ctx)._forward_cls
    backward = cls.backward
    if backward is _base.backward:
        backward = cls.vjp
    elif cls.vjp is not _base.vjp:
        raise RuntimeError(
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
            f"should only implement one of them ({cls.__name__}).")
    return backward(ctx, grads) if boxed else backward(ctx, *grads)


def _call_backward(FunctionNode ctx not None, tuple grads not None):
    """Call the backward of a Function, by either of its names, with these gradients."""
    return call_backward(ctx, list(grads), is_set(ctx, "boxed_grads_call"))


cdef int deliver(FunctionNode ctx, object value, PyObject** gout) except -1:
    """Put what backward returned at the edges; one value per argument of apply."""
    cdef Py_ssize_t wanted = len(ctx.is_tensor), got, j
    cdef int edge = 0, at
    cdef tuple result = as_plain_tuple(value)
    got = len(result)
    if got > wanted:
        for j in range(wanted, got):
            if result[j] is not None:
                raise wrong_count(ctx, wanted, got)
    elif got < wanted:
        raise wrong_count(ctx, wanted, got)
    for j in range(wanted):
        r = result[j]
        if not ctx.is_tensor[j]:
            if r is not None:
                raise RuntimeError(
                    f"function {ctx.node_name()} returned a gradient different than None at "
                    f"position {j + 1}, but the corresponding forward input was not a Variable")
            continue
        at = edge_at(ctx, edge)
        edge += 1
        if r is None:
            continue
        if not isinstance(r, Tensor):
            raise RuntimeError(f"function {ctx.node_name()}: expected Variable or None (got "
                               f"{type(r).__name__}) as gradient of input {j}")
        if ctx.edges[at].node != NULL:
            Py_INCREF(r)
            gout[at] = <PyObject*>r
    return 0


cdef object wrong_count(FunctionNode ctx, Py_ssize_t wanted, Py_ssize_t got):
    return RuntimeError(f"function {ctx.node_name()} returned an incorrect number of gradients "
                        f"(expected {wanted}, got {got})")


include "function/refusals.pxi"


# --- apply ----------------------------------------------------------------------------------

def function_apply(cls, *args, **kwargs):
    """
    Call the Function; its result is recorded if an argument requires grad.

    Parameters
    ----------
    *args
        Arguments of ``forward``; tensors directly among them are differentiated.
    **kwargs
        Arguments by name.

    Returns
    -------
    object
        What ``forward`` returns, with history.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> class Double(ag.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         return grad * 2
    >>> Double.apply(ag.ones(2))
    tensor([2., 2.])
    """
    cdef bint split = cls.setup_context is not _base.setup_context
    cdef uint32_t flags = 0
    if split or kwargs:
        args = _bind(cls, args, kwargs, split)
    for a in args:
        if isinstance(a, Tensor):
            flags |= (<Tensor>a).flags
    return apply_plain(cls, args, flags, split)


cdef bint tells_apart(tuple args) noexcept:
    """Return whether an argument differs between the examples of a vmap, or something below it
    records."""
    cdef Tensor t
    for a in args:
        if not isinstance(a, Tensor):
            continue
        t = <Tensor>a
        if has_examples(t):
            return True
        while t.flags & F_BATCHED:
            t = <Tensor>t.extra.value
            if t.flags & F_DUAL or requires_grad(t):
                return True
    return False


cdef Event* begin_function(object cls, tuple args):
    return begin_call(number_of_name(cls.__name__), args)


cdef object apply_plain(object cls, tuple args, uint32_t flags, bint split):
    cdef Scope seen = NULL
    cdef modes_t modes = tls_modes()
    cdef Py_ssize_t n = len(args), i
    cdef int edge = 0
    cdef bint recording = False
    cdef FunctionNode ctx
    cdef list needs_grad = [False] * n
    cdef list is_tensor = [False] * n
    cdef tuple outputs
    if g_modes & G_PROFILE:
        seen = begin_function(cls, args)
    for i in range(n):
        if isinstance(args[i], Tensor):
            is_tensor[i] = True
            edge += 1
            if flags & F_GRAD_PATH and requires_grad(<Tensor>args[i]):
                needs_grad[i] = True
                recording = True
    if modes & M_NO_GRAD:
        recording = False
    ctx = cls._backward_cls()
    node_init(ctx, edge, 0, 1)
    ctx.flags |= N_PYTHON
    node_track(ctx)
    ctx.needs_input_grad = tuple(needs_grad)
    ctx.is_tensor = tuple(is_tensor)
    if recording:
        edge = 0
        for i in range(n):
            if is_tensor[i]:
                if needs_grad[i]:
                    set_edge(ctx, edge, <Tensor>args[i])
                edge += 1
    if flags & F_BATCHED and not split and not tells_apart(args):
        flags &= ~<uint32_t>F_BATCHED
    if flags & F_BATCHED:
        # What is below the vmap records for itself.
        results = _batched_apply(cls, args, split)
    tls_set_modes(modes | M_NO_GRAD | M_NO_FORWARD_AD)
    try:
        if split:
            if not flags & F_BATCHED:
                results = cls.forward(*args)
            cls.setup_context(ctx, args, results)
            check_passed_through(args, as_plain_tuple(results), ctx.dirty_tensors, ctx.to_save)
        else:
            results = cls.forward(ctx, *args)
    finally:
        tls_set_modes(modes)
    outputs = finish_forward(ctx, args, as_plain_tuple(results), recording,
                             g_modes & G_FORWARD and not modes & M_NO_FORWARD_AD)
    if seen != NULL and recording:
        note_node(seen, ctx)
    if isinstance(results, tuple):
        # A named tuple stays one.
        return type(results)(*outputs) if hasattr(results, "_fields") else outputs
    return outputs[0]


# --- outputs --------------------------------------------------------------------------------

cdef bint among(object t, object tensors) noexcept:
    if tensors is None:
        return False
    for x in tensors:
        if x is t:
            return True
    return False


cdef tuple given_as(str attribute, object value):
    """Return the value of a mark of `ctx` as a tuple, also if it was assigned."""
    if value is None:
        return ()
    if not isinstance(value, tuple):
        raise RuntimeError(f"{attribute} attribute is expected to be a tuple but is "
                           f"{type(value).__name__}; call the method of ctx")
    return tuple(value)


cdef tuple tensors_only(str attribute, object value, str text):
    """Return the value of a mark as a tuple of tensors alone; `text` begins the error."""
    cdef tuple tensors = given_as(attribute, value)
    cdef Py_ssize_t i
    for i in range(len(tensors)):
        if not isinstance(tensors[i], Tensor):
            raise RuntimeError(f"{text} {type(tensors[i]).__name__} (argument {i})")
    return tensors


cdef tuple finish_forward(FunctionNode ctx, tuple args, tuple results, bint recording,
                          bint forward_mode):
    """Give the results of forward their history, save what is to be saved, and set tangents."""
    cdef tuple dirty = tensors_only(
        "dirty_tensors", ctx.dirty_tensors, "mark_dirty can only accept variables, but got")
    cdef tuple nondiff = tensors_only(
        "non_differentiable", ctx.non_differentiable,
        "mark_non_differentiable only accepts variable arguments, but got")
    cdef tuple to_save = given_as("to_save", ctx.to_save)
    cdef Py_ssize_t i, differentiable = 0
    cdef list outputs = []
    cdef Tensor t
    for t in dirty:
        bump_version(t)                 # also if it is refused: it was changed
    check_dirty(ctx, args, results, dirty, recording)
    to_save = check_saved(to_save) if recording else ()
    reserve_saved(ctx, len(to_save), len(results))
    for i in range(len(results)):
        if not isinstance(results[i], Tensor):
            outputs.append(results[i])
            continue
        t = <Tensor>results[i]
        if recording and dt_differentiable(t.dt) and not among(t, nondiff):
            differentiable += 1
            t = with_history(ctx, args, t, <int>i, among(t, dirty))
        else:
            t = without_history(args, t, among(t, dirty), recording)
            if ctx.zeros_for_nondiff:
                set_meta(ctx, <int>i, t)        # what zeros are made of
        if t.flags & F_VIEW and not (among(t, args) and among(t, dirty)) and (
                recording or not requires_grad(t)):
            t.creation = CREATED_IN_FUNCTION
        if type(results[i]) is not Tensor and keeps_class(results[i]):
            t = tensor_as(t, type(results[i]))
        outputs.append(t)
    if differentiable > 1:
        for i in range(len(results)):
            if isinstance(outputs[i], Tensor) and (<Tensor>outputs[i]).flags & F_VIEW:
                (<Tensor>outputs[i]).creation = CREATED_MULTI_OUTPUT
    if recording:
        for i in range(len(to_save)):
            if to_save[i] is not None:
                save_one(ctx, args, <int>i, <Tensor>to_save[i])
    ctx.to_save = ctx.dirty_tensors = ctx.non_differentiable = None
    if forward_mode:
        set_tangents(ctx, args, results, outputs, dirty, nondiff,
                     () if ctx.saved_for_forward is None else ctx.saved_for_forward)
    ctx.saved_for_forward = None
    return tuple(outputs)


cdef bint keeps_class(object t):
    """Return whether results that are the tensor itself are of its class."""
    kind = getattr(type(t), "__torch_function__", None)
    return kind is not None and kind is not _no_override


cdef int check_passed_through(tuple args, object results, object dirty, object to_save) except -1:
    """setup_context can't tell an input from the output that is the same tensor."""
    for t in given_as("to_save", to_save):
        if t is not None and among(t, args) and among(t, results) and not (
                dirty is t or isinstance(dirty, tuple) and among(t, dirty)):
            raise RuntimeError(
                "An input that has been returned as-is as output is being saved for backward. This "
                "is not supported if you override setup_context. You should return and save a view "
                "of the input instead, e.g. with x.view_as(x) or setup ctx inside the forward "
                "function itself.")
    return 0


cdef tuple check_saved(tuple to_save):
    cdef Py_ssize_t i
    for i in range(len(to_save)):
        if to_save[i] is not None and not isinstance(to_save[i], Tensor):
            raise TypeError(f"save_for_backward can only save variables, but argument {i} is of "
                            f"type {type(to_save[i]).__name__}; keep other things as attributes "
                            "of ctx")
    return to_save


cdef int check_dirty(FunctionNode ctx, tuple args, tuple results, tuple dirty,
                     bint recording) except -1:
    cdef Tensor t
    for t in dirty:
        if not among(t, results):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as "
                "output. The inputs that are modified inplace must all be outputs of the Function.")
        if not recording:
            continue
        if not among(t, args):
            foreign = ("ctx.mark_dirty() received a tensor that was not an input. Only input "
                       "Tensors that have been mutated should be passed to ctx.mark_dirty().")
            if t.flags & F_VIEW:
                raise RuntimeError(f"{foreign} (This one is a view that {ctx.node_name()}'s "
                                   "forward made; leave mark_dirty out.)")
            _warn(foreign, UserWarning)
        if t.flags & F_REQUIRES_GRAD and t.fn == NULL and not t.flags & F_VIEW:
            raise RuntimeError(
                "a leaf Variable that requires grad has been used in an in-place operation. "
                f"({ctx.node_name()} marked it as dirty)")
        if t.flags & F_VIEW:
            if len(results) > 1:           # CopySlices has one gradient to pass on
                raise RuntimeError(
                    "If your Function modifies inplace an input that is a view of another Tensor, "
                    "your Function cannot return more than one Tensor. This is not supported by "
                    "the current autograd engine. You should either make sure the input is not a "
                    "view (using .clone() for example) or make your Function only return one "
                    "Tensor (potentially splitting it into two Functions: one doing the inplace "
                    "that returns a single Tensor and a second one that does the other operations)."
                )
            check_inplace(t, ctx.node_name(), True)
    return 0


cdef Tensor as_view(Tensor t):
    """A view that doesn't lead to `t` in the graph."""
    cdef modes_t modes = tls_modes()
    tls_set_modes(modes | M_NO_GRAD)
    try:
        return T._alias(t)
    finally:
        tls_set_modes(modes)


cdef Tensor without_history(tuple args, Tensor t, bint modified, bint recording):
    cdef bint is_input = among(t, args)
    if not requires_grad(t):
        if is_input and not modified:
            return as_view(t)
        return t
    if t.flags & F_VIEW and not is_input and not recording:
        return t                # as any view that is made without grad mode
    if is_input or t.flags & F_VIEW:
        return T.detach(t)
    cut(t)
    return t


cdef int cut(Tensor t) except -1:
    cdef PyObject* old = t.fn
    t.fn = NULL
    t.out_nr = 0
    t.flags &= ~<uint32_t>(F_REQUIRES_GRAD | F_RETAINS_GRAD)
    if old != NULL:
        release_node(old)
    return 0


cdef Tensor with_history(FunctionNode ctx, tuple args, Tensor t, int nr, bint modified):
    if modified and among(t, args):
        if t.flags & F_VIEW:
            keep_first(ctx, args, t)
            rebase_history(t, ctx)
        else:
            set_history(t, ctx, nr)
        return t
    if among(t, args):
        t = as_view(t)
    if t.flags & F_VIEW:
        # Its history is this Function, whatever happens to the base.
        t.attr_version = t.mem.version[0]
    set_history(t, ctx, nr)
    return t


cdef int keep_first(FunctionNode ctx, tuple args, Tensor t) except -1:
    """CopySlices takes the edge at place 0 as that of the tensor that was changed."""
    cdef int edge = 0
    cdef Edge e
    for a in args:
        if a is t:
            break
        edge += isinstance(a, Tensor)
    e = ctx.edges[0]
    ctx.edges[0] = ctx.edges[edge]
    ctx.edges[edge] = e
    ctx.first = edge
    return 0


cdef int edge_at(FunctionNode ctx, int edge) noexcept:
    """Return the index of the edge of a tensor argument, after keep_first."""
    return ctx.first if edge == 0 else 0 if edge == ctx.first else edge


cdef int save_one(FunctionNode ctx, tuple args, int slot, Tensor t) except -1:
    cdef int edge = 0
    if t.fn == <PyObject*>ctx:
        save_output(ctx, slot, t, t.out_nr)
        return 0
    for a in args:
        if a is t:
            save_input(ctx, slot, t, edge_at(ctx, edge))
            return 0
        edge += isinstance(a, Tensor)
    save_input(ctx, slot, t, -1)
    return 0


# --- forward mode ---------------------------------------------------------------------------

cdef int set_tangents(FunctionNode ctx, tuple args, tuple results, list outputs, tuple dirty,
                      tuple nondiff, tuple saved) except -1:
    """Give the outputs their tangents by the Function's jvp, outer levels first."""
    cdef tuple tensors = tuple([a for a in args if isinstance(a, Tensor)])
    cdef ForwardLevel level = forward_level(tensors)
    cdef tuple stripped
    cdef list below
    if level is None:
        return 0
    stripped = tuple([primal_at(<Tensor>a, level) if isinstance(a, Tensor) else a for a in args])
    below = outputs
    if forward_level(tuple([a for a in stripped if isinstance(a, Tensor)])) is not None:
        if dirty:
            raise RuntimeError(
                f"{type(ctx)._forward_cls.__name__} changes its input in place, which is not "
                "possible inside nested levels of forward mode; use an out-of-place form")
        below = [place_alias(<Tensor>t) if isinstance(t, Tensor) else t for t in outputs]
        set_tangents(ctx, stripped, results, below, dirty, nondiff, saved)
    ctx.saved_for_forward = tuple([
        seen_below(t, results, below, level) for t in saved])
    deliver_tangents(ctx, args, results, outputs, below, dirty, nondiff, level)
    return 0


cdef object seen_below(object t, tuple results, list below, ForwardLevel level):
    """A tensor that was saved for jvp, without the tangents of `level`."""
    cdef Py_ssize_t i
    if t is None:
        return None
    for i in range(len(results)):
        if results[i] is t:
            return primal_at(<Tensor>below[i], level)
    return primal_at(<Tensor>t, level)


cdef int deliver_tangents(FunctionNode ctx, tuple args, tuple results, list outputs, list below,
                          tuple dirty, tuple nondiff, ForwardLevel level) except -1:
    cdef list tangents = []
    cdef list versions
    cdef tuple result
    cdef Tensor t, tangent
    cdef Py_ssize_t i
    cdef object cls = type(ctx)._forward_cls
    for a in args:
        if not isinstance(a, Tensor):
            tangents.append(None)
            continue
        tangent = tangent_at(<Tensor>a, level)
        if tangent is None and ctx.with_zeros and dt_differentiable((<Tensor>a).dt):
            tangent = zero_tangent(<Tensor>a)
        tangents.append(tangent)
    versions = [0 if g is None else (<Tensor>g).mem.version[0] for g in tangents]
    if cls.jvp is _base.jvp:
        raise missing_jvp(cls)
    result = as_tangents(cls, cls.jvp(ctx, *tangents), len(results))
    for i in range(len(results)):
        if not isinstance(outputs[i], Tensor):
            continue                    # what stands there counts for nothing
        t = <Tensor>outputs[i]
        tangent = <Tensor>result[i]
        if not dt_differentiable(t.dt) or among(results[i], nondiff):
            if tangent is not None:
                raise RuntimeError(
                    f"Function's jvp returned a gradient at position {i}, but  the corresponding "
                    "forward output is not a differentiable Tensor.You should return None at that "
                    f"position instead. ({cls.__name__})")
            continue
        if among(results[i], args) and among(results[i], dirty):
            check_changed_tangent(
                cls, tangent, tangents, versions, argument_index(results[i], args))
        if tangent is None:
            if t.flags & F_VIEW and not among(results[i], dirty):
                check_none_for_view(cls, <Tensor>results[i], args, tangents)
            set_tangent(t, None, level, <Tensor>below[i])
            continue
        if t.flags & F_VIEW and not among(results[i], dirty):
            check_viewed_tangent(cls, <Tensor>results[i], tangent, args, tangents)
            stand_alone(t)
        if not same_shape(t, tangent):
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the "
                f"original Tensor, this is not supported. Tensor is of size {list(sizes_of(t))} "
                f"while the given forward gradient is of size {list(sizes_of(tangent))}. "
                f"(output {i} of {cls.__name__}.jvp)")
        set_tangent(t, primal_at(tangent, level), level, <Tensor>below[i])
    return 0


cdef object missing_jvp(object cls):
    return NotImplementedError(
        "You must implement the jvp function for custom autograd.Function to use it with forward "
        f"mode AD. ({cls.__name__} has none.)")


def _missing_jvp(cls):
    """The error of a Function without ``jvp`` in forward mode."""
    return missing_jvp(cls)


cdef tuple as_tangents(object cls, object value, Py_ssize_t wanted):
    """Check the results of jvp: a Tensor or None for each output."""
    cdef tuple result = as_plain_tuple(value)
    cdef Py_ssize_t i
    for i in range(len(result)):
        if result[i] is not None and not isinstance(result[i], Tensor):
            raise RuntimeError(f"expected Variable or None (got {type(result[i]).__name__}) for "
                               f"grad output {i}. ({cls.__name__}.jvp returns tangents)")
    if len(result) != wanted:
        raise RuntimeError(
            f"Function's jvp returned an invalid number of forward gradients (expected {wanted} "
            f"but got {len(result)}): {cls.__name__}.jvp returns one for each output of forward")
    return result


cdef Py_ssize_t argument_index(object t, tuple args):
    cdef Py_ssize_t i
    for i in range(len(args)):
        if args[i] is t:
            return i
    return -1


cdef int check_changed_tangent(object cls, Tensor tangent, list tangents, list versions,
                               Py_ssize_t place) except -1:
    """An input that forward changed in place: jvp does the same to its tangent, and returns it."""
    cdef Tensor old = <Tensor>tangents[place]
    if old is None and tangent is None:
        return 0
    if (tangent is None or old is None or old.mem.version[0] == versions[place]
            or tangent.mem != old.mem):
        raise RuntimeError(
            "An inplace custom Function is not modifying the forward mode gradients inplace. If "
            "the forward is modifying an input inplace, then the jvp function must modify the "
            f"corresponding gradient inplace. ({cls.__name__})")
    if tangent is not old:
        raise RuntimeError(
            "An inplace custom Function is not returning the forward mode gradients as-is. If the "
            "forward is modifying an input inplace, then the jvp function must modify the gradient "
            f"inplace and return it as-is. ({cls.__name__})")
    return 0


cdef PyObject* root_of(Tensor t) noexcept:
    return t.base if t.flags & F_VIEW else <PyObject*>t


cdef int check_none_for_view(object cls, Tensor view, tuple args, list tangents) except -1:
    """The tangent of a view is part of that of its base: it can't be none if there is one."""
    cdef Py_ssize_t i
    for i in range(len(args)):
        if tangents[i] is not None and root_of(view) == root_of(<Tensor>args[i]):
            raise RuntimeError(
                "A custom Function's forward is returning a view (or an input as-is) but the jvp "
                f"is not returning a view. ({cls.__name__}.jvp returned None; t.view_as(t) of the "
                "given grad input t is one)")
    return 0


cdef int check_viewed_tangent(object cls, Tensor view, Tensor tangent, tuple args,
                              list tangents) except -1:
    """A view of an input, or the input: its tangent is a view of that input's tangent."""
    cdef Py_ssize_t i
    cdef Tensor a
    if not tangent.flags & F_VIEW:
        raise RuntimeError(
            "A custom Function's forward is returning a view (or an input as-is) but the jvp is "
            f"not returning a view. ({cls.__name__}; t.view_as(t) is one of t)")
    for i in range(len(args)):
        if tangents[i] is None:        # as for what is no tensor
            continue
        a = <Tensor>args[i]
        if root_of(view) == root_of(a):
            if tangent.base == root_of(<Tensor>tangents[i]):
                return 0
            base = "the same base as " if a.flags & F_VIEW and a.own_tangent != OWN_TANGENT else ""
            raise RuntimeError(
                "A custom Function is returning a view but the jvp is not returning a view of "
                f"{base}the given grad input. ({cls.__name__})")
    return 0
