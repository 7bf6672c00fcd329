# cython: language_level=3
# build: plain hot
"""In-place operations that rest on no record: copy_, fill_, detach_, and changes of geometry.

# Note [In-place forms]
The in-place form of an operator with a kernel writes into the tensor and records its own node. One
without (a composite, or any operator on batched or dual tensors) computes the new value and puts
it in place by copy_: `replace_value`. Either checks shape and dtype before anything changes.

What the history of a base becomes when a view of it changes is in views.pyx.
"""
cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t
from libc.string cimport memcmp
from autograd_cy._C.arguments cimport (
    int_arg, dim_arg, sizes_arg, sizes_of_call, dims_arg, wrong_type)
from autograd_cy._C.batching cimport batch_front, align_batch
from autograd_cy._C.checked cimport checked_add, checked_mul
from autograd_cy._C.devices cimport check_capture
from autograd_cy._C.dtypes cimport (
    dt_c_name, dt_category, dt_differentiable, dt_is_complex, dt_object, dt_scalar_name, DT_BOOL,
    DT_SIZE)
from autograd_cy._C.exchange cimport UntypedStorage, resize_block
from autograd_cy._C.node_io cimport give
from autograd_cy._C.forward cimport copy_tangents, has_tangent
from autograd_cy._C.iterate cimport (
    check_not_expanded, copy_into, copy_into_by, fill_with, one_memory)
from autograd_cy._C.levels cimport batch_level, top_level, is_batched, lowered
from autograd_cy._C.node cimport *
from autograd_cy._C.out_places cimport leave_base, lost_base
from autograd_cy._C.recorder cimport Scope, begin_call, events
from autograd_cy._C.placement cimport (
    MF_CHANNELS_LAST, MF_CHANNELS_LAST_3D, MF_CONTIGUOUS, MF_PRESERVE, format_code)
from autograd_cy._C.shapes cimport as_strided_plain
from autograd_cy._C.storage cimport STORAGE_BORROWED, STORAGE_ALIAS, StorageImpl
from autograd_cy._C.tensor cimport *
from autograd_cy._C.linking cimport publish
from autograd_cy._C.tensor import _set_shape_replaced
include "operators_of_inplace.pxi"

cdef int E = events(
    "aten::copy_\naten::detach\naten::detach_\naten::fill_\naten::zero_\naten::fill_diagonal_\n"
    "aten::transpose_\naten::t_\naten::squeeze_\naten::unsqueeze_\naten::as_strided_\n"
    "aten::resize_\naten::resize_as_\naten::set_")
cdef enum:  # places among them
    E_COPY, E_DETACH, E_DETACH_, E_FILL, E_ZERO, E_FILL_DIAGONAL, E_TRANSPOSE, E_T, E_SQUEEZE
    E_UNSQUEEZE, E_AS_STRIDED, E_RESIZE, E_RESIZE_AS, E_SET


cdef class CopyBackwards(Node):
    """Gradient of copy_: none for what was overwritten, all for the source."""
    cdef int home              # the source's device, where that is known

    def name(self):
        """``"torch::autograd::CopyBackwards"``, as programs know it."""
        if type(self) is CopyBackwards or type(self) is CopyInVmap:
            return "torch::autograd::CopyBackwards"
        return self.node_name()

    cdef int apply(self, PyObject** gin, PyObject** gout) except -1:
        cdef Tensor grad
        if gin[0] == NULL:
            return 0
        if needs(self, 0):
            gout[0] = give(T.zeros_like(<Tensor>gin[0]))
        if needs(self, 1):
            grad = <Tensor>gin[0]
            if device_of(grad) != self.home:
                grad = T._to_device(grad, self.home, False)
            gout[1] = give(grad)
        return 0


cdef class ZeroBackward0(CopyBackwards):
    pass


cdef class FillBackward2(CopyBackwards):      # a number; the names are torch's
    pass


cdef class FillBackward3(CopyBackwards):      # a tensor
    pass


