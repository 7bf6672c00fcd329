# cython: language_level=3
# build: plain hot
"""Reading and writing with ``x[...]``: basic indices become views, tensors advanced indexing."""
from autograd_cy._C.dtypes cimport (
    dt_is_complex, dt_is_integral, dt_object, dt_scalar_name, DT_BOOL, DT_I32, DT_I64, DT_U8)
from autograd_cy._C.iterate cimport check_not_expanded, one_memory
from autograd_cy._C.tensor cimport (
    Tensor, F_STRIDED, F_WRAPPED, upcalls, as_operand, check_fits, is_python_number, reading,
    scalar_value, has_examples, same_shape, sizes_of, tensor_has_overlap, warn_once)
include "operators_of_getitem.pxi"
from autograd_cy._C.creation import tensor as _tensor


import numpy as _np
from autograd_cy._C._warned import warn as _warn

cdef extern from "Python.h":
    Py_ssize_t PyNumber_AsSsize_t(object x, void* error) except? -1


cdef object refuse_index(object index):
    if isinstance(index, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(index).__name__}' (as an index)")
    name = "numpy.bool" if isinstance(index, _np.bool_) else type(index).__name__
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
        f"indices (got {name})")


cdef Tensor as_index(object item):
    """A sequence, array or tensor of integers or bools as index tensor."""
    cdef Tensor t
    if isinstance(item, Tensor):
        t = <Tensor>item
    else:
        t = listed_index(item)
    if t.dt == DT_BOOL:
        return t
    if t.dt != DT_I64 and t.dt != DT_I32 and t.dt != DT_U8:
        raise IndexError(
            f"tensors used as indices must be long, int, byte or bool tensors, not "
            f"{dt_object(t.dt).name}; convert it with .long()")
    if t.dt == DT_U8:
        warn_once("indexing with dtype uint8 is now deprecated, please use a dtype bool instead")
        return T.ne(t, as_operand(0, "index", "index"))
    return t if t.dt == DT_I64 else T._to_dtype(t, DT_I64)


cdef Tensor listed_index(object item):
    """A sequence or array; numbers of any kind count as whole ones."""
    cdef Tensor t
    cdef bint array = not isinstance(item, list) and isinstance(item, _np.ndarray)
    if array and item.dtype.kind == "u" and item.dtype.itemsize > 1:
        item = item.astype(_np.int64)
    try:
        t = <Tensor>_tensor(item)
    except (TypeError, ValueError):
        if isinstance(item, (list, tuple)) and holds_text(item):
            raise TypeError("new(): invalid data type 'str' (as an index)") from None
        raise
    if t.dt == DT_I64:
        return t
    if dt_is_complex(t.dt):
        raise TypeError("'complex' object cannot be interpreted as an integer (as an index)")
    if t.dt == DT_BOOL or (t.dt == DT_U8 and array):
        return t
    return T._to_dtype(t, DT_I64)


cdef bint holds_text(object items):
    """Return whether text is somewhere in nested lists, each looked at once: one may hold
    itself."""
    cdef list waiting = [items]
    cdef set seen = {id(items)}
    while waiting:
        for item in waiting.pop():
            if isinstance(item, (str, bytes)):
                return True
            if isinstance(item, (list, tuple)) and id(item) not in seen:
                seen.add(id(item))
                waiting.append(item)
    return False


cdef tuple items_of(object index):
    """
    Return the items of an index expression as a tuple.

    As in NumPy before 1.23, a short list stands for a tuple if it holds anything but numbers.
    """
    if isinstance(index, tuple):
        return tuple(index)     # a Size or a named tuple becomes a plain one
    if isinstance(index, list) and len(<list>index) < 32:
        for item in <list>index:
            if item is None or item is Ellipsis or isinstance(
                    item, (list, tuple, range, slice, Tensor, _np.ndarray)):
                _warn("Using a non-tuple sequence for multidimensional indexing is deprecated; use "
                      "x[tuple(seq)] instead of x[seq], or x[tensor(seq)] for one index tensor")
                return tuple(<list>index)
    return (index,)


