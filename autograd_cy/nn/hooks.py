"""Hooks of modules: functions that run around ``forward``, in backward, and at saving and loading.

A module without hooks doesn't come here: `Module.__call__` asks one attribute. What hooks do in
backward is in ``backward_hooks.py``.
"""

from __future__ import annotations

import copy
import functools
from collections import OrderedDict
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any
from weakref import WeakValueDictionary

from autograd_cy import Tensor
from autograd_cy._C import recorder as _recorder
from autograd_cy._C._warned import warn as _warn
from autograd_cy._tensors.hooks import RemovableHandle, add_hook, have_option

from . import global_hooks as _all
from .backward_hooks import BackwardHook, hook_last_node
from .registration import Owner, _when_set

_NONE: Mapping[int, Callable[..., Any]] = MappingProxyType({})


class _Table(OrderedDict):
    """The hooks of one kind that run with a call, of one module.

    A plain call looks only at `Hooked._hooked`, so it must be set where a program puts hooks in by
    itself.
    """

    def __setitem__(self, number: Any, hook: Any) -> None:
        super().__setitem__(number, hook)
        _by_hand[id(self)] = self
        Hooked._hooked = True

    def put(self, number: int, hook: Any) -> None:
        """Put a hook in, of a module that is marked as one with hooks."""
        super().__setitem__(number, hook)

    def __deepcopy__(self, memo: dict[int, Any]) -> _Table:
        result = memo[id(self)] = _Table()
        for number, hook in self.items():
            result.put(number, copy.deepcopy(hook, memo))
        return result

    def __reduce__(self) -> Any:
        return OrderedDict, (), None, None, iter(self.items())

    def __repr__(self) -> str:
        return f"OrderedDict({list(self.items()) or ''})"


# Those that a program put hooks into, until a call marks their module.
_by_hand: WeakValueDictionary[int, _Table] = WeakValueDictionary()

#: The dictionaries of hooks that run with a call.
_AROUND_FORWARD = (
    "_forward_pre_hooks",
    "_forward_hooks",
    "_backward_pre_hooks",
    "_backward_hooks",
)


def new_tables() -> dict[str, Any]:
    """Return the dictionaries of hooks of a new module."""
    return {
        "_forward_pre_hooks": _Table(),
        "_forward_hooks": _Table(),
        "_backward_pre_hooks": _Table(),
        "_backward_hooks": _Table(),
        "_state_dict_pre_hooks": OrderedDict(),
        "_state_dict_hooks": OrderedDict(),
        "_load_state_dict_pre_hooks": OrderedDict(),
        "_load_state_dict_post_hooks": OrderedDict(),
        "_forward_pre_hooks_with_kwargs": OrderedDict(),
        "_forward_hooks_with_kwargs": OrderedDict(),
        "_forward_hooks_always_called": OrderedDict(),
        # None until the first backward hook: full hooks and the old kind don't mix.
        "_is_full_backward_hook": None,
    }


TABLES = frozenset(new_tables())


def add_tables(own: dict[str, Any]) -> None:
    """Give a module the dictionaries of hooks that it lacks.

    Parameters
    ----------
    own : dict
        Its attributes.
    """
    for name in _AROUND_FORWARD:
        table = own.get(name)
        if table and type(table) is not _Table:
            own[name] = _Table(table)
            own["_hooked"] = True
        elif table is not None and type(table) is not _Table:
            del own[name]
    for name, empty in new_tables().items():
        own.setdefault(name, empty)


def table(module: Any, name: str) -> Mapping[int, Callable[..., Any]]:
    """
    Return the hooks of one kind that a module has, such as ``"_forward_hooks"``.

    Of a module that lost the dictionary, and of one without `Module.__init__`, there are none.
    """
    return module.__dict__.get(name, _NONE)


