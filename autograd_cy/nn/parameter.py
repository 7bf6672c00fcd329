"""Tensors that a module owns: parameters, which are trained, and buffers, which are not."""

from __future__ import annotations

from typing import Any

from autograd_cy import Tensor, empty
from autograd_cy._C.overrides import _disabled_method
from autograd_cy._C.tensor import _must_be_bool


class Parameter(Tensor):
    """A tensor that a module lists among its parameters when it is assigned as an attribute.

    Parameters
    ----------
    data : Tensor, optional
        The values. The parameter shares their memory and has no history.
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

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        _must_be_bool(cls.__name__, "requires_grad", requires_grad, 2)
        return Tensor._make_subclass(cls, _values(data), requires_grad)

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        pass

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, protocol: Any) -> tuple:
        return type(self), (self.data, self.requires_grad)


class Buffer(Tensor):
    """A tensor that a module lists among its buffers when it is assigned as an attribute.

    Parameters
    ----------
    data : Tensor, optional
        The values. The buffer shares their memory and has no history.
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

    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        values = _values(data)
        made = Tensor._make_subclass(cls, values, values.requires_grad)
        made.persistent = persistent
        return made

    def __init__(self, data: Tensor | None = None, *, persistent: bool = True) -> None:
        pass

    def __deepcopy__(self, memo: dict[int, Any]) -> Buffer:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), persistent=self.persistent)
        return memo[id(self)]


def clear_grad(param: Tensor, set_to_none: bool) -> None:
    """Forget the gradient of one parameter.

    Parameters
    ----------
    param : Tensor
        A leaf.
    set_to_none : bool
        Whether ``grad`` becomes None; otherwise it is cut from its history and filled with zeros.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> x.sum().backward()
    >>> clear_grad(x, set_to_none=False)
    >>> x.grad
    tensor([0., 0.])
    """
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
