"""Hooks of all modules at once. ``autograd_cy.nn.modules.module`` has the functions' usual names.

They run before a module's own. While there are any, `Hooked._hooked` is true for every module, so
that a plain call still looks at one attribute.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from autograd_cy._tensors.hooks import RemovableHandle, add_hook, have_option

_Hooks = OrderedDict[int, Callable[..., Any]]

forward_pre: _Hooks = OrderedDict()
forward: _Hooks = OrderedDict()
backward_pre: _Hooks = OrderedDict()
backward: _Hooks = OrderedDict()
parameter: _Hooks = OrderedDict()
buffer: _Hooks = OrderedDict()
module: _Hooks = OrderedDict()
# By their ids, the hooks that were registered with an option.
with_kwargs: OrderedDict[int, Any] = OrderedDict()
always_called: OrderedDict[int, Any] = OrderedDict()
# Whether the backward hooks are full ones; None without any.
full_backward: bool | None = None
# Called when the first hook around `forward` comes.
_on_first: list[Callable[[], None]] = []


def around_forward() -> bool:
    """Return whether some hook is to run in the calls of all modules."""
    return bool(forward_pre or forward or backward_pre or backward)


def _add(hooks: _Hooks, hook: Callable[..., Any]) -> RemovableHandle:
    handle = add_hook(hooks, hook)
    if around_forward():
        for tell in _on_first:
            tell()
    return handle


def value_after_hooks(hooks: _Hooks, owner: Any, name: str, value: Any) -> Any:
    """Return the member that hooks of registration make of one."""
    for hook in tuple(hooks.values()):
        replacement = hook(owner, name, value)
        if replacement is not None:
            value = replacement
    return value


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, args)`` before ``forward`` of every module.

    Parameters
    ----------
    hook : callable
        Returns None, or what replaces the arguments: a tuple, or one argument.

    Returns
    -------
    RemovableHandle
        With a method ``remove()``.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.modules.module import register_module_forward_pre_hook
    >>> with register_module_forward_pre_hook(lambda module, args: -args[0]):
    ...     torch.nn.ReLU()(torch.tensor([-1.0, 2.0]))
    tensor([1., 0.])
    """
    return _add(forward_pre, hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after ``forward`` of every module.

    Parameters
    ----------
    hook : callable
        Returns None, or what replaces the output. With `with_kwargs` it is
        ``hook(module, args, kwargs, output)``.
    with_kwargs : bool, default False
        Whether it gets the keyword arguments.
    always_call : bool, default False
        Whether it runs after a failure, too.

    Returns
    -------
    RemovableHandle

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.modules.module import register_module_forward_hook
    >>> def show(module, args, output):
    ...     print(type(module).__name__, tuple(output.shape))
    >>> with register_module_forward_hook(show):
    ...     y = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Flatten())(torch.ones(2, 3, 2))
    ReLU (2, 3, 2)
    Flatten (2, 6)
    Sequential (2, 6)
    """
    handle = _add(forward, hook)
    for option, wanted in ((globals()["with_kwargs"], with_kwargs), (always_called, always_call)):
        if wanted:
            have_option(option, handle)
    return handle


def _choose_kind(full: bool) -> None:
    global full_backward
    if not backward:
        full_backward = None
    if full_backward is (not full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module "
            "hook. Please use only one of them."
        )
    full_backward = full


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` when gradients of any module's outputs are there.

    Parameters
    ----------
    hook : callable
        Returns None, or what replaces the gradients.

    Returns
    -------
    RemovableHandle

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.modules.module import register_module_full_backward_pre_hook
    >>> x = torch.ones(2, requires_grad=True)
    >>> with register_module_full_backward_pre_hook(lambda module, grads: (grads[0] * 10,)):
    ...     torch.nn.ReLU()(x).sum().backward()
    >>> x.grad
    tensor([10., 10.])
    """
    return _add(backward_pre, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` when gradients of any module's inputs are.

    Parameters
    ----------
    hook : callable
        Returns None, or what replaces `grad_input`.

    Returns
    -------
    RemovableHandle

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.modules.module import register_module_full_backward_hook
    >>> x = torch.ones(2, requires_grad=True)
    >>> with register_module_full_backward_hook(lambda module, ins, outs: (ins[0] * 3,)):
    ...     torch.nn.ReLU()(x).sum().backward()
    >>> x.grad
    tensor([3., 3.])
    """
    _choose_kind(True)
    return _add(backward, hook)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call a hook of the old kind on the last node of every module; full hooks see more.

    Parameters
    ----------
    hook : callable
        ``hook(module, grad_input, grad_output)`` of that node.

    Returns
    -------
    RemovableHandle

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.modules.module import register_module_backward_hook
    >>> x = torch.ones(2, requires_grad=True)
    >>> with register_module_backward_hook(lambda module, ins, outs: (ins[0] * 3,)):
    ...     y = torch.nn.ReLU()(x * 1)
    >>> y.sum().backward()
    >>> x.grad
    tensor([3., 3.])
    """
    _choose_kind(False)
    return _add(backward, hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, param)`` whenever a parameter is registered.

    Parameters
    ----------
    hook : callable
        Returns None, or what is registered instead.

    Returns
    -------
    RemovableHandle

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.modules.module import register_module_parameter_registration_hook
    >>> with register_module_parameter_registration_hook(lambda module, name, p: print(name)):
    ...     layer = torch.nn.Linear(2, 1)
    weight
    bias
    """
    return _add(parameter, hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` whenever a buffer is registered.

    Parameters
    ----------
    hook : callable
        Returns None, or what is registered instead.

    Returns
    -------
    RemovableHandle

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.modules.module import register_module_buffer_registration_hook
    >>> with register_module_buffer_registration_hook(lambda module, name, b: b + 1):
    ...     module = torch.nn.Module()
    ...     module.register_buffer("count", torch.zeros(1))
    >>> module.count
    tensor([1.])
    """
    return _add(buffer, hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, child)`` whenever a module becomes part of another.

    Parameters
    ----------
    hook : callable
        Returns None, or what is registered instead.

    Returns
    -------
    RemovableHandle

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.modules.module import register_module_module_registration_hook
    >>> with register_module_module_registration_hook(lambda module, name, child: print(name)):
    ...     both = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.ReLU())
    0
    1
    """
    return _add(module, hook)
