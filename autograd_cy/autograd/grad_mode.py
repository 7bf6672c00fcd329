"""Context managers and decorators that switch recording: no_grad, enable_grad, inference_mode.

Modes belong to a thread. A decorated generator or coroutine gets its own mode each time it runs,
and its caller's comes back at each yield.
"""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from typing import Any

from autograd_cy._C.tensor import ModeContext, Tensor, _get_modes, _set_modes, _set_version

__all__ = [
    "enable_grad",
    "inference_mode",
    "is_inference_mode_enabled",
    "is_multithreading_enabled",
    "is_view_replay_enabled",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

_NO_GRAD = 1  # M_NO_GRAD of tensor.pxd
_INFERENCE = 2  # M_INFERENCE of tensor.pxd
_ONE_THREAD = 128  # M_ONE_THREAD of tensor.pxd
_ASKED = 1 << 20  # M_GRAD_ASKED of tensor.pxd
_VIEW_REPLAY = 1 << 21  # M_VIEW_REPLAY of tensor.pxd
_ALL = _NO_GRAD | _INFERENCE | _ASKED


def _switch_grad(enabled: bool) -> None:
    word = _get_modes()
    if not enabled:
        _set_modes((word | _NO_GRAD) & ~_ASKED)
    elif word & _INFERENCE:
        # Inference mode records nothing whatever the grad mode says.
        _set_modes(word | _ASKED)
    else:
        _set_modes(word & ~_NO_GRAD)


class _Mode(ModeContext):
    """A change of the thread's mode word, as context manager and as decorator."""

    def _apply(self):
        raise NotImplementedError  # each mode says what it changes

    def clone(self) -> Any:
        """A fresh context of the same kind (contexts aren't re-entrant)."""
        return self.__class__()

    def __call__(self, function):
        if inspect.isclass(function):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You "
                "should only decorate functions or methods. To preserve the current behavior of "
                "class decoration, you can directly decorate the `__init__` method and nothing "
                "else.",
                FutureWarning,
                stacklevel=2,
            )
        if inspect.isgeneratorfunction(function):
            return self._wrap_generator(function)
        if inspect.iscoroutinefunction(function):
            return self._wrap_coroutine(function)

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with self.clone():
                return function(*args, **kwargs)

        return wrapped

    def _wrap_generator(self, function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            generator = function(*args, **kwargs)
            send, value = generator.send, None
            try:
                while True:
                    try:
                        with self.clone():
                            item = send(value)
                    except StopIteration as stop:
                        return stop.value
                    try:
                        value = yield item
                        send = generator.send
                    except GeneratorExit:
                        with self.clone():
                            generator.close()
                        raise
                    except BaseException:
                        error = sys.exc_info()[1]
                        send, value = generator.throw, error
            finally:
                generator.close()

        return wrapped

    def _wrap_coroutine(self, function):
        @functools.wraps(function)
        async def wrapped(*args, **kwargs):
            return await _Steps(self, function(*args, **kwargs))

        return wrapped


class _Steps:
    """Runs each step of a coroutine inside a mode."""

    def __init__(self, mode, coroutine):
        self.mode, self.coroutine = mode, coroutine

    def __await__(self):
        send, value = self.coroutine.send, None
        while True:
            try:
                with self.mode.clone():
                    item = send(value)
            except StopIteration as stop:
                return stop.value
            try:
                value = yield item
                send = self.coroutine.send
            except GeneratorExit:
                with self.mode.clone():
                    self.coroutine.close()
                raise
            except BaseException as error:
                send, value = self.coroutine.throw, error


def _with_or_without_parentheses(cls):
    """Let ``@no_grad`` mean ``@no_grad()``."""
    init = cls.__new__

    def new(kind, function=None):
        made = init(kind)
        if function is None:
            return made
        return made(function)

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

    def _apply(self):
        _switch_grad(False)


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

    def _apply(self):
        _switch_grad(True)


class set_grad_enabled(_Mode):
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

    def __init__(self, mode: bool):
        self.mode = bool(mode)
        self._apply()

    def __enter__(self):
        before = self._before  # what held when this was called
        super().__enter__()
        self._before = before

    def _apply(self):
        _switch_grad(self.mode)

    def __call__(self, function):
        # As a decorator it must not stay switched after the decoration.
        _set_modes((_get_modes() & ~_ALL) | (self._before & _ALL))
        return super().__call__(function)

    def clone(self) -> Any:
        return self.__class__(self.mode)


class inference_mode(_Mode):
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

    def __new__(cls, mode=True):
        if callable(mode) and not isinstance(mode, bool):
            made = super().__new__(cls)
            made.mode = True
            return made(mode)
        return super().__new__(cls)

    def __init__(self, mode: bool = True):
        self.mode = bool(mode)

    def _apply(self):
        word = _get_modes()
        if self.mode:
            _set_modes((word | _NO_GRAD | _INFERENCE) & ~_ASKED)
        else:
            _set_modes(word & ~_ALL)

    def clone(self) -> Any:
        return self.__class__(self.mode)


def is_inference_mode_enabled() -> bool:
    """
    Whether this thread is in inference mode.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.is_inference_mode_enabled()
    False
    """
    return bool(_get_modes() & _INFERENCE)


def is_multithreading_enabled() -> bool:
    """
    Whether backward may go on in other threads (see :class:`set_multithreading_enabled`).

    Examples
    --------
    >>> from autograd_cy.autograd.grad_mode import is_multithreading_enabled
    >>> is_multithreading_enabled()
    True
    """
    return not _get_modes() & _ONE_THREAD


class set_multithreading_enabled:
    """
    Whether this thread's backward may use other threads: at once, undone at the end of a block.

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

    def __init__(self, mode: bool):
        self.mode = bool(mode)
        self._before = _get_modes()
        self._apply(self.mode)

    @staticmethod
    def _apply(mode: bool) -> None:
        word = _get_modes()
        _set_modes(word & ~_ONE_THREAD if mode else word | _ONE_THREAD)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc) -> None:
        self._apply(not self._before & _ONE_THREAD)

    def clone(self) -> set_multithreading_enabled:
        """A fresh context of the same kind."""
        return self.__class__(self.mode)


class _unsafe_preserve_version_counter:
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
        self.versions = tuple(t._version for t in self.tensors)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc) -> None:
        for t, version in zip(self.tensors, self.versions):
            _set_version(t, version)


class _force_original_view_tracking:
    """
    Whether views that are made now tell, after an in-place change, how they were made.

    At once when called, undone at the end of a block. The new history of such a view is ``view``
    instead of ``as_strided``, if that is what it is of its base; gradients are the same.

    Parameters
    ----------
    mode : bool
    """

    def __init__(self, mode: bool):
        self.mode = bool(mode)
        self._before = is_view_replay_enabled()
        self._apply(self.mode)

    @staticmethod
    def _apply(mode: bool) -> None:
        word = _get_modes()
        _set_modes(word | _VIEW_REPLAY if mode else word & ~_VIEW_REPLAY)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc) -> None:
        self._apply(self._before)

    def clone(self) -> _force_original_view_tracking:
        """A fresh context of the same kind."""
        return self.__class__(self.mode)


def is_view_replay_enabled() -> bool:
    """
    Whether changed views are told by their own operation (see ``_force_original_view_tracking``).

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.autograd.is_view_replay_enabled()
    False
    """
    return bool(_get_modes() & _VIEW_REPLAY)
