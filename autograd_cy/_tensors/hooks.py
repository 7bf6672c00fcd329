"""Handles of hooks, and the methods that register hooks on tensors and nodes."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

from autograd_cy._C import accumulate as _accumulate
from autograd_cy._C import hooks as _hooks
from autograd_cy._C import node as _node
from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.copying import _set_warn_of_hooks
from autograd_cy._C.tensor import Tensor, _install

__all__ = ["RemovableHandle", "add_hook", "unserializable_hook", "warn_if_has_hooks"]

_F = TypeVar("_F", bound=Callable)


class RemovableHandle(_hooks.HandleContext):
    """
    Remove a hook; as a context manager at the end of the block.

    Parameters
    ----------
    hooks : OrderedDict
        Number -> hook, of what the hook belongs to; the handle doesn't keep it alive.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> with x.register_hook(lambda g: g * 2):
    ...     x.sum().backward()
    >>> x.grad
    tensor([2.])
    """

    _next_id = 0

    def __init__(self, hooks: Any) -> None:
        # The hooks live as long as what they belong to, not as long as a handle.
        self._hooks = weakref.ref(hooks)
        self.id = RemovableHandle._next_id
        RemovableHandle._next_id += 1

    def __reduce__(self) -> tuple:
        # Hooks of modules are copied with them, those of tensors and nodes are not.
        hooks = self._hooks() if self._hooks is not None else None
        state = hooks if isinstance(hooks, OrderedDict) else None, self.id, self.handles
        return RemovableHandle, (OrderedDict(),), state

    def __setstate__(self, state: tuple) -> None:
        hooks, self.id, self.handles = state
        self._hooks = weakref.ref(OrderedDict() if hooks is None else hooks)
        RemovableHandle._next_id = max(RemovableHandle._next_id, self.id + 1)


def add_hook(
    hooks: OrderedDict[int, Callable[..., Any]], hook: Callable[..., Any], prepend: bool = False
) -> RemovableHandle:
    """The handle of a hook that is put at the end of others, or before them."""
    if not callable(hook):
        raise TypeError(f"a hook must be callable, not {type(hook).__name__}")
    handle = RemovableHandle(hooks)
    put = getattr(hooks, "put", None)
    if put is None:
        hooks[handle.id] = hook
    else:
        put(handle.id, hook)
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def have_option(chosen: OrderedDict[int, Any], handle: RemovableHandle) -> None:
    """Note a hook among those with an option, as long as it isn't removed."""
    chosen[handle.id] = True
    note = RemovableHandle(chosen)
    note.id = handle.id
    handle.handles = (*(handle.handles or ()), note)


RemovableHandle.__module__ = "autograd_cy.utils.hooks"


def _add(hooks: Any, hook: Any) -> RemovableHandle:
    # Whether it can be called is seen when it is called: it may become callable until then.
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def _register_hook(self, hook: Callable) -> RemovableHandle:
    """
    Call `hook(grad)` when this tensor's gradient is computed; a returned tensor replaces it.

    The hook belongs to the value that the tensor has now: after an in-place operation it sees the
    gradient with respect to the value before.

    Parameters
    ----------
    hook : callable
        Of a Tensor; returns a Tensor of its shape and dtype, or None.

    Returns
    -------
    RemovableHandle
        With a method ``remove()``.

    Raises
    ------
    RuntimeError
        If the tensor doesn't require grad.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> handle = x.register_hook(lambda g: g * 2)
    >>> x.sum().backward()
    >>> x.grad
    tensor([2.])
    """
    return _add(_hooks._tensor_hooks(self), hook)


def _register_post_accumulate_grad_hook(self, hook: Callable) -> RemovableHandle:
    """
    Call `hook(tensor)` after a gradient was added to this leaf's ``grad``.

    Parameters
    ----------
    hook : callable
        Of the tensor; returns None. It may change ``tensor.grad`` or reset it.

    Returns
    -------
    RemovableHandle

    Raises
    ------
    RuntimeError
        If the tensor isn't a leaf or doesn't require grad.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> handle = x.register_post_accumulate_grad_hook(lambda t: print(t.grad))
    >>> (x * 3).sum().backward()
    tensor([3.])
    """
    return _add(_hooks._post_accumulate_hooks(self), hook)


def _register_on_node(node, hook: Callable, before: bool) -> RemovableHandle:
    return _add(_hooks._node_hooks(node, before), hook)


def _grad_fn(self):
    """The operation that made this tensor, as ``grad_fn``; it can't be deleted."""
    return self.grad_fn


def _keep_grad_fn(self):
    raise RuntimeError("Deletion of _grad_fn not allowed. Detach tensor instead!")


def _backward_hooks(self):
    """The hooks on this tensor's gradient by their numbers, None if there are none."""
    return _hooks._hooks_of(self)


def _set_backward_hooks(self, hooks):
    before = _hooks._hooks_of(self)
    if hooks is None:
        if before is not None:
            before.clear()
        return
    hooks = dict(hooks)
    if not hooks and not self.requires_grad:
        return
    own = _hooks._tensor_hooks(self)
    own.clear()
    own.update(hooks)


def _keep_backward_hooks(self):
    raise RuntimeError("Deletion of _backwards_hooks not allowed!")


def unserializable_hook(f: _F) -> _F:
    """
    Mark a hook as one that pickles leave out on purpose, so that they don't warn.

    Parameters
    ----------
    f : callable
        The hook.

    Returns
    -------
    callable
        The same function.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.utils.hooks import unserializable_hook
    >>> x = ag.ones(1, requires_grad=True)
    >>> handle = x.register_hook(unserializable_hook(lambda grad: grad * 2))
    """
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def warn_if_has_hooks(tensor: Tensor) -> None:
    """
    Warn if a tensor has hooks, which a pickle leaves out.

    Parameters
    ----------
    tensor : Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.utils.hooks import warn_if_has_hooks
    >>> warn_if_has_hooks(ag.ones(1))
    """
    hooks: Any = tensor._backward_hooks
    for hook in hooks.values() if hooks else ():
        if not hasattr(hook, "__torch_unserializable__"):
            _warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, "
                "you can decorate the function with @torch.utils.hooks.unserializable_hook to "
                "suppress this warning",
            )


for _f in (unserializable_hook, warn_if_has_hooks):
    _f.__module__ = "autograd_cy.utils.hooks"
_set_warn_of_hooks(warn_if_has_hooks)
_install("_grad", vars(Tensor)["grad"])
_install("grad_dtype", property(_accumulate._grad_dtype, _accumulate._set_grad_dtype))
_install("_grad_fn", property(_grad_fn, None, _keep_grad_fn))
_install("_backward_hooks", property(_backward_hooks, _set_backward_hooks, _keep_backward_hooks))
_install("register_hook", _register_hook)
_install("register_post_accumulate_grad_hook", _register_post_accumulate_grad_hook)
_node._set_register(_register_on_node)
