# cython: language_level=3
"""Forward mode: what operators do with tangents, and tangents of views and in-place forms.

# Note [Tangents of an operation]
An operation takes the tangents of the innermost level among its arguments, strips them, and
computes the tangent of the result by the rule of the record, from primals that may still have
tangents of outer levels. These flow through the rule like everything else, which gives the mixed
terms; the result's own outer tangents come from the same rule on the stripped arguments.

# Note [Tangents and memory]
A view's tangent is a window on the tangent of its base. If the base got its tangent later (another
view of it was changed in place), the window is made when the view is next used. A dual has its
own tangent though it is a view of its primal (OWN_TANGENT). Views of a dual know it as their
`dual_base`, and follow it as other views follow their base.
"""
from cpython.ref cimport PyObject, Py_REFCNT
from autograd_cy._C.iterate cimport zeros_on
from autograd_cy._C.dtypes cimport DT_SIZE, dt_is_complex, dt_differentiable
from autograd_cy._C.metadata cimport strides_of, offset_of
from autograd_cy._C.lazy cimport turned_view, whole_bits, window_bits
from autograd_cy._C.levels cimport (
    batch_level, is_batched, lift, place_alias, primal_at, tangent_at, below_level)
from autograd_cy._C.node cimport set_view
from autograd_cy._C.tensor cimport (
    Restoring, hold_change, undo_change,
    Tensor, ForwardLevel, below_vmaps, put_dual, tensor_alias, wrap_at,
    tensor_window, stand_alone, tensor_has_overlap, same_shape, dims_of, sizes_of,
    lazy_bits, tls_modes, wrap_double, CREATED_DEFAULT, OF_DUAL, F_DUAL, F_BATCHED, F_VIEW, F_LAZY,
    M_NO_FORWARD_AD, M_INFERENCE, MAX_DIMS)
include "operators_of_forward.pxi"


# --- the level of an operation --------------------------------------------------------------

cdef ForwardLevel forward_level(tuple tensors):
    """The innermost level of the tensors; None if its tangents belong below their vmap."""
    cdef Tensor t
    cdef ForwardLevel top = None
    cdef int batches = 0
    if tls_modes() & (M_NO_FORWARD_AD | M_INFERENCE):
        return None
    for t in tensors:
        if t is None:
            continue
        if t.flags & F_VIEW:
            follow_base(t)
        if t.flags & F_DUAL and (top is None or t.extra.forward.serial > top.serial):
            top = t.extra.forward
        if t.flags & F_BATCHED:
            batches = max(batches, t.extra.level)
    if top is not None and top.batches < batches:
        return None
    return top


cdef bint has_tangent(tuple tensors):
    return forward_level(tensors) is not None


cdef tuple tangents_at(tuple tensors, ForwardLevel level):
    cdef Tensor t
    for t in tensors:
        if tangent_at(t, level) is not None:
            break
    else:
        return None
    return tuple([zero_tangent(<Tensor>t) if tangent_at(<Tensor>t, level) is None
                  else tangent_at(<Tensor>t, level) for t in tensors])


cdef tuple primals_at(tuple tensors, ForwardLevel level):
    return tuple([primal_at(<Tensor>t, level) for t in tensors])


cdef tuple place_aliases(tuple tensors):
    return tuple([place_alias(<Tensor>t) for t in tensors])


# --- tangents of results --------------------------------------------------------------------

cdef Tensor zero_tangent(Tensor t):
    return T.zeros_like(place_alias(t))


cdef Tensor fit_tangent(Tensor tangent, Tensor result):
    """A tangent in the dtype and shape of its primal."""
    if tangent.dt != result.dt:
        if dt_is_complex(tangent.dt) and not dt_is_complex(result.dt):
            tangent = T.real(tangent)
        if tangent.dt != result.dt:
            tangent = T._to_dtype(tangent, result.dt)
    if not same_shape(tangent, result):
        tangent = T.expand(tangent, dims_of(result))
    return tangent


cdef bint held_elsewhere(Tensor own, Py_ssize_t holders) noexcept:
    """Return whether others than `holders` and the tensors below vmaps, if any, hold a tensor's
    memory."""
    cdef PyObject* t = <PyObject*>own
    cdef Py_ssize_t tensors = 1
    if Py_REFCNT(own) > holders:
        return True
    while (<Tensor>t).flags & F_BATCHED:
        t = <PyObject*>(<Tensor>t).extra.value
        if Py_REFCNT(<object>t) > 1:
            return True
        tensors += 1
    return own.mem.refcount > tensors


