"""The interface of TorchScript: as in PyTorch with ``PYTORCH_JIT=0``, functions run as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar

from autograd_cy._environment.docstrings import described_like as _described_like
from autograd_cy._lazy import attach as _attach
from autograd_cy.futures import Future
from autograd_cy.jit.annotations import Dict as Dict  # the import sets `annotations` here
from autograd_cy.nn import Module

__all__ = [
    "Attribute",
    "Final",
    "Future",
    "ScriptFunction",
    "ScriptModule",
    "annotate",
    "export",
    "fork",
    "ignore",
    "is_scripting",
    "is_tracing",
    "script",
    "script_if_tracing",
    "script_method",
    "trace",
    "trace_module",
    "unused",
    "wait",
]

_Any = TypeVar("_Any")
_Function = TypeVar("_Function", bound=Callable)


class ScriptModule(Module):
    """
    A module, which programs extend to have it compiled; here it is any other.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> class Twice(ag.jit.ScriptModule):
    ...     @ag.jit.script_method
    ...     def forward(self, x):
    ...         return 2 * x
    >>> Twice()(ag.ones(2))
    tensor([2., 2.])
    """


class ScriptFunction:
    """
    The class of compiled functions, of which there are none: ``isinstance`` is False.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> isinstance(ag.jit.script(ag.neg), ag.jit.ScriptFunction)
    False
    """


class Attribute(NamedTuple):
    """
    A value with the type that a compiler is to see.

    Parameters
    ----------
    value : object
    type : type

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.jit.Attribute(0.1, float).value
    0.1
    """

    value: Any
    type: Any


def fork(func: Callable, *args: Any, **kwargs: Any) -> Future:
    """
    Call a function and return its result as a future.

    Parameters
    ----------
    func : callable
    *args, **kwargs
        Its arguments.

    Returns
    -------
    Future
        It is done already; :func:`wait` returns the result.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.jit.wait(ag.jit.fork(ag.neg, ag.tensor([1.0])))
    tensor([-1.])
    """
    future = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future) -> Any:
    """
    Return the result of a future.

    Parameters
    ----------
    future : Future
        What :func:`fork` returned.

    Returns
    -------
    object

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.jit.wait(ag.jit.fork(lambda: 3))
    3
    """
    return future.wait()


def is_scripting() -> bool:
    """
    Return whether the program is being compiled: never.

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.jit.is_scripting()
    False
    """
    return False


@_described_like(is_scripting, {"compiled": "traced", "is_scripting": "is_tracing"})
def is_tracing() -> bool:
    return False


def script(
    obj: _Any,
    optimize: Any = None,
    _frames_up: int = 0,
    _rcb: Any = None,
    example_inputs: Any = None,
) -> _Any:
    """
    Return a function, class or module as it is.

    Parameters
    ----------
    obj : callable, class or Module
    optimize, example_inputs
        Of TorchScript; without effect.

    Returns
    -------
    callable, class or Module
        `obj` itself.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> @ag.jit.script
    ... def twice(x):
    ...     return 2 * x
    >>> twice(ag.ones(2))
    tensor([2., 2.])
    """
    return obj


def trace(
    func: _Any,
    example_inputs: Any = None,
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-05,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_kwarg_inputs: Any = None,
    _store_inputs: bool = True,
) -> _Any:
    """
    Return a function or module as it is; it is not run.

    Parameters
    ----------
    func : callable or Module
    example_inputs, optimize, check_trace, check_inputs, check_tolerance, strict
        How PyTorch traces it; without effect, as `example_kwarg_inputs`.

    Returns
    -------
    callable or Module
        `func` itself, which, unlike a trace, takes every branch anew.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.jit.trace(ag.sin, ag.ones(1)) is ag.sin
    True
    """
    return func


def trace_module(mod: _Any, inputs: Any, *args: Any, **kwargs: Any) -> _Any:
    """
    Return a module as it is.

    Parameters
    ----------
    mod : Module
    inputs : dict
        Arguments of its methods; without effect.
    *args, **kwargs
        Options of the compiler; without effect.

    Returns
    -------
    Module
        `mod`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> layer = ag.nn.ReLU()
    >>> ag.jit.trace_module(layer, {"forward": ag.ones(1)}) is layer
    True
    """
    return mod


def script_method(fn: _Function) -> _Function:
    """
    Return a method of a :class:`ScriptModule` as it is.

    Parameters
    ----------
    fn : callable

    Returns
    -------
    callable

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.jit.script_method(abs) is abs
    True
    """
    return fn


def script_if_tracing(fn: _Function) -> _Function:
    """
    Return a function as it is.

    Parameters
    ----------
    fn : callable

    Returns
    -------
    callable

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.jit.script_if_tracing(abs) is abs
    True
    """
    return fn


@_described_like(script_if_tracing, {"script_if_tracing": "unused"})
def unused(fn: _Function) -> _Function:
    return fn


@_described_like(script_if_tracing, {"function": "method", "script_if_tracing": "export"})
def export(fn: _Function) -> _Function:
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """
    Return a function as it is, also as a decorator with arguments.

    Parameters
    ----------
    drop : bool or callable
        The function, or whether TorchScript leaves calls of it out; without effect.

    Returns
    -------
    callable
        The function, or a decorator.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.jit.ignore(abs) is ag.jit.ignore(drop=True)(abs) is abs
    True
    """
    return drop if callable(drop) else script_method


def annotate(the_type: Any, the_value: _Any) -> _Any:
    """
    Return a value whose type a compiler could not find.

    Parameters
    ----------
    the_type : type
    the_value : object

    Returns
    -------
    object
        `the_value`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.jit.annotate(list[int], [])
    []
    """
    return the_value


def _as_it_is(fn: _Function) -> _Function:
    """Return a function as it is."""
    return fn


# Decorators of overloads, as torch.jit has them.
_overload = _overload_method = _as_it_is


__getattr__, __dir__ = _attach(__name__)
