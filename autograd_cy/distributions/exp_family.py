"""Exponential families."""

from __future__ import annotations

from typing import Any

from autograd_cy import Tensor, autograd, enable_grad

from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    r"""
    The base of distributions with densities :math:`e^{\theta \cdot t(x) - F(\theta) + k(x)}`.

    Subclasses define `_natural_params`, the function `_log_normalizer` of these, and
    `_mean_carrier_measure`, the mean of :math:`k(x)`. The entropy is made of them.

    Parameters
    ----------
    batch_shape : Size, optional
    event_shape : Size, optional
    validate_args : bool, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> isinstance(torch.distributions.Gamma(1.0, 1.0), torch.distributions.ExponentialFamily)
    True
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError(f"{type(self).__name__} does not define _natural_params")

    def _log_normalizer(self, *natural_params: Any) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} does not define _log_normalizer")

    @property
    def _mean_carrier_measure(self) -> float:
        raise NotImplementedError(f"{type(self).__name__} does not define _mean_carrier_measure")

    def _normalizer(self) -> tuple[tuple[Tensor, ...], Tensor, tuple[Tensor, ...]]:
        """Parameters, the normalizer, and its gradients: the means of the statistics."""
        with enable_grad():
            params = tuple(p.detach().requires_grad_() for p in self._natural_params)
            value = self._log_normalizer(*params)
            return params, value, autograd.grad(value.sum(), params, create_graph=True)

    def entropy(self) -> Tensor:
        mean = self._mean_carrier_measure
        params, value, means = self._normalizer()
        result = value - mean
        for param, one in zip(params, means, strict=True):
            product = param * one
            result = result - product.reshape((*self._batch_shape, -1)).sum(-1)
        return result