cdef int set_tangent(Tensor result, Tensor tangent, ForwardLevel level, Tensor below) except -1:
    """`below`: the result with the tangents of outer levels (itself if there are none)."""
    cdef Tensor outer = below if below is not result and below.flags & F_DUAL else None
    cdef Tensor own
    if not dt_differentiable(result.dt):
        return 0
    if tangent is not None:
        own = fit_tangent(tangent, result)
        # The caller holds `tangent`: who else does may change it in place (x + c has that of x).
        if not result.flags & F_VIEW and held_elsewhere(own, 2 if own is tangent else 1):
            own = T.clone(own, -1)
        put_dual(result, own, level, outer)
    elif outer is not None:
        put_dual(result, <Tensor>outer.extra.tangent, outer.extra.forward,
                 <Tensor>outer.extra.primal)
    return 0


cdef int set_tangents(tuple results, tuple tangents, ForwardLevel level, tuple below) except -1:
    cdef Py_ssize_t i
    for i in range(len(results)):
        set_tangent(<Tensor>results[i], <Tensor>tangents[i], level, <Tensor>below[i])
    return 0


cdef int refuse_tangent(tuple tensors, str op) except -1:
    if forward_level(tensors) is not None:
        raise NotImplementedError(
            f"Trying to use forward AD with {op} that does not support it. Its derivative is not "
            "defined; take the tangent away with unpack_dual(t).primal or detach() first.")
    return 0


# --- views ----------------------------------------------------------------------------------

cdef bint has_strides_of(Tensor tangent, Tensor base) noexcept:
    """Return whether windows of `base` are windows of its tangent."""
    cdef int d
    if lazy_bits(base) != lazy_bits(tangent):
        return False
    for d in range(base.nd):
        if base.sizes[d] > 1 and base.strides[d] != tangent.strides[d]:
            return False
    return True


