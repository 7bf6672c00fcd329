"""
Dispatch to the overrides of classes and modes: the part that ``overrides.py`` gives to programs.

Compiled functions look at their arguments themselves (ext/engine/overrides.pyx). Here is what
subclasses of Tensor get when they are made, what a function in Python needs to dispatch, and the
modes.
"""

from __future__ import annotations

import functools
import sys
import threading
import types as _types
from collections.abc import Callable, Iterable
from typing import Any

from autograd_cy import _C
from autograd_cy._C import overrides as _overrides
from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.tensor import (
    ModeContext,
    Tensor,
    _fill,
    _install,
    _is_replaced,
    _own_attributes,
)

__all__ = [
    "BaseTorchFunctionMode",
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "TorchFunctionMode",
    "get_default_nowrap_functions",
]

_running = threading.local()
_LOCK = threading.Lock()
_has_override = _overrides._has_override

# By special method: the function that is shown for it, and what a reflected one mirrors.
_BINARY, _UNARY, _FORWARD = _overrides._python_operators()
_OPERATORS = {**_BINARY, **_UNARY}

# What makes an object, keeps it or tells what it is, and is no computation.
_NOT_OVERRIDABLE = {
    "__array_priority__",
    "__class__",
    "__deepcopy__",
    "__delattr__",
    "__dict__",
    "__dir__",
    "__doc__",
    "__getattribute__",
    "__hash__",
    "__init__",
    "__init_subclass__",
    "__module__",
    "__new__",
    "__reduce__",
    "__reduce_cython__",
    "__reduce_ex__",
    "__setattr__",
    "__setstate__",
    "__setstate_cython__",
    "__subclasshook__",
    "__torch_function__",
    "__weakref__",
    "_make_subclass",
    "as_subclass",
}


class DisableTorchFunctionSubclass(ModeContext):
    """Context without dispatch to classes; ``torch._C.DisableTorchFunctionSubclass``."""

    _change = "no_overrides"


class DisableTorchFunction(DisableTorchFunctionSubclass):
    """Context without dispatch to modes, either; ``torch._C.DisableTorchFunction``."""

    def __enter__(self) -> None:
        self._stack = _overrides._function_modes()
        ModeContext.__enter__(self)
        try:
            _overrides._put_function_modes(())
        except BaseException:
            ModeContext.__exit__(self)
            raise

    def __exit__(self, kind: Any = None, error: Any = None, traceback: Any = None) -> None:
        _overrides._put_function_modes(self._stack)
        ModeContext.__exit__(self)  # super() would ask for memory, and there may be none


@functools.cache
def get_default_nowrap_functions() -> set[Callable]:
    """
    Functions whose results stay as they are: attributes that show another tensor.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.Tensor.grad.__get__ in torch.overrides.get_default_nowrap_functions()
    True
    """
    # As they are without a mode, which has other forms of them.
    return {_attributes()["_base"][0].__get__, _attributes()["grad"][0].__get__}


def _converted(result: Any, cls: type) -> Any:
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else result.as_subclass(cls)
    if isinstance(result, tuple | list):
        items = [_converted(x, cls) for x in result]
        return type(result)(*items) if hasattr(result, "_fields") else type(result)(items)
    return result


