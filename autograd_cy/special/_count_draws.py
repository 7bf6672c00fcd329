"""Draws of Poisson and binomial numbers, by search and by rejection; their sources are those of
_gamma_draws.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_cy._C.batching import _rule_of_random
from autograd_cy._C.random import Generator
from autograd_cy._C.tensor import Tensor
from autograd_cy._interpreted import special
from autograd_cy._tensors.events import seen_as
from autograd_cy.special._gamma_draws import _array, _check_arguments, _Source, _tensor

__all__ = ["binomial", "poisson"]


# --- Poisson --------------------------------------------------------------------------------------


def _by_search(u: np.ndarray, first: np.ndarray, factor: Any) -> np.ndarray:
    """
    Find the least number k up to which the probabilities exceed `u`.

    `first` is the probability of 0, and ``factor(k, at)`` that of k over that of k - 1, for the
    elements `at`.
    """
    k, chance, rest = np.zeros(len(u)), first.copy(), u - first
    left, step = np.flatnonzero(rest >= 0), 0
    while left.size:
        step += 1
        chance[left] *= factor(step, left)
        rest[left] -= chance[left]
        k[left] = step
        # Where sums are rounded to less than 1, the last numbers that have a chance end the search.
        left = left[(rest[left] >= 0) & (chance[left] > 1e-300)]
    return k


def _poisson_numbers(rate: np.ndarray, source: _Source) -> np.ndarray:
    """
    Poisson numbers: by search for rates below 10, else by PTRS of W. Hoermann, "The transformed
    rejection method for generating Poisson random variables" (1993).
    """
    from scipy.special import gammaln  # type: ignore[import-untyped]

    result = np.where(np.isinf(rate), np.inf, 0.0)
    low = np.flatnonzero((rate > 0) & (rate < 10))
    if low.size:
        some = rate[low]
        result[low] = _by_search(
            source.uniform(low.size), np.exp(-some), lambda k, at: some[at] / k
        )
    left = np.flatnonzero((rate >= 10) & np.isfinite(rate))
    b = 0.931 + 2.53 * np.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    fast = 0.9277 - 3.6624 / (b - 2)
    while left.size:
        u, v = source.uniform(left.size) - 0.5, source.uniform(left.size)
        near = 0.5 - np.abs(u)
        some, A, B = rate[left], a[left], b[left]
        with np.errstate(divide="ignore", invalid="ignore"):
            k = np.floor((2 * A / near + B) * u + some + 0.43)
            limit = k * np.log(some) - some - gammaln(k + 1)
            bent = np.log(v * inverse[left] / (A / (near * near) + B)) <= limit
        taken = ((near >= 0.07) & (v <= fast[left])) | (
            (k >= 0) & ((near >= 0.013) | (v <= near)) & bent
        )
        result[left[taken]] = k[taken]
        left = left[~taken]
    return result


@seen_as("aten::poisson")
def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """
    Draw Poisson numbers.

    Parameters
    ----------
    input : Tensor
        The rates, of a floating-point dtype, not negative.
    generator : Generator, optional

    Returns
    -------
    Tensor
        Of the same shape and dtype. Its gradient is zero.

    Raises
    ------
    RuntimeError
        If a rate is negative or NaN.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.poisson(ag.tensor([0.0, 0.0]))
    tensor([0., 0.])
    """
    _check_arguments("poisson", generator, input)
    rule = _rule_of_random()
    if rule is not None:
        return rule("poisson", poisson, (input,), {"generator": generator}, "chances")
    if not input.is_floating_point():
        raise NotImplementedError(f'"poisson_cpu" not implemented for {input.dtype._scalar!r}')
    rate = _array(input)
    if not (rate >= 0).all():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    drawn = _poisson_numbers(rate.reshape(-1), _Source(input, generator))
    return special._poisson_drawn(input, _tensor(drawn.reshape(rate.shape), input))


# --- binomial -------------------------------------------------------------------------------------


def _binomial_numbers(n: np.ndarray, chance: np.ndarray, source: _Source) -> np.ndarray:
    """
    Binomial numbers for chances up to 1/2: by search for means below 10, else by BTRS of
    W. Hoermann, "The generation of binomial random variates" (1993).
    """
    from scipy.special import gammaln  # type: ignore[import-untyped]

    result = np.where(np.isnan(n) | np.isnan(chance), np.nan, 0.0)
    possible = (n >= 1) & (chance > 0)
    low = np.flatnonzero(possible & (n * chance < 10))
    if low.size:
        count, odds = n[low], chance[low] / (1 - chance[low])
        first = np.exp(count * np.log1p(-chance[low]))
        result[low] = _by_search(
            source.uniform(low.size),
            first,
            lambda k, at: np.maximum(count[at] - k + 1, 0) / k * odds[at],
        )
    left = np.flatnonzero(possible & (n * chance >= 10))
    rest = 1 - chance
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(n * chance * rest)
        b = 1.15 + 2.53 * spread
        a = -0.0873 + 0.0248 * b + 0.01 * chance
        fast = 0.92 - 4.2 / b
        alpha = (2.83 + 5.1 / b) * spread
        log_odds = np.log(chance / rest)
        middle = np.floor((n + 1) * chance)
        at_middle = gammaln(middle + 1) + gammaln(n - middle + 1)
        while left.size:
            u, v = source.uniform(left.size) - 0.5, source.uniform(left.size)
            near = 0.5 - np.abs(u)
            A, B, N = a[left], b[left], n[left]
            k = np.floor((2 * A / near + B) * u + N * chance[left] + 0.5)
            inside = (k >= 0) & (k <= N)
            limit = at_middle[left] - gammaln(k + 1) - gammaln(N - k + 1)
            limit = limit + (k - middle[left]) * log_odds[left]
            bent = np.log(v * alpha[left] / (A / (near * near) + B)) <= limit
            taken = inside & (((near >= 0.07) & (v <= fast[left])) | bent)
            result[left[taken]] = k[taken]
            left = left[~taken]
    return result


@seen_as("aten::binomial")
def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """
    Draw numbers of successes.

    Parameters
    ----------
    count : Tensor
        Numbers of trials, of a floating-point dtype.
    prob : Tensor
        Probabilities of a success, of the same dtype; both are broadcast.
    generator : Generator, optional

    Returns
    -------
    Tensor
        It has no gradient.

    Raises
    ------
    ValueError
        If `count` is not of a floating-point dtype.
    RuntimeError
        If the dtypes differ.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.binomial(ag.tensor([3.0, 5.0]), ag.tensor([0.0, 1.0]))
    tensor([0., 5.])
    """
    _check_arguments("binomial", generator, count, prob)
    rule = _rule_of_random()
    if rule is not None:
        return rule("binomial", binomial, (count, prob), {"generator": generator}, "values")
    if not count.is_floating_point():
        raise ValueError(
            f"binomial only supports floating-point dtypes for count, got: {count.dtype._scalar}"
        )
    if prob.dtype != count.dtype:
        raise RuntimeError(f"Found dtype {prob.dtype._scalar} but expected {count.dtype._scalar}")
    n, chance = np.broadcast_arrays(_array(count), _array(prob))
    shape = n.shape
    n, chance = np.floor(n.reshape(-1)), np.clip(chance.reshape(-1), 0, 1)
    turned = chance > 0.5
    drawn = _binomial_numbers(n, np.where(turned, 1 - chance, chance), _Source(count, generator))
    drawn = np.where(turned, np.maximum(n, 0) - drawn, drawn)
    return _tensor(drawn.reshape(shape), count)
