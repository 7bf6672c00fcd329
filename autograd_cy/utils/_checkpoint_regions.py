"""
A checkpointed call whose graph is recorded, with a slot in place of each saved tensor.

The first slot that a backward opens runs the function again, which fills them all.
"""

from __future__ import annotations

import traceback
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any

from autograd_cy import (
    Tensor,
    autocast,
    empty,
    enable_grad,
    is_autocast_cache_enabled,
    random,
)
from autograd_cy._C._names import _current_graph_task_id
from autograd_cy._C.batching import _unwrap, _wrap
from autograd_cy._C.engine import _is_running
from autograd_cy._C.forward import _begin_level, _levels_of, _make_dual, _take_dual
from autograd_cy._C.levels import _batch_level
from autograd_cy._C.random import _put_back_defaults
from autograd_cy._C.tensor import _G_FORWARD, _M_NO_FORWARD_AD, _get_global_modes, _get_modes
from autograd_cy._vmap.mapping import frames, these_vmaps
from autograd_cy.amp.autocast_mode import _regions
from autograd_cy.autograd import Variable
from autograd_cy.autograd.forward_ad import is_fwd_grad_enabled, set_fwd_grad_enabled
from autograd_cy.autograd.function import Function
from autograd_cy.autograd.graph import saved_tensors_hooks
from autograd_cy.utils._selective_checkpoints import Uncached

NOTHING = nullcontext()


class CheckpointError(RuntimeError):
    """
    The recomputation of a checkpoint was not what the first run had been.

    Examples
    --------
    >>> from autograd_cy.utils.checkpoint import CheckpointError
    >>> issubclass(CheckpointError, RuntimeError)
    True
    """


class Precision:
    """Make contexts in which a recomputation computes as here."""

    def __init__(self) -> None:
        self.regions = _regions()
        self.cache_enabled = is_autocast_cache_enabled()

    def context(self) -> AbstractContextManager[Any]:
        dtypes = {**_regions(), **self.regions}
        contexts = [
            autocast(kind, dtype, kind in self.regions, self.cache_enabled)
            for kind, dtype in dtypes.items()
        ]
        if len(contexts) < 2:
            return contexts[0] if contexts else NOTHING
        together = ExitStack()
        for one in contexts:
            together.enter_context(one)
        return together


class _Enough(Exception):
    """End a recomputation: every slot of `region` is filled."""

    def __init__(self, region: Region):
        super().__init__("a checkpoint has recomputed all that it needs; let this exception pass")
        self.region = region


CheckpointError.__module__ = "autograd_cy.utils.checkpoint"


class _Inputs(Function):
    """Keep tensors as a node does, so that hooks on saved tensors see them."""

    # Arguments of every kind are kept as they are, those of a vmap and with tangents, too.

    @staticmethod
    def forward(*tensors: Tensor) -> Tensor:
        return empty(0)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> None:
        ctx.save_for_backward(*inputs[1:])

    @staticmethod
    def vmap(info: Any, in_dims: tuple, *tensors: Tensor) -> tuple[Tensor, None]:
        return empty(0), None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> None:
        return None

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise AssertionError("backward came to the inputs of a checkpoint")


class Slot:
    """An object that the graph holds in place of a tensor of a region."""

    __slots__ = ("__weakref__", "number", "region")

    def __init__(self, region: Region, number: int):
        self.region = region
        self.number = number


_TAKEN = object()
_ABSENT = object()
CHECKS: dict[str, Callable[[Tensor], Any]] = {
    "default": lambda x: {"shape": x.shape, "dtype": x.dtype, "device": x.device},
    "none": lambda x: None,
}


class _Levels:
    """
    The levels of forward mode of a region while it runs again.

    Those that go on are the same; in place of one that has ended there is a new one, inside of as
    many vmaps, which ends with the run.
    """

    def __init__(self, vmaps: list[Any], forward_mode: bool):
        self.vmaps = vmaps
        self.now: dict[int, Any] = {}  # serial number of a level -> the one in its place
        self.begun: list[Any] = []
        self.was_enabled = is_fwd_grad_enabled()
        set_fwd_grad_enabled(forward_mode)

    def end(self) -> None:
        set_fwd_grad_enabled(self.was_enabled)
        for level in reversed(self.begun):
            level.end()

    def as_dual(self, x: Tensor, tangent: Tensor, level: Any) -> Tensor:
        """The tensor with a tangent at the level in the place of one that has ended."""
        with these_vmaps(self.vmaps):
            return _dual(x, tangent, self.instead_of(level))

    def instead_of(self, level: Any) -> Any:
        if level.serial not in self.now:
            with these_vmaps(self.vmaps[: level.batches]):
                self.now[level.serial] = _begin_level()
            self.begun.append(self.now[level.serial])
        return self.now[level.serial]


