# cython: language_level=3
"""Batched tensors: what the generated vmap rules are made of.

Rules take the wrappers (levels.pyx) of the innermost vmap apart, call the operator on the tensors
below, and wrap the result.
"""
from autograd_cy._C.metadata cimport normal_dims
from autograd_cy._C.tensor cimport normal_dim
from autograd_cy._C.iterate cimport result_dtype
from autograd_cy._C.levels cimport all_lowered, any_batched, is_batched, lowered, top_level
from autograd_cy._C.tensor cimport Tensor, dims_of, vmap_level, wrap_at, F_BATCHED
include "operators_of_batching.pxi"


cdef int widest(tuple tensors, int level) except -1:
    cdef Tensor t
    cdef int nd = 0
    for t in tensors:
        if t is not None:
            nd = max(nd, <int>t.nd)
    return nd


cdef int common_dtype(tuple tensors) except -1:
    return result_dtype(tensors)


cdef Tensor to_front(Tensor physical, int bdim):
    if bdim == 0:
        return physical
    return T.permute(physical, (bdim,) + tuple([d for d in range(physical.nd) if d != bdim]))


cdef Tensor align_batch(Tensor t, int level, int nd, int dt):
    cdef Tensor p
    cdef int logical, _d
    if not is_batched(t, level):
        return t
    logical = t.nd
    p = to_front(<Tensor>t.extra.value, t.extra.bdim)
    if logical == 0 and dt >= 0 and p.dt != dt:
        # As one example it is 0-d and gives way in promotion; with a batch dimension it wouldn't.
        p = T._to_dtype(p, dt)
    for _d in range(nd - logical):
        p = T.unsqueeze(p, 1)
    return p


cdef Tensor batch_front(Tensor t, int level):
    """The physical tensor, batch first; an unbatched one as it is (see batch_expand)."""
    if not is_batched(t, level):
        return t
    return to_front(<Tensor>t.extra.value, t.extra.bdim)


cdef Tensor batch_expand(Tensor t, bint batched, Py_ssize_t size):
    if t is None or batched:
        return t
    return T.expand(T.unsqueeze(t, 0), (size,) + dims_of(t))


cdef tuple all_front(tuple tensors, int level):
    cdef Py_ssize_t size = batch_size_of(tensors, level)
    return tuple([batch_expand(batch_front(t, level), is_batched(t, level), size)
                  for t in tensors])


cdef Py_ssize_t batch_size_of(tuple tensors, int level) except -1:
    cdef Tensor t
    for t in tensors:
        if is_batched(t, level):
            return (<Tensor>t.extra.value).sizes[t.extra.bdim]
    return 1


cdef Tensor wrap_batch(Tensor physical, int level):
    return wrap_at(physical, 0, level)


cdef tuple wrap_results(tuple physical, int level):
    return tuple([wrap_at(<Tensor>t, 0, level) for t in physical])


cdef Tensor wrap_shared(Tensor value, int level):
    """A result that doesn't depend on the example."""
    return wrap_at(value, -1, level)


cdef tuple wrap_shared_all(tuple values, int level):
    return tuple([wrap_at(<Tensor>t, -1, level) for t in values])


cdef Tensor drop_lifted(Tensor t):
    """Undo the dimension that was added to 0-d examples."""
    if t.nd > 1:
        return T.squeeze_dim(t, (1,))
    return t


cdef tuple all_drop_lifted(tuple tensors):
    return tuple([drop_lifted(<Tensor>t) for t in tensors])


cdef Tensor end_dims(Tensor value, int level, bint shared, bint lifted):
    """The result of an operator with `dim` arguments: wrapped, without what was added for it."""
    if shared:
        return wrap_shared(value, level)
    return wrap_batch(drop_lifted(value) if lifted else value, level)


cdef tuple end_dims_all(tuple values, int level, bint shared, bint lifted):
    return tuple([end_dims(<Tensor>t, level, shared, lifted) for t in values])


# --- rules that need no more than a pointer to the operator --------------------------------------

ctypedef Tensor (*of_1)(Tensor)
ctypedef Tensor (*of_2)(Tensor, Tensor)
ctypedef Tensor (*of_3)(Tensor, Tensor, Tensor)
ctypedef Tensor (*of_4)(Tensor, Tensor, Tensor, Tensor)


cdef Tensor call_with(void* op, list at):
    cdef Py_ssize_t n = len(at)
    if n == 1:
        return (<of_1>op)(<Tensor>at[0])
    if n == 2:
        return (<of_2>op)(<Tensor>at[0], <Tensor>at[1])
    if n == 3:
        return (<of_3>op)(<Tensor>at[0], <Tensor>at[1], <Tensor>at[2])
    return (<of_4>op)(<Tensor>at[0], <Tensor>at[1], <Tensor>at[2], <Tensor>at[3])