cdef object _running_vmaps = None


def _set_running_vmaps(get):
    """`get` gives a list with an object of its own for each vmap that runs, outermost first."""
    global _running_vmaps
    _running_vmaps = get


cdef object running_vmap(int level):
    cdef list running = <list>_running_vmaps()
    return running[level - 1] if len(running) >= level else None


@cython.final
cdef class CopyInVmap(CopyBackwards):
    """
    Gradient of a copy into a tensor that isn't of the source's vmap, for two kinds of backward.

    One inside of the vmap follows the source. One from outside must not enter the graph of the
    vmap, which may have ended: it goes on to what was recorded below, the first edge. The arguments
    are the vmap, and its level.
    """

    cdef int apply(self, PyObject** gin, PyObject** gout) except -1:
        if gin[0] == NULL:
            return 0
        if self.is_inside():
            return CopyBackwards.apply(self, gin, gout)
        if needs(self, 0):
            gout[0] = give(<Tensor>gin[0])
        return 0

    cdef bint is_inside(self) except -1:
        cdef tuple args = get_args(self)
        cdef list running = <list>_running_vmaps()
        if not running:
            return vmap_level() >= <int>args[1]     # in a thread of the engine's
        for one in running:
            if one is args[0]:
                return True
        return False

    cdef str node_name(self):
        return "CopyBackwards"


@cython.final
cdef class ConstantBackward(Node):
    """Gradient of an in-place operation whose result is constant wherever it is smooth: zero."""

    cdef int apply(self, PyObject** gin, PyObject** gout) except -1:
        if gin[0] != NULL and needs(self, 0):
            gout[0] = give(T.zeros_like(<Tensor>gin[0]))
        return 0

    cdef str node_name(self):
        return type(self).__name__ if self.args == NULL else <str>get_args(self)[0]


@cython.final
cdef class NotImplementedBackward(Node):
    """History after an in-place operation that has no derivative."""

    cdef int apply(self, PyObject** gin, PyObject** gout) except -1:
        name = self.node_name().removesuffix("Backward0").removesuffix("Backward")
        raise RuntimeError(
            f"derivative for {name} is not implemented: it was applied in place to a tensor that "
            "requires grad. Apply it to a detached tensor.")

    cdef str node_name(self):
        return type(self).__name__ if self.args == NULL else <str>get_args(self)[0]


@cython.final
cdef class DataBackward(Node):
    """
    History of a tensor whose memory was replaced by one of another shape.

    Formulas know the shape of an operand by its edge, so that one needs a node of the new shape;
    what was computed before keeps the old one. Gradients pass as they are, and are refused if they
    don't fit what was replaced.
    """

    cdef int apply(self, PyObject** gin, PyObject** gout) except -1:
        if gin[0] != NULL:
            gout[0] = give(<Tensor>gin[0])
        return 0


def _shape_replaced(Tensor t not None):
    """Called when memory of another shape was given to a tensor that has history."""
    cdef DataBackward n = DataBackward.__new__(DataBackward)
    cdef uint32_t retains = t.flags & F_RETAINS_GRAD
    node_init(n, 1, 0, 1)
    set_edge(n, 0, t)
    # retain_grad goes on to report the gradient that fits what was computed.
    t.flags &= ~<uint32_t>F_RETAINS_GRAD
    set_history(t, n, 0)
    t.flags |= retains


_set_shape_replaced(_shape_replaced)


# --- what generated in-place forms call ------------------------------------------------------

cdef int check_result(Tensor self, Tensor value, str op) except -1:
    """Return whether `value` can become the value of `self`; called before anything changes."""
    if not same_shape(self, value):
        raise RuntimeError(
            f"{op}: output with shape {list(sizes_of(self))} doesn't match the broadcast shape "
            f"{list(sizes_of(value))}")
    if dt_category(value.dt) > dt_category(self.dt):
        raise RuntimeError(
            f"{op}: result type {dt_scalar_name(value.dt)} can't be cast to the desired output "
            f"type {dt_scalar_name(self.dt)}")
    return 0


