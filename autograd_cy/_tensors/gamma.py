"""polygamma, whose function takes its arguments in another order than its record."""

from __future__ import annotations

from autograd_cy._C.arguments import _check_arguments
from autograd_cy._C.tensor import Tensor, _install

__all__ = ["polygamma"]


def polygamma(n: int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """
    Return the `n`-th derivative of the digamma function; order 0 is digamma itself.

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

    # The record has the arguments in another order, so that its errors would name other places.
    _check_arguments("polygamma", (n, "int", "n", 1), (input, "Tensor", "input", 2))
    return computed(input, n, out=out)


def _polygamma(self: Tensor, n: int) -> Tensor:
    """Return the `n`-th derivative of the digamma function, see :func:`polygamma`."""
    from autograd_cy._interpreted.special import _polygamma as computed

    _check_arguments("polygamma", (n, "int", "n", 1))
    return computed(self, n)


def _polygamma_(self: Tensor, n: int) -> Tensor:
    """In-place form of :func:`polygamma`."""
    from autograd_cy._interpreted.special import _polygamma_ as computed

    _check_arguments("polygamma_", (n, "int", "n", 1))
    return computed(self, n)


_install("polygamma", _polygamma)
_install("polygamma_", _polygamma_)
