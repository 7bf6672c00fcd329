"""Tensors that a module owns: parameters, which are trained, and buffers, which are not."""

from __future__ import annotations

from typing import Any

from autograd_cy import Tensor, empty
from autograd_cy._C.overrides import _disabled_method
from autograd_cy._C.tensor import _must_be_bool
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


share_instances_of(Parameter, Buffer)

_PLAIN = (Tensor, Parameter, Buffer)


def _of_its_class(values: Tensor, kind: str, mark: str, requires_grad: bool) -> Any:
    """A parameter or buffer that stays one of the subclass of its values."""
    made = values.detach().requires_grad_(requires_grad)
    if type(made) is not type(values):
        raise RuntimeError(
            f"Creating a {kind} from an instance of type {type(values).__name__} requires that "
            "detach() returns an instance of the same type, but return type "
            f"{type(made).__name__} was found instead. To use the type as a {kind}, please correct "
            "the detach() semantics defined by its __torch_function__() implementation, or give "
            "its .as_subclass(Tensor)."
        )
    setattr(made, mark, True)
    return made


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
