"""What has another form as a function than as a method: polygamma and is_same_size.

The function polygamma takes its arguments in another order than its record; that of is_same_size
is loaded when it is first used (as_functions.py).
"""

from __future__ import annotations

from autograd_cy._C.tensor import Tensor, _install
from autograd_cy._tensors.predicates import need_tensor

__all__ = ["polygamma"]


def _is_same_size(self, other):
    """Whether another tensor has the same shape."""
    return self.shape == need_tensor(other, "is_same_size", "other").shape


def polygamma(n: int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """
    The `n`-th derivative of the digamma function; order 0 is digamma itself.

    Parameters
    ----------
    n : int
        Not negative.
    input : Tensor
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        If `n` is negative.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.polygamma(1, ag.tensor([1.0]))
    tensor([1.6449])
    """
    from autograd_cy._interpreted.special import _polygamma as computed

    return computed(input, n, out=out)


def _polygamma(self: Tensor, n: int) -> Tensor:
    """The `n`-th derivative of the digamma function, see :func:`polygamma`."""
    from autograd_cy._interpreted.special import _polygamma as computed

    return computed(self, n)


def _polygamma_(self: Tensor, n: int) -> Tensor:
    """In-place form of :func:`polygamma`."""
    from autograd_cy._interpreted.special import _polygamma_ as computed

    return computed(self, n)


for _name, _function in {
    "is_same_size": _is_same_size,
    "polygamma": _polygamma,
    "polygamma_": _polygamma_,
}.items():
    _install(_name, _function)
