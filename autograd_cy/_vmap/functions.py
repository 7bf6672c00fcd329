"""Custom Functions under vmap: their ``vmap`` method, or a rule generated from the other methods.

As for every operator, a batched call does two things: what is below the vmap is computed (and, if
something outside differentiates, recorded) by the rule here, and the wrappers of the results get
their history from the usual steps of ``apply``.
"""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

from autograd_cy._C.batching import _unwrap, _wrap
from autograd_cy._C.function import _missing_jvp, _set_batched_apply
from autograd_cy._C.levels import _batch_level
from autograd_cy._C.tensor import ItemsContext, Tensor
from autograd_cy._vmap.mapping import changed_mode, frames, run_at_new_level
from autograd_cy._vmap.pytree import flatten, spread
from autograd_cy.autograd.function import Function


class VmapInfo(NamedTuple):
    """
    The object that the ``vmap`` method of a Function gets as `info`.

    Attributes
    ----------
    batch_size : int
    randomness : str
        "error", "different" or "same", see :func:`autograd_cy.vmap`.
    """

    batch_size: int
    randomness: str


def _below(level):
    """A context below the vmap of `level`; it gives that vmap's frame."""
    running = frames.list
    return ItemsContext(
        [(running, slice(level - 1, None), [])], *changed_mode(level - 1), result=running[level - 1]
    )


def _apply(cls, args, split):
    """The wrapped results of `cls` on arguments of which some are batched."""
    if not split:
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, "
            f"jacrev, ...), it must override the setup_context staticmethod ({cls.__name__} has a "
            "forward that takes ctx; split it into forward and setup_context)."
        )
    level = max(_batch_level(x) for x in args if isinstance(x, Tensor))
    with _below(level) as (size, randomness):
        values, dims = [], []
        for x in args:
            value, dim = _unwrapped(x, level)
            values.append(value)
            dims.append(dim)
        if all(d is None for d in flatten(dims)[0]):
            results = cls.apply(*values)
            out_dims = None
        else:
            results, out_dims = _batched(cls, VmapInfo(size, randomness), tuple(dims), values, args)
    leaves, structure = flatten(results)
    places = spread(out_dims, structure)
    if places is None:
        raise RuntimeError(
            f"{cls.__name__}.vmap: out_dims {out_dims} is not compatible with the structure of the "
            f"output, {structure}"
        )
    # An argument that comes back, as one that was changed in place does, is the same tensor.
    inputs = [(x, d, a) for x, d, a in zip(values, dims, args) if isinstance(x, Tensor)]
    return structure.build(
        [
            _again(inputs, x, d, level) if isinstance(x, Tensor) else x
            for x, d in zip(leaves, places)
        ]
    )


def _unwrapped(x, level):
    """The value of an argument below a vmap, and where its examples are; of each leaf of a
    container."""
    if isinstance(x, Tensor):
        return _unwrap(x, level)
    if not isinstance(x, (list, tuple, dict)):
        return x, None
    leaves, structure = flatten(x)
    pairs = [_unwrap(y, level) if isinstance(y, Tensor) else (y, None) for y in leaves]
    return structure.build([y for y, _ in pairs]), structure.build([d for _, d in pairs])


def _again(inputs, result, dim, level):
    for value, place, argument in inputs:
        if (result is value and dim == place) or _same_place(result, dim, value, place):
            return argument
    return _wrap(result, dim, level)


def _same_place(result, dim, value, place):
    """Tell whether a result is an argument whose examples lie along another dimension."""
    if dim is None or place is None or not result._is_view() or _batch_level(result) > 0:
        return False
    base = value._base if value._is_view() else value
    if result._base is not base:
        return False
    a, b = result.movedim(dim, 0), value.movedim(place, 0)
    return (a.shape, a.stride(), a.storage_offset()) == (b.shape, b.stride(), b.storage_offset())