cdef bint pairs_fit(Tensor tangent, Tensor base, Tensor view) noexcept:
    """Tell whether pairs of real numbers that a complex view shows are pairs in a tangent, too."""
    cdef Tensor t = tangent
    if not dt_is_complex(view.dt) or dt_is_complex(base.dt):
        return True
    while t.flags & F_BATCHED:
        if t.extra.bdim >= 0 and (<Tensor>t.extra.value).strides[t.extra.bdim] % 2:
            return False
        t = <Tensor>t.extra.value
    return (offset_of(tangent) + (view.ptr - base.ptr) // DT_SIZE[tangent.dt]) % 2 == 0


cdef Tensor window(Tensor base, Tensor tangent, Tensor view):
    """The part of the base's tangent that belongs to a view, perhaps of parts of numbers."""
    cdef Tensor r
    cdef Py_ssize_t place
    tangent = turned_view(tangent, whole_bits(base, view))
    if dt_is_complex(base.dt) and not dt_is_complex(view.dt):
        tangent = T.view_as_real(tangent)
    place = offset_of(tangent) + (view.ptr - base.ptr) // DT_SIZE[tangent.dt]
    if dt_is_complex(view.dt) and not dt_is_complex(base.dt):
        r = T.view_as_complex(T.as_strided(
            tangent, dims_of(view) + (2,), tuple([2 * s for s in strides_of(view)]) + (1,), place))
    else:
        r = T.as_strided(tangent, dims_of(view), strides_of(view), place)
    return turned_view(r, window_bits(base, view))


cdef Tensor zeros_in_format_of(Tensor root, list sizes):
    """
    Zeros with strides and bits of a plain tensor, and dimensions of other sizes in front.

    What is a pair of real numbers there, and may be viewed as a complex one, is one here, too.
    """
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef int d, first = <int>len(sizes)
    cdef Py_ssize_t extent = 1, lead = 0
    cdef bint pairs = not dt_is_complex(root.dt)
    cdef Tensor r
    if root.nd + first > MAX_DIMS:
        raise ValueError(f"a tensor has at most {MAX_DIMS} dimensions")
    for d in range(root.nd):
        shape[first + d] = root.sizes[d]
        strides[first + d] = root.strides[d]
        if root.sizes[d] > 0:
            extent += (root.sizes[d] - 1) * root.strides[d]
    if pairs:
        lead = (root.ptr - root.mem.data) // DT_SIZE[root.dt] % 2
        extent += extent % 2 if first else 0
    for d in range(first - 1, -1, -1):
        shape[d] = sizes[d]
        strides[d] = extent
        extent *= max(shape[d], 1)
    extent += lead
    r = zeros_on(root.mem.device, root.dt, 1, &extent)
    r = tensor_window(r, root.nd + first, shape, strides, lead)
    r.flags |= root.flags & F_LAZY
    return r


cdef dict vmaps_of(Tensor t):
    """Level -> (dimension of the examples, their number) of each vmap that a tensor is in."""
    cdef dict out = {}
    cdef Tensor below
    while t.flags & F_BATCHED:
        below = <Tensor>t.extra.value
        out[t.extra.level] = (t.extra.bdim,
                              below.sizes[t.extra.bdim] if t.extra.bdim >= 0 else -1)
        t = below
    return out


cdef Tensor zeros_matching(Tensor base, Tensor source):
    """Zeros in the memory format of `base`, for each example of `source`."""
    cdef dict own = vmaps_of(base)
    cdef dict other = vmaps_of(source)
    cdef list levels = sorted({*own, *other})
    cdef list extra = [k for k in levels if k in other and other[k][0] >= 0
                       and own.get(k, (-1,))[0] < 0]
    cdef Tensor r = zeros_in_format_of(below_vmaps(base), [other[k][1] for k in extra])
    cdef Py_ssize_t waiting = len(extra)
    # From the outermost vmap inwards: its dimension is behind those that are still waiting.
    for k in levels:
        if k in extra:
            r = wrap_at(r, 0, k)
            waiting -= 1
        else:
            place = own.get(k, (-1,))[0]
            r = wrap_at(r, place + <int>waiting if place >= 0 else -1, k)
    return r


cdef bint holds(Tensor place, Tensor source) noexcept:
    """
    Return whether each example of `source` has a place, and each of its vmaps a tensor of its own:
    what a plain tensor is part of in one vmap it isn't in another.
    """
    cdef int level
    while source.flags & F_BATCHED:
        level = source.extra.level
        while batch_level(place) > level:
            place = <Tensor>place.extra.value
        if source.extra.bdim >= 0 and not is_batched(place, level):
            return False
        if batch_level(place) < level:
            return False
        if batch_level(place) == level:
            place = <Tensor>place.extra.value
        source = <Tensor>source.extra.value
    return True


cdef Tensor tangent_base(Tensor view):
    """Return the tensor whose tangents have those of `view` as windows, or None if they are its
    own."""
    cdef Tensor base
    if view.own_tangent == OF_DUAL:
        base = <Tensor>view.extra.dual_base
        if base.own_tangent:
            return base
        view.own_tangent = 0            # the level of the dual has ended
        view.extra.dual_base = None
    return None if view.own_tangent else <Tensor>view.base


cdef bint follows(Tensor t, Tensor base) noexcept:
    """Return whether a view's tangents, of all levels, lie in the memory of those of its base."""
    while base is not None and base.flags & F_DUAL:
        if (t is None or not (t.flags & F_DUAL) or t.extra.forward is not base.extra.forward
                or (<Tensor>t.extra.tangent).mem != (<Tensor>base.extra.tangent).mem):
            return False
        t, base = <Tensor>t.extra.primal, <Tensor>base.extra.primal
    return True


cdef int follow_base(Tensor t) except -1:
    """Let a view have the tangents of its base (see Note [Tangents and memory])."""
    cdef Tensor base = tangent_base(t)
    if base is None or not (base.flags & F_DUAL):
        return 0
    if follows(t, base):
        return 0
    if t.own_tangent and tensor_has_overlap(base):
        return 0                        # can't be written to, and has no windows on its tangent
    derive(t, base)
    return 0


cdef inline int derive(Tensor view, Tensor base) except -1:
    return derive_into(view, view, base, base)


cdef int derive_into(Tensor target, Tensor view, Tensor base, Tensor holder) except -1:
    """Windows on the tangents of `holder`: the base, or what keeps its outer tangents."""
    cdef Tensor outer = <Tensor>holder.extra.primal
    cdef Tensor below = None
    cdef Tensor tangent = <Tensor>holder.extra.tangent
    cdef Tensor placed
    if outer is not None and outer.flags & F_DUAL:
        below = tensor_alias(view)
        derive_into(below, view, base, outer)
    if not has_strides_of(tangent, base) or not pairs_fit(tangent, base, view):
        placed = zeros_matching(base, tangent)
        T.copy_(placed, tangent)
        tangent = placed
        holder.extra.tangent = placed
    put_dual(target, window(base, tangent, view), holder.extra.forward, below)
    return 0


# --- in place -------------------------------------------------------------------------------

cdef int insert_tangent(Tensor t, Tensor tangent, ForwardLevel level) except -1:
    """Give t, or what keeps its outer tangents, one of `level`; replaces an old one."""
    cdef Tensor below
    if not (t.flags & F_DUAL):
        return put_dual(t, tangent, level, None)
    if t.extra.forward is level:
        t.extra.tangent = tangent
        return 0
    if t.extra.forward.serial < level.serial:
        below = tensor_alias(t)
        put_dual(below, <Tensor>t.extra.tangent, t.extra.forward, <Tensor>t.extra.primal)
        return put_dual(t, tangent, level, below)
    below = <Tensor>t.extra.primal
    if below is None:
        below = tensor_alias(t)
        t.extra.primal = below
    return insert_tangent(below, tangent, level)


cdef Tensor find_tangent(Tensor t, ForwardLevel level):
    while t is not None and t.flags & F_DUAL:
        if t.extra.forward is level:
            return <Tensor>t.extra.tangent
        t = <Tensor>t.extra.primal
    return None


cdef int give_base(Tensor view, Tensor base, Tensor src) except -1:
    """Give a view's base tangents of which those of `src` can be windows."""
    cdef Tensor holder = src
    cdef Tensor old, base_tangent
    cdef ForwardLevel level
    while holder is not None and holder.flags & F_DUAL:
        level = holder.extra.forward
        if level.batches < batch_level(view):
            break
        old = find_tangent(base, level)
        if old is None or not holds(old, <Tensor>holder.extra.tangent) or not has_strides_of(old,
                                                                                             base):
            base_tangent = zeros_matching(base, <Tensor>holder.extra.tangent)
            if old is not None:
                T.copy_(base_tangent, old)
            insert_tangent(base, base_tangent, level)
        holder = <Tensor>holder.extra.primal
    if base.flags & F_DUAL:
        derive(view, base)
    return 0


cdef int write_tangents(Tensor self, Tensor holder, Tensor src) except -1:
    """Write the tangents of `src` into those of `holder`, level by level."""
    cdef ForwardLevel level = None
    cdef Tensor old, new, below
    if holder.flags & F_DUAL:
        level = holder.extra.forward
    if src.flags & F_DUAL and (level is None or src.extra.forward.serial > level.serial):
        level = src.extra.forward
    # Tangents of levels outside of a vmap are those of what is below it, and were written there.
    if level is None or level.batches < max(batch_level(self), batch_level(src)):
        return 0
    new = tangent_at(src, level)
    old = tangent_at(holder, level)
    if new is None:
        if tensor_has_overlap(old) and not self.flags & F_VIEW:
            holder.extra.tangent = T.zeros_like(old)
        else:
            T.copy_(old, wrap_double(0.0))
    elif old is not None and holds(old, new) and not tensor_has_overlap(old):
        T.copy_(old, fit_tangent(new, self))
    else:
        insert_tangent(holder, T.clone(fit_tangent(new, self), -1), level)
    src = primal_at(src, level)
    below = <Tensor>holder.extra.primal
    if src.flags & F_DUAL or (below is not None and below.flags & F_DUAL):
        if below is None:
            below = tensor_alias(self)
        write_tangents(self, below, src)
        holder.extra.primal = below
    return 0


cdef int copy_tangents(Tensor self, Tensor src) except -1:
    cdef Tensor base
    if not dt_differentiable(self.dt) or forward_level((self, src)) is None:
        return 0
    if self.flags & F_VIEW:
        base = tangent_base(self)
        if base is not None:
            give_base(self, base, src)
    return write_tangents(self, self, src)


# --- for forward_ad and func ----------------------------------------------------------------

def _begin_level():
    """A new innermost level of forward mode; its method ``end()`` clears all of its tangents."""
    return ForwardLevel()


cdef class LevelContext(Restoring):
    """A level of its own for a block: begun and ended in C (see modes.pxi)."""

    def __enter__(self):
        cdef ForwardLevel level = ForwardLevel()
        self.ending = (level.end, ())
        hold_change(self)
        return level


# The level that users open, and its number as torch counts: attributes of forward_ad.
cdef dict _user_level = {"_level": None, "_current_level": -1}


def _set_user_level(dict attributes):
    global _user_level
    attributes.update(_user_level)
    _user_level = attributes


def _enter_level():
    if _user_level["_level"] is not None:
        raise RuntimeError(
            "Nested forward mode AD is not supported at the moment: leave the open level first, or "
            "use autograd_cy.func.jvp, which nests")
    _user_level["_level"] = ForwardLevel()
    _user_level["_current_level"] = 0
    return 0


def _exit_level(level):
    ending = _user_level["_level"]
    if ending is None:
        raise RuntimeError("Dual level must be a positive number: no level is open to exit.")
    if level is not None and level != _user_level["_current_level"]:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is "
            "not supported.")
    _user_level["_level"] = None
    _user_level["_current_level"] = -1
    ending.end()


