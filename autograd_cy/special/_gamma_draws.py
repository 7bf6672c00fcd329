"""
Draws of gamma numbers and of Dirichlet vectors, by rejection of normal numbers.

The normal and uniform numbers come from the generator as float64, so that a seed gives the same
results on every machine. What is drawn is a constant; the gradient by a concentration comes from
the record that the numbers go through.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_cy._C.batching import _rule_of_random
from autograd_cy._C.creation import empty
from autograd_cy._C.dtypes import float32, float64
from autograd_cy._C.exchange import from_numpy
from autograd_cy._C.random import Generator
from autograd_cy._C.tensor import Tensor
from autograd_cy._interpreted import special

__all__ = ["_sample_dirichlet", "_standard_gamma"]


class _Source:
    """Simple numbers, as arrays, from the generator of a tensor's device."""

    def __init__(self, like: Tensor, generator: Generator | None):
        self._device, self._generator = like.device, generator

    def _fill(self, count: int) -> Tensor:
        return empty(count, dtype=float64, device=self._device)

    def uniform(self, count: int) -> np.ndarray:
        return self._fill(count).uniform_(generator=self._generator).cpu().numpy()

    def normal(self, count: int) -> np.ndarray:
        return self._fill(count).normal_(generator=self._generator).cpu().numpy()


def _array(x: Tensor) -> np.ndarray:
    return x.detach().to(float64).cpu().contiguous().numpy()


def _tensor(x: np.ndarray, like: Tensor) -> Tensor:
    result = from_numpy(np.ascontiguousarray(x)).reshape(x.shape)
    return result.to(dtype=like.dtype, device=like.device)


def _check_arguments(op: str, generator: Any, *tensors: Any) -> None:
    for place, x in enumerate(tensors, 1):
        if not isinstance(x, Tensor):
            raise TypeError(f"{op}(): argument {place} must be Tensor, not {type(x).__name__}")
    if generator is not None and not isinstance(generator, Generator):
        raise TypeError(
            f"{op}(): argument 'generator' must be autograd_cy.Generator, "
            f"not {type(generator).__name__}"
        )


# --- gamma ----------------------------------------------------------------------------------------


def _log_gamma_numbers(a: np.ndarray, source: _Source) -> np.ndarray:
    """
    Logarithms of gamma numbers: G. Marsaglia, W. W. Tsang, "A simple method for generating gamma
    variables" (2000). Concentrations below 1 are raised by 1, which a power of a uniform number
    takes back.
    """
    a = a.reshape(-1)
    result = np.where(np.isinf(a) & (a > 0), np.inf, np.where(np.isnan(a), np.nan, -np.inf))
    fine = np.flatnonzero(np.isfinite(a) & (a > 0))
    small = a[fine] < 1
    d = np.where(small, a[fine] + 1, a[fine]) - 1 / 3
    c = 1 / np.sqrt(9 * d)
    drawn, left = np.empty(len(fine)), np.arange(len(fine))
    with np.errstate(divide="ignore", invalid="ignore"):
        while left.size:
            x, u = source.normal(left.size), source.uniform(left.size)
            v = (1 + c[left] * x) ** 3
            log_v = np.log(np.maximum(v, 0))
            taken = (v > 0) & (np.log(u) < x * x / 2 + d[left] * (1 - v + log_v))
            drawn[left[taken]] = np.log(d[left[taken]]) + log_v[taken]
            left = left[~taken]
        if small.any():
            drawn[small] += np.log(source.uniform(int(small.sum()))) / a[fine][small]
    result[fine] = drawn
    return result


def _standard_gamma(input: Tensor, generator: Generator | None = None) -> Tensor:
    """
    Draw gamma numbers with the rate 1.

    Parameters
    ----------
    input : Tensor
        The concentrations, of float32 or float64.
    generator : Generator, optional

    Returns
    -------
    Tensor
        Of the same shape and dtype; at least the least normal number of it. The gradient is that
        of the quantiles, with the probabilities fixed.

    Raises
    ------
    NotImplementedError
        If the dtype is another one.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.tensor([0.5, 2.0], requires_grad=True)
    >>> bool((ag._standard_gamma(x) > 0).all())
    True
    """
    _check_arguments("_standard_gamma", generator, input)
    rule = _rule_of_random()
    if rule is not None:
        return rule(
            "_standard_gamma", _standard_gamma, (input,), {"generator": generator}, "chances"
        )
    if input.dtype not in (float32, float64):
        raise NotImplementedError(f'"gamma_cpu" not implemented for {input.dtype._scalar!r}')
    drawn = np.exp(_log_gamma_numbers(_array(input), _Source(input, generator)))
    drawn = np.maximum(drawn, _tiny(input)).reshape(tuple(input.shape))
    return special._gamma_drawn(input, _tensor(drawn, input))


def _tiny(x: Tensor) -> float:
    return float(np.finfo(np.float32 if x.dtype is float32 else np.float64).tiny)


def _sample_dirichlet(input: Tensor, generator: Generator | None = None) -> Tensor:
    """
    Draw vectors of the simplex.

    Parameters
    ----------
    input : Tensor
        The concentrations, of float32 or float64, in the last dimension.
    generator : Generator, optional

    Returns
    -------
    Tensor
        Of the same shape and dtype.

    Raises
    ------
    NotImplementedError
        If the dtype is another one.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag._sample_dirichlet(ag.tensor([0.5, 2.0])).sum()
    tensor(1.)
    """
    _check_arguments("_sample_dirichlet", generator, input)
    rule = _rule_of_random()
    if rule is not None:
        return rule(
            "_sample_dirichlet", _sample_dirichlet, (input,), {"generator": generator}, "values"
        )
    if input.dtype not in (float32, float64):
        raise NotImplementedError(f'"dirichlet" not implemented for {input.dtype._scalar!r}')
    logs = _log_gamma_numbers(_array(input), _Source(input, generator))
    logs = logs.reshape(tuple(input.shape) or (1,))
    if logs.size:
        # Sums of logarithms: small concentrations give numbers that underflow.
        top = logs.max(-1, keepdims=True)
        parts = np.exp(logs - np.where(np.isfinite(top), top, 0))
        with np.errstate(invalid="ignore"):
            logs = parts / parts.sum(-1, keepdims=True)
        logs = np.clip(logs, _tiny(input), 1)
    drawn = _tensor(logs.reshape(tuple(input.shape)), input)
    return special._dirichlet_drawn(input, drawn)
