"""Tensors that a module owns: parameters, which are trained, and buffers, which are not."""

from __future__ import annotations

import copyreg
from typing import Any

from autograd_cy import Tensor, empty
from autograd_cy._C.overrides import _disabled_method
from autograd_cy._C.tensor import _must_be_bool
from autograd_cy._tensors.overriding import DisableTorchFunctionSubclass
from autograd_cy._tensors.sharing import share_instances_of


class _Marked(type):
    """Class of `Parameter` and `Buffer`: tensors of other classes are among them by a mark."""

    _mark: str

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        return (
            cls.__dict__.get("_mark") is not None
            and isinstance(instance, Tensor)
            and getattr(instance, cls._mark, False) is True
        )


class Parameter(Tensor, metaclass=_Marked):
    """A tensor that a module lists among its parameters when it is assigned as an attribute.

    Parameters
    ----------
    data : Tensor, optional
        The values. The parameter shares their memory and has no history. One of a subclass of
        Tensor makes a parameter of that class, which is a `Parameter` by its mark ``_is_param``.
    requires_grad : bool, optional
        Whether gradients are wanted.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> weight = torch.nn.Parameter(torch.ones(2))
    >>> weight
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    __torch_function__ = _disabled_method()  # what is computed with parameters is plain
    _mark = "_is_param"

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        _must_be_bool(cls.__name__, "requires_grad", requires_grad, 2)
        values = _values(data)
        if type(values) not in _PLAIN:
            return _of_its_class(values, "Parameter", cls._mark, requires_grad)
        return Tensor._make_subclass(cls, values, requires_grad)

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        pass

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, protocol: Any) -> tuple:
        reduced = type(self), (self.data, self.requires_grad)
        return (*reduced, {**self.__dict__}) if self.__dict__ else reduced


class Buffer(Tensor, metaclass=_Marked):
    """A tensor that a module lists among its buffers when it is assigned as an attribute.

    Parameters
    ----------
    data : Tensor, optional
        The values. The buffer shares their memory and has no history. One of a subclass of
        Tensor makes a buffer of that class, which is a `Buffer` by its mark ``_is_buffer``.
    persistent : bool, optional
        Whether the buffer is part of the module's ``state_dict``.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> module = torch.nn.Module()
    >>> module.mean = torch.nn.Buffer(torch.zeros(2))
    >>> [name for name, _ in module.named_buffers()]
    ['mean']
    """

    __torch_function__ = _disabled_method()
    _mark = "_is_buffer"

    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        values = _values(data)
        if type(values) in _PLAIN:
            buffer = Tensor._make_subclass(cls, values, values.requires_grad)
        else:
            buffer = _of_its_class(values, "Buffer", cls._mark, values.requires_grad)
        buffer.persistent = persistent
        return buffer

    def __init__(self, data: Tensor | None = None, *, persistent: bool = True) -> None:
        pass

    def __deepcopy__(self, memo: dict[int, Any]) -> Buffer:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), persistent=self.persistent)
        return memo[id(self)]


# --- without a shape yet ------------------------------------------------------------------------


class UninitializedTensorMixin:
    """The part of parameters and buffers whose shape isn't known yet: `materialize` gives it.

    Until then they have a dtype, a device and no elements, and functions refuse them.
    """

    #: The class that they become.
    cls_to_become: type

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Give it a shape, and memory that isn't written yet; it becomes an ordinary one.

        Parameters
        ----------
        shape : tuple of int
            The shape.
        device, dtype : optional
            By default those that it was made with.
        """
        if device is None:
            device = self.data.device
        if dtype is None:
            dtype = self.data.dtype
        self.data = empty(shape, device=device, dtype=dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        """Raise a RuntimeError: there is none yet."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually "
            "happens in `load_state_dict` when trying to load an uninitialized parameter into an "
            "initialized one. Call `forward` to initialize the parameters before accessing their "
            "attributes."
        )

    def share_memory_(self) -> Any:
        """Raise a RuntimeError: there is no memory yet."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to "
            "initialize the parameters before calling `module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self: Any, protocol: Any) -> tuple:
        return type(self), (self.requires_grad, self.data.device, self.data.dtype)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        if func.__name__ in _TAKE_UNINITIALIZED or type(func).__name__ == "method-wrapper":
            with DisableTorchFunctionSubclass():
                return func(*args, **(kwargs or {}))
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {func}. This error happens when you "
            "are using a `LazyModule` or explicitly manipulating "
            f"`torch.nn.parameter.{cls.__name__}` objects. When using LazyModules Call `forward` "
            "with a dummy batch to initialize the parameters before calling torch functions"
        )