cdef int end_inplace(Tensor self, Node n) except -1:
    bump_version(self)
    if n is not None:
        rebase_history(self, n)
    return 0


cdef Tensor replace_value(Tensor self, Tensor value, str op):
    """Put a recorded value in place."""
    check_result(self, value, op)
    return copy_from(self, value, op)


cdef int put_value(Tensor self, Tensor value, str op) except -1:
    """Put a value in place that the caller records."""
    check_result(self, value, op)
    copy_into(self, value, op)
    return 0


cdef int constant_history(Tensor self, str name) except -1:
    """Record that an in-place operation left values with zero derivative."""
    return add_history(self, ConstantBackward, name)


cdef int unknown_history(Tensor self, str name) except -1:
    """Record an in-place operation that has no derivative: backward through it is an error."""
    return add_history(self, NotImplementedBackward, name)


cdef int add_history(Tensor self, type cls, str name, Tensor other=None) except -1:
    cdef Node n = <Node>cls.__new__(cls)
    node_init(n, 1 if other is None else 2, 0, 1)
    n.flags |= N_NAMED
    set_edge(n, 0, self)
    if other is not None:
        set_edge(n, 1, other)
    set_args(n, (name,))
    rebase_history(self, n)
    return 0


cdef int refuse_complex(Tensor self, str op) except -1:
    if dt_is_complex(self.dt):
        raise RuntimeError(
            f"In-place {op} is not supported for complex tensors: the result is real. Use {op}().")
    return 0


# --- copy_ and its relatives ----------------------------------------------------------------

cdef int copy_batched(Tensor self, Tensor src, str op) except -1:
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
            f"new_zeros() of a vmapped tensor ({op}).")
    T.copy_(batch_front(self, level), align_batch(src, level, self.nd, -1))
    return 0


cdef bint records(Tensor self, Tensor src):
    """Return whether writing `src` into `self` is recorded."""
    return ((self.flags | src.flags) & F_GRAD_PATH and not (tls_modes() & M_NO_GRAD)
            and dt_differentiable(self.dt)
            and (requires_grad(self) or (requires_grad(src) and dt_differentiable(src.dt))))


cdef Tensor copy_shared(Tensor self, Tensor src, str op, bint recording):
    """
    Write what all examples of a vmap share into a tensor that isn't of this vmap.

    What is below the vmap is recorded, and moved, by writing there; then follows what began inside.
    """
    cdef CopyInVmap n = None
    if src.extra.bdim >= 0:
        copy_batched(self, src, op)     # says that it is not possible
    T.copy_(self, <Tensor>src.extra.value)
    if recording and requires_grad(src) and dt_differentiable(src.dt):
        n = CopyInVmap.__new__(CopyInVmap)
        node_init(n, 2, 0, 1)
        n.flags |= N_NAMED
        set_edge(n, 0, self)
        set_edge(n, 1, src)
        set_args(n, (running_vmap(src.extra.level), src.extra.level))
        rebase_history(self, n)
    if src.flags & F_DUAL and g_modes & G_FORWARD:
        copy_tangents(self, src)
    return self


cdef Tensor not_expanded(Tensor t):
    """Return the tensor with one element in each dimension of stride 0."""
    cdef Py_ssize_t[64] sizes
    cdef int d
    for d in range(t.nd):
        sizes[d] = min(t.sizes[d], 1) if t.strides[d] == 0 else t.sizes[d]
    return tensor_window(t, t.nd, sizes, t.strides, 0)