# Made beforehand: to leave must not ask for memory.
cdef tuple _leaving = (_exit_level, (0,))


cdef class DualContext(Restoring):
    """The level that users open, for a block."""

    def __enter__(self):
        self.ending = _leaving
        _enter_level()
        hold_change(self)
        return 0

    def __exit__(self, kind=None, error=None, traceback=None):
        self.ending = _leaving                  # an error if no level is open
        undo_change(self)


cdef Tensor examples_first(Tensor t, int level, Py_ssize_t size):
    """The tensor below the vmap of `level`, with its examples first."""
    cdef Tensor p
    if is_batched(t, level):
        p = <Tensor>t.extra.value
        if t.extra.bdim:
            p = T.permute(p, (t.extra.bdim,) + tuple(
                [d for d in range(p.nd) if d != t.extra.bdim]))
        return p
    p = <Tensor>t.extra.value if batch_level(t) == level else t
    return T.expand(T.unsqueeze(p, 0), (size,) + dims_of(p))


cdef bint covers_alike(Tensor t, Tensor tangent) noexcept:
    """Return whether windows of t and of its tangent, also outside of what they show, are the
    same."""
    if t.count == 0 or t.flags & F_BATCHED or tangent.flags & F_BATCHED:
        return True
    return (t.mem.nbytes == tangent.mem.nbytes
            and t.ptr - t.mem.data == tangent.ptr - tangent.mem.data)


