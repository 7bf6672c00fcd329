"""
Less memory for more time: intermediate tensors are computed again when backward needs them.

`checkpoint` runs a function and keeps its inputs only. There are two ways to do so. With
``use_reentrant=False`` the graph of the function is recorded, with a slot in place of each saved
tensor; the first slot that backward opens runs the function again, which fills them all. With
``use_reentrant=True`` nothing is recorded but one node, whose backward runs the function with
recording and then a backward of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from autograd_cy import (
    Tensor,
    enable_grad,
    is_grad_enabled,
    no_grad,
    random,
)
from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.levels import _batch_level
from autograd_cy._C.random import _default_of, _default_states, _put_back_defaults
from autograd_cy._environment.contexts import _Context
from autograd_cy.autograd import Variable, backward
from autograd_cy.autograd.function import Function
from autograd_cy.autograd.graph import saved_tensors_hooks
from autograd_cy.utils._checkpoint_regions import (
    CHECKS,
    CheckpointError,
    Precision,
    Region,
    Slot,
)
from autograd_cy.utils._selective_checkpoints import (
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]


# --- settings -----------------------------------------------------------------------------------

_early_stop = True
_debug: bool | None = None


def set_checkpoint_early_stop(enable: bool) -> _Context:
    """
    Say whether recomputation ends as soon as all that was saved is there again.

    It holds for checkpoints made inside the ``with`` block, without ``use_reentrant``.

    Parameters
    ----------
    enable : bool

    Returns
    -------
    context manager

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.utils.checkpoint import checkpoint, set_checkpoint_early_stop
    >>> x = torch.ones(1, requires_grad=True)
    >>> with set_checkpoint_early_stop(False):
    ...     y = checkpoint(torch.exp, x, use_reentrant=False)
    """
    return _Context([(globals(), "_early_stop", enable)])


def set_checkpoint_debug_enabled(enabled: bool | None) -> _Context:
    """
    Overrule the argument `debug` of the checkpoints inside the ``with`` block; None doesn't.

    Parameters
    ----------
    enabled : bool or None

    Returns
    -------
    context manager

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.utils.checkpoint import checkpoint, set_checkpoint_debug_enabled
    >>> x = torch.ones(1, requires_grad=True)
    >>> with set_checkpoint_debug_enabled(True):
    ...     y = checkpoint(torch.exp, x, use_reentrant=False)
    """
    return _Context([(globals(), "_debug", enabled)])


def noop_context_fn() -> tuple[AbstractContextManager, AbstractContextManager]:
    """
    Two contexts that do nothing, the default of ``context_fn``.

    Returns
    -------
    tuple of context managers
        For the first run and the recomputation.

    Examples
    --------
    >>> from autograd_cy.utils.checkpoint import noop_context_fn
    >>> len(noop_context_fn())
    2
    """
    return nullcontext(), nullcontext()


# --- with a node that runs the function ---------------------------------------------------------


def detach_variable(inputs: tuple) -> tuple:
    """
    Return arguments cut off from the graph; tensors require grad as before.

    Parameters
    ----------
    inputs : tuple
        Tensors and anything else.

    Returns
    -------
    tuple
        What isn't a tensor is as it was.

    Raises
    ------
    RuntimeError
        If `inputs` is no tuple.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.utils.checkpoint import detach_variable
    >>> detach_variable((torch.ones(1, requires_grad=True) * 2,))
    (tensor([2.], requires_grad=True),)
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs)}"
        )
    return tuple(
        x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs
    )


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """
    Warn if no argument requires grad.

    Parameters
    ----------
    inputs : iterable
        Tensors and anything else.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.utils.checkpoint import check_backward_validity
    >>> check_backward_validity([torch.ones(1, requires_grad=True)])
    """
    if not any(isinstance(x, Tensor) and x.requires_grad for x in inputs):
        _warn("None of the inputs have requires_grad=True. Gradients will be None")