def _tangents_of(x: Tensor, tensors: list[Tensor]) -> list[Any]:
    """
    (level, place among the tensors that are kept, the same of the tangent itself) of each tangent.

    Tangents end with their level, but those of a checkpoint's arguments are needed for longer.
    """
    result = []
    for level in reversed(_levels_of(x)):
        tangent = _take_dual(x, level)[1]
        if tangent is not None:
            tensors.append(tangent)
            result.append((level, len(tensors) - 1, _tangents_of(tangent, tensors)))
    return result


def _as_dual(x: Tensor, tangents: list[Any], tensors: tuple, levels: _Levels) -> Tensor:
    """`x` with the tangents that it has no more, as their level has ended."""
    for level, place, further in tangents:
        if not level.alive:
            x = levels.as_dual(x, _as_dual(tensors[place], further, tensors, levels), level)
    return x


def _dual(x: Tensor, tangent: Tensor, level: Any) -> Tensor:
    """A dual with the batch dimension of `x`, if its level is outside of the vmap."""
    inner = _batch_level(x)
    if inner > level.batches and inner == _batch_level(tangent):
        (below, place), (tangent_below, other) = _unwrap(x, inner), _unwrap(tangent, inner)
        if place == other:
            return _wrap(_dual(below, tangent_below, level), place, inner)
    return _make_dual(x, tangent, level)