def _batched(cls, info, dims, values, args):
    has_rule = cls.vmap is not Function.vmap
    if cls.generate_vmap_rule:
        if has_rule:
            raise RuntimeError(
                f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True "
                "and an overriden vmap staticmethod. Please set generate_vmap_rule=False or delete "
                "the overriden vmap staticmethod to avoid ambiguity."
            )
        # Containers stay as they are: the rule wraps only arguments.
        flat = tuple(d if isinstance(x, Tensor) else None for x, d in zip(args, dims))
        inputs = [x if isinstance(x, Tensor) else y for x, y in zip(values, args)]
        return _generated(cls, info, flat, inputs)
    if not has_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please "
            "override and implement the vmap staticmethod or set generate_vmap_rule=True."
        )
    results = cls.vmap(info, dims, *values)
    if not isinstance(results, tuple) or len(results) != 2:
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with "
            "structure compatible with the output. "
            f"Got {type(results).__name__} from {cls.__name__}."
        )
    return results


# --- generated rules --------------------------------------------------------------------------


class _Context:
    """The `ctx` of a Function's methods inside a generated rule."""

    to_save: tuple = ()
    saved_for_forward: tuple = ()
    saved_tensors: tuple = ()
    non_differentiable: tuple = ()
    materialize_grads = True
    needs_input_grad: tuple = ()

    def save_for_backward(self, *tensors):
        self.to_save = tensors

    def save_for_forward(self, *tensors):
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors):
        raise RuntimeError(
            "generate_vmap_rule=True doesn't support mark_dirty; write the vmap staticmethod"
        )

    def mark_non_differentiable(self, *tensors):
        self.non_differentiable = tensors

    def set_materialize_grads(self, value):
        self.materialize_grads = value


class _Record:
    """The record of one generated call: the places of examples, and the attributes of ctx."""

    def __init__(self, cls, info, dims):
        self.cls, self.info, self.dims = cls, info, dims
        self.context_class = _vmapped(cls)[1]

    def inside(self, call, tensors, dims):
        """`call` of `tensors` in a vmap; each result as (tensor, place of its examples or None)."""
        level, results = run_at_new_level(
            call, tensors, dims, self.info.batch_size, self.info.randomness
        )
        results = results if isinstance(results, tuple) else (results,)
        return [_unwrap(x, level) if isinstance(x, Tensor) else (x, None) for x in results]

    def context(self):
        """A ctx with what ``setup_context`` put on it."""
        ctx = self.context_class()
        ctx.__dict__.update(self.attributes)
        return ctx


def _where(x, args, outs):
    """Return the reference for a saved tensor: ("input", i), ("output", i), or ("other", the
    tensor)."""
    for name, tensors in (("input", args), ("output", outs)):
        for i, t in enumerate(tensors):
            if t is x:
                return name, i
    return "other", x


def _generated(cls, info, dims, values):
    record = _Record(cls, info, dims)
    results = _vmapped(cls)[0].apply(record, *values)
    return (results[0] if record.single else results), tuple(
        record.out_dims
    ) if not record.single else (record.out_dims[0])