cdef Tensor copy_from(Tensor self, Tensor src, str op, type node=CopyBackwards,
                      bint non_blocking=False):
    cdef uint32_t flags = self.flags | src.flags
    cdef bint recording = records(self, src)
    cdef CopyBackwards n = None
    cdef Tensor once
    check_inplace(self, op, recording)
    if src.flags & F_BATCHED and batch_level(self) < src.extra.level:
        return copy_shared(self, src, op, recording)
    if recording:
        n = node.__new__(node)
        node_init(n, 1 if node is ZeroBackward0 or node is FillBackward2 else 2, 0, 1)
        set_edge(n, 0, self)
        if n.n_edges > 1 and dt_differentiable(src.dt):
            set_edge(n, 1, src)
            n.home = device_of(src)
    if flags & F_BATCHED:
        copy_batched(self, src, op)
    elif src.nd == 0 and tensor_has_overlap(self) and not requires_grad(src):
        # One value for all elements: it doesn't matter that some are written twice. That of another
        # device isn't read, unless memory overlaps in other ways than by being expanded.
        once = not_expanded(self)
        if src.flags & F_DEVICE and not tensor_has_overlap(once):
            copy_into(once, src, op)
        else:
            fill_with(self, scalar_value(src))
    elif non_blocking and flags & F_DEVICE:
        copy_into_by(self, src, op, True)
    else:
        copy_into(self, src, op)
    bump_version(self)
    if recording:
        rebase_history(self, n)
    if flags & (F_DUAL | F_VIEW) and g_modes & G_FORWARD:
        copy_tangents(self, src)
    return self


cdef Tensor c_copy_(Tensor self, Tensor src):
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_COPY, (self, src))
    return copy_from(self, src, "copy_")


cdef Tensor c_detach(Tensor self):
    """Return an alias of the memory and version counter, without history."""
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_DETACH, (self,))
    cdef Tensor r = tensor_alias(self)
    cdef TensorExtra x
    if self.flags & F_BATCHED:
        x = need_extra(r)
        x.value = T.detach(<Tensor>self.extra.value)
        x.bdim = self.extra.bdim
        x.level = self.extra.level
        r.flags |= F_BATCHED
    return r

cdef void* _published[2]
_published[0] = <void*>c_copy_
_published[1] = <void*>c_detach
publish(_published, "Tensor copy_(Tensor, Tensor)\nTensor detach(Tensor)")


def copy_(Tensor self not None, other, non_blocking=False):
    """
    Write the elements of `other` into this tensor; they are broadcast and converted.

    Parameters
    ----------
    other : Tensor
    non_blocking : bool
        Whether a copy between pinned memory and another device may go on after this returns.

    Returns
    -------
    Tensor
        This tensor.

    Raises
    ------
    RuntimeError
        If `other` doesn't expand to this shape, if both overlap in memory, or if autograd couldn't
        follow (a leaf that requires grad, a view of one, a view made in no_grad mode).

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(3).copy_(ag.ones(1))
    tensor([1., 1., 1.])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_COPY, (self, other, non_blocking))
    if not isinstance(other, Tensor):
        other = as_operand(other, "copy_", "other")
    check_not_expanded(self, "copy_")
    if (<Tensor>other).nd > self.nd and not (self.flags | (<Tensor>other).flags) & F_BATCHED:
        raise RuntimeError(
            f"copy_: output with shape {list(sizes_of(self))} doesn't match the broadcast shape "
            f"{list(sizes_of(<Tensor>other))}; squeeze what is copied")
    return copy_from(self, <Tensor>other, "copy_", CopyBackwards, bool(non_blocking))


def detach(Tensor self not None):
    """
    Return the values outside of the graph; memory and version counter are shared.

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
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_DETACH_, (self,))
    cdef PyObject* old
    if tls_modes() & M_INFERENCE:
        return self                 # histories are neither made nor unmade here
    if self.flags & F_VIEW:
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead. If you are using "
            "DistributedDataParallel (DDP) for training, clone the view first.")
    while self.flags & F_DUAL:
        drop_dual(self)
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
    cdef type node = FillBackward3 if isinstance(value, Tensor) else FillBackward2
    return fill_as(self, value, "fill_", node)


