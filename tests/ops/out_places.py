"""Views of all kinds into which `out=` writes, in memory that others see."""

import warnings

import numpy as np
from calls import EVALUATOR, outputs, to_array

import autograd_cy as ag

MARK = 99  # what stands in memory that nobody may write; "true" as bool


def memory(lib, n, dtype):
    return lib.full((n,), MARK, dtype=dtype)


def transposed(lib, shape, dtype):
    base = memory(lib, int(np.prod(shape)) + 3, dtype)
    turned = base[2 : len(base) - 1].view(*reversed(shape))
    return base, turned.permute(*reversed(range(len(shape))))


def strided(lib, shape, dtype):
    base = memory(lib, 3 * int(np.prod(shape)) + 2, dtype)
    return base, base[2:].view(*shape, 3)[..., 1]


def offset(lib, shape, dtype):
    base = memory(lib, int(np.prod(shape)) + 7, dtype)
    return base, base[5 : len(base) - 2].view(shape)


def expanded(lib, shape, dtype):
    base = memory(lib, int(np.prod(shape[1:])) + 3, dtype)
    return base, base[1 : len(base) - 2].view(shape[1:]).expand(shape)


def overlapping(lib, shape, dtype):
    base = memory(lib, int(np.prod(shape)) + 3, dtype)
    return base, base.as_strided(shape, [1] * len(shape), 1)


def channels_last(lib, shape, dtype):
    base = memory(lib, int(np.prod(shape)) + 3, dtype)
    moved = (shape[0], *shape[2:], shape[1])
    order = (0, len(shape) - 1, *range(1, len(shape) - 1))
    return base, base[1 : len(base) - 2].view(moved).permute(order)


def reshaped(lib, shape, dtype):
    """Return as many elements, in one dimension more and in steps of two."""
    n = int(np.prod(shape))
    base = memory(lib, 2 * n + 3, dtype)
    return base, base[1 : 2 * n + 1 : 2].view((1, n, 1) if len(shape) == 2 else (n, 1))


def larger(lib, shape, dtype):
    base = memory(lib, 2 * int(np.prod(shape)) + 9, dtype)
    return base, base[3 : len(base) - 1]


def empty(lib, shape, dtype):
    base = memory(lib, int(np.prod(shape)) + 7, dtype)
    return base, base[4:4]


def too_small(lib, shape, dtype):
    base = memory(lib, int(np.prod(shape)) + 3, dtype)
    return base, base[4:5]


VIEWS = {
    f.__name__: f
    for f in (transposed, strided, offset, expanded, overlapping, channels_last, reshaped, larger,
              empty, too_small)
}  # fmt: skip


def possible(kind, shape):
    """Tell whether there is such a view of a shape, other than the plain one."""
    n = int(np.prod(shape))
    if kind in ("transposed", "overlapping"):
        return len(shape) > 1 and n > 1
    if kind == "expanded":
        return len(shape) > 0 and shape[0] > 1 and n > 0
    if kind == "channels_last":
        return len(shape) in (4, 5)
    if kind == "reshaped":
        return len(shape) > 0
    return n > 0 or kind in ("empty", "larger")


def places_of(base, view):
    """Numbers of the elements of `base` that `view` shows."""
    numbers = np.arange(base.numel())
    start = view.storage_offset() - base.storage_offset()
    item = numbers.itemsize
    shown = np.lib.stride_tricks.as_strided(
        numbers[start:], tuple(view.shape), [s * item for s in view.stride()]
    )
    return shown if view.numel() else np.zeros(tuple(view.shape), np.int64)


def attempt(form, args, kwargs, results, kind, at=0):
    """
    One call with `out=` a view of some kind at place `at` of several: what is wrong, or None.

    The result stands in the base memory where the view shows it, and nowhere else; of what is
    refused nothing has been written.
    """
    shape, dtype = tuple(results[at].shape), results[at].dtype
    if not possible(kind, shape):
        return None
    base, view = VIEWS[kind](ag, shape, dtype)
    before = to_array(base)
    given = [view if i == at else ag.empty(0, dtype=r.dtype) for i, r in enumerate(results)]
    out = tuple(given) if len(results) > 1 else view
    warned = False
    try:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            form(*args, **kwargs, out=out)
            warned = any("was resized" in str(w.message) for w in seen)
    except RuntimeError as error:
        words = {"expanded": "single memory", "overlapping": "single memory",
                 "too_small": "not resizable"}  # fmt: skip
        if words.get(kind, "never") not in str(error):
            return f"{kind}: refused: {error}"
        if not np.array_equal(to_array(base), before) or any(
            x.numel() for i, x in enumerate(given) if i != at
        ):
            return f"{kind}: refused after something was written"
        return None
    if kind in ("expanded", "too_small") and view.numel():
        return f"{kind}: taken"
    if warned != (kind == "larger" or (kind == "reshaped" and view.numel() > 0)):
        return f"{kind}: warned: {warned}"
    if tuple(view.shape) != shape:
        return f"{kind}: of shape {tuple(view.shape)}"
    expected = before.copy()
    expected[places_of(base, view)] = to_array(results[at])
    if not np.array_equal(to_array(base), expected, equal_nan=expected.dtype.kind in "fc"):
        return f"{kind}: memory {to_array(base).tolist()}, not {expected.tolist()}"
    for x, y in zip(given, results):
        if not np.array_equal(to_array(x), to_array(y), equal_nan=to_array(y).dtype.kind in "fc"):
            return f"{kind}: {x.tolist()}, not {y.tolist()}"
    return None


def faults(record, call):
    """Say what is wrong with a sample in views of all kinds."""
    form = EVALUATOR.form(record)
    args, kwargs = call.arguments(call.tensors())
    results = [r.clone() for r in outputs(form(*args, **kwargs))]
    return [
        text
        for kind in VIEWS
        for at in range(len(results))
        if (text := attempt(form, args, kwargs, results, kind, at))
    ]


def outcome(lib, form, args, kwargs, results, kind, at=0):
    """Return what is seen after a call, "refused" or (warned, shape, strides, memory)."""
    shape = tuple(results[at].shape)
    base, view = VIEWS[kind](lib, shape, results[at].dtype)
    given = [view if i == at else lib.empty(0, dtype=r.dtype) for i, r in enumerate(results)]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            form(*args, **kwargs, out=tuple(given) if len(results) > 1 else view)
        except RuntimeError:
            return "refused"
    warned = any("resized" in str(w.message) for w in seen)
    values = np.array(base.resolve_conj().numpy())
    strides = tuple(s for n, s in zip(view.shape, view.stride()) if n > 1)
    return warned, tuple(view.shape), strides, values
