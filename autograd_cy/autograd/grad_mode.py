"""Context managers and decorators that switch recording: no_grad, enable_grad, inference_mode.

Modes belong to a thread. A decorated generator or coroutine gets its own mode each time it runs,
and its caller's comes back at each yield.
"""

from __future__ import annotations

import functools
import inspect
import sys
import warnings

from autograd_cy._C.tensor import _get_modes, _set_modes

__all__ = [
    "enable_grad",
    "inference_mode",
    "is_inference_mode_enabled",
    "is_multithreading_enabled",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

_NO_GRAD, _INFERENCE, _ONE_THREAD, _ASKED = 1, 2, 128, 1 << 20
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


class _Mode:
    """A change of the thread's mode word, as context manager and as decorator."""

    def __enter__(self):
        self._before = _get_modes()
        self._apply()
        return

    def __exit__(self, *exc):
        _set_modes((_get_modes() & ~_ALL) | (self._before & _ALL))
        return False

    def _apply(self):
        raise NotImplementedError  # each mode says what it changes

    def clone(self):
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
        self._before = _get_modes()
        self._apply()

    def __enter__(self):
        self._apply()
        return

    def _apply(self):
        _switch_grad(self.mode)

    def __call__(self, function):
        # As a decorator it must not stay switched after the decoration.
        _set_modes((_get_modes() & ~_ALL) | (self._before & _ALL))
        return super().__call__(function)

    def clone(self):
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

    def clone(self):
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
