"""
Samples: the gradient of each is that of minus reward times log probability.

Denominators have 1e-6 added, so that a probability of 0 gives a large number, not infinity.
"""

from __future__ import annotations

import autograd_cy as ag

from ...tensors.wrapping import is_number
from ..stochastic_function import StochasticFunction
from .shapes import in_shape, one_minus

__all__ = ["Bernoulli", "Multinomial", "Normal"]

_SMALL = 1e-6


class Multinomial(StochasticFunction):
    """Indices drawn with weights, those of a vector or of each row."""

    def __init__(self, num_samples, with_replacement):
        self.num_samples = num_samples
        self.with_replacement = with_replacement

    def forward(self, weights):
        samples = weights.multinomial(self.num_samples, self.with_replacement)
        self.save_for_backward(weights, samples)
        return samples

    def backward(self, reward):
        weights, samples = self.saved_tensors
        p = ag.div(weights, ag.sum(weights, -1, keepdim=True))
        drawn = ag.add(ag.gather(p, -1, samples), _SMALL)
        return ag.scatter_add_(ag.zeros_like(p), -1, samples, ag.neg(ag.div(reward, drawn)))


class Bernoulli(StochasticFunction):
    """Ones with the probabilities of a tensor, and zeros."""

    def forward(self, p):
        samples = p.bernoulli()
        self.save_for_backward(p, samples)
        return samples

    def backward(self, reward):
        p, samples = self.saved_tensors
        variance = ag.mul(p, one_minus(p))
        return ag.mul(ag.div(ag.sub(p, samples), ag.add(variance, _SMALL)), reward)


class Normal(StochasticFunction):
    """
    Numbers around means, with one deviation or those of a second tensor.

    The gradient of the deviation is the exact one, (1 / std - (m - x)^2 / std^3) r; the release of
    the time had std in place of 1 / std.
    """

    def __init__(self, stddev=None):
        if stddev is not None and not is_number(stddev):
            raise TypeError(
                "normal: the deviation must be a number or a Variable, not a "
                f"{type(stddev).__name__}"
            )
        if stddev is not None and stddev <= 0:
            raise RuntimeError(f"normal: the standard deviation must be positive, not {stddev}")
        self.stddev = stddev

    def forward(self, means, stddevs=None):
        if (stddevs is None) is (self.stddev is None):
            raise RuntimeError(
                "Normal: give the deviation once, as a number to Normal(stddev) or as a Variable"
            )
        noise = means.new().resize_as_(means).normal_()
        samples = noise.mul_(self.stddev if stddevs is None else stddevs).add_(means)
        self.save_for_backward(means, stddevs, samples)
        return samples

    def backward(self, reward):
        means, stddevs, samples = self.saved_tensors
        away = ag.sub(means, samples)
        if stddevs is None:
            return ag.mul(ag.div(away, self.stddev**2 + _SMALL), reward)
        std = in_shape(stddevs, means.shape)
        of_means = ag.mul(ag.div(away, ag.add(ag.mul(std, std), _SMALL)), reward)
        cubes = ag.add(ag.pow(std, 3), _SMALL)
        derivative = ag.sub(ag.reciprocal(ag.add(std, _SMALL)), ag.div(ag.mul(away, away), cubes))
        return of_means, in_shape(ag.mul(derivative, reward), stddevs.shape)