class CheckpointFunction(Function):
    """
    The node of a checkpoint with ``use_reentrant=True``.

    ``apply(function, preserve_rng_state, *args)`` runs the function without recording; backward
    runs it again, with recording.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.utils.checkpoint import CheckpointFunction
    >>> x = torch.ones(2, requires_grad=True)
    >>> CheckpointFunction.apply(torch.exp, True, x).sum().backward()
    >>> x.grad
    tensor([2.7183, 2.7183])
    """

    @staticmethod
    def forward(ctx: Any, run_function: Callable, preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.rng_state = _default_states() if preserve_rng_state else None
        ctx.precision = Precision()
        ctx.places = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
        ctx.others = [None if isinstance(x, Tensor) else x for x in args]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if not Variable._execution_engine.is_checkpoint_valid():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument."
            )
        args = list(ctx.others)
        for i, x in zip(ctx.places, ctx.saved_tensors):
            args[i] = x
        inputs = detach_variable(tuple(args))
        with random.fork_rng() if ctx.rng_state is not None else nullcontext():
            if ctx.rng_state is not None:
                _put_back_defaults(ctx.rng_state)
            with enable_grad(), ctx.precision.context():
                outputs = ctx.run_function(*inputs)
        if not isinstance(outputs, (tuple, list)):
            outputs = (outputs,)
        roots = [
            (y, g) for y, g in zip(outputs, grads) if isinstance(y, Tensor) and y.requires_grad
        ]
        if not roots:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        backward([y for y, _ in roots], [g for _, g in roots])
        return None, None, *(x.grad if isinstance(x, Tensor) else None for x in inputs)


# --- random states of devices ---------------------------------------------------------------------


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """
    Return the devices other than the CPU on which arguments lie, and their random states.

    ``torch.get_rng_state`` has that of the CPU.

    Parameters
    ----------
    *args
        Tensors and anything else.

    Returns
    -------
    tuple of lists
        Numbers of devices, and a state for each, which is a copy on the device.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.utils.checkpoint import get_device_states
    >>> get_device_states(torch.ones(2))
    ([], [])
    """
    places = {x.device: x.get_device() for x in args if isinstance(x, Tensor)}
    devices = [(max(n, 0), d) for d, n in places.items() if d.type not in ("cpu", "meta")]
    return [n for n, _ in devices], [_default_of(d)._snapshot() for _, d in devices]


def set_device_states(
    devices: list[int], states: list[Any], *, device_type: str | None = None
) -> None:
    """
    Restore what `get_device_states` returned.

    Parameters
    ----------
    devices : list of int
        Numbers of devices other than the CPU.
    states : list
        A state for each.
    device_type : str, optional
        The kind of the devices; that of the states if left out.

    Raises
    ------
    RuntimeError
        If there is no such device.

    Examples
    --------
    >>> from autograd_cy.utils.checkpoint import get_device_states, set_device_states
    >>> set_device_states(*get_device_states())
    """
    for number, state in zip(devices, states):
        kind = device_type
        if isinstance(state, tuple):
            kind = kind or state[0].device.type
        if kind is None:
            raise RuntimeError(
                f"set_device_states: there are no devices {list(devices)}, only the CPU, whose "
                "random state torch.set_rng_state sets"
            )
        generator = _default_of(f"{kind}:{number}")
        if isinstance(state, tuple):
            generator._restore(state)
        else:
            generator.set_state(state)


# --- what users call ----------------------------------------------------------------------------