cdef tuple apply_basic(Tensor a, object index):
    """Return the view of the basic indices, and the advanced ones by dimension (or None)."""
    cdef tuple items = items_of(index)
    cdef list advanced = []
    cdef Py_ssize_t dim = 0, used = 0, k
    cdef Py_ssize_t within = 0      # dimensions of masks beside their first one
    cdef Py_ssize_t picked = 0
    cdef Tensor t
    cdef Tensor v = a
    for item in items:
        if item is None or item is Ellipsis or item is True or item is False:
            continue
        if isinstance(item, Tensor) and (<Tensor>item).dt in (DT_BOOL, DT_U8):
            used += (<Tensor>item).nd
        elif isinstance(item, _np.ndarray) and item.dtype == bool:
            used += item.ndim or 1      # one without dimensions counts, too, as in torch
        else:
            used += 1
    if used > a.nd:
        if isinstance(index, int):
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a 0-dim tensor to "
                "a number")
        raise IndexError(f"too many indices for tensor of dimension {a.nd}")
    for item in items:
        if item is Ellipsis:
            # As in torch, each one stands for all dimensions without an index of their own.
            dim += a.nd - used
        elif item is None:
            v = T.unsqueeze(v, dim)
            dim += 1
        elif item is True or item is False:
            v = T.unsqueeze(v, dim)
            append_index(advanced, dim - within, as_index([0] if item else []))
            dim += 1
        elif isinstance(item, slice):
            v = apply_slice(v, dim, item)
            dim += 1
        elif isinstance(item, (int, _np.integer)):
            v = pick(v, dim, item, picked)
            picked += 1
        elif isinstance(item, Tensor) and is_int(<Tensor>item):
            if has_examples(<Tensor>item):      # another index for each example of a vmap
                append_index(advanced, dim - within, as_index(item))
                dim += 1
            else:
                v = pick(v, dim, item, picked)
                picked += 1
        elif (not isinstance(item, (Tensor, list)) and isinstance(item, _np.ndarray)
                and item.ndim == 0 and item.dtype.kind in "iu"):
            v = pick(v, dim, int(item), picked)
            picked += 1
        elif isinstance(item, (Tensor, list, tuple, range, _np.ndarray)):
            t = as_index(item)
            if t.dt == DT_BOOL:
                for k in range(t.nd):
                    if dim + k >= v.nd or t.sizes[k] != v.sizes[dim + k]:
                        raise IndexError(
                            f"The shape of the mask {list(sizes_of(t))} at index {k} does not "
                            f"match the shape of the indexed tensor {list(sizes_of(a))} at index "
                            f"{dim + k}")
                if t.nd == 0:
                    v = T.unsqueeze(v, dim)
                    reading(t, "indexing by a mask")
                    t = as_index([0] if scalar_value(t) else [])
            append_index(advanced, dim - within, t)
            if t.dt == DT_BOOL:
                dim += t.nd
                within += t.nd - 1
            else:
                dim += 1
        elif hasattr(item, "__index__") and not isinstance(item, _np.bool_):  # as in new NumPy
            v = pick(v, dim, item, picked)
            picked += 1
        else:
            refuse_index(item)
    return v, (tuple(advanced) if advanced else None)


cdef int append_index(list advanced, Py_ssize_t place, Tensor t) except -1:
    """Append an index at its place; None stands for dimensions without one."""
    advanced += [None] * (place - len(advanced))
    advanced.append(t)
    return 0


cdef bint is_mask(object index, tuple advanced):
    """Return whether the only index is a mask, where one element is a number, so of any dtype."""
    indices = [x for x in advanced if x is not None]
    return index is True or len(indices) == 1 and (<Tensor>indices[0]).dt == DT_BOOL


cdef bint is_int(Tensor t) noexcept:
    return t.nd == 0 and dt_is_integral(t.dt) and t.dt != DT_BOOL and t.dt != DT_U8


