"""
Classes that override functions: the protocol ``__torch_function__``.

Every function and method of tensors dispatches to a class with a class method
``__torch_function__(cls, func, types, args=(), kwargs=None)`` if it gets one of its instances, also
in a list; what the method returns is the result, unless it is ``NotImplemented``. A subclass of
Tensor has one that computes and makes the tensors among the results instances of the subclass.

Examples
--------
>>> import autograd_cy as torch
>>> class Logged(torch.Tensor):
...     @classmethod
...     def __torch_function__(cls, func, types, args=(), kwargs=None):
...         print(func.__name__)
...         return super().__torch_function__(func, types, args, kwargs)
>>> x = torch.ones(2).as_subclass(Logged)
>>> y = torch.exp(x + 1)
add
exp
>>> type(y).__name__
'Logged'
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from autograd_cy._C import overrides as _overrides
from autograd_cy._C.tensor import Tensor
from autograd_cy._tensors.overriding import (  # noqa: F401 - torch's module has the private ones
    BaseTorchFunctionMode,
    TorchFunctionMode,
    _attributes,
    _get_current_function_mode,
    _get_current_function_mode_stack,
    _members,
    _pop_mode,
    _push_mode,
    get_default_nowrap_functions,
)

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
]


# --- for those who write such classes ---------------------------------------------------------


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """
    Return whether a call dispatches: to the class of some argument, or to a mode.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.overrides.has_torch_function((torch.ones(1), 2.0))
    False
    """
    return _in_mode() or bool(_overrides._overriding_args(relevant_args))


def _in_mode() -> bool:
    """Return whether a mode is active, which sees every function."""
    return bool(_overrides._function_modes())


def has_torch_function_unary(tensor: Any) -> bool:
    """
    Return whether one argument, or a mode, overrides functions.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.overrides.has_torch_function_unary(torch.ones(1))
    False
    """
    return _in_mode() or bool(_overrides._overriding_args((tensor,)))


def has_torch_function_variadic(*args: Any) -> bool:
    """
    Return whether one of several arguments, or a mode, overrides functions.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.overrides.has_torch_function_variadic(torch.ones(1), 2.0)
    False
    """
    return _in_mode() or bool(_overrides._overriding_args(args))


def handle_torch_function(
    public_api: Callable, relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """
    Dispatch ``public_api(*args, **kwargs)`` to a mode, or to the classes of `relevant_args`.

    Raises
    ------
    TypeError
        If all return NotImplemented.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> class Answer:
    ...     @classmethod
    ...     def __torch_function__(cls, func, types, args=(), kwargs=None):
    ...         return func.__name__
    >>> torch.overrides.handle_torch_function(torch.exp, (Answer(),), Answer())
    'exp'
    """
    return _overrides._dispatch(public_api, tuple(relevant_args), args, kwargs)


def is_tensor_like(inp: Any) -> bool:
    """
    Return whether an object is a tensor, or has the protocol.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.overrides.is_tensor_like(torch.ones(1)), torch.overrides.is_tensor_like([1.0])
    (True, False)
    """
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Callable) -> bool:
    """
    Return whether a function belongs to Tensor.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.overrides.is_tensor_method_or_property(torch.Tensor.add)
    True
    """
    name = getattr(func, "__name__", "")
    return name in ("__get__", "__set__", "__delete__") or vars(Tensor).get(name) is func


def _namespaces() -> dict[str, Any]:
    """Return the namespaces of overridable functions, by the names of programs; the first is
    searched first."""
    import autograd_cy
    from autograd_cy import fft, linalg, special
    from autograd_cy.nn import functional

    return {
        "torch.nn.functional": functional,
        "torch": autograd_cy,
        "torch.Tensor": Tensor,
        "torch.linalg": linalg,
        "torch.special": special,
        "torch.fft": fft,
    }


def resolve_name(f: Callable) -> str | None:
    """
    Return the name by which programs know a function.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.overrides.resolve_name(torch.sin)
    'torch.sin'
    """
    name = getattr(f, "__name__", None)
    if name in ("__get__", "__set__", "__delete__"):
        owner = getattr(f, "__self__", None)
        # From Python 3.13 on a property has a name, which is that of its function.
        known = next((key for key, (get, _) in _attributes().items() if get is owner), None)
        known = known or getattr(owner, "__name__", "")
        return f"torch.Tensor.{known}.{name}"
    # A function may be of several, as in torch; forms in place are methods first.
    first = {"torch.Tensor": Tensor} if name and name.endswith("_") else {}
    places = {**first, **_namespaces()}
    if name is not None and callable(f):
        for prefix, place in places.items():  # of modules, what they say that they have
            if name in getattr(place, "__all__", (name,)) and getattr(place, name, None) is f:
                return f"{prefix}.{name}"
        for key, value in vars(Tensor).items():  # its own name may be another one
            if value is f:
                return f"torch.Tensor.{key}"
    return None


def get_overridable_functions() -> dict[Any, list[Callable]]:
    """
    Return the functions that dispatch to classes and modes, by the module or class they belong to.

    Those of ``nn.functional`` that forward to an operator, such as ``relu``, dispatch by it.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> functions = torch.overrides.get_overridable_functions()
    >>> torch.add in functions[torch], torch.Tensor.add_ in functions[torch.Tensor]
    (True, True)
    """
    functions: dict[Any, list[Callable]] = defaultdict(list)
    for place in _namespaces().values():
        for name in getattr(place, "__all__", ()):
            value = getattr(place, name)
            record = getattr(value, "_public", None)
            if _overrides._is_intercepted(value) or (record and record.is_overridable):
                functions[place].append(value)
    for name, value in vars(Tensor).items():
        if _overrides._is_intercepted(value):
            functions[Tensor].append(value)
        elif name in _attributes():
            functions[Tensor].append(_attributes()[name][0].__get__)
        elif name in _members() and callable(value):  # subclasses have forms that dispatch
            functions[Tensor].append(value)
    return functions


def get_testing_overrides() -> dict[Callable, Callable]:
    """
    Return a function for each that dispatches, with the same parameters, which returns -1.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.overrides.get_testing_overrides()[torch.sub](torch.ones(1), other=torch.ones(1))
    -1
    """
    every = [f for group in get_overridable_functions().values() for f in group]
    return {f: _stand_in(f) for f in every}


def _stand_in(function: Callable) -> Callable:
    """Make a function with the parameters of another one, which returns -1."""
    import inspect

    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of a property's function
        return lambda *args, **kwargs: -1

    def stand_in(*args: Any, **kwargs: Any) -> int:
        signature.bind(*args, **kwargs)
        return -1

    stand_in.__signature__ = signature  # type: ignore[attr-defined]
    stand_in.__name__ = getattr(function, "__name__", "stand_in")
    return stand_in


def get_ignored_functions() -> set[Callable]:
    """
    Return the public functions that never dispatch.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.tensor in torch.overrides.get_ignored_functions()
    True
    """
    import autograd_cy

    known = get_overridable_functions()[autograd_cy]
    values = [getattr(autograd_cy, name) for name in autograd_cy.__all__]
    return {f for f in values if callable(f) and not isinstance(f, type) and f not in known}