class Region:
    """One call of a checkpointed function, which can be made again."""

    def __init__(
        self,
        function: Callable,
        args: tuple,
        kwargs: dict[str, Any],
        context: AbstractContextManager,
        describe: Callable[[Tensor], Any],
        early_stop: bool,
        rng_state: tuple | None,  # of the default generators
        debug: bool,
    ):
        self.function = function
        self.context = context
        self.describe = describe
        self.early_stop = early_stop
        self.rng_state = rng_state
        self.precision = Precision()
        self.vmaps = list(frames.list)
        self.forward_ad = not _get_modes() & _M_NO_FORWARD_AD
        self.forward_mode = bool(_get_global_modes() & _G_FORWARD)
        self.whole = False  # whether the first run is over; it may compute gradients itself
        self.traces: list[str] | None = [] if debug else None
        self.slots: list[weakref.ref[Slot]] = []
        self.described: list[Any] = []
        self.by_task: dict[int, list[Any]] = {}  # number of a backward -> value by number of slot
        # Tensors among the arguments are saved by a node, so that a checkpoint around this one
        # can drop and recompute them like all others.
        values = [*args, *kwargs.values()]
        self.names = tuple(kwargs)
        self.others = [None if isinstance(x, Tensor) else x for x in values]
        self.places = [i for i, x in enumerate(values) if isinstance(x, Tensor)]
        tensors = [values[i] for i in self.places]
        self.tangents = [_tangents_of(x, tensors) for x in tensors[:]] if self.forward_mode else []
        self.inputs: Any = None
        if tensors:
            anchor = empty(0, requires_grad=True)
            self.inputs = _Inputs.apply(anchor, *tensors).grad_fn

    def arguments(self, levels: _Levels | None) -> tuple[list[Any], dict[str, Any]]:
        values = list(self.others)
        if self.inputs is not None:
            tensors = self.inputs.saved_tensors
            for i, x in zip(self.places, tensors):
                values[i] = x
            if levels is not None:
                for i, x, tangents in zip(self.places, tensors, self.tangents):
                    values[i] = _as_dual(x, tangents, tensors, levels)
        first = len(values) - len(self.names)
        return values[:first], dict(zip(self.names, values[first:]))

    # The first run.

    def pack(self, x: Tensor) -> Slot:
        slot = Slot(self, len(self.slots))
        self.slots.append(weakref.ref(slot))
        self.described.append(self.describe(x))
        if self.traces is not None:
            self.traces.append("".join(traceback.format_stack(limit=6)[:-1]))
        return slot

    # Backward.

    def unpack(self, slot: Slot) -> Tensor:
        task = _current_graph_task_id()
        if task < 0:
            value = self.recomputed()[slot.number]  # somebody looks; nothing is kept
        else:
            if task not in self.by_task:
                for other in list(self.by_task):
                    if not _is_running(other):  # it failed
                        self.by_task.pop(other, None)
                self.by_task[task] = self.recomputed()
                Variable._execution_engine.queue_callback(lambda: self.by_task.pop(task, None))
            values = self.by_task[task]
            value, values[slot.number] = values[slot.number], _TAKEN
        if value is _TAKEN:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already "
                "unpacked once. If you are calling ctx.saved_tensors in backward, make sure to do "
                "so only once."
            )
        return value

    def recomputed(self) -> list[Any]:
        """The tensors of the slots that are still there, by another run of the function."""
        try:
            return self.run_again()
        except Uncached:
            return self.run_again()

    def run_again(self) -> list[Any]:
        values: list[Any] = [_ABSENT] * len(self.slots)
        described: list[Any] = []
        traces: list[str] = []

        def pack(x: Tensor) -> Tensor:
            number = len(described)
            if number >= len(values):
                if self.early_stop:
                    raise _Enough(self)
                if not self.whole:
                    return x
                self.fail(
                    "trying to save more tensors during recomputation than during the original "
                    "forward pass.",
                    traces,
                )
            described.append(self.describe(x))
            if self.traces is not None:
                traces.append("".join(traceback.format_stack(limit=6)[:-1]))
            if x.grad_fn is not None and _batch_level(x) < 0:
                x = x.detach()  # the node knows the history of x, but not what lies below a vmap
            if self.slots[number]() is not None:
                values[number] = x
            if self.early_stop and len(described) == len(values):
                raise _Enough(self)
            return x

        rng = random.fork_rng() if self.rng_state is not None else NOTHING
        hooks = saved_tensors_hooks(pack, lambda x: x)
        levels = _Levels(self.vmaps, self.forward_ad) if self.tangents else None
        try:
            with enable_grad():  # else they come without their history
                args, kwargs = self.arguments(levels)
            vmaps = these_vmaps(self.vmaps)
            with rng, enable_grad(), vmaps, self.precision.context():
                if self.rng_state is not None:
                    _put_back_defaults(self.rng_state)
                with self.context, hooks:
                    try:
                        self.function(*args, **kwargs)
                    except _Enough as stop:
                        if stop.region is not self:
                            raise
        finally:
            if levels is not None:
                levels.end()
        self.check(described, traces)
        return values

    def check(self, described: list[Any], traces: list[str]) -> None:
        if len(described) != len(self.slots):
            self.fail(
                "A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.slots)}\n"
                f"Number of tensors saved during recomputation: {len(described)}.",
                traces,
            )
        different = [
            f"tensor at position {i}:\nsaved metadata: {first}\nrecomputed metadata: {second}"
            for i, (first, second) in enumerate(zip(self.described, described))
            if first != second and self.slots[i]() is not None
        ]
        if different:
            self.fail(
                "Recomputed values for the following tensors have different metadata than during "
                "the forward pass.\n" + "\n".join(different),
                traces,
            )

    def fail(self, text: str, traces: list[str]) -> None:
        if self.traces is None:
            text += (
                "\nThe function must save the same tensors whenever it runs with the same "
                "arguments. With debug=True this error shows where the tensors were saved."
            )
        else:
            for title, lines in (("original", self.traces), ("recomputation", traces)):
                text += f"\n\nWhere the {title} saved its tensors:\n"
                text += "\n".join(f"{i} of {len(lines)}:\n{x}" for i, x in enumerate(lines))
        if self.forward_mode:
            text += (
                "\nThe checkpoint was made inside of forward mode (jvp, jacfwd, hessian). Tangents "
                "end with it, and only those of the arguments are kept: if the function takes a "
                "tensor with a tangent from outside, pass it to checkpoint as an argument."
            )
        raise CheckpointError("torch.utils.checkpoint: " + text)