cdef Tensor fill_as(Tensor self, object value, str op, type node):
    cdef Scope _seen = NULL
    cdef Tensor src
    if g_modes & G_PROFILE:
        _seen = begin_call(E + (E_ZERO if op == "zero_" else E_FILL),
                           (self,) if op == "zero_" else (self, value))
    if isinstance(value, Tensor) and (<Tensor>value).nd != 0:
        raise RuntimeError(
            f"{op} only supports 0-dimension value tensor but got tensor with "
            f"{(<Tensor>value).nd} dimensions.")
    if type(value) is complex and not dt_is_complex(self.dt) and self.dt != DT_BOOL:
        if value.imag:
            raise RuntimeError(
                f"value cannot be converted to type {dt_c_name(self.dt)} without overflow: "
                f"{op} got {value}")
        value = value.real
    if not isinstance(value, Tensor) and not (self.flags & (F_GRAD_PATH | F_SLOW)):
        if not is_python_number(value):
            raise wrong_type(value, op, "value", 1, "Tensor or Number")
        if self.flags & F_DEVICE:
            check_capture(self.mem.device, op)
        check_inplace(self, op, False)
        fill_with(self, value)
        bump_version(self)
        return self
    src = as_operand(value, op, "value")
    if src.flags & F_WRAPPED:
        check_fits(src, self.dt)
    elif one_memory(src, self) and src is not self:
        src = T.clone(src, -1)      # one of the elements that are filled
    return copy_from(self, src, op, node)


def zero_(Tensor self not None):
    """
    Set every element to zero.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.ones(2).zero_()
    tensor([0., 0.])
    """
    return fill_as(self, 0, "zero_", ZeroBackward0)


def fill_diagonal_(Tensor self not None, fill_value, wrap=False):
    """
    Set the main diagonal, the elements whose indices are equal, to a number.

    Parameters
    ----------
    fill_value : Number
    wrap : bool, default False
        In a matrix with more rows than columns, start again below a row that is left out.

    Returns
    -------
    Tensor
        This tensor.

    Raises
    ------
    RuntimeError
        With fewer than two dimensions, or for more than two of different sizes.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(2, 3).fill_diagonal_(5)
    tensor([[5., 0., 0.],
            [0., 5., 0.]])
    """
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE:
        _seen = begin_call(E + E_FILL_DIAGONAL, (self, fill_value, wrap))
    cdef Py_ssize_t step = 0, least, n
    cdef int d
    cdef Tensor diagonal
    may_change(self, "fill_diagonal_")
    if self.nd < 2:
        raise RuntimeError("fill_diagonal_: dimensions must larger than 1")
    least = self.sizes[0]
    for d in range(self.nd):
        if self.nd > 2 and self.sizes[d] != self.sizes[0]:
            raise RuntimeError(
                f"fill_diagonal_: all dimensions of input must be of equal length, not "
                f"{list(sizes_of(self))}")
        least = min(least, self.sizes[d])
        step += self.strides[d]
    n = least
    if wrap and self.nd == 2 and self.sizes[0] > self.sizes[1] + 1 and self.sizes[1]:
        n = (self.count + self.sizes[1]) // (self.sizes[1] + 1)
        if self.strides[0] != self.sizes[1] * self.strides[1]:
            # Rows don't follow each other in memory: one block of rows after the other.
            for d in range(0, self.sizes[0], self.sizes[1] + 1):
                diagonal = T.diagonal(T.slice(self, 0, d, None, 1), 0, 0, 1)
                fill_(diagonal, fill_value)
            return self
    diagonal = T.as_strided(self, (n,), (step,), None)
    fill_(diagonal, fill_value)
    return self


include "inplace/geometry.pxi"
include "inplace/source.pxi"


for _f in (set_, copy_, detach, detach_, fill_, zero_, fill_diagonal_, transpose_, swapaxes_,
           swapdims_, t_, squeeze_, unsqueeze_, as_strided_, resize_, resize_as_):
    install(Tensor, _f.__name__, _f)
