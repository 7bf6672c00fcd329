"""Hooks of modules in backward: full ones, and those of the old kind.

Full hooks see the module's inputs and outputs through identity Functions (`BackwardHookFunction`),
whose nodes carry them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from autograd_cy import Tensor, is_grad_enabled, zeros
from autograd_cy._C._warned import warn as _warn
from autograd_cy.autograd.function import Function


class BackwardHookFunction(Function):
    """Pass tensors through; its node is where hooks of backward see them."""

    generate_vmap_rule = True

    @staticmethod
    def forward(*tensors: Tensor) -> tuple[Tensor, ...]:
        return tensors

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.recorded = [t.requires_grad for t in inputs]
        ctx.mark_non_differentiable(*(t for t in inputs if not t.requires_grad))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, ...]:
        return grads

    @staticmethod
    def jvp(ctx: Any, *tangents: Tensor) -> tuple[Tensor | None, ...]:
        return tuple(t.view_as(t) if known else None for t, known in zip(tangents, ctx.recorded))


def _without_zeros(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    BackwardHookFunction.setup_context(ctx, inputs, output)
    ctx.set_materialize_grads(False)


# The same, with no zeros for gradients that a hook has taken away. Errors name the class, and say
# so that a hook is the cause.
_PassedOutputs: Any = type(
    BackwardHookFunction.__name__,
    (BackwardHookFunction,),
    {"setup_context": staticmethod(_without_zeros), "__module__": __name__},
)


def _passed(
    values: tuple[Any, ...], by: type[BackwardHookFunction]
) -> tuple[tuple[Any, ...], list[int] | None, Any]:
    """(values with tensors passed through, the places of tensors, the node); None without one."""
    places = [i for i, x in enumerate(values) if isinstance(x, Tensor)]
    if not (is_grad_enabled() and any(values[i].requires_grad for i in places)):
        return values, None, None
    passed = by.apply(*(values[i] for i in places))
    node = next(t.grad_fn for t in passed if t.grad_fn is not None)
    new = list(values)
    for i, t in zip(places, passed):
        if t.requires_grad:  # others have their tangents still
            new[i] = t
    if hasattr(values, "_fields"):
        return type(values)(*new), places, node
    return tuple(new), places, node


class BackwardHook:
    """The backward hooks of one call of a module, and the gradients between their parts.

    Parameters
    ----------
    module : Module
        What the hooks get first.
    user_hooks : sequence of callable
        They get the gradients of inputs and outputs.
    user_pre_hooks : sequence of callable
        They get the gradients of outputs, before the module's backward.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.utils.hooks import BackwardHook
    >>> hook = BackwardHook(None, [lambda module, inputs, outputs: (inputs[0] * 3,)], [])
    >>> x = torch.ones(1, requires_grad=True)
    >>> (y,) = hook.setup_input_hook((x,))
    >>> hook.setup_output_hook(y * 2).backward()
    >>> x.grad
    tensor([6.])
    """

    def __init__(
        self,
        module: Any,
        user_hooks: Sequence[Callable[..., Any]],
        user_pre_hooks: Sequence[Callable[..., Any]],
    ) -> None:
        self.module = module
        self.user_hooks = user_hooks
        self.user_pre_hooks = user_pre_hooks
        self.input_places: list[int] | None = None
        self.inputs = 0
        self.kinds: list[
            tuple[Any, Any, Any]
        ] = []  # shape, dtype and device of inputs that are tensors
        # Between the hook at the outputs and that at the inputs; None outside of a backward, and
        # when a double backward reaches the inputs by another way.
        self.grad_outputs: tuple[Any, ...] | None = None

    def setup_input_hook(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments of the call, through a node that has the hooks.

        Parameters
        ----------
        args : tuple
            The arguments.

        Returns
        -------
        tuple
        """
        args, self.input_places, node = _passed(args, BackwardHookFunction)
        self.inputs = len(args)
        self.kinds = [(t.shape, t.dtype, t.device) for t in args if isinstance(t, Tensor)]
        if node is not None:
            node.register_hook(self._at_inputs)
        return args

    def setup_output_hook(self, output: Any) -> Any:
        """Return the result of the call, through a node that tells its gradients.

        Parameters
        ----------
        output : Tensor or tuple
            The result; anything else comes back as it is.

        Returns
        -------
        Tensor or tuple
        """
        single = not isinstance(output, tuple)
        values, places, node = _passed((output,) if single else output, _PassedOutputs)
        if places is None:
            return output
        node.register_prehook(functools.partial(self._at_outputs, places, len(values)))
        return values[0] if single else values

    def _at_outputs(self, places: list[int], count: int, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        grad_outputs = _spread(places, grads, count)
        for hook in self.user_pre_hooks:
            replacement = hook(self.module, grad_outputs)
            if replacement is not None:
                grad_outputs = _checked(
                    replacement, hook, grad_outputs, "Backward pre hook", "grad_output"
                )
        if self.input_places is None:
            self._without_inputs(grad_outputs)
        else:
            self.grad_outputs = grad_outputs
        return tuple(grad_outputs[i] for i in places)

    def _without_inputs(self, grad_outputs: tuple[Any, ...]) -> None:
        if not self.user_hooks:
            return
        _warn(
            "Full backward hook is firing when gradients are computed with respect to module "
            "outputs since no inputs require gradients. See the documentation of "
            "register_full_backward_hook for more details.",
            UserWarning,
        )
        grad_inputs = (None,) * self.inputs
        for hook in self.user_hooks:
            replacement = hook(self.module, grad_inputs, grad_outputs)
            if replacement is not None and not (
                isinstance(replacement, (tuple, list)) and all(g is None for g in replacement)
            ):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    f"return None or None for all gradients. (hook '{_name(hook)}')"
                )

    def _at_inputs(self, grads: tuple[Any, ...], _: tuple[Any, ...]) -> tuple[Any, ...] | None:
        outputs, self.grad_outputs = self.grad_outputs, None
        if outputs is None or self.input_places is None:
            return None
        filled = tuple(
            zeros(shape, dtype=dtype, device=place) if g is None else g
            for g, (shape, dtype, place) in zip(grads, self.kinds)
        )
        grad_inputs = _spread(self.input_places, filled, self.inputs)
        for hook in self.user_hooks:
            replacement = hook(self.module, grad_inputs, outputs)
            if replacement is not None:
                grad_inputs = _checked(
                    replacement, hook, grad_inputs, "Backward hook", "grad_input"
                )
        return tuple(
            None if g is None else grad_inputs[i] for i, g in zip(self.input_places, grads)
        )


