"""Functions of the namespace that are methods: ``add(x, y)`` is ``x.add(y)``, also of Variables.

Where a function takes numbers, they stand before the tensor that they belong to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd_cy as ag

from ._dispatch import is_variable, variable_among
from .creation import into
from .tensors.classes import EraTensor
from .tensors.wrapping import era, is_number, refuse

__all__ = ["FUNCTIONS"]

NAMES = (
    "abs acos add addbmm addcdiv addcmul addmm addmv addr asin atan atan2 baddbmm bernoulli bmm "
    "ceil clamp cos cosh cross cumprod cumsum diag dist div dot eq equal exp floor fmod frac "
    "gather ge ger gt histc index_select kthvalue le lerp log log1p lt masked_select max mean "
    "median min mm mode mul multinomial mv ne neg nonzero norm numel pow prod reciprocal remainder "
    "renorm round rsqrt sigmoid sign sin sinh sort sqrt squeeze std sub sum t tan tanh topk trace "
    "transpose tril triu trunc unsqueeze var "
    # Linear algebra, of tensors only.
    "inverse gesv gels symeig eig svd qr geqrf orgqr ormqr potrf potri potrs pstrf trtrs"
).split()
SUMS_OF_PRODUCTS = ("addmm", "addbmm", "baddbmm", "addmv", "addr")


# Functions that Variables had no method for, and the core can differentiate.
BY_THE_CORE = ("atan2", "cross", "cumprod", "cumsum", "trace")


def _by_the_core(name, args, kwargs):
    # Here, so that tensors alone don't load modules.
    from .nn._modern import modern

    variables = [a for a in args if is_variable(a)]
    sizes = [tuple(v.size()) for v in variables]
    if len(set(sizes)) > 1:
        raise RuntimeError(f"{name}: inconsistent tensor sizes {sizes[0]} and {sizes[1]}")
    rest = [a for a in args if not is_variable(a)]

    def compute(*tensors):
        return getattr(ag, name)(*tensors, *rest, **kwargs)

    return modern(name.capitalize(), compute, *variables)


def _on_variables(name, args, kwargs):
    first = args[0]
    if name == "pow" and is_number(first):
        return first ** args[1]
    if not is_variable(first):
        refuse(name, args, "Variables or tensors, not both (use Variable(tensor) or .data)")
    if name in BY_THE_CORE:
        return _by_the_core(name, args, kwargs)
    method = getattr(first, name, None)
    if method is None:
        raise AttributeError(f"{name}: Variables have no such method; it takes tensors (.data)")
    return method(*args[1:], **kwargs)


def _on_tensors(name, args, kwargs):
    first = args[0]
    if name == "pow" and is_number(first):
        return first ** era(args[1], name)
    return getattr(EraTensor, name)(era(first, name), *args[1:], **kwargs)


def _in_order_of_the_method(args, kwargs):
    """(beta, M, alpha, a, b) as (M, beta, alpha, a, b); either number may be left out."""
    rest = list(args)
    beta = rest.pop(0) if rest and is_number(rest[0]) else kwargs.pop("beta", 1)
    if not rest:
        return args
    added = rest.pop(0)
    alpha = rest.pop(0) if rest and is_number(rest[0]) else kwargs.pop("alpha", 1)
    return added, beta, alpha, *rest


def _function(name):
    reorder = name in SUMS_OF_PRODUCTS

    def function(*args, out=None, **kwargs):
        if not args:
            raise TypeError(f"{name}() needs a tensor or a Variable")
        if reorder:
            args = _in_order_of_the_method(args, kwargs)
        if variable_among(args) is None:
            return into(out, _on_tensors(name, args, kwargs), name)
        if out is not None:
            raise TypeError(f"{name}: out= takes the results of tensors, not of Variables")
        return _on_variables(name, args, kwargs)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "autograd_cy.legacy"
    function.__doc__ = getattr(EraTensor, name).__doc__
    return function


FUNCTIONS: dict[str, Callable[..., Any]] = {name: _function(name) for name in NAMES}
