"""Hooks of modules: functions that run around ``forward``, in backward, and at saving and loading.

A module without hooks doesn't come here: `Module.__call__` asks one attribute. Hooks of backward
see the module's inputs and outputs through identity Functions (`_Passed`), whose nodes carry them.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from autograd_cy import Tensor, is_grad_enabled, zeros
from autograd_cy._C import recorder as _recorder
from autograd_cy._C._warned import warn as _warn
from autograd_cy._tensors.hooks import RemovableHandle, add_hook
from autograd_cy.autograd.function import Function

from . import global_hooks as _all
from .registration import Owner

_NONE: Mapping[int, Callable[..., Any]] = MappingProxyType({})


class Hooked(Owner):
    """What registers hooks; the part of `Module` that does so.

    The hooks are in ordered dictionaries, which are made with the first hook.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.ReLU()
    >>> len(layer._forward_hooks)
    0
    """

    # Whether any hook runs around `forward`; the only thing that a plain call looks at.
    _hooked = False

    _forward_pre_hooks = _NONE
    _forward_hooks = _NONE
    _backward_pre_hooks = _NONE
    _backward_hooks = _NONE
    _state_dict_pre_hooks = _NONE
    _state_dict_hooks = _NONE
    _load_state_dict_pre_hooks = _NONE
    _load_state_dict_post_hooks = _NONE
    # Ids of the hooks that were registered with an option.
    _forward_pre_hooks_with_kwargs: frozenset[int] = frozenset()
    _forward_hooks_with_kwargs: frozenset[int] = frozenset()
    _forward_hooks_always_called: frozenset[int] = frozenset()
    # None until the first backward hook: full hooks and the old kind don't mix.
    _is_full_backward_hook: bool | None = None

    def _add_hook(
        self, kind: str, hook: Callable[..., Any], prepend: bool = False, **options: bool
    ) -> RemovableHandle:
        state = self.__dict__
        hooks = state.get(kind, OrderedDict())
        handle = add_hook(hooks, hook, prepend)
        state[kind] = hooks
        for option, wanted in options.items():
            if wanted:
                state[f"{kind}_{option}"] = getattr(self, f"{kind}_{option}") | {handle.id}
        if "state_dict" not in kind:
            state["_hooked"] = True
        return handle

    # --- around forward ---------------------------------------------------------------------

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before ``forward``.

        Parameters
        ----------
        hook : callable
            Returns None, or what replaces the arguments: a tuple, or one argument. With
            `with_kwargs` it is ``hook(module, args, kwargs)`` and returns None or both.
        prepend : bool, default False
            Run it before those that are registered already.
        with_kwargs : bool, default False
            Whether it gets the keyword arguments.

        Returns
        -------
        RemovableHandle
            With a method ``remove()``.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> layer = torch.nn.ReLU()
        >>> handle = layer.register_forward_pre_hook(lambda module, args: -args[0])
        >>> layer(torch.tensor([1.0, -2.0]))
        tensor([0., 2.])
        """
        return self._add_hook("_forward_pre_hooks", hook, prepend, with_kwargs=with_kwargs)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after ``forward``.

        Parameters
        ----------
        hook : callable
            Returns None, or what replaces the output. With `with_kwargs` it is
            ``hook(module, args, kwargs, output)``.
        prepend : bool, default False
            Run it before those that are registered already.
        with_kwargs : bool, default False
            Whether it gets the keyword arguments.
        always_call : bool, default False
            Run it, with output None, even if ``forward`` fails; an error of the hook itself is then
            only a warning.

        Returns
        -------
        RemovableHandle

        Examples
        --------
        >>> import autograd_cy as torch
        >>> layer = torch.nn.ReLU()
        >>> handle = layer.register_forward_hook(lambda module, args, output: output + 1)
        >>> layer(torch.tensor([1.0, -2.0]))
        tensor([2., 1.])
        >>> handle.remove()
        """
        return self._add_hook(
            "_forward_hooks", hook, prepend, with_kwargs=with_kwargs, always_called=always_call
        )

    # --- in backward ------------------------------------------------------------------------

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` when the gradients of the outputs are known.

        Parameters
        ----------
        hook : callable
            Gets a tuple, None for outputs without a gradient; returns None, or what replaces it.
        prepend : bool, default False
            Run it before those that are registered already.

        Returns
        -------
        RemovableHandle

        Examples
        --------
        >>> import autograd_cy as torch
        >>> layer = torch.nn.ReLU()
        >>> handle = layer.register_full_backward_pre_hook(lambda module, grads: (grads[0] * 10,))
        >>> x = torch.ones(1, requires_grad=True)
        >>> layer(x).backward()
        >>> x.grad
        tensor([10.])
        """
        return self._add_hook("_backward_pre_hooks", hook, prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` when the gradients of inputs are known.

        Inputs and outputs of the module may then not be changed in place: they are views.

        Parameters
        ----------
        hook : callable
            Gets tuples. In `grad_input`, None stands for arguments that aren't tensors, and zeros
            for tensors without a gradient. Returns None, or what replaces `grad_input`.
        prepend : bool, default False
            Run it before those that are registered already.

        Returns
        -------
        RemovableHandle

        Raises
        ------
        RuntimeError
            If the module has a hook of `register_backward_hook`.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> layer = torch.nn.ReLU()
        >>> handle = layer.register_full_backward_hook(lambda module, given, made: print(given))
        >>> layer(torch.ones(1, requires_grad=True)).backward()
        (tensor([1.]),)
        """
        self._choose_kind(full=True)
        return self._add_hook("_backward_hooks", hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` at the last operation of the module.

        Kept for old programs: `grad_input` belongs to that operation, not to the module. Use
        `register_full_backward_hook`.

        Parameters
        ----------
        hook : callable

        Returns
        -------
        RemovableHandle

        Raises
        ------
        RuntimeError
            If the module has a hook of `register_full_backward_hook`.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> layer = torch.nn.ReLU()
        >>> handle = layer.register_backward_hook(lambda module, given, made: print(made))
        >>> x = torch.ones(1, requires_grad=True) * 2
        >>> layer(x).backward()
        (tensor([1.]),)
        """
        self._choose_kind(full=False)
        return self._add_hook("_backward_hooks", hook)

    def _choose_kind(self, full: bool) -> None:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single "
                "Module. Please use only one of them."
            )
        self.__dict__["_is_full_backward_hook"] = full

    # --- at saving and loading --------------------------------------------------------------

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before ``state_dict`` collects the module.

        Parameters
        ----------
        hook : callable

        Returns
        -------
        RemovableHandle

        Examples
        --------
        >>> import autograd_cy as torch
        >>> layer = torch.nn.ReLU()
        >>> handle = layer.register_state_dict_pre_hook(lambda module, prefix, keep: print(keep))
        >>> state = layer.state_dict()
        False
        """
        return self._add_hook("_state_dict_pre_hooks", hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after ``state_dict``.

        Parameters
        ----------
        hook : callable
            Changes the dictionary in place, and returns None.

        Returns
        -------
        RemovableHandle

        Examples
        --------
        >>> import autograd_cy as torch
        >>> layer = torch.nn.Linear(1, 1)
        >>> handle = layer.register_state_dict_post_hook(
        ...     lambda module, state, prefix, metadata: state.pop("bias") and None
        ... )
        >>> list(layer.state_dict())
        ['weight']
        """

        def checked(*args: Any) -> None:
            if hook(*args) is not None:
                raise RuntimeError("state_dict post-hook must return None")

        return self._add_hook("_state_dict_hooks", checked)

    # Older than the public methods, and called by many programs.

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call a hook after ``state_dict``; what it returns takes the place of the dictionary."""
        return self._add_hook("_state_dict_hooks", hook)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        """Call a hook before ``load_state_dict``, without the module unless it is asked for."""
        if not with_module:
            hook = functools.partial(_without_module, hook)
        return self._add_hook("_load_state_dict_pre_hooks", hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call a hook before ``load_state_dict`` fills the module.

        Parameters
        ----------
        hook : callable
            ``hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
            unexpected_keys, error_msgs)``; may change the dictionary, a copy, and the lists.

        Returns
        -------
        RemovableHandle

        Examples
        --------
        >>> import autograd_cy as torch
        >>> layer = torch.nn.Linear(1, 1)
        >>> def rename(module, state, prefix, *rest):
        ...     state[prefix + "weight"] = state.pop(prefix + "kernel")
        >>> handle = layer.register_load_state_dict_pre_hook(rename)
        >>> layer.load_state_dict({"kernel": torch.ones(1, 1), "bias": torch.ones(1)})
        <All keys matched successfully>
        """
        return self._add_hook("_load_state_dict_pre_hooks", hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after ``load_state_dict`` filled the module.

        Parameters
        ----------
        hook : callable
            May change the lists of `incompatible_keys` in place; returns None.

        Returns
        -------
        RemovableHandle

        Examples
        --------
        >>> import autograd_cy as torch
        >>> layer = torch.nn.Linear(1, 1)
        >>> handle = layer.register_load_state_dict_post_hook(
        ...     lambda module, keys: keys.missing_keys.clear()
        ... )
        >>> layer.load_state_dict({"weight": torch.ones(1, 1)})
        <All keys matched successfully>
        """
        return self._add_hook("_load_state_dict_post_hooks", hook)


# --- a call with hooks --------------------------------------------------------------------------


def _without_module(hook: Callable[..., Any], module: Any, *args: Any) -> Any:
    return hook(*args)


def _hook_all() -> None:
    Hooked._hooked = True


_all._on_first.append(_hook_all)
if _recorder._wants_modules():  # a profiler that was there before this module
    _hook_all()


def call(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What calling a module with hooks does, or any module while a profiler notes modules."""
    if _recorder._wants_modules():
        from autograd_cy.profiler._modules import called

        return called(_call_hooked, module, args, kwargs)
    return _call_hooked(module, args, kwargs)


def _call_hooked(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not _all.around_forward():
        if not _recorder._wants_modules():
            Hooked._hooked = False  # until hooks of all modules come again
        if "_hooked" not in module.__dict__:
            return module.forward(*args, **kwargs)
    called: set[int] = set()
    try:
        return _call(module, args, kwargs, called)
    except Exception:
        always = module._forward_hooks_always_called | _all.always_called
        for number, hook in (*_all.forward.items(), *module._forward_hooks.items()):
            if number in always and number not in called:
                _call_after_failure(module, number, hook, args, kwargs)
        raise


def _with_kwargs(module: Any, number: int) -> bool:
    return number in module._forward_hooks_with_kwargs or number in _all.with_kwargs


def _backward_hooks(module: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The full hooks and those of the old kind."""
    full: list[Any] = []
    old: list[Any] = []
    (full if _all.full_backward else old).extend(_all.backward.values())
    (full if module._is_full_backward_hook else old).extend(module._backward_hooks.values())
    return tuple(full), tuple(old)


def _call(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], called: set[int]) -> Any:
    for number, hook in (*_all.forward_pre.items(), *module._forward_pre_hooks.items()):
        if number in module._forward_pre_hooks_with_kwargs:
            given = hook(module, args, kwargs)
            if given is not None:
                if not (isinstance(given, tuple) and len(given) == 2):
                    raise RuntimeError(
                        "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                        f"but got {given}."
                    )
                args, kwargs = given
        else:
            given = hook(module, args)
            if given is not None:
                args = given if isinstance(given, tuple) else (given,)
    backward = None
    full, old = _backward_hooks(module)
    before = (*_all.backward_pre.values(), *module._backward_pre_hooks.values())
    if full or before:
        backward = _Backward(module, full, before)
        args = backward.watch_inputs(args)
    output = module.forward(*args, **kwargs)
    for number, hook in (*_all.forward.items(), *module._forward_hooks.items()):
        called.add(number)
        if _with_kwargs(module, number):
            given = hook(module, args, kwargs, output)
        else:
            given = hook(module, args, output)
        if given is not None:
            output = given
    if backward is not None:
        if not isinstance(output, (Tensor, tuple)):
            _warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(output)}",
                UserWarning,
            )
        output = backward.watch_outputs(output)
    if old:
        _hook_last_node(module, old, args, output)
    return output


