"""Random operators under vmap: what ``randomness`` of :func:`autograd_cy.vmap` says.

Numbers are drawn one level further out, where this rule applies again if a vmap is running there.
"""

from __future__ import annotations

import math

from autograd_cy._C import batching as _batching
from autograd_cy._C.batching import _unwrap, _wrap
from autograd_cy._C.creation import empty
from autograd_cy._C.ops_joining import stack
from autograd_cy._C.tensor import ItemsContext, Tensor
from autograd_cy._vmap.mapping import changed_mode, frames

_ERROR = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
    "'different' randomness flags on vmap or perform the randomness operation out of vmap"
)


def _outside():
    """A context one level further out; it gives the level that was left, and its frame."""
    running = frames.list
    depth = len(running)
    return ItemsContext(
        [(running, slice(depth - 1, None), [])],
        *changed_mode(depth - 1),
        result=(depth, *running[depth - 1]),
    )


def _example(x, level, i):
    """Argument `x` of example `i`."""
    if not isinstance(x, Tensor):
        return x
    physical, place = _unwrap(x, level)
    return physical if place is None else physical.select(place, i)


def _aligned(x, level, nd):
    """All examples of `x`, in a first dimension before `nd` others."""
    if not _is_batched(x, level):
        return x
    physical, place = _unwrap(x, level)
    physical = physical.movedim(place, 0)
    size, *shape = physical.shape
    return physical.reshape(size, *[1] * (nd - len(shape)), *shape)


def _is_batched(x, level):
    return isinstance(x, Tensor) and _unwrap(x, level)[1] is not None


def draw(name, function, args, kwargs, draws="values"):
    """
    The rule: `function(*args, **kwargs)`, called under vmap.

    `draws` is what the numbers depend on: "sizes", those of the first argument, which has no
    examples; "elements", one number for each of the first argument; its "shape", but there are
    fewer; "chances", which its elements are; its "rows", one or several; those "around" which they
    are, or the "values" of any argument.
    """
    if kwargs.get("out") is not None:
        raise RuntimeError(f"vmap: {name} with out= is not possible under vmap; leave out= away")
    if name.endswith("_"):
        return _in_place(name, function, args, kwargs)
    with _outside() as (level, size, randomness):
        if randomness == "error":
            raise RuntimeError(f"{_ERROR} (the operation is {name})")
        values = [*args, *kwargs.values()]
        batched = any(_is_batched(x, level) for x in values)
        if randomness == "same":
            if batched and draws not in ("elements", "shape", "sizes"):
                raise RuntimeError(
                    "Vmap does not currently support same randomness with a batched tensor input: "
                    f"{name} draws by the values of each example. Draw with rand() and compare, or "
                    "use randomness='different'."
                )
            return function(
                *[_example(x, level, 0) for x in args],
                **{k: _example(x, level, 0) for k, x in kwargs.items()},
            )
        drawn = _draw_each(name, function, args, kwargs, level, size, draws)
    return _wrap(drawn, 0, level)


def _draw_each(name, function, args, kwargs, level, size, draws):
    """Numbers for each example, stacked."""
    if draws == "rows":
        return _each_row(name, function, args, kwargs, level, size)
    if draws == "sizes":
        return function(_empty(size, args[0]), *args[1:], **kwargs)
    if draws in ("elements", "chances") and _is_batched(args[0], level):
        others = [*args[1:], *kwargs.values()]
        if not any(_is_batched(x, level) for x in others):
            physical, place = _unwrap(args[0], level)
            return function(physical.movedim(place, 0), *args[1:], **kwargs)
    rows = [
        function(
            *[_example(x, level, i) for x in args],
            **{k: _example(x, level, i) for k, x in kwargs.items()},
        )
        for i in range(size)
    ]
    if not rows and draws == "around":
        others = [_aligned(x, level, args[0].ndim) for x in args[1:]]
        return function(_empty(0, args[0]), *others, **kwargs)
    if not rows:
        raise RuntimeError(f"vmap: {name} over a batch of no examples is not supported")
    return stack(rows, 0)


def _empty(size, example):
    """Memory for examples that are like one."""
    return empty((size, *example.shape), dtype=example.dtype, device=example.device)


def _each_row(name, function, args, kwargs, level, size):
    """Numbers for each row of each example, drawn as rows of one."""
    rows, *others = args
    if rows.ndim not in (1, 2):
        raise RuntimeError(f"{name}: prob_dist must be 1 or 2 dim; got {rows.ndim} under vmap")
    physical, place = _unwrap(rows, level)
    examples = (
        physical.expand(size, *physical.shape) if place is None else physical.movedim(place, 0)
    )
    *shape, count = examples.shape
    drawn = function(examples.reshape(math.prod(shape), count), *others, **kwargs)
    return drawn.reshape(*shape, drawn.shape[-1])


def _in_place(name, function, args, kwargs):
    target = args[0]
    with _outside() as (level, size, randomness):
        if randomness == "error":
            raise RuntimeError(f"{_ERROR} (the operation is {name})")
        others = [*args[1:], *kwargs.values()]
        batched = any(_is_batched(x, level) for x in others)
        if randomness == "different" and not _is_batched(target, level):
            raise RuntimeError(
                "vmap: Cannot ask for different inplace randomness on an unbatched tensor. "
                "This will appear like same randomness. Make the tensor with new_empty() or "
                "zeros_like() of a vmapped one."
            )
        if randomness == "same" and batched:
            raise RuntimeError(
                "Vmap does not currently support same randomness with a batched tensor input: "
                f"{name} draws by the values of each example."
            )
        shape, dtype = tuple(target.shape), target.dtype
        if randomness == "same":
            drawn = empty(shape, dtype=dtype, device=target.device)
            values = function(drawn, *args[1:], **kwargs)
        elif not batched:
            drawn = empty((size, *shape), dtype=dtype, device=target.device)
            values = function(drawn, *args[1:], **kwargs)
        else:
            rows = []
            for i in range(size):
                plain = [_example(x, level, i) for x in args[1:]]
                named = {k: _example(x, level, i) for k, x in kwargs.items()}
                rows.append(
                    function(empty(shape, dtype=dtype, device=target.device), *plain, **named)
                )
            values = stack(rows, 0)
    return target.copy_(values if randomness == "same" else _wrap(values, 0, level))


_batching._set_random_rule(draw)