def _call_once(func: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Call a function that may be of another library, and then calls us whatever is disabled."""
    outer = getattr(_running, "call", None)
    if _overrides._is_call(outer, func, args, kwargs):
        raise _overrides._mixed(func, func)
    _running.call = func, args, kwargs
    try:
        return func(*args, **kwargs)
    finally:
        _running.call = outer


def _torch_function(
    cls: type,
    func: Callable,
    types: Iterable[type],
    args: tuple = (),
    kwargs: dict[str, Any] | None = None,
) -> Any:
    """
    Compute, and make the tensors of the result instances of the subclass.

    Parameters
    ----------
    func : callable
        What was called.
    types : sequence of type
        The classes that the call dispatches to.
    args : tuple
    kwargs : dict, optional
    """
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        if _overrides._is_intercepted(func):
            result = func(*args, **(kwargs or {}))
        else:
            result = _call_once(func, tuple(args), kwargs or {})
        if cls is Tensor or func in get_default_nowrap_functions():
            return result
        return _converted(result, cls)


def _is_of_torch(x: Any) -> bool:
    theirs = getattr(sys.modules.get("torch"), "Tensor", Tensor)
    return theirs is not Tensor and isinstance(x, theirs)  # programs may call us torch


# --- what subclasses get ----------------------------------------------------------------------


def _is_base(left: tuple, right: Any) -> bool:
    """
    Return whether Python calls the reflected operator first, because the class of the right operand
    derives from that of the left one. It is the operator of the left one that programs mean.
    """
    kinds = [type(x) for x in left]
    return len(kinds) == 1 and kinds[0] in type(right).__mro__[1:] and issubclass(kinds[0], Tensor)


def _dispatching_method(name: str, value: Callable) -> Callable:
    """A method that dispatches before it calls the one of Tensor."""
    shown_name = _OPERATORS.get(name, name)
    shown = getattr(Tensor, shown_name)
    forward = _FORWARD.get(name)
    mirrored = None if forward is None else getattr(Tensor, _OPERATORS[forward])

    @functools.wraps(value)
    def method(self, *args, **kwargs):
        if not _overrides._has_override(self, *args, *kwargs.values()):
            return value(self, *args, **kwargs)
        relevant = (self, *args, *kwargs.values())
        if mirrored is not None and _is_base(args, self):
            return _overrides._dispatch(mirrored, relevant, (*args, self), kwargs)
        # While there is a mode, the method may be a form that dispatches to the modes around it.
        return _overrides._dispatch(getattr(Tensor, shown_name), relevant, (self, *args), kwargs)

    if name not in _BINARY:
        return method

    @functools.wraps(value)
    def operator(self, *args):
        try:
            result = method(self, *args)
        except TypeError as error:
            if getattr(error, "_is_final", False):
                raise
            result = NotImplemented  # the other side may know; if not, Python says so
        if result is NotImplemented and any(map(_is_of_torch, args)):
            # Torch doesn't know, and Python would compare by identity.
            raise _overrides._mixed(shown, type(args[0]))
        return result

    return operator


def _iterate(self):
    """The slices of a tensor along its first dimension, of its class."""
    if self.dim() == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


def _dispatching_attribute(value: Any) -> property:
    """A property that dispatches before it reads or writes that of Tensor."""

    def get(self):
        if _overrides._has_override(self):
            return _overrides._dispatch(value.__get__, (self,), (self,), {})
        return value.__get__(self)

    def put(self, new):
        if _overrides._has_override(self, new):
            _overrides._dispatch(value.__set__, (self, new), (self, new), {})
        else:
            value.__set__(self, new)

    def drop(self):
        if _overrides._has_override(self):
            _overrides._dispatch(value.__delete__, (self,), (self,), {})
        else:
            value.__delete__(self)

    return property(get, put, drop, getattr(value, "__doc__", None))


@functools.cache
def _members() -> dict[str, Any]:
    """Name -> what a subclass gets for it; methods that dispatch by themselves are left out."""
    members: dict[str, Any] = {}
    for name, value in _own_attributes().items():
        if name in _NOT_OVERRIDABLE or isinstance(value, staticmethod | classmethod | type):
            continue
        if isinstance(value, property | _types.GetSetDescriptorType | _types.MemberDescriptorType):
            members[name] = _dispatching_attribute(value)
        elif callable(value) and not (
            _overrides._is_intercepted(value) or getattr(value, "_dispatches", False)
        ):
            members[name] = _dispatching_method(name, value)
    members["__iter__"] = _iterate
    return members


def _new(cls, *args, **kwargs):
    """An instance with the values of a tensor, list or array; the rest is for ``__init__``."""
    result = Tensor.__new__(cls)
    if len(args) == 1:
        _fill(result, args[0])
    return result


def _init_subclass(cls, **kwargs):
    """Give a new subclass of Tensor operators, attributes and methods that dispatch to it."""
    super(Tensor, cls).__init_subclass__(**kwargs)
    if not getattr(type(cls), "_has_instances", True):
        return
    before = cls.__mro__[: cls.__mro__.index(Tensor)]
    known = set().union(*(vars(kind) for kind in before))
    if "__new__" not in known:
        cls.__new__ = staticmethod(_new)
    if getattr(cls, "__torch_function__", None) is _overrides._disabled_torch_function_impl:
        return
    for name, value in _members().items():
        # What a program has set on Tensor is inherited as it is.
        if name not in known and not _is_replaced(name):
            setattr(cls, name, value)


# --- modes ------------------------------------------------------------------------------------


class TorchFunctionMode:
    """
    A context in which every function, method, operator and attribute dispatches to this object.

    A subclass defines ``__torch_function__(self, func, types, args=(), kwargs=None)``; what it
    returns is the result. Inside of it the modes around this one are active. What Python does by
    itself with tensors (``len``, ``bool``, ``float``, iteration) and what makes tensors of data
    (``tensor``, ``as_tensor``) doesn't dispatch.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> class Logged(torch.overrides.TorchFunctionMode):
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         print(func.__name__)
    ...         return func(*args, **(kwargs or {}))
    >>> with Logged():
    ...     y = torch.exp(torch.ones(2)) + 1
    ones
    exp
    add
    """

    def __torch_function__(
        self,
        func: Callable,
        types: Iterable[type],
        args: tuple = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__} must define __torch_function__(self, func, types, args, kwargs)"
        )

    def __enter__(self) -> TorchFunctionMode:
        _push_mode(self)
        return self

    # No tuple of them: it would ask for memory, and there may be none.
    def __exit__(self, kind: Any = None, error: Any = None, traceback: Any = None) -> None:
        _pop_mode()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> TorchFunctionMode:
        """
        The older way to make one for a ``with`` statement.

        Examples
        --------
        >>> import warnings
        >>> import autograd_cy as torch
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     mode = torch.overrides.BaseTorchFunctionMode.push()
        >>> type(mode).__name__
        'BaseTorchFunctionMode'
        """
        _warn(
            "`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`",
        )
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """
    A mode that changes nothing.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> with torch.overrides.BaseTorchFunctionMode():
    ...     torch.ones(2) * 2
    tensor([2., 2.])
    """

    def __torch_function__(
        self,
        func: Callable,
        types: Iterable[type],
        args: tuple = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        return func(*args, **(kwargs or {}))


def _push_mode(mode: TorchFunctionMode) -> None:
    _overrides._push_function_mode(mode)


def _pop_mode() -> Any:
    return _overrides._pop_function_mode()


def _get_current_function_mode() -> Any:
    stack = _overrides._function_modes()
    return stack[-1] if stack else None


def _get_current_function_mode_stack() -> list[Any]:
    return list(_overrides._function_modes())


def _attributes() -> dict[str, tuple[Any, Any]]:
    """Name -> (the attribute of Tensor, the form of it that dispatches)."""
    with _LOCK:  # another thread's mode must not show its forms while these are looked for
        return _attributes_once()


@functools.cache
def _attributes_once() -> dict[str, tuple[Any, Any]]:
    dispatching = _members()
    kinds = (property, _types.GetSetDescriptorType, _types.MemberDescriptorType)
    return {
        name: (value, dispatching[name])
        for name, value in _own_attributes().items()
        if name in dispatching and isinstance(value, kinds)
    }


class _Method:
    """
    A method of Tensor in Python, as it is while there is a mode: it dispatches.

    It is equal to the method itself, so tables of functions that were made before find it.
    """

    def __init__(self, method: Callable) -> None:
        functools.update_wrapper(self, method)
        self._method = method

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else _types.MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _has_override(*args, *kwargs.values()):
            return _overrides._dispatch(self, (*args, *kwargs.values()), args, kwargs)
        return self._method(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return self is other or self._method is getattr(other, "_method", other)

    def __hash__(self) -> int:
        return hash(self._method)

    def __repr__(self) -> str:
        return repr(self._method)

    def __reduce__(self) -> Any:
        return getattr, (Tensor, self._method.__name__)


def _forms_in_modes() -> list[tuple[str, Any, Any]]:
    """Name, what Tensor has, and what it has while there is a mode."""
    forms = [(name, *forms) for name, forms in _attributes().items()]
    for name, value in _own_attributes().items():
        plain = isinstance(value, _types.FunctionType) and not getattr(value, "_dispatches", False)
        if plain and not name.startswith("__") and name not in _NOT_OVERRIDABLE:
            forms.append((name, value, _Method(value)))
    return forms


_overrides._set_attributes(_forms_in_modes)
_overrides._dispatch_to_classes_of_items()
_C.DisableTorchFunction = DisableTorchFunction
_C.DisableTorchFunctionSubclass = DisableTorchFunctionSubclass
_C._disabled_torch_function_impl = _overrides._disabled_torch_function_impl
_install("__torch_function__", classmethod(_torch_function))
_install("__init_subclass__", classmethod(_init_subclass))
_install("as_subclass", _overrides.as_subclass)
# They are of the module that programs know.
for _public in (BaseTorchFunctionMode, TorchFunctionMode, get_default_nowrap_functions):
    _public.__module__ = "autograd_cy.overrides"


def _check_methods() -> None:
    """Methods within compiled classes look at their first argument, which nothing else does."""
    for module in [m for n, m in sys.modules.items() if n.startswith("autograd_cy._C.")]:
        for cls in [x for x in vars(module).values() if isinstance(x, type)]:
            if cls.__module__.startswith("autograd_cy"):
                for value in tuple(vars(cls).values()):
                    _overrides._check_first_argument(value, cls)