class _Vmapped(Function):
    """A Function whose arguments have batches: its methods are those of the original, vmapped."""

    generate_vmap_rule = True

    @staticmethod
    def forward(record, *values):
        inner = record.context_class()
        inner.needs_input_grad = tuple(isinstance(x, Tensor) and x.requires_grad for x in values)
        saved = []

        def run(args):
            out = record.cls.forward(*args)
            record.single = not isinstance(out, tuple)
            outs = (out,) if record.single else tuple(out)
            record.cls.setup_context(inner, tuple(args), out)
            record.marked = [any(t is m for m in inner.non_differentiable) for t in outs]
            for tensors in (inner.to_save, inner.saved_for_forward):
                saved.append([_where(x, args, outs) for x in tensors])
            others = [x for entries in saved for name, x in entries if name == "other"]
            return (*outs, *others)

        results = record.inside(run, list(values), record.dims)
        others = iter(results[len(record.marked) :])
        results = results[: len(record.marked)]
        record.out_dims = [d for _, d in results]
        # Each saved tensor: its name, its index or itself, the place of its examples.
        dims = {"input": record.dims, "output": record.out_dims}
        record.back, record.ahead = (
            [
                (name, *next(others)) if name == "other" else (name, x, dims[name][x])
                for name, x in entries
            ]
            for entries in saved
        )
        skipped = ("to_save", "saved_for_forward", "non_differentiable", "needs_input_grad")
        record.attributes = {k: v for k, v in vars(inner).items() if k not in skipped}
        return tuple(x for x, _ in results)

    @staticmethod
    def setup_context(ctx, inputs, output):
        record, *values = inputs
        sources = {"input": values, "output": output}

        def tensors(entries):
            return [x if name == "other" else sources[name][x] for name, x, _ in entries]

        ctx.save_for_backward(*tensors(record.back))
        ctx.save_for_forward(*tensors(record.ahead))
        ctx.set_materialize_grads(record.attributes.get("materialize_grads", True))
        ctx.mark_non_differentiable(*(x for x, m in zip(output, record.marked) if m))
        ctx.record = record
        ctx.back_dims = [d for *_, d in record.back]
        ctx.ahead_dims = [d for *_, d in record.ahead]

    @staticmethod
    def backward(ctx, *grads):
        record = ctx.record
        inner = record.context()
        inner.needs_input_grad = ctx.needs_input_grad[1:]
        saved = ctx.saved_tensors
        n = len(saved)

        def run(tensors):
            inner.saved_tensors = tuple(tensors[:n])
            cls = record.cls
            backward = cls.vjp if cls.backward is Function.backward else cls.backward
            grads = tensors[n:]
            return backward(inner, list(grads)) if cls.boxed_grads_call else backward(inner, *grads)

        places = [None if g is None else d for g, d in zip(grads, record.out_dims)]
        results = record.inside(run, [*saved, *grads], [*ctx.back_dims, *places])
        result: list[Any] = [None]
        if len(results) < len(record.dims):
            raise RuntimeError(
                f"function {record.cls.__name__}Backward returned an incorrect number of gradients "
                f"(expected {len(record.dims)}, got {len(results)})"
            )
        for i, ((g, place), dim) in enumerate(zip(results, record.dims)):
            if g is not None and not isinstance(g, Tensor):
                raise RuntimeError(
                    f"function {record.cls.__name__}Backward: expected Variable or None (got "
                    f"{type(g).__name__}) as gradient of input {i}"
                )
            result.append(None if g is None else _placed(g, place, dim, record.info.batch_size))
        return tuple(result)

    @staticmethod
    def jvp(ctx, _, *tangents):
        record = ctx.record
        if record.cls.jvp is Function.jvp:
            raise _missing_jvp(record.cls)
        inner = record.context()
        saved = ctx.saved_tensors
        n = len(saved)

        def run(tensors):
            inner.saved_tensors = tuple(tensors[:n])
            return record.cls.jvp(inner, *tensors[n:])

        places = [None if t is None else d for t, d in zip(tangents, record.dims)]
        results = record.inside(run, [*saved, *tangents], [*ctx.ahead_dims, *places])
        for i, (t, _) in enumerate(results):
            if t is not None and not isinstance(t, Tensor):
                raise RuntimeError(
                    f"expected Variable or None (got {type(t).__name__}) for grad output {i}. "
                    f"({record.cls.__name__}.jvp returns tangents)"
                )
        return tuple(
            None if t is None else _aligned(t, place, dim, record.info.batch_size)
            for (t, place), dim in zip(results, record.out_dims)
        )


_classes: weakref.WeakKeyDictionary[type, tuple[type, type]] = weakref.WeakKeyDictionary()


def _vmapped(cls):
    """The Function of a generated rule and the class of its ctx, named after `cls`."""
    classes = _classes.get(cls)
    if classes is None:
        name = f"Vmapped{cls.__name__}"
        classes = _classes[cls] = (
            type(name, (_Vmapped,), {"__module__": cls.__module__}),
            type(f"{name}Backward", (_Context,), {}),
        )
    return classes


def _aligned(t, place, dim, size):
    """`t` with its examples along `dim`, where its primal has them."""
    if dim is None:
        return t if place is None else t.select(place, 0)
    if place is None:
        t, place = t.unsqueeze(0).expand((size, *t.shape)), 0
    return t if place == dim else t.movedim(place, dim)


def _placed(g, place, dim, size):
    """A gradient for an argument whose examples are along `dim`, or which all examples share."""
    if dim is not None:
        return _aligned(g, place, dim, size)
    return g * size if place is None else g.sum(place)


_set_batched_apply(_apply)
