"""vmap: a function of examples, applied to batches through the rules of the operators.

Arguments become wrappers that look like one example (ext/engine/levels.pyx); results are taken out
of them again. Levels count nested calls, so an inner vmap leaves the outer wrappers alone. The
level is in the thread's mode word; what else the running calls know is in `frames`.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from autograd_cy._C.batching import _unwrap, _wrap
from autograd_cy._C.inplace import _set_running_vmaps
from autograd_cy._C.tensor import (
    _M_VMAP_MASK,
    _M_VMAP_SHIFT,
    ItemsContext,
    Tensor,
    _call_with_frames,
)
from autograd_cy._vmap.pytree import flatten, spread

_MAX_LEVEL = _M_VMAP_MASK >> _M_VMAP_SHIFT
_RANDOMNESS = frozenset(("error", "different", "same"))


class _Frames(threading.local):
    """The vmaps that run in this thread, outermost first: (number of examples, randomness)."""

    def __init__(self):
        self.list = []


frames = _Frames()
_set_running_vmaps(lambda: frames.list)


def changed_mode(depth: int) -> tuple[int, int]:
    """(mask, bits) of this thread's mode word when only the outer `depth` vmaps run."""
    return _M_VMAP_MASK, depth << _M_VMAP_SHIFT


def these_vmaps(running: list) -> ItemsContext:
    """Return a context in which the vmaps of an earlier list of frames run, and no others."""
    word = len(running) << _M_VMAP_SHIFT
    return ItemsContext([(frames.list, slice(None), running)], _M_VMAP_MASK, word)


def vmap(
    func: Callable,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable:
    """
    Return a function that applies `func` to every example of a batch at once.

    Parameters
    ----------
    func : callable
        Of tensors, in any nesting of tuples, lists and dicts; returns tensors nested in the same
        way. It sees one example: a tensor without the batch dimension.
    in_dims : int or structure of ints and None, default 0
        The dimension of each positional argument that counts examples; None for one that all
        share, which may be anything. Keyword arguments are always shared.
    out_dims : int or structure of ints and None, default 0
        Where that dimension goes in the results; None for a result that doesn't depend on the
        example.
    randomness : {"error", "different", "same"}
        What random operators do: refuse, draw for each example, or draw once for all.
    chunk_size : int, optional
        Examples done at a time, to save memory; by default all.

    Returns
    -------
    callable

    Raises
    ------
    ValueError
        If no argument has a batch dimension, their sizes differ, or `in_dims` and `out_dims` don't
        fit the arguments and results.
    RuntimeError
        If `func` asks for the value of a tensor, as ``.item()`` and ``if tensor:`` do, writes
        examples into a tensor that all of them share, or draws random numbers with
        ``randomness="error"``.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.vmap(ag.dot)(ag.ones(2, 3), ag.ones(2, 3))
    tensor([3., 3.])
    >>> ag.vmap(lambda x, scale: x * scale, in_dims=(1, None))(ag.ones(3, 2), 2.0).shape
    autograd_cy.Size([2, 3])
    """
    return functools.wraps(func)(_vmap(func, in_dims, out_dims, randomness, chunk_size))


def vmap_passing_none(func, in_dims=0, chunk_size=None, randomness="error"):
    """Like :func:`vmap`, but a result may be None (a gradient that doesn't exist)."""
    return _vmap(func, in_dims, 0, randomness, chunk_size, none_passes=True)


def _vmap(func, in_dims, out_dims, randomness, chunk_size, none_passes=False):
    if randomness not in _RANDOMNESS:
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size <= 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    name = getattr(func, "__name__", None) or repr(func)

    def wrapped(*args, **kwargs):
        leaves, structure = flatten(args)
        dims = _input_dims(in_dims, leaves, structure, name)
        size = _batch_size(leaves, dims)

        def call(new):
            return func(*structure.build(new), **kwargs)

        if chunk_size is None or size <= chunk_size:
            return _whole(call, leaves, dims, size, out_dims, randomness, none_passes, name)
        return _in_chunks(
            call, leaves, dims, size, out_dims, randomness, none_passes, name, chunk_size
        )

    return wrapped


def map_once(func, args, **options):
    """``vmap(func, **options)(*args)`` of a function that nobody else sees."""
    return _vmap(
        func, **{"in_dims": 0, "out_dims": 0, "randomness": "error", "chunk_size": None, **options}
    )(*args)


def _input_dims(in_dims, leaves, structure, name):
    if not structure.children:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are "
            "trying to vmap over a function with no inputs. The latter is unsupported."
        )
    if in_dims is not None and not isinstance(in_dims, (int, tuple, list)):
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a "
            "(potentially nested) tuple matching the structure of inputs, got: "
            f"{type(in_dims)}."
        )
    if isinstance(in_dims, list):
        in_dims = tuple(in_dims)
    dims = spread(in_dims, structure)
    if dims is None:
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the "
            f"structure of `inputs`. in_dims has structure {flatten(in_dims)[1]} but inputs has "
            f"structure {structure}."
        )
    return [_checked_dim(d, x, in_dims, name) for x, d in zip(leaves, dims)]