def checkpoint(
    function: Callable,
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[
        [], tuple[AbstractContextManager, AbstractContextManager]
    ] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """
    Call a function whose intermediate tensors aren't kept but computed again in backward.

    Parameters
    ----------
    function : callable
        It must do the same whenever it gets the same arguments.
    *args
        Its arguments.
    use_reentrant : bool
        False is the better choice: with True an argument must require grad, keywords aren't passed
        on, and ``autograd.grad`` and ``backward(inputs=...)`` can't be used. Without a choice it is
        True, with a warning.
    context_fn : callable, optional
        Returns two contexts, one for the first run and one for recomputation. Like all options
        below, only with ``use_reentrant=False``.
    determinism_check : {"default", "none"}
        Whether recomputed tensors must have the shape, dtype and device of those at first.
    debug : bool
        Whether errors show where tensors were saved.
    early_stop : bool
        Whether recomputation ends as soon as all that was saved is there again.
    **kwargs
        ``preserve_rng_state=True``, whether random numbers are the same again; others go to
        `function`.

    Returns
    -------
    object
        What `function` returns.

    Raises
    ------
    CheckpointError
        In backward, if the recomputation saves other tensors than the first run.
    ValueError
        If an option or keyword doesn't go with ``use_reentrant=True``.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.utils.checkpoint import checkpoint
    >>> x = torch.zeros(2, requires_grad=True)
    >>> checkpoint(lambda x: x.sin().exp(), x, use_reentrant=False).sum().backward()
    >>> x.grad
    tensor([1., 1.])
    """
    if use_reentrant is None:
        _warn_of_no_choice("checkpoint")
        use_reentrant = True
    preserve = bool(kwargs.pop("preserve_rng_state", True))
    if use_reentrant:
        if kwargs:
            raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
        if context_fn is not noop_context_fn or debug:
            raise ValueError(
                "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
            )
        if any(isinstance(x, Tensor) and _batch_level(x) >= 0 for x in args):
            raise RuntimeError(
                "torch.utils.checkpoint: a checkpoint with use_reentrant=True can't be called "
                "under vmap; use_reentrant=False can."
            )
        return CheckpointFunction.apply(function, preserve, *args)
    if determinism_check not in CHECKS:
        raise ValueError(
            f"determinism_check should be one of {list(CHECKS)}, but got {determinism_check}"
        )
    first, again = context_fn()
    if not is_grad_enabled():
        return function(*args, **kwargs)
    region = Region(
        function,
        args,
        kwargs,
        again,
        CHECKS[determinism_check],
        early_stop and _early_stop,
        _default_states() if preserve else None,
        debug if _debug is None else _debug,
    )
    with first, saved_tensors_hooks(region.pack, _unpack):
        result = function(*args, **kwargs)
    region.whole = True
    return result


def _unpack(slot: Slot) -> Tensor:
    return slot.region.unpack(slot)


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    **kwargs: Any,
) -> Any:
    """
    Call functions one after the other, in segments of which all but the last are checkpointed.

    Parameters
    ----------
    functions : Sequential or sequence of callable
        What to call, each with the result of the one before.
    segments : int
        The number of segments.
    input : Tensor
        What the first function gets.
    use_reentrant : bool
        See `checkpoint`.
    **kwargs
        ``preserve_rng_state=True``, see `checkpoint`.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.utils.checkpoint import checkpoint_sequential
    >>> x = torch.ones(1, requires_grad=True)
    >>> checkpoint_sequential([torch.neg, torch.abs], 2, x, use_reentrant=False).item()
    1.0
    """
    if use_reentrant is None:
        _warn_of_no_choice("checkpoint.checkpoint_sequential")
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
    chain = list(functions)
    if not 1 <= segments <= len(chain):
        raise ValueError(
            f"checkpoint_sequential: {len(chain)} functions make between 1 and {len(chain)} "
            f"segments, not {segments}"
        )
    size = len(chain) // segments
    last = size * (segments - 1)
    for start in range(0, last, size):
        input = checkpoint(
            _in_turn(chain[start : start + size]),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve,
        )
    return _in_turn(chain[last:])(input)


def _in_turn(functions: list[Callable]) -> Callable:
    def call(x: Any) -> Any:
        for function in functions:
            x = function(x)
        return x

    return call


def _warn_of_no_choice(name: str) -> None:
    _warn(
        f"torch.utils.{name}: the use_reentrant parameter should be passed explicitly. "
        "use_reentrant=False is recommended; without it, it is True.",
    )
