"""Context managers and decorators that switch recording: no_grad, enable_grad, inference_mode.

Modes belong to a thread. A decorated generator or coroutine gets its own mode each time it runs,
and its caller's comes back at each yield.
"""

from __future__ import annotations

import inspect

from autograd_cy._C.accumulate import _any_layout, _set_any_layout
from autograd_cy._C.engine import _carry_thread_state
from autograd_cy._C.tensor import (
    _M_INFERENCE,
    _M_ONE_THREAD,
    _M_VIEW_REPLAY,
    ItemsContext,
    ModeContext,
    SwitchContext,
    Tensor,
    _get_modes,
    _must_be_bool,
    _set_versions,
)
from autograd_cy._environment.contexts import _Decorating

__all__ = [
    "enable_grad",
    "enforce_grad_layout_policy",
    "inference_mode",
    "is_inference_mode_enabled",
    "is_multithreading_enabled",
    "is_view_replay_enabled",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


class _Mode(_Decorating, ModeContext):
    """A change of the thread's mode word, as context manager and as decorator."""

    def __reduce__(self):  # a copy is not inside of a block
        return type(self), ()


class _Switch(SwitchContext, _Decorating):
    """A switch by a bool, made as soon as the object is."""

    _at_once = True
    _changes: tuple[str, str]
    __signature__ = inspect.Signature(
        [inspect.Parameter("mode", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=bool)],
        return_annotation=None,
    )


def _with_or_without_parentheses(cls):
    """Let ``@no_grad`` mean ``@no_grad()``."""
    init = cls.__new__

    def new(kind, function=None):
        context = init(kind)
        if function is None:
            return context
        return context(function)

    cls.__new__ = new
    return cls


@_with_or_without_parentheses
class no_grad(_Mode):
    """
    Record nothing inside: a context manager, or a decorator with or without parentheses.

    Results don't require grad. In-place changes of leaves are allowed. Factory functions and
    ``requires_grad=True`` work as outside.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> with ag.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    _change = "no_grad"


@_with_or_without_parentheses
class enable_grad(_Mode):
    """
    Record inside, even within :class:`no_grad`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> with ag.no_grad(), ag.enable_grad():
    ...     y = x * 2
    >>> y.requires_grad
    True
    """

    _change = "enable_grad"


class set_grad_enabled(_Switch):
    """
    Switch recording on or off: at once when called, undone at the end of a ``with`` block.

    Parameters
    ----------
    mode : bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> with ag.set_grad_enabled(False):
    ...     ag.is_grad_enabled()
    False
    """

    _changes = ("no_grad", "enable_grad")


class inference_mode(SwitchContext, _Decorating):
    """
    Like :class:`no_grad`, and tensors made inside carry no version counter and can't be recorded
    later.

    Parameters
    ----------
    mode : bool, default True

    Examples
    --------
    >>> import autograd_cy as ag
    >>> with ag.inference_mode():
    ...     y = ag.ones(2)
    >>> y.is_inference()
    True
    """

    _at_once = False
    _changes = ("normal", "inference")

    def __new__(cls, mode=True):
        if callable(mode):
            return cls()(mode)
        return super().__new__(cls)

    def __init__(self, mode: bool = True):
        super().__init__(mode)  # changes nothing yet

    def __reduce__(self):  # a copy is not inside of a block
        return type(self), (self.mode,)


def is_inference_mode_enabled() -> bool:
    """
    Return whether this thread is in inference mode.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.is_inference_mode_enabled()
    False
    """
    return bool(_get_modes() & _M_INFERENCE)


def is_multithreading_enabled() -> bool:
    """
    Return whether backward may go on in other threads (see :class:`set_multithreading_enabled`).

    Returns
    -------
    bool

    Examples
    --------
    >>> from autograd_cy.autograd.grad_mode import is_multithreading_enabled
    >>> is_multithreading_enabled()
    True
    """
    return not _get_modes() & _M_ONE_THREAD


class set_multithreading_enabled(_Switch):
    """
    Set whether this thread's backward may use other threads: at once, undone at the end of a
    block.

    Backward runs in the thread that calls it; only backward calls nested tens of levels deep (a
    custom Function that calls backward, and so on) continue in threads of their own. When switched
    off they stay, and very deep nesting ends at Python's recursion limit.

    Parameters
    ----------
    mode : bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> with ag.autograd.grad_mode.set_multithreading_enabled(False):
    ...     x.sum().backward()
    """

    _changes = ("one_thread", "threads")


class _unsafe_preserve_version_counter(ItemsContext):
    """
    Let tensors leave the block with the version that they had: writes inside go unnoticed.

    Parameters
    ----------
    tensors : Tensor or tuple of Tensors
    """

    def __init__(self, tensors: Tensor | tuple[Tensor, ...]):
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors
        if not isinstance(self.tensors, tuple):
            raise AssertionError("Expected tensors to be a tuple")
        versions = tuple(t._version for t in self.tensors)
        super().__init__(saved=[(lambda: (self.tensors, versions), _set_versions)])


class _force_original_view_tracking(_Switch):
    """
    Return whether views that are made now tell, after an in-place change, how they were made.

    At once when called, undone at the end of a block. The new history of such a view is ``view``
    instead of ``as_strided``, if that is what it is of its base; gradients are the same.

    Parameters
    ----------
    mode : bool
    """

    _changes = ("no_replay", "replay")


_carry_thread_state(_any_layout, _set_any_layout)


class enforce_grad_layout_policy(ItemsContext):
    """
    Choose whether gradients get the strides of their leaf: at once, undone at the end of a block.

    By default the ``grad`` of a dense leaf has its strides, and that of another one is contiguous.
    When switched off, a gradient that nobody else holds becomes ``grad`` with its own strides,
    without a copy; others are copied into the memory format of the leaf, as always. It holds for
    this thread.

    Parameters
    ----------
    enable : bool, optional
        Whether the policy holds.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(3, 2).t().requires_grad_()
    >>> with ag.autograd.enforce_grad_layout_policy(False):
    ...     (x * ag.ones(2, 3)).sum().backward()
    >>> x.stride(), x.grad.stride()
    ((1, 2), (3, 1))
    """

    def __init__(self, enable: bool = True):
        _must_be_bool("enforce_grad_layout_policy", "enable", enable, 1)
        self.enable = enable
        before = _set_any_layout(not enable)
        super().__init__(saved=[(lambda: before, _set_any_layout)])

    def __enter__(self):
        super().__enter__()
        _set_any_layout(not self.enable)


def is_view_replay_enabled() -> bool:
    """
    Return whether changed views are told by their own operation (see
    ``_force_original_view_tracking``).

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.autograd.is_view_replay_enabled()
    False
    """
    return bool(_get_modes() & _M_VIEW_REPLAY)
