"""The interface of torch's compiler. There is no compiler here: functions run as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from autograd_cy._environment.docstrings import described_like as _described_like
from autograd_cy._lazy import attach as _attach

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "reset",
]

_Function = TypeVar("_Function", bound=Callable)


_MODES = ("default", "lite", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
    **others: Any,
) -> Any:
    """
    Return a function or module as it is, also as a decorator with options.

    Parameters
    ----------
    model : callable or Module, optional
        Without it, a decorator is returned.
    fullgraph, dynamic, backend, options, disable
        Of a compiler; without effect, as are other options.
    mode : str, optional
        One that torch knows; without effect.

    Returns
    -------
    callable or Module
        `model` itself: its ``state_dict()`` has no ``_orig_mod.`` in its keys.

    Raises
    ------
    RuntimeError
        If there are `mode` and `options`, or torch has no such mode.
    TypeError
        If `model` can't be called.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> layer = ag.nn.Linear(2, 1)
    >>> ag.compile(layer) is layer
    True
    >>> @ag.compile(mode="reduce-overhead", fullgraph=True)
    ... def double(x):
    ...     return x * 2
    >>> double(ag.ones(1))
    tensor([2.])
    """
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    if mode is not None and mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")
    if model is None:
        return _as_it_is
    if not callable(model):
        raise TypeError(f"compile: expected a function or module, not {type(model).__name__}")
    return model


def _as_it_is(model: _Function) -> _Function:
    return model


def is_compiling() -> bool:
    """
    Return whether the program is being compiled: never.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.compiler.is_compiling()
    False
    """
    return False


@_described_like(is_compiling, {"compiled": "traced", "is_compiling": "is_dynamo_compiling"})
def is_dynamo_compiling() -> bool:
    return False


@_described_like(is_compiling, {"compiled": "exported", "is_compiling": "is_exporting"})
def is_exporting() -> bool:
    return False


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """
    Keep a function from being compiled, which it isn't.

    Parameters
    ----------
    fn : callable, optional
        Without it, a decorator is returned.
    recursive : bool, optional
        Not used.
    reason : str, optional
        Not used.

    Returns
    -------
    callable
        The function.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> @ag.compiler.disable
    ... def double(x):
    ...     return x * 2
    >>> double(ag.ones(1)), ag.compiler.disable(recursive=False)(abs) is abs
    (tensor([2.]), True)
    """
    return (lambda function: function) if fn is None else fn


def allow_in_graph(fn: _Function) -> _Function:
    """
    Let a function be part of a compiled one; it stays as it is.

    Parameters
    ----------
    fn : callable

    Returns
    -------
    callable
        The function.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.compiler.allow_in_graph(abs) is abs
    True
    """
    return fn


def assume_constant_result(fn: _Function) -> _Function:
    """
    Let the result of a function count as a constant; the function stays as it is.

    Parameters
    ----------
    fn : callable

    Returns
    -------
    callable
        The function.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.compiler.assume_constant_result(abs) is abs
    True
    """
    return fn


def cudagraph_mark_step_begin() -> None:
    """
    Do nothing, as there are no graphs of a GPU.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.compiler.cudagraph_mark_step_begin()
    """


def reset() -> None:
    """
    Do nothing, as nothing was compiled.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.compiler.reset()
    """


# Of torch._dynamo.
def _nothing(*args: Any, **kwargs: Any) -> None:
    """Do nothing, as nothing is compiled."""


def _is_fake(x: object) -> bool:
    """Tell that a tensor has memory, as all do: ``torch._subclasses.fake_tensor.is_fake``."""
    return False


def _optimize(*args: Any, **kwargs: Any) -> Callable[[_Function], _Function]:
    """Return a decorator that leaves a function as it is."""
    return _as_it_is


__getattr__, __dir__ = _attach(__name__)
