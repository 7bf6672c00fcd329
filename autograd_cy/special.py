"""
Special functions by the names they have in ``torch.special``.

Each is a function of the top level, under the same or another name.

Examples
--------
>>> import autograd_cy as ag
>>> ag.special.expit(ag.tensor([0.0]))
tensor([0.5000])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from autograd_cy._environment.absent_names import no_attribute
from autograd_cy._interpreted import complete as _complete
from autograd_cy._interpreted.special import i0, i0e, i1, i1e
from autograd_cy._tensors.namespace import (
    Tensor,
    digamma,
    erf,
    erfc,
    exp2,
    expm1,
    igamma,
    igammac,
    lgamma,
    log1p,
    logit,
    logsumexp,
    polygamma,
    round,
    sigmoid,
    xlogy,
)
from autograd_cy._tensors.namespace import log_softmax as _log_softmax
from autograd_cy._tensors.namespace import softmax as _softmax

__all__ = [
    "digamma",
    "erf",
    "erfc",
    "exp2",
    "expit",
    "expm1",
    "gammainc",
    "gammaincc",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "log1p",
    "log_softmax",
    "logit",
    "logsumexp",
    "polygamma",
    "psi",
    "round",
    "softmax",
    "xlogy",
]

expit = sigmoid
gammainc = igamma
gammaincc = igammac
gammaln = lgamma
psi = digamma


def softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """
    Softmax along a dimension, which must be given.

    Parameters
    ----------
    input : Tensor
        Of a floating dtype, unless `dtype` is given.
    dim : int
        Along which the elements of the result sum to 1.
    dtype : dtype, optional
        To which the input is converted first.

    Returns
    -------
    Tensor
        Of the shape of `input`.

    Raises
    ------
    IndexError
        If there is no such dimension.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.special.softmax(ag.zeros(2), 0)
    tensor([0.5000, 0.5000])
    """
    return _softmax(input, dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """
    Logarithm of the softmax along a dimension, which must be given.

    Parameters
    ----------
    input : Tensor
        Of a floating dtype, unless `dtype` is given.
    dim : int
        Along which the exponentials of the result sum to 1.
    dtype : dtype, optional
        To which the input is converted first.

    Returns
    -------
    Tensor
        Of the shape of `input`.

    Raises
    ------
    IndexError
        If there is no such dimension.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.special.log_softmax(ag.zeros(1), 0)
    tensor([0.])
    """
    return _log_softmax(input, dim, dtype=dtype)


_complete("special", globals())


if not TYPE_CHECKING:  # type checkers name what isn't there themselves

    def __getattr__(name: str) -> NoReturn:
        raise no_attribute(__name__, name)