cdef Tensor placed_like(Tensor tangent, Tensor t):
    """
    A tangent for a dual of t: itself, or a copy.

    In-place operations on the dual and its views will change it, so it must have the place in its
    memory that t has. Under vmap each example counts for itself, and memory outside of it isn't
    looked at.
    """
    cdef Tensor memory, placed
    cdef Py_ssize_t size = DT_SIZE[t.dt], shape, offset = t.ptr - t.mem.data
    if tensor_has_overlap(t):
        return T.clone(tangent, 0) if tensor_has_overlap(tangent) else tangent
    if has_strides_of(tangent, t) and covers_alike(t, tangent):
        return tangent
    if t.flags & F_BATCHED or tangent.flags & F_BATCHED or t.mem.nbytes % size:
        placed = zeros_matching(t, tangent)
    else:
        shape = t.mem.nbytes // size
        memory = zeros_on(t.mem.device, t.dt, 1, &shape)
        placed = tensor_window(memory, t.nd, t.sizes, t.strides, offset // size)
        placed.flags |= t.flags & F_LAZY
    return T.copy_(placed, tangent)


cdef Tensor make_dual(Tensor t, Tensor tangent, ForwardLevel level):
    cdef Tensor r, below = None
    cdef int batches = max(batch_level(t), batch_level(tangent))
    cdef Py_ssize_t size
    if batches > level.batches:
        # The level began outside of this vmap: its tangents are those of what is below.
        if not is_batched(t, batches) and not is_batched(tangent, batches):
            return wrap_at(make_dual(
                <Tensor>t.extra.value if batch_level(t) == batches else t,
                <Tensor>tangent.extra.value if batch_level(tangent) == batches else tangent,
                level), -1, batches)
        r = t if is_batched(t, batches) else tangent
        size = (<Tensor>r.extra.value).sizes[r.extra.bdim]
        return wrap_at(make_dual(examples_first(t, batches, size),
                                 examples_first(tangent, batches, size), level), 0, batches)
    if tangent.dt != t.dt:
        tangent = T._to_dtype(tangent, t.dt)
    tangent = placed_like(tangent, t)
    t = lift(t, level.batches)
    r = T._alias(t)
    if r.flags & F_DUAL:
        below = tensor_alias(r)
        put_dual(below, <Tensor>r.extra.tangent, r.extra.forward, <Tensor>r.extra.primal)
    put_dual(r, tangent, level, below)
    stand_alone(r)
    return r


cdef Tensor without_level(Tensor t, ForwardLevel level):
    """Return the value at the same place of the graph, without the tangent of one level."""
    cdef Tensor p = place_alias(t)
    cdef Tensor holder = t
    while holder is not None and holder.flags & F_DUAL:
        if holder.extra.forward is not level:
            insert_tangent(p, <Tensor>holder.extra.tangent, holder.extra.forward)
        holder = <Tensor>holder.extra.primal
    return p


cdef tuple unpack_dual(Tensor t, ForwardLevel level, bint as_view):
    """(`t` without its tangent of `level`, as a view of it or not; that tangent or None)."""
    cdef Tensor p, tangent
    if below_level(t, level):
        primal, tangent = unpack_dual(<Tensor>t.extra.value, level, as_view)
        return (wrap_at(<Tensor>primal, t.extra.bdim, t.extra.level),
                None if tangent is None else wrap_at(tangent, t.extra.bdim, t.extra.level))
    if t.flags & F_VIEW:
        follow_base(t)
    tangent = find_tangent(t, level)
    if not as_view:
        return (t if tangent is None else without_level(t, level)), tangent
    if tangent is None:
        p = T._alias(t)
        stand_alone(p)
        return p, None
    p = without_level(t, level)
    set_view(p, t, CREATED_DEFAULT)
    stand_alone(p)
    return p, tangent


def _make_dual(Tensor t not None, Tensor tangent not None, ForwardLevel level not None):
    """A view of `t` at the same place of the graph that has `tangent` at `level`."""
    if find_tangent(t, level) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the "
            "same level is not supported.")
    if find_tangent(tangent, level) is not None:
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level is not "
            "supported.")
    if not same_shape(t, tangent):
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(sizes_of(t))} while the given "
            f"forward gradient is of size {list(sizes_of(tangent))}.")
    if dt_is_complex(tangent.dt) and not dt_is_complex(t.dt):
        raise RuntimeError(
            "make_dual: expected a real tangent, because the primal is real, but got a complex "
            "tangent; take its real part")
    return make_dual(t, tangent, level)