class Hooked(Owner):
    """The part of `Module` that registers hooks.

    The hooks are in ordered dictionaries.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.ReLU()
    >>> len(layer._forward_hooks)
    0
    """

    # Whether any hook runs around `forward`; the only thing that a plain call looks at.
    _hooked = False

    _forward_pre_hooks: dict[int, Callable[..., Any]]
    _forward_hooks: dict[int, Callable[..., Any]]
    _backward_pre_hooks: dict[int, Callable[..., Any]]
    _backward_hooks: dict[int, Callable[..., Any]]
    _state_dict_pre_hooks: dict[int, Callable[..., Any]]
    _state_dict_hooks: dict[int, Callable[..., Any]]
    _load_state_dict_pre_hooks: dict[int, Callable[..., Any]]
    _load_state_dict_post_hooks: dict[int, Callable[..., Any]]
    _forward_pre_hooks_with_kwargs: dict[int, bool]
    _forward_hooks_with_kwargs: dict[int, bool]
    _forward_hooks_always_called: dict[int, bool]
    _is_full_backward_hook: bool | None

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
        return _add_hook(self, "_forward_pre_hooks", hook, prepend, with_kwargs=with_kwargs)

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
        return _add_hook(
            self,
            "_forward_hooks",
            hook,
            prepend,
            with_kwargs=with_kwargs,
            always_called=always_call,
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
        return _add_hook(self, "_backward_pre_hooks", hook, prepend)

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
        >>> handle = layer.register_full_backward_hook(lambda _, inner, outer: print(inner))
        >>> layer(torch.ones(1, requires_grad=True)).backward()
        (tensor([1.]),)
        """
        _choose_kind(self, full=True)
        return _add_hook(self, "_backward_hooks", hook, prepend)

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
        >>> handle = layer.register_backward_hook(lambda _, inner, outer: print(outer))
        >>> x = torch.ones(1, requires_grad=True) * 2
        >>> layer(x).backward()
        (tensor([1.]),)
        """
        _choose_kind(self, full=False)
        return _add_hook(self, "_backward_hooks", hook)

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
        return _add_hook(self, "_state_dict_pre_hooks", hook)

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

        return _add_hook(self, "_state_dict_hooks", checked)

    # Older than the public methods, and called by many programs.

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call a hook after ``state_dict``; what it returns takes the place of the dictionary."""
        return _add_hook(self, "_state_dict_hooks", hook)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        """Call a hook before ``load_state_dict``, without the module unless it is asked for."""
        if not with_module:
            hook = functools.partial(_without_module, hook)
        return _add_hook(self, "_load_state_dict_pre_hooks", hook)

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
        return _add_hook(self, "_load_state_dict_pre_hooks", hook)

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
        return _add_hook(self, "_load_state_dict_post_hooks", hook)


def _replaced(module: Any) -> None:
    """A program has set one of the dictionaries."""
    module.__dict__["_hooked"] = True


_when_set.update(dict.fromkeys(_AROUND_FORWARD, _replaced))

# Functions and no methods: a program's modules may have methods of any private name.


def _add_hook(
    module: Any, kind: str, hook: Callable[..., Any], prepend: bool = False, **options: bool
) -> RemovableHandle:
    state = module.__dict__
    hooks = state.setdefault(kind, OrderedDict())
    handle = add_hook(hooks, hook, prepend)
    for option, wanted in options.items():
        if wanted:
            have_option(state.setdefault(f"{kind}_{option}", OrderedDict()), handle)
    if kind in _AROUND_FORWARD:
        state["_hooked"] = True
    return handle


def _choose_kind(module: Any, full: bool) -> None:
    if module.__dict__.get("_is_full_backward_hook") is (not full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks on a single "
            "Module. Please use only one of them."
        )
    module.__dict__["_is_full_backward_hook"] = full


# --- a call with hooks --------------------------------------------------------------------------


def _without_module(hook: Callable[..., Any], module: Any, *args: Any) -> Any:
    return hook(*args)


def _hook_all() -> None:
    Hooked._hooked = True


_all._on_first.append(_hook_all)
if _recorder._wants_modules():  # a profiler that was there before this module
    _hook_all()


def call(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a module with hooks, or any module while a profiler notes modules."""
    if _recorder._wants_modules():
        from autograd_cy.profiler._modules import called

        return called(_call_hooked, module, args, kwargs)
    return _call_hooked(module, args, kwargs)


def _call_hooked(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    own = module.__dict__
    hooks = [own[name] for name in _AROUND_FORWARD if own.get(name)]
    if _by_hand and hooks:
        own["_hooked"] = True
        for one in hooks:
            _by_hand.pop(id(one), None)
    if not _all.around_forward():
        if not (_recorder._wants_modules() or any(_by_hand.values())):
            Hooked._hooked = False  # until hooks of all modules come again
        if not hooks:
            return module.forward(*args, **kwargs)
    now = _Now(args, kwargs)
    try:
        _call(module, now)
    except Exception:
        always = {*table(module, "_forward_hooks_always_called"), *_all.always_called}
        for number, hook in (*_all.forward.items(), *table(module, "_forward_hooks").items()):
            if number in always and number not in now.called:
                _call_after_failure(module, number, hook, now)
        raise
    return now.output


class _Now:
    """The arguments and the result of a call, as the hooks so far have left them."""

    __slots__ = ("args", "called", "kwargs", "output")

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.args = args
        self.kwargs = kwargs
        self.output: Any = None
        self.called: set[int] = set()  # ids of the forward hooks that have run


def _with_kwargs(module: Any, number: int) -> bool:
    return number in table(module, "_forward_hooks_with_kwargs") or number in _all.with_kwargs


def _backward_hooks(module: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The full hooks and those of the old kind."""
    full: list[Any] = []
    old: list[Any] = []
    (full if _all.full_backward else old).extend(_all.backward.values())
    kind = module.__dict__.get("_is_full_backward_hook")
    (full if kind else old).extend(table(module, "_backward_hooks").values())
    return tuple(full), tuple(old)


def _call(module: Any, now: _Now) -> None:
    for number, hook in (*_all.forward_pre.items(), *table(module, "_forward_pre_hooks").items()):
        if number in table(module, "_forward_pre_hooks_with_kwargs"):
            replacement = hook(module, now.args, now.kwargs)
            if replacement is not None:
                if not (isinstance(replacement, tuple) and len(replacement) == 2):
                    raise RuntimeError(
                        "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                        f"but got {replacement}."
                    )
                now.args, now.kwargs = replacement
        else:
            replacement = hook(module, now.args)
            if replacement is not None:
                now.args = replacement if isinstance(replacement, tuple) else (replacement,)
    backward = None
    full, old = _backward_hooks(module)
    before = (*_all.backward_pre.values(), *table(module, "_backward_pre_hooks").values())
    if full or before:
        backward = BackwardHook(module, full, before)
        now.args = backward.setup_input_hook(now.args)
    now.output = module.forward(*now.args, **now.kwargs)
    for number, hook in (*_all.forward.items(), *table(module, "_forward_hooks").items()):
        now.called.add(number)
        _run_forward_hook(module, number, hook, now)
    if backward is not None:
        if not isinstance(now.output, (Tensor, tuple)):
            _warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(now.output)}",
                UserWarning,
            )
        now.output = backward.setup_output_hook(now.output)
    if old:
        hook_last_node(module, old, now.args, now.output)


def _run_forward_hook(module: Any, number: int, hook: Callable[..., Any], now: _Now) -> None:
    if _with_kwargs(module, number):
        replacement = hook(module, now.args, now.kwargs, now.output)
    else:
        replacement = hook(module, now.args, now.output)
    if replacement is not None:
        now.output = replacement


def _call_after_failure(module: Any, number: int, hook: Callable[..., Any], now: _Now) -> None:
    try:
        _run_forward_hook(module, number, hook, now)
    except Exception as error:
        _warn(
            "module forward hook with ``always_call=True`` raised an exception that was silenced "
            f"as another error was raised in forward: {error}",
            UserWarning,
        )
