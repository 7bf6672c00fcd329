"""Methods that call a Python function for each element."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from autograd_cy._C.tensor import Tensor, _install
from autograd_cy._tensors.public import names_errors


def _all_indices(t: Tensor) -> Iterator[tuple[int, ...]]:
    return product(*map(range, t.shape))


def _refuse_recorded(tensors: tuple[Tensor, ...], name: str) -> None:
    if any(t.requires_grad for t in tensors):
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() "
            "instead."
        )


def _assign(t: Tensor, elements: list) -> Tensor:
    """All elements at once: an error of the function leaves the tensor as it was."""
    values = t.detach().new_zeros((len(elements),))
    for i, x in enumerate(elements):
        if not (hasattr(x, "__float__") or hasattr(x, "__index__") or isinstance(x, complex)):
            raise TypeError(f"must be real number, not {type(x).__name__}")
        values[i] = x if isinstance(x, (int, complex)) or hasattr(x, "dtype") else float(x)
    return t.copy_(values.reshape(t.shape))


def apply_(self: Tensor, callable: Callable) -> Tensor:
    """
    Replace each element by what a Python function makes of it.

    Slow, one call per element; not for tensors that require grad.

    Parameters
    ----------
    callable : callable
        Of a number; returns a number.

    Returns
    -------
    Tensor
        This one.

    Raises
    ------
    RuntimeError
        If the tensor requires grad.
    TypeError
        If the function returns no number; nothing is changed then.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.tensor([1.0, 2.0]).apply_(lambda v: v * v + 1)
    tensor([2., 5.])
    """
    _refuse_recorded((self,), "apply_")
    plain = self.detach()
    return _assign(self, [callable(plain[i].item()) for i in _all_indices(plain)])


@names_errors("map_")
def map_(self: Tensor, tensor: Tensor, callable: Callable) -> Tensor:
    """
    Replace each element by what a Python function makes of it and of the same element of `tensor`.

    Slow, one call per element; not for tensors that require grad.

    Parameters
    ----------
    tensor : Tensor
        Of the same dtype; broadcast to the shape of this one.
    callable : callable
        Of two numbers; returns a number.

    Returns
    -------
    Tensor
        This one.

    Raises
    ------
    RuntimeError
        If a tensor requires grad.
    TypeError
        If the dtypes differ, or the function returns no number; nothing is changed then.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.tensor([1.0, 2.0]).map_(ag.tensor([10.0, 20.0]), lambda a, b: b - a)
    tensor([ 9., 18.])
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"map_(): argument 'other' (position 1) must be Tensor, not {type(tensor).__name__}"
        )
    _refuse_recorded((self, tensor), "map_")
    if tensor.dtype != self.dtype:
        raise TypeError(
            f"map_: expected {self.type()} for 'other' (got {tensor.type()}); convert it first"
        )
    plain, other = self.detach(), tensor.detach().expand(self.shape)
    return _assign(self, [callable(plain[i].item(), other[i].item()) for i in _all_indices(plain)])


_install("apply_", apply_)
_install("map_", map_)