cdef Tensor batch_aligned(void* op, tuple tensors, bint skip_first):
    """An elementwise operator; `skip_first`: the first tensor takes no part in promotion."""
    cdef int level = top_level(tensors)
    cdef list at = [lowered(<Tensor>t, level) for t in tensors]
    cdef tuple below = tuple(at)
    cdef Py_ssize_t i
    cdef int nd, dt
    if not any_batched(below, level):
        return wrap_shared(call_with(op, at), level)
    nd = widest(below, level)
    dt = common_dtype(below[1:] if skip_first else below)
    for i in range(len(at)):
        at[i] = align_batch(<Tensor>at[i], level, nd, -1 if skip_first and i == 0 else dt)
    return wrap_batch(call_with(op, at), level)


cdef object refuse_batch(str text):
    raise RuntimeError(text)


cdef object shift_dims(object dims, int nd):
    """
    Dimensions of one example as dimensions of the batch; None becomes all but the first.

    Examples without dimensions (`nd` of 0) got one, which is all that may be meant.
    """
    if nd == 0:
        normal_dims(dims, nd)
        return (1,)
    return tuple([d + 1 for d in normal_dims(dims, nd)])


_operators = {}


def _register_operator(str key, function):
    """Let vmap rules that loop find the Python form of an operator."""
    _operators[key] = function


cdef bint holds_tensors(object x):
    return isinstance(x, tuple) and len(<tuple>x) != 0 and isinstance(x[0], Tensor)


cdef object pick(object x, int level, Py_ssize_t i):
    if isinstance(x, Tensor):
        if is_batched(<Tensor>x, level):
            return T.select((<Tensor>x).extra.value, (<Tensor>x).extra.bdim, i)
        return x
    if holds_tensors(x):
        return tuple([pick(y, level, i) for y in x])
    return x


cdef object pick_zeros(object x, int level):
    """An example of zeros that hangs in the graph of a batch without any."""
    cdef Tensor p
    cdef int bdim
    if isinstance(x, Tensor) and is_batched(<Tensor>x, level):
        p = (<Tensor>x).extra.value
        bdim = (<Tensor>x).extra.bdim
        p = T.cat((p, T.new_zeros(p, dims_of(p)[:bdim] + (1,) + dims_of(p)[bdim + 1:])), bdim)
        return T.select(p, bdim, 0)
    if holds_tensors(x):
        return tuple([pick_zeros(y, level) for y in x])
    return x


cdef object loop_batch(str key, tuple args, int level):
    cdef list rows = []
    cdef list flat = []
    cdef Py_ssize_t size, i
    for x in args:
        if isinstance(x, Tensor):
            flat.append(x)
        elif isinstance(x, tuple):
            flat += [y for y in x if isinstance(y, Tensor)]
    size = batch_size_of(tuple(flat), level)
    call = _operators[key]
    if size == 0:
        # What an example of zeros gives says of which shape results are.
        rows.append(call(*[pick_zeros(x, level) for x in args]))
    for i in range(size):
        rows.append(call(*[pick(x, level, i) for x in args]))
    if isinstance(rows[0], tuple):
        return wrap_results(tuple([stacked(column, size) for column in zip(*rows)]), level)
    return wrap_batch(stacked(tuple(rows), size), level)


cdef Tensor stacked(tuple rows, Py_ssize_t size):
    cdef Tensor r = T.stack(rows, 0)
    return r if size else T.narrow(r, 0, 0, 0)


cdef object loop_lowered(str key, tuple tensors, tuple args):
    """The rule of an operator that is called for each example."""
    cdef int level = top_level(tensors)
    cdef tuple at = tuple([below(x, level) for x in args])
    if any_batched(all_lowered(tensors, level), level):
        return loop_batch(key, at, level)
    shared = _operators[key](*at)
    if isinstance(shared, tuple):
        return wrap_shared_all(tuple(shared), level)
    return wrap_shared(shared, level)


cdef object below(object x, int level):
    """An argument as operators below the vmap of `level` see it."""
    if isinstance(x, Tensor):
        return lowered(<Tensor>x, level)
    if holds_tensors(x):
        return all_lowered(<tuple>x, level)
    return x


cdef object _random_rule = None


def _set_random_rule(rule):
    """Called with (name, function, args, kwargs, draws) for random operators of the table."""
    global _random_rule
    _random_rule = rule


def _rule_of_random():
    """The rule for a random operator that is written in Python; None where no vmap is running."""
    return _random_rule if vmap_level() else None


cdef object random_under_vmap(str name, str key, tuple args, str draws):
    return _random_rule(name, _operators[key], args, {}, draws)


def _wrap(Tensor physical not None, bdim, int level):
    """A batched tensor whose examples lie along `bdim` of `physical`; None: all share it."""
    return wrap_at(physical, -1 if bdim is None else <int>normal_dim(bdim, physical.nd), level)


def _unwrap(Tensor t not None, int level):
    """(tensor below the vmap of `level`, batch dimension or None)."""
    if not (t.flags & F_BATCHED) or t.extra.level != level:
        return t, None
    return t.extra.value, t.extra.bdim if t.extra.bdim >= 0 else None
