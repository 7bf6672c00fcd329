"""Functions that torch has beside methods of tensors, and tests of any object.

Loaded when one of them is first used.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import BuiltinFunctionType, FunctionType
from typing import Any

from autograd_cy._C import ops_reduction as _reduction
from autograd_cy._C.arguments import _check_arguments
from autograd_cy._C.tensor import Tensor, _type_name
from autograd_cy._tensors.predicates import need_dim
from autograd_cy._tensors.public import public
from autograd_cy._tensors.tensor_types import TensorType
from autograd_cy.storage import TypedStorage, UntypedStorage

__all__ = [
    "as_strided_",
    "detach",
    "detach_",
    "get_device",
    "is_same_size",
    "is_signed",
    "is_storage",
    "norm_except_dim",
    "resize_as_",
    "typename",
    "zero_",
]


def _need_tensor(input: Any, name: str) -> Tensor:
    _check_arguments(name, (input, "Tensor", "input", 1))
    return input


@public
def detach(input: Tensor) -> Tensor:
    """
    Return the tensor without its history, in the same memory: ``input.detach()``.

    Parameters
    ----------
    input : Tensor

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.detach(ag.ones(2, requires_grad=True))
    tensor([1., 1.])
    """
    return _need_tensor(input, "detach").detach()


@public
def get_device(input: Tensor) -> int:
    """
    Return the number of a tensor's device, -1 for the CPU.

    Parameters
    ----------
    input : Tensor

    Returns
    -------
    int

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.get_device(ag.ones(2))
    -1
    """
    return _need_tensor(input, "get_device").get_device()


@public
def detach_(input: Tensor) -> Tensor:
    """
    Take a tensor's history away: ``input.detach_()``.

    Parameters
    ----------
    input : Tensor

    Returns
    -------
    Tensor
        The same one.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.detach_(ag.ones(2, requires_grad=True) * 2)
    tensor([2., 2.])
    """
    return _need_tensor(input, "detach_").detach_()


@public
def as_strided_(
    input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """
    Show a tensor's memory with other sizes and strides: ``input.as_strided_(size, stride)``.

    Parameters
    ----------
    input : Tensor
    size, stride : sequence of int
    storage_offset : int, optional
        That of the tensor.

    Returns
    -------
    Tensor
        The same one.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.as_strided_(ag.arange(4), (2, 2), (1, 2))
    tensor([[0, 2],
            [1, 3]])
    """
    return _need_tensor(input, "as_strided_").as_strided_(size, stride, storage_offset)


@public
def zero_(input: Tensor) -> Tensor:
    """
    Set all elements of a tensor to zero, in place.

    Parameters
    ----------
    input : Tensor
        The tensor.

    Returns
    -------
    Tensor
        The same one.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zero_(ag.ones(2))
    tensor([0., 0.])
    """
    return _need_tensor(input, "zero_").zero_()


@public
def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """
    Give a tensor the shape of another one: ``input.resize_as_(the_template)``.

    Parameters
    ----------
    input, the_template : Tensor
    memory_format : memory_format, optional

    Returns
    -------
    Tensor
        The same one as `input`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.resize_as_(ag.ones(4), ag.ones(2, 2)).shape
    autograd_cy.Size([2, 2])
    """
    named = {} if memory_format is None else {"memory_format": memory_format}
    return _need_tensor(input, "resize_as_").resize_as_(the_template, **named)


@public
def is_signed(input: Tensor) -> bool:
    """
    Return whether the dtype of a tensor has negative numbers.

    Parameters
    ----------
    input : Tensor

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.is_signed(ag.ones(1)), ag.is_signed(ag.ones(1, dtype=ag.uint8))
    (True, False)
    """
    return _need_tensor(input, "is_signed").is_signed()


@public
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """
    Return whether two tensors have the same shape.

    Parameters
    ----------
    input, other : Tensor

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.is_same_size(ag.ones(2, 3), ag.zeros(3, 2))
    False
    """
    _check_arguments("is_same_size", (input, "Tensor", "input", 1), (other, "Tensor", "other", 2))
    return input.is_same_size(other)


@public
def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """
    Return the norms of the slices along a dimension, with sizes that broadcast.

    Parameters
    ----------
    v : Tensor
    pow : int, default 2
        The order of the norm.
    dim : int, default 0
        -1 takes the norm of all elements, without dimensions; other negative numbers count from
        the end.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.norm_except_dim(ag.tensor([[3.0, 4.0], [0.0, 1.0]]))
    tensor([[5.],
            [1.]])
    """
    _check_arguments(
        "norm_except_dim", (v, "Tensor", "v", 1), (pow, "int", "pow", 2), (dim, "int", "dim", 3)
    )
    if dim == -1:
        return _reduction.norm(v, pow)
    along = need_dim(dim, v.ndim)
    others = [d for d in range(v.ndim) if d != along]
    return _reduction.norm(v, pow, others, keepdim=True) if others else v.abs()


def is_storage(obj: Any) -> bool:
    """
    Return whether an object is the memory block of tensors.

    Parameters
    ----------
    obj : object

    Returns
    -------
    bool

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.is_storage(ag.ones(1).untyped_storage()), ag.is_storage(ag.ones(1))
    (True, False)
    """
    return isinstance(obj, (UntypedStorage, TypedStorage))


def typename(obj: Any, /) -> str:
    """
    Name of the kind of an object, with its module: of a tensor, that of its tensor type.

    Parameters
    ----------
    obj : object
        Of a class or function, its own name.

    Returns
    -------
    str

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.typename(ag.ones(1)), ag.typename([1]), ag.typename(ag.nn.Linear(1, 1))
    ('autograd_cy.FloatTensor', 'list', 'autograd_cy.nn.layer.Linear')
    """
    if isinstance(obj, Tensor):
        return _type_name(obj)
    if isinstance(obj, TensorType):
        return f"autograd_cy.{obj.__name__}"
    named = obj if isinstance(obj, (type, FunctionType, BuiltinFunctionType)) else type(obj)
    module = getattr(named, "__module__", None)
    name = getattr(named, "__qualname__", named.__name__)
    return name if module in ("", None, "builtins") else f"{module}.{name}"