cdef Tensor pick(Tensor v, Py_ssize_t dim, object item, Py_ssize_t picked):
    """The part at a number of a dimension, before which there were `picked` others."""
    cdef Py_ssize_t i
    try:
        i = item
    except OverflowError:
        raise ValueError(
            f"Overflow when unpacking long long: index {item} does not fit in 64 bits") from None
    if v.nd <= dim:
        raise IndexError(f"too many indices for tensor of dimension {v.nd}")
    if i < -v.sizes[dim] or i >= v.sizes[dim]:
        raise IndexError(f"index {i} is out of bounds for dimension {dim + picked} with size "
                         f"{v.sizes[dim]}")
    return T.select(v, dim, i)


cdef Tensor apply_slice(Tensor v, Py_ssize_t dim, object s):
    if v.nd <= dim:
        raise IndexError(f"too many indices for tensor of dimension {v.nd}")
    if s.start is None and s.stop is None and s.step is None:
        return v
    step = 1 if s.step is None else bound(s.step)
    if step <= 0:
        raise ValueError("step must be greater than zero")
    return T.slice(v, dim, None if s.start is None else bound(s.start),
                   None if s.stop is None else bound(s.stop), step)


cdef Py_ssize_t bound(object x) except? -1:
    """A number of a slice; one beyond the machine's integers means the end, as for a list."""
    if not hasattr(x, "__index__"):
        raise TypeError(
            "slice indices must be integers or None or have an __index__ method, not "
            f"{type(x).__name__}")
    return PyNumber_AsSsize_t(x, NULL)


cdef object getitem(Tensor a, object index):
    cdef Tensor v
    if type(index) is int and a.nd:
        return pick(a, 0, index, 0)
    v, advanced = apply_basic(a, index)
    if advanced is not None:
        return T._index(v, advanced)
    if v is a:
        return T.slice(a, 0, None, None, 1) if type(index) is slice else T._alias(a)
    return v


cdef Tensor without_ones(Tensor values, int nd):
    """Drop leading dimensions of 1 beyond `nd`: what is assigned may have more dimensions."""
    while values.nd > nd and values.sizes[0] == 1:
        values = T.select(values, 0, 0)
    return values


cdef int setitem(Tensor a, object index, object value) except -1:
    cdef Tensor v, src
    if isinstance(value, Tensor):
        src = <Tensor>value
    elif is_python_number(value):
        try:
            src = as_operand(value, "__setitem__", "value")
        except OverflowError:
            raise ValueError(f"Overflow when unpacking long long: {value}") from None
    elif isinstance(value, (list, tuple, range, _np.ndarray)):
        src = <Tensor>_tensor(value)
    else:
        raise TypeError(
            f"can't assign a {type(value).__name__} to a {dt_scalar_name(a.dt)} tensor")
    if index is False:
        return 0                # nothing is written, not even a version
    v, advanced = apply_basic(a, index)
    if src.flags & F_WRAPPED and (dt_is_integral(v.dt) or dt_is_complex(src.dt)):
        check_fits(src, v.dt)
    if advanced is not None:
        if src.dt != v.dt:
            if value is src and not (is_mask(index, advanced) and (
                    src.count == 1 or index is True)):
                raise RuntimeError(
                    "Index put requires the source and destination dtypes match, got "
                    f"{dt_scalar_name(v.dt)} for the destination and {dt_scalar_name(src.dt)} for "
                    "the source; convert the values with .to(x.dtype)")
            if value is src and src.count == 1 and index is not True:
                check_fits(T.reshape(src, ()), v.dt)    # a number, as of masked_fill_
            src = T._to_dtype(src, v.dt)
        if src.count == 1 and one_memory(src, v) and is_mask(index, advanced):
            src = T.clone(src, -1)      # one number, read before anything is written
        if v.flags & F_STRIDED and tensor_has_overlap(v):
            v.index_put_(advanced, without_ones(src, 0))        # what is expanded, or its error
        else:
            T._index_put_(v, advanced, without_ones(src, 0), False)
        return 0
    check_not_expanded(v, "copy_")
    src = without_ones(src, v.nd)
    if one_memory(src, v) and not same_shape(src, v):
        src = T.clone(src, -1)          # a row of what is written: all its elements are read before
    T.copy_(v, src)
    return 0


cdef object iterate(Tensor a):
    return iter(T.unbind(a, 0))


upcalls.getitem = getitem
upcalls.setitem = setitem
upcalls.iterate = iterate
