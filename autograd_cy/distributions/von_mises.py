"""Von Mises' distribution of angles."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from autograd_cy import Tensor, float64, no_grad, special, where

from . import constraints
from .distribution import _OfParameters

__all__ = ["VonMises"]


class VonMises(_OfParameters):
    r"""
    Von Mises' distribution of angles, with density
    :math:`e^{\kappa \cos(x - \mu)} / 2 \pi I_0(\kappa)`.

    Parameters
    ----------
    loc, concentration : Tensor or float
        :math:`\mu` and :math:`\kappa`.
    validate_args : bool, optional

    Notes
    -----
    Samples are drawn by D. J. Best, N. I. Fisher, "Efficient simulation of the von Mises
    distribution" (1979). The variance is the circular one.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.VonMises(0.0, 2.0).log_prob(torch.tensor(0.0))
    tensor(-0.6619)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "loc": constraints.real,
        "concentration": constraints.positive,
    }
    support = constraints.real
    has_rsample = False
    _parameters = ("loc", "concentration")
    loc: Tensor
    concentration: Tensor

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None):
        super().__init__(loc, concentration, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return 1 - special.i1e(self.concentration) / special.i0e(self.concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        k = self.concentration
        # k (cos - 1), without the difference of numbers that are nearly equal.
        inner = -2 * k * ((value - self.loc) / 2).sin().square()
        return inner - math.log(2 * math.pi) - special.i0e(k).log()

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            k = self.concentration.to(float64).expand(shape).reshape(-1)
            tau = 1 + (1 + 4 * k.square()).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * k)
            # Small concentrations lose the difference, and have a series.
            r = where(k < 1e-5, 1 / k + k, (1 + rho.square()) / (2 * rho))
            angles = k.new_empty(k.shape)
            left = (k == k).nonzero().squeeze(-1)
            angles[k != k] = float("nan")
            while left.numel():
                u = k.new_empty((3, left.numel())).uniform_()
                z = (math.pi * u[0]).cos()
                f = ((1 + r[left] * z) / (r[left] + z)).clamp(-1, 1)
                c = k[left] * (r[left] - f)
                taken = (c * (2 - c) > u[1]) | ((c / u[1]).log() + 1 - c >= 0)
                angles[left[taken]] = ((u[2] - 0.5).sign() * f.acos())[taken]
                left = left[~taken]
            turned = angles.reshape(shape) + math.pi + self.loc
            return (turned % (2 * math.pi) - math.pi).to(self.loc.dtype)