BackwardHook.__module__ = "autograd_cy.utils.hooks"


def _spread(places: list[int], values: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    """`values` at their places among `count`, None elsewhere."""
    spread: list[Any] = [None] * count
    for i, value in zip(places, values):
        spread[i] = value
    return tuple(spread)


def _checked(
    returned: Any, hook: Callable[..., Any], before: tuple[Any, ...], who: str, what: str
) -> tuple[Any, ...]:
    """The gradients that a hook returned in place of those `before`."""
    values = tuple(returned) if isinstance(returned, (tuple, list)) else (returned,)
    if len(values) != len(before):
        raise RuntimeError(
            f"{who} returned an invalid number of {what}, got {len(values)}, but expected "
            f"{len(before)} (hook '{_name(hook)}')"
        )
    for value, old in zip(values, before):
        if value is None:
            continue
        if not isinstance(value, Tensor):
            raise TypeError(
                f"expected Variable, but hook returned '{type(value).__name__}' (hook "
                f"'{_name(hook)}' must return None, or a tuple with a Tensor or None for each "
                f"{what})"
            )
        if old is None:
            continue
        if value.shape != old.shape:
            raise RuntimeError(
                f"hook '{_name(hook)}' has changed the size of value (from {list(old.shape)} to "
                f"{list(value.shape)})"
            )
        if value.dtype != old.dtype:
            raise RuntimeError(
                f"hook '{_name(hook)}' has changed the type of value (from {old.type()} to "
                f"{value.type()})"
            )
        if value.device != old.device:
            raise RuntimeError(
                f"hook '{_name(hook)}' has changed the type of value (from {old.type()} on "
                f"{old.device} to {value.type()} on {value.device})"
            )
    return values


def _name(hook: Callable[..., Any]) -> str:
    """Return what the user calls a hook."""
    while isinstance(hook, functools.partial):
        hook = hook.func
    return getattr(hook, "__name__", None) or type(hook).__name__


# --- backward hooks of the old kind -------------------------------------------------------------

_FULL = (
    "and will be removed in future versions. This hook will be missing some {}. Please use "
    "register_full_backward_hook to get the documented behavior."
)


def hook_last_node(module: Any, hooks: tuple[Any, ...], args: Any, output: Any) -> None:
    """Put the hooks on the node of the output, or of the first tensor in it."""
    first = output
    while not isinstance(first, Tensor):
        if isinstance(first, dict):
            first = next(x for x in first.values() if isinstance(x, Tensor))
        else:
            first = first[0]
    node = first.grad_fn
    if node is None:
        return
    for hook in hooks:
        bound = functools.partial(hook, module)
        bound.__name__ = _name(hook)  # type: ignore[attr-defined]
        node.register_hook(bound)
    text = _what_is_missed(args, output, node)
    if text is not None:
        _warn(text, FutureWarning)


def _what_is_missed(args: tuple[Any, ...], output: Any, node: Any) -> str | None:
    outputs = output if isinstance(output, tuple) else (output,)
    if not all(isinstance(x, Tensor) for x in outputs):
        return (
            "Using non-full backward hooks on a Module that does not return a single Tensor or a "
            "tuple of Tensors is deprecated " + _FULL.format("of the grad_output")
        )
    if not all(isinstance(x, Tensor) for x in args):
        return (
            "Using non-full backward hooks on a Module that does not take as input a single Tensor "
            "or a tuple of Tensors is deprecated " + _FULL.format("of the grad_input")
        )
    if len({x.grad_fn for x in outputs if x.grad_fn is not None}) > 1:
        return (
            "Using a non-full backward hook when outputs are generated by different autograd Nodes "
            "is deprecated " + _FULL.format("grad_output")
        )
    before = {x.grad_fn for x in args if x.grad_fn is not None}
    if before != {edge[0] for edge in node.next_functions}:
        return (
            "Using a non-full backward hook when the forward contains multiple autograd Nodes is "
            "deprecated " + _FULL.format("grad_input")
        )
    return None