# Functions that say nothing of a shape, or convert what is there.
_CONVERSIONS = frozenset("half float double bfloat16 char short int long cuda cpu to type".split())
_TAKE_UNINITIALIZED = _CONVERSIONS | frozenset(
    "__hash__ size copy_ is_complex is_floating_point get_device"
    " _has_compatible_shallow_copy_type".split()
)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape isn't known yet.

    Parameters
    ----------
    requires_grad : bool, optional
        Whether gradients are wanted.
    device, dtype : optional
        Of the parameter that it becomes.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> weight = torch.nn.UninitializedParameter()
    >>> weight
    <UninitializedParameter>
    >>> weight.materialize((2, 3))
    >>> type(weight).__name__, tuple(weight.shape)
    ('Parameter', (2, 3))
    """

    cls_to_become = Parameter

    def __new__(
        cls, requires_grad: bool = True, device: Any = None, dtype: Any = None
    ) -> UninitializedParameter:
        return Tensor._make_subclass(cls, empty(0, device=device, dtype=dtype), requires_grad)

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        pass

    def __deepcopy__(self, memo: dict[int, Any]) -> UninitializedParameter:
        if id(self) not in memo:
            result = type(self)(self.requires_grad, self.data.device, self.data.dtype)
            memo[id(self)] = result
        return memo[id(self)]


class UninitializedBuffer(UninitializedTensorMixin, Buffer):
    """A buffer whose shape isn't known yet.

    Parameters
    ----------
    requires_grad : bool, optional
        Whether gradients are wanted.
    device, dtype : optional
        Of the buffer that it becomes.
    persistent : bool, optional
        Whether the buffer is part of the module's ``state_dict``.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> mean = torch.nn.parameter.UninitializedBuffer()
    >>> mean.materialize((3,))
    >>> tuple(mean.shape)
    (3,)
    """

    cls_to_become = Buffer

    def __new__(  # type: ignore[misc]
        cls,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> UninitializedBuffer:
        data = empty(0, device=device, dtype=dtype)
        result = Tensor._make_subclass(cls, data, requires_grad)
        result.persistent = persistent
        return result

    def __init__(  # type: ignore[misc]
        self,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> None:
        pass

    def __deepcopy__(self, memo: dict[int, Any]) -> UninitializedBuffer:
        if id(self) not in memo:
            result = type(self)(
                self.requires_grad, self.data.device, self.data.dtype, self.persistent
            )
            memo[id(self)] = result
        return memo[id(self)]

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        result = super().__torch_function__(func, types, args, kwargs)
        if func.__name__ not in _CONVERSIONS or result is args[0]:
            return result
        return cls(result.requires_grad, result.device, result.dtype, args[0].persistent)


def is_lazy(param: Any) -> bool:
    """Return whether a parameter or buffer has no shape yet.

    Parameters
    ----------
    param : object

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.parameter.is_lazy(torch.nn.UninitializedParameter())
    True
    """
    return isinstance(param, UninitializedTensorMixin)


share_instances_of(Parameter, Buffer)


# --- their names --------------------------------------------------------------------------------


def _name_classes(package: str) -> None:
    """Let ``__module__`` of the classes say that they are of this package."""
    for value in tuple(globals().values()):
        if isinstance(value, _Marked):
            value.__module__ = f"{package}.nn.parameter"


def _class_named(name: str) -> type[Tensor]:
    """Return the class of a pickle, which doesn't say in which package it was."""
    return globals()[name]


def _reduced(cls: _Marked) -> str | tuple[Any, ...]:
    return (
        (_class_named, (cls.__name__,)) if globals().get(cls.__name__) is cls else cls.__qualname__
    )


copyreg.pickle(_Marked, _reduced)  # type: ignore[arg-type]

_PLAIN = (Tensor, Parameter, Buffer)


def _of_its_class(values: Tensor, kind: str, mark: str, requires_grad: bool) -> Any:
    """A parameter or buffer that stays one of the subclass of its values."""
    result = values.detach().requires_grad_(requires_grad)
    if type(result) is not type(values):
        raise RuntimeError(
            f"Creating a {kind} from an instance of type {type(values).__name__} requires that "
            "detach() returns an instance of the same type, but return type "
            f"{type(result).__name__} was found instead. To use the type as a {kind}, please "
            "correct the detach() semantics defined by its __torch_function__() implementation, or "
            "give its .as_subclass(Tensor)."
        )
    setattr(result, mark, True)
    return result


def clear_grad(param: Tensor, set_to_none: bool) -> None:
    """Set the gradient of a parameter to None, or cut off its history and fill it with zeros."""
    grad = param.grad
    if grad is None:
        return
    if set_to_none:
        param.grad = None
        return
    if grad.grad_fn is not None:
        grad.detach_()
    else:
        grad.requires_grad_(False)
    grad.zero_()


def _values(data: Tensor | None) -> Tensor:
    if data is None:
        return empty(0)
    if not isinstance(data, Tensor):
        raise TypeError(f"a parameter is made from a Tensor, got {type(data).__name__}.")
    return data