def _call_after_failure(
    module: Any, number: int, hook: Callable[..., Any], args: Any, kwargs: Any
) -> None:
    try:
        if _with_kwargs(module, number):
            hook(module, args, kwargs, None)
        else:
            hook(module, args, None)
    except Exception as error:
        _warn(
            "module forward hook with ``always_call=True`` raised an exception that was silenced "
            f"as another error was raised in forward: {error}",
            UserWarning,
        )


# --- full backward hooks ------------------------------------------------------------------------


class _Passed(Function):
    """Passes tensors through; its node is where hooks of backward see them."""

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


def _passed(values: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[int] | None, Any]:
    """(values with tensors passed through, the places of tensors, the node); None without one."""
    places = [i for i, x in enumerate(values) if isinstance(x, Tensor)]
    if not (is_grad_enabled() and any(values[i].requires_grad for i in places)):
        return values, None, None
    made = _Passed.apply(*(values[i] for i in places))
    node = next(t.grad_fn for t in made if t.grad_fn is not None)
    new = list(values)
    for i, t in zip(places, made):
        if t.requires_grad:  # others have their tangents still
            new[i] = t
    if hasattr(values, "_fields"):
        return type(values)(*new), places, node
    return tuple(new), places, node


class _Backward:
    """The backward hooks of one call of a module, and the gradients between their parts."""

    def __init__(
        self,
        module: Any,
        hooks: tuple[Callable[..., Any], ...],
        pre_hooks: tuple[Callable[..., Any], ...],
    ) -> None:
        self.module = module
        self.hooks = hooks
        self.pre_hooks = pre_hooks
        self.input_places: list[int] | None = None
        self.inputs = 0
        self.kinds: list[
            tuple[Any, Any, Any]
        ] = []  # shape, dtype and device of inputs that are tensors
        # Between the hook at the outputs and that at the inputs; None outside of a backward, and
        # when a double backward reaches the inputs by another way.
        self.grad_outputs: tuple[Any, ...] | None = None

    def watch_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        args, self.input_places, node = _passed(args)
        self.inputs = len(args)
        self.kinds = [(t.shape, t.dtype, t.device) for t in args if isinstance(t, Tensor)]
        if node is not None:
            node.register_hook(self._at_inputs)
        return args

    def watch_outputs(self, output: Any) -> Any:
        single = not isinstance(output, tuple)
        values, places, node = _passed((output,) if single else output)
        if places is None:
            return output
        node.register_prehook(functools.partial(self._at_outputs, places, len(values)))
        return values[0] if single else values

    def _at_outputs(self, places: list[int], count: int, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        found = _spread(places, grads, count)
        for hook in self.pre_hooks:
            given = hook(self.module, found)
            if given is not None:
                found = _checked(given, count, "Backward pre hook", "grad_output")
        if self.input_places is None:
            self._without_inputs(found)
        else:
            self.grad_outputs = found
        return tuple(found[i] for i in places)

    def _without_inputs(self, grad_outputs: tuple[Any, ...]) -> None:
        if not self.hooks:
            return
        _warn(
            "Full backward hook is firing when gradients are computed with respect to module "
            "outputs since no inputs require gradients. See the documentation of "
            "register_full_backward_hook for more details.",
            UserWarning,
        )
        grad_inputs = (None,) * self.inputs
        for hook in self.hooks:
            given = hook(self.module, grad_inputs, grad_outputs)
            if given is not None and not (
                isinstance(given, tuple) and all(g is None for g in given)
            ):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )

    def _at_inputs(self, grads: tuple[Any, ...], _: tuple[Any, ...]) -> tuple[Any, ...] | None:
        outputs, self.grad_outputs = self.grad_outputs, None
        if outputs is None or self.input_places is None:
            return None
        filled = tuple(
            zeros(shape, dtype=dtype, device=place) if g is None else g
            for g, (shape, dtype, place) in zip(grads, self.kinds)
        )
        found = _spread(self.input_places, filled, self.inputs)
        for hook in self.hooks:
            given = hook(self.module, found, outputs)
            if given is not None:
                found = _checked(given, self.inputs, "Backward hook", "grad_input")
        return tuple(None if g is None else found[i] for i, g in zip(self.input_places, grads))


def _spread(places: list[int], values: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    """`values` at their places among `count`, None elsewhere."""
    made: list[Any] = [None] * count
    for i, value in zip(places, values):
        made[i] = value
    return tuple(made)


def _checked(given: Any, count: int, who: str, what: str) -> tuple[Any, ...]:
    values = given if isinstance(given, tuple) else (given,)
    if len(values) != count:
        raise RuntimeError(
            f"{who} returned an invalid number of {what}, got {len(values)}, but expected {count}"
        )
    return values


# --- backward hooks of the old kind -------------------------------------------------------------

_FULL = (
    "and will be removed in future versions. This hook will be missing some {}. Please use "
    "register_full_backward_hook to get the documented behavior."
)


def _hook_last_node(module: Any, hooks: tuple[Any, ...], args: Any, output: Any) -> None:
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
        node.register_hook(functools.partial(hook, module))
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