def _unpack_dual(Tensor t not None, ForwardLevel level not None):
    """(`t` without its tangent of `level`, that tangent or None); the first is a view."""
    return unpack_dual(t, level, True)


def _take_dual(Tensor t not None, ForwardLevel level not None):
    """(`t` without its tangent of `level`, that tangent or None); the first is no view."""
    return unpack_dual(t, level, False)


def _follow_bases(Tensor t not None):
    """Let `t`, and what is below its vmaps, have the tangents of their bases."""
    while True:
        if t.flags & F_VIEW:
            follow_base(t)
        if not (t.flags & F_BATCHED):
            return
        t = <Tensor>t.extra.value


cdef int collect_levels(Tensor t, list levels) except -1:
    cdef Tensor holder = t
    if t.flags & F_VIEW:
        follow_base(t)
    while holder is not None and holder.flags & F_DUAL:
        if holder.extra.forward not in levels:
            levels.append(holder.extra.forward)
        collect_levels(<Tensor>holder.extra.tangent, levels)
        holder = <Tensor>holder.extra.primal
    if t.flags & F_BATCHED:
        collect_levels(<Tensor>t.extra.value, levels)
    return 0


cdef object level_order(level):
    return -<object>(<ForwardLevel>level).serial


def _levels_of(Tensor t not None):
    """Levels at which `t`, a tensor below its vmaps or a tangent of these has a tangent; innermost
    first."""
    cdef list levels = []
    collect_levels(t, levels)
    levels.sort(key=level_order)
    return levels