def _checked_dim(dim, x, in_dims, name):
    if dim is None:
        return None
    if isinstance(dim, bool) or not isinstance(dim, int):
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for an input but "
            "in_dim must be either an integer dimension or None."
        )
    if not isinstance(x, Tensor):
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for an input but "
            f"the input is of type {type(x)}. We cannot vmap over non-Tensor arguments, please use "
            "None as the respective in_dim"
        )
    ndim = x.ndim
    if not -ndim <= dim < ndim:
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for some input, but "
            f"that input is a Tensor of dimensionality {ndim} so expected in_dim to satisfy "
            f"-{ndim} <= in_dim < {ndim}."
        )
    return dim + ndim if dim < 0 else dim


def _batch_size(leaves, dims):
    sizes = [x.size(d) for x, d in zip(leaves, dims) if d is not None]
    if not sizes:
        raise ValueError(
            "vmap: Expected at least one Tensor to vmap over (all in_dims are None or there is no "
            "tensor)"
        )
    if any(s != sizes[0] for s in sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0]


def run_at_new_level(call, leaves, dims, size, randomness):
    """(level, call of the wrapped leaves); their level has ended when it returns."""
    running = frames.list
    level = len(running) + 1
    if level > _MAX_LEVEL:
        raise RuntimeError(f"vmap: more than {_MAX_LEVEL} nested calls")
    return level, _call_with_frames(
        running,
        [*running, (size, randomness)],
        _M_VMAP_MASK,
        level << _M_VMAP_SHIFT,
        lambda: call([x if d is None else _wrap(x, d, level) for x, d in zip(leaves, dims)]),
    )


def _whole(call, leaves, dims, size, out_dims, randomness, none_passes, name):
    level, returned = run_at_new_level(call, leaves, dims, size, randomness)
    results, structure = flatten(returned)
    places = _output_dims(out_dims, structure, name)
    return structure.build(
        [
            None if x is None and none_passes else _taken_out(x, d, level, size, name)
            for x, d in zip(results, places)
        ]
    )


def _output_dims(out_dims, structure, name):
    if out_dims is not None and not (
        isinstance(out_dims, (int, tuple, list, dict))
        and all(d is None or isinstance(d, int) for d in flatten(out_dims)[0])
    ):
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python "
            "collection of ints representing where in the outputs the vmapped dimension should "
            "appear."
        )
    places = spread(out_dims, structure)
    if places is None and isinstance(out_dims, (tuple, list)) and structure.kind is None:
        # One result, its place in a tuple of its own.
        places = list(out_dims) if len(out_dims) == 1 else None
    if places is None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with "
            f"the structure of `outputs`. out_dims has structure {flatten(out_dims)[1]} but "
            f"outputs has structure {structure}."
        )
    return places


def _taken_out(x, out_dim, level, size, name):
    """Return a result with its batch dimension at `out_dim`."""
    if not isinstance(x, Tensor):
        if out_dim is None:
            return x
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(x)}. Did you "
            "mean to set out_dims= to None for output?"
        )
    physical, place = _unwrap(x, level)
    if out_dim is None:
        if place is not None:
            raise ValueError(
                f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
            )
        return physical
    if place is None:
        physical, place = physical.unsqueeze(0).expand((size, *physical.shape)), 0
    return physical if place == out_dim else physical.movedim(place, out_dim)


def _in_chunks(call, leaves, dims, size, out_dims, randomness, none_passes, name, chunk_size):
    from autograd_cy._C.ops_joining import cat
    from autograd_cy._C.random import _default_states, _put_back_defaults

    pieces, structure = [], None
    drawn_from = _default_states() if randomness == "same" else None
    for start in range(0, size, chunk_size):
        if start and drawn_from is not None:
            _put_back_defaults(drawn_from)
        length = min(chunk_size, size - start)
        part = [x if d is None else x.narrow(d, start, length) for x, d in zip(leaves, dims)]
        results, structure = flatten(
            _whole(call, part, dims, length, out_dims, randomness, none_passes, name)
        )
        pieces.append(results)
    places = _output_dims(out_dims, structure, name)
    return structure.build(
        [
            column[0] if d is None or column[0] is None else cat(list(column), d)
            for column, d in zip(zip(*pieces), places)
        ]
    )
