"""The base of context managers: they are decorators too, and undo their change in C.

The changes themselves are in ext/core/tensor/modes.pxi, see its Note [Interrupts and modes].
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.tensor import ItemsContext


class _Decorating:
    """The part that makes decorators of contexts with a method ``clone()``: they aren't
    re-entrant."""

    clone: Callable[[], Any]

    def __call__(self, function):
        return self._decorated(function)

    def _decorated(self, function):
        if inspect.isclass(function):
            _warn(
                "Decorating classes is deprecated and will be disabled in future versions. You "
                "should only decorate functions or methods. To preserve the current behavior of "
                "class decoration, you can directly decorate the `__init__` method and nothing "
                "else.",
                FutureWarning,
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
    """Run each step of a coroutine inside a mode."""

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


class _Context(_Decorating, ItemsContext):
    """A context that changes and saves what it was given."""
