"""
Names of ``torch.distributions``, which can be imported and say what to use when they are called.

Examples
--------
>>> from autograd_cy.distributions import Normal
>>> Normal(0.0, 1.0)
Traceback (most recent call last):
RuntimeError: Normal: autograd_cy has no counterpart of torch.distributions.Normal (draw with ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from autograd_cy._lazy import attach as _attach

__all__ = ["register_kl"]

_Function = TypeVar("_Function", bound=Callable)


def register_kl(type_p: type, type_q: type) -> Callable[[_Function], _Function]:
    """
    Return a decorator that leaves a function as it is: nothing asks for divergences here.

    Parameters
    ----------
    type_p, type_q : type
        Distributions.

    Returns
    -------
    callable

    Examples
    --------
    >>> from autograd_cy import distributions
    >>> @distributions.register_kl(distributions.Normal, distributions.Normal)
    ... def divergence(p, q):
    ...     return 0
    >>> divergence(1, 1)
    0
    """
    return lambda function: function


__getattr__, __dir__ = _attach(__name__)
