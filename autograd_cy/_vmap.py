"""vmap: a function of examples, applied to batches through the rules of the operators.

Arguments become wrappers that look like one example (ext/engine/batching.pyx); results are taken
out of them again. Levels count nested calls, so that an inner vmap leaves the outer wrappers alone.
"""

from __future__ import annotations

import functools
import threading

from autograd_cy._C.batching import _unwrap, _wrap
from autograd_cy._C.tensor import Tensor

_thread = threading.local()


def flatten(x):
    """(leaves, rebuild): tuples, lists and dicts taken apart, and how to put them back."""
    if isinstance(x, (tuple, list)):
        parts = [flatten(y) for y in x]
        counts = [len(leaves) for leaves, _ in parts]

        def rebuild(leaves):
            rest = iter(leaves)
            items = [make([next(rest) for _ in range(n)]) for n, (_, make) in zip(counts, parts)]
            if hasattr(x, "_fields"):
                return type(x)(*items)
            return type(x)(items)

        return [leaf for leaves, _ in parts for leaf in leaves], rebuild
    if isinstance(x, dict):
        leaves, values = flatten(list(x.values()))
        keys = list(x)
        return leaves, lambda new: dict(zip(keys, values(new)))
    return [x], lambda new: new[0]


def spread(dims, x, what):
    """One dimension per leaf of `x`: `dims` is one for all, or has the structure of `x`."""
    if dims is None or isinstance(dims, int):
        return [dims] * len(flatten(x)[0])
    if isinstance(dims, (tuple, list)) and isinstance(x, (tuple, list)) and len(dims) == len(x):
        return [d for one, y in zip(dims, x) for d in spread(one, y, what)]
    if isinstance(dims, dict) and isinstance(x, dict) and list(dims) == list(x):
        return [d for key in x for d in spread(dims[key], x[key], what)]
    raise ValueError(f"vmap: {what} is not compatible with the structure it describes: {dims!r}")


def _checked_dim(dim, t, what):
    if isinstance(dim, bool) or not isinstance(dim, int):
        raise ValueError(f"vmap: {what} must contain ints or None, got {type(dim).__name__}")
    if not -t.ndim <= dim < t.ndim:
        raise ValueError(
            f"vmap: got {what} {dim} for some input, but that input is a Tensor of dimensionality "
            f"{t.ndim} so expected it to satisfy -{t.ndim} <= in_dim < {t.ndim}."
        )
    return dim % t.ndim


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """
    A function that applies `func` to every example of a batch at once.

    Parameters
    ----------
    func : callable
        Of tensors (and anything else); returns tensors in any nesting of tuples, lists and dicts.
    in_dims : int or structure of ints and None, default 0
        The dimension of each argument that counts examples; None for one that all share.
    out_dims : int or structure of ints, default 0
        Where that dimension goes in the results.
    randomness : {"error", "different", "same"}
        What random operations inside do; only "error" is supported.
    chunk_size : int, optional
        Examples done at a time; by default all.

    Returns
    -------
    callable

    Raises
    ------
    ValueError
        If no argument has a batch dimension, or their sizes differ.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy._vmap import vmap
    >>> vmap(ag.dot)(ag.ones(2, 3), ag.ones(2, 3))
    tensor([3., 3.])
    """
    return _vmap(func, in_dims, out_dims, randomness, chunk_size)


def vmap_passing_none(func, in_dims=0):
    """Like :func:`vmap`, but a result may be None (a gradient that doesn't exist)."""
    return _vmap(func, in_dims, 0, "error", None, none_passes=True)


def _vmap(func, in_dims, out_dims, randomness, chunk_size, none_passes=False):
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size <= 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        leaves, rebuild = flatten(list(args))
        dims = _input_dims(in_dims, args, leaves, func)
        extra, rebuild_extra = flatten(kwargs)
        leaves = leaves + extra
        dims = dims + [0 if isinstance(x, Tensor) else None for x in extra]
        count = len(leaves) - len(extra)

        def call(new):
            return func(*rebuild(new[:count]), **rebuild_extra(new[count:]))

        size = _batch_size(leaves, dims)
        if chunk_size is None or size <= chunk_size:
            return _at_one_level(call, leaves, dims, size, out_dims, none_passes)
        return _in_chunks(call, leaves, dims, size, out_dims, chunk_size)

    return wrapped


def _input_dims(in_dims, args, leaves, func):
    name = getattr(func, "__name__", repr(func))
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are "
            "trying to vmap over a function with no inputs. The latter is unsupported."
        )
    if not isinstance(in_dims, (int, tuple, list)) and in_dims is not None:
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a "
            "(potentially nested) tuple matching the structure of inputs, got: "
            f"{type(in_dims).__name__}."
        )
    if isinstance(in_dims, int):
        dims = [in_dims if isinstance(x, Tensor) else None for x in leaves]
    else:
        dims = spread(in_dims, list(args), "in_dims")
    for x, d in zip(leaves, dims):
        if d is not None and not isinstance(x, Tensor):
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={d} for an input but "
                f"the input is of type {type(x).__name__}. We cannot vmap over non-Tensor "
                "arguments, please use None as the respective in_dim"
            )
    return [None if d is None else _checked_dim(d, x, "in_dim") for x, d in zip(leaves, dims)]


def _batch_size(leaves, dims):
    sizes = [x.shape[d] for x, d in zip(leaves, dims) if d is not None]
    if not sizes:
        raise ValueError(
            "vmap: at least one input must have a batch dimension (all in_dims are None or there "
            "is no tensor)"
        )
    if any(s != sizes[0] for s in sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0]


def _at_one_level(call, leaves, dims, size, out_dims, none_passes=False):
    level = getattr(_thread, "level", 0) + 1
    _thread.level = level
    try:
        wrapped = [x if d is None else _wrap(x, d, level) for x, d in zip(leaves, dims)]
        results, rebuild = flatten(call(wrapped))
        places = spread(out_dims, rebuild(results), "out_dims")
        return rebuild(
            [
                None if x is None and none_passes else _taken_out(x, d, level, size)
                for x, d in zip(results, places)
            ]
        )
    finally:
        _thread.level = level - 1


def _taken_out(x, out_dim, level, size):
    """The physical tensor of a result with its batch dimension at `out_dim`."""
    if not isinstance(x, Tensor):
        raise ValueError(
            f"vmap: `func` must only return Tensors, got type {type(x).__name__}. Did you mean to "
            "set out_dims= to None for output?"
        )
    physical, place = _unwrap(x, level)
    if out_dim is None:
        if place is not None:
            raise ValueError(
                "vmap: output depends on the batch, so its out_dim can't be None; give the place "
                "of the batch dimension"
            )
        return x
    if place is None:
        physical, place = x.unsqueeze(0).expand((size, *x.shape)), 0
    return physical.movedim(place, out_dim) if physical.ndim > 1 else physical


def _in_chunks(call, leaves, dims, size, out_dims, chunk_size):
    from autograd_cy._C.ops_indexing import cat

    pieces, rebuild = [], None
    for start in range(0, size, chunk_size):
        length = min(chunk_size, size - start)
        part = [x if d is None else x.narrow(d, start, length) for x, d in zip(leaves, dims)]
        results, rebuild = flatten(_at_one_level(call, part, dims, length, out_dims))
        pieces.append(results)
    places = spread(out_dims, rebuild(pieces[0]), "out_dims")
    joined = [
        column[0] if d is None else cat(list(column), d) for column, d in zip(zip(*pieces), places)
    ]
    return rebuild(joined)
