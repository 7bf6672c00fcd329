"""Hooks of optimizers: functions that run around steps, and at saving and loading.

A step without hooks asks `around_step` and no more.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from autograd_cy._tensors.hooks import RemovableHandle, add_hook

_Hook = Callable[..., Any]

_NONE: Mapping[int, _Hook] = MappingProxyType({})
# Those of all optimizers.
_before: OrderedDict[int, _Hook] = OrderedDict()
_after: OrderedDict[int, _Hook] = OrderedDict()


class Hooked:
    """The part of `Optimizer` that registers hooks.

    The hooks are in ordered dictionaries, which are made with the first hook. Copies and pickles
    of an optimizer have none.
    """

    _optimizer_step_pre_hooks = _NONE
    _optimizer_step_post_hooks = _NONE
    _optimizer_state_dict_pre_hooks = _NONE
    _optimizer_state_dict_post_hooks = _NONE
    _optimizer_load_state_dict_pre_hooks = _NONE
    _optimizer_load_state_dict_post_hooks = _NONE

    def _add_hook(self, kind: str, hook: _Hook, prepend: bool = False) -> RemovableHandle:
        name = f"_optimizer_{kind}_hooks"
        hooks = self.__dict__.get(name, OrderedDict())
        handle = add_hook(hooks, hook, prepend)
        self.__dict__[name] = hooks
        return handle

    def register_step_pre_hook(self, hook: _Hook) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step.

        Parameters
        ----------
        hook : callable
            It gets the arguments of the step, the first of which is the optimizer. It returns
            None, or what replaces them: a tuple of the new ``args`` and ``kwargs``.

        Returns
        -------
        RemovableHandle
            With a method ``remove()``.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
        >>> handle = optimizer.register_step_pre_hook(lambda *_: print("before the step"))
        >>> optimizer.step()
        before the step
        """
        return self._add_hook("step_pre", hook)

    def register_step_post_hook(self, hook: _Hook) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step.

        Parameters
        ----------
        hook : callable
            It gets the arguments of the step, the first of which is the optimizer.

        Returns
        -------
        RemovableHandle
            With a method ``remove()``.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
        >>> handle = optimizer.register_step_post_hook(lambda *_: print("after the step"))
        >>> optimizer.step()
        after the step
        """
        return self._add_hook("step_post", hook)

    def register_state_dict_pre_hook(self, hook: _Hook, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` before `state_dict` gathers the state.

        Parameters
        ----------
        hook : callable
            What it returns is ignored.
        prepend : bool, default False
            Run it before those that are registered already.

        Returns
        -------
        RemovableHandle
            With a method ``remove()``.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
        >>> handle = optimizer.register_state_dict_pre_hook(lambda _: print("saving"))
        >>> _ = optimizer.state_dict()
        saving
        """
        return self._add_hook("state_dict_pre", hook, prepend)

    def register_state_dict_post_hook(self, hook: _Hook, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` on what `state_dict` is about to return.

        Parameters
        ----------
        hook : callable
            It may change the dictionary, or return another one.
        prepend : bool, default False
            Run it before those that are registered already.

        Returns
        -------
        RemovableHandle
            With a method ``remove()``.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
        >>> handle = optimizer.register_state_dict_post_hook(lambda _, saved: {**saved, "epoch": 3})
        >>> optimizer.state_dict()["epoch"]
        3
        """
        return self._add_hook("state_dict_post", hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: _Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before `load_state_dict` takes it over.

        Parameters
        ----------
        hook : callable
            It gets a shallow copy, which it may change; or it returns another dictionary.
        prepend : bool, default False
            Run it before those that are registered already.

        Returns
        -------
        RemovableHandle
            With a method ``remove()``.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
        >>> handle = optimizer.register_load_state_dict_pre_hook(lambda _, saved: saved["inner"])
        >>> optimizer.load_state_dict({"inner": optimizer.state_dict()})
        """
        return self._add_hook("load_state_dict_pre", hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: _Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` after `load_state_dict`.

        Parameters
        ----------
        hook : callable
            What it returns is ignored.
        prepend : bool, default False
            Run it before those that are registered already.

        Returns
        -------
        RemovableHandle
            With a method ``remove()``.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
        >>> handle = optimizer.register_load_state_dict_post_hook(lambda _: print("loaded"))
        >>> optimizer.load_state_dict(optimizer.state_dict())
        loaded
        """
        return self._add_hook("load_state_dict_post", hook, prepend)


def around_step(optimizer: Hooked) -> bool:
    """Return whether some hook is to run around a step of this optimizer."""
    return bool(
        optimizer._optimizer_step_pre_hooks
        or optimizer._optimizer_step_post_hooks
        or _before
        or _after
    )


def hooked_step(step: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a step, given its optimizer as first argument, with the hooks around it.

    Raises
    ------
    RuntimeError
        If a hook before the step returns neither None nor new arguments.
    """
    optimizer = args[0]
    before = (*_before.values(), *optimizer._optimizer_step_pre_hooks.values())
    for hook in before:
        replacement = hook(optimizer, args, kwargs)
        if replacement is None:
            continue
        if not isinstance(replacement, tuple) or len(replacement) != 2:
            raise RuntimeError(
                f"a hook before {step.__qualname__} must return None or a tuple of "
                f"(new_args, new_kwargs), but got {replacement}."
            )
        args, kwargs = replacement
    result = step(*args, **kwargs)
    for hook in (*optimizer._optimizer_step_post_hooks.values(), *_after.values()):
        hook(optimizer, args, kwargs)
    return result


def state_after(hooks: Mapping[int, _Hook], optimizer: Hooked, state: Any) -> Any:
    """The state as hooks that may replace it leave it."""
    for hook in tuple(hooks.values()):
        replacement = hook(optimizer, state)
        if replacement is not None:
            state = replacement
    return state


def tell(hooks: Mapping[int, _Hook], optimizer: Hooked) -> None:
    """Call hooks that get the optimizer and no more."""
    for hook in tuple(hooks.values()):
        hook(optimizer)


def register_optimizer_step_pre_hook(hook: _Hook) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before each step of every optimizer.

    Parameters
    ----------
    hook : callable
        As for `Optimizer.register_step_pre_hook`; it runs before those of the optimizer.

    Returns
    -------
    RemovableHandle
        With a method ``remove()``.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.optim.optimizer import register_optimizer_step_pre_hook
    >>> handle = register_optimizer_step_pre_hook(lambda *_: print("before the step"))
    >>> torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1).step()
    before the step
    >>> handle.remove()
    """
    return add_hook(_before, hook)


def register_optimizer_step_post_hook(hook: _Hook) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after each step of every optimizer.

    Parameters
    ----------
    hook : callable
        As for `Optimizer.register_step_post_hook`; it runs after those of the optimizer.

    Returns
    -------
    RemovableHandle
        With a method ``remove()``.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.optim.optimizer import register_optimizer_step_post_hook
    >>> handle = register_optimizer_step_post_hook(lambda *_: print("after the step"))
    >>> torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1).step()
    after the step
    >>> handle.remove()
    """
    return add_hook(_after, hook)
