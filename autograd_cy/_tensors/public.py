"""
One registry of the public functions in Python: their names, parameters, and how they dispatch.

A function says in its decorator which of three ways it dispatches to classes with
``__torch_function__`` and to modes::

    @public                             # before the body
    @public(forwards="relu relu_")      # by the operators that it forwards to
    @public(forwards=())                # by the methods that it calls

The first one is wrapped. The second one stays as it is, so that a call of it costs nothing more: it
calls its operators as attributes of `forward_to`, such as ``forward_to.relu(x)``. These dispatch as
the public function, with the arguments that it was called with, and their errors have its name.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from autograd_cy._C import overrides as _overrides
from autograd_cy._C.forms import _name_error, _parameters_of

__all__ = ["PublicFunction", "as_method", "autocast_policy", "forward_to", "names_errors", "public"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_has_override = _overrides._has_override
# A flag of a public function that chooses between operators, and how their names end.
_FLAGS = {"inplace": "_", "return_indices": "_with_indices"}


class Operators:
    """The operators that public functions forward to, as attributes."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


forward_to = Operators()
_FORWARDED: dict[str, str] = {}  # operator -> the function that forwards to it


class PublicFunction:
    """The record of a public function: its name, its parameters and the operators behind it."""

    def __init__(
        self,
        function: Callable[..., Any],
        forwards: tuple[str, ...] | None,
        renames: Mapping[str, str],
        unset: Mapping[str, Any],
    ) -> None:
        self.function = function
        self.name: str = function.__name__
        self.module: str = function.__module__
        self.forwards = forwards
        self.renames = renames
        self.unset = unset

    @property
    def is_overridable(self) -> bool:
        """True if this function dispatches to classes and modes."""
        return self.forwards is None or bool(self.forwards)

    def operator(self, name: str) -> Callable[..., Any]:
        """Return the operator of that name at the top level."""
        return getattr(sys.modules["autograd_cy"], name)

    def called(
        self, form: Callable[..., Any], args: tuple, kwargs: dict[str, Any]
    ) -> tuple[Callable[..., Any], tuple, dict[str, Any]]:
        """
        Return the call of this function that has led to a call of an operator.

        Parameters without a default are given by position, and the others by name.
        """
        operator = form.__name__
        names = (self.renames.get(name, name) for name in inspect.signature(form).parameters)
        arguments = dict(zip(names, args)) | {self.renames.get(k, k): x for k, x in kwargs.items()}
        for name, value in self.unset.items():
            if arguments.get(name) == value:
                del arguments[name]
        for flag, end in _FLAGS.items():
            arguments[flag] = operator.endswith(end)
        shown: dict[str, Any] = {}
        positional = []
        for name, parameter in inspect.signature(self.function).parameters.items():
            if parameter.default is parameter.empty:
                positional.append(arguments[name])
            else:
                shown[name] = arguments.get(name, parameter.default)
        return self.function, tuple(positional), shown


def autocast_policy(policy: str) -> Callable[[_Function], _Function]:
    """Give a function without a record the policy that records state as `autocast`."""

    def put(function: _Function) -> _Function:
        function._autocast = policy  # type: ignore[attr-defined]
        return function

    return put


def _public_module(module: str) -> str:
    """The module in which programs find a function: a package, for a private module inside it."""
    package, _, last = module.rpartition(".")
    return package if last.startswith("_") and "._" not in package else module


def _dispatching(function: _Function, method: bool = False) -> _Function:
    """A function, or method, that dispatches before it does its work, and knows NumPy's names."""
    # Those of all signatures, if there are several.
    known = set(getattr(function, "_names", ()) or _parameters_of(function))

    @functools.wraps(function)
    def dispatching(*args: Any, **kwargs: Any) -> Any:
        if kwargs and not kwargs.keys() <= known:
            kwargs = _overrides._names_of_torch(kwargs, known) or kwargs
        # Errors of overrides are the program's, and stay as they are.
        if _has_override(*args, *kwargs.values()) if kwargs else _has_override(*args):
            return _overrides._dispatch(dispatching, (*args, *kwargs.values()), args, kwargs)
        try:
            return function(*args, **kwargs)
        except Exception as error:
            _name_error(error, function, method=method)
            if kwargs:
                _overrides._unplace(error, kwargs)
            raise

    dispatching._dispatches = True  # type: ignore[attr-defined]
    return cast(_Function, dispatching)


def as_method(function: _Function, name: str) -> _Function:
    """
    Return the method of a public function: errors count arguments from the one after the tensor.

    Functions that `public` has not wrapped stay as they are.
    """
    inner = getattr(function, "__wrapped__", None)
    if inner is None or not getattr(function, "_dispatches", False):
        return function
    method = _dispatching(inner, method=True)
    method.__dict__.update({k: x for k, x in vars(function).items() if k != "__wrapped__"})
    method.__module__ = "autograd_cy"
    method.__qualname__ = f"Tensor.{name}"  # where pickles find it
    return method


def names_errors(public: str | Callable[..., Any]) -> Callable[[_Function], _Function]:
    """
    Let messages of errors inside of a function begin with the name of a public one.

    Positions of arguments are those of the public function, if it is given in place of its name.
    """

    def decorate(function: _Function) -> _Function:
        owner = function if isinstance(public, str) else public
        name = public if isinstance(public, str) else public.__name__

        @functools.wraps(function)
        def named(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except Exception as error:
                _name_error(error, owner, name)
                raise

        return cast(_Function, named)

    return decorate


@overload
def public(function: _Function, /, *, module: str | None = None) -> _Function: ...


@overload
def public(
    function: None = None,
    /,
    *,
    module: str | None = None,
    forwards: str | tuple[str, ...] | None = None,
    renames: Mapping[str, str] | None = None,
    unset: Mapping[str, Any] | None = None,
) -> Callable[[_Function], _Function]: ...


def public(
    function: Any = None,
    /,
    *,
    module: str | None = None,
    forwards: str | tuple[str, ...] | None = None,
    renames: Mapping[str, str] | None = None,
    unset: Mapping[str, Any] | None = None,
) -> Any:
    """
    Publish a function in Python: give it its module, and errors its name.

    Parameters
    ----------
    module : str, optional
        The module in which programs find the function; by default the package around the private
        module that defines it.
    forwards : str or tuple of str, optional
        The operators of the top level that the body calls by `forward_to`, and which dispatch in
        place of this function. Empty: it calls methods, which dispatch as themselves.
    renames : mapping, optional
        The parameters of these operators that have another name in this function.
    unset : mapping, optional
        By parameter: the value that an operator gets where this function has its default.
    """
    if function is None:
        options = {"module": module, "renames": renames, "unset": unset}
        return functools.partial(public, forwards=forwards, **options)
    if isinstance(forwards, str):
        forwards = tuple(forwards.split())
    published = _dispatching(function) if forwards is None else function
    published.__module__ = module or _public_module(function.__module__)
    published.__qualname__ = function.__name__
    published._public = record = PublicFunction(published, forwards, renames or {}, unset or {})
    for name in forwards or ():
        # The same function again is of a module that is loaded again.
        owner = f"{published.__module__}.{published.__qualname__}"
        if _FORWARDED.setdefault(name, owner) != owner:
            raise ValueError(f"public: two functions forward to {name}")
        setattr(forward_to, name, _overrides._forwarding(record, name))
    return published
