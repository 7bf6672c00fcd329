"""Transforms of each number by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autograd_cy import Tensor, finfo
from autograd_cy.nn.functional import softplus

from . import constraints
from ._transform import Transform
from .constraints import Constraint
from .utils import _sum_rightmost


class ExpTransform(Transform):
    r"""
    The transform :math:`y = e^x`.

    Parameters
    ----------
    cache_size : int, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.ExpTransform()(torch.zeros(1))
    tensor([1.])
    """

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExpTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class PowerTransform(Transform):
    r"""
    The transform :math:`y = x^p` of positive numbers.

    Parameters
    ----------
    exponent : Tensor
    cache_size : int, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.PowerTransform(torch.tensor(2.0))(torch.tensor([3.0]))
    tensor([9.])
    """

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0):
        super().__init__(cache_size=cache_size)
        from autograd_cy import as_tensor

        self.exponent = as_tensor(exponent)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return PowerTransform(self.exponent, cache_size=cache_size)

    @property
    def sign(self) -> Any:
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all())

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return _broadcast(shape, self.exponent.shape)

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        return _broadcast(shape, self.exponent.shape)


def _broadcast(*shapes: Sequence[int]) -> Any:
    from autograd_cy import broadcast_shapes

    return broadcast_shapes(*shapes)


class SigmoidTransform(Transform):
    r"""
    The transform :math:`y = 1 / (1 + e^{-x})`.

    Parameters
    ----------
    cache_size : int, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.SigmoidTransform()(torch.zeros(1))
    tensor([0.5000])
    """

    domain = constraints.real
    codomain = constraints.unit_interval
    bijective = True
    sign = 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SigmoidTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        limits = finfo(x.dtype)
        return x.sigmoid().clamp(min=limits.tiny, max=1.0 - limits.eps)

    def _inverse(self, y: Tensor) -> Tensor:
        limits = finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(Transform):
    r"""
    The transform :math:`y = \log(1 + e^x)`.

    Parameters
    ----------
    cache_size : int, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.SoftplusTransform()(torch.zeros(1))
    tensor([0.6931])
    """

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SoftplusTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x)


class TanhTransform(Transform):
    r"""
    The transform :math:`y = \tanh x`.

    Parameters
    ----------
    cache_size : int, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.TanhTransform()(torch.zeros(1))
    tensor([0.])
    """

    domain = constraints.real
    codomain = constraints.interval(-1.0, 1.0)
    bijective = True
    sign = 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TanhTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        # log(1 - tanh(x)**2) = 2 log(2 / (e**x + e**-x)), without cancellation
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AbsTransform(Transform):
    r"""
    The transform :math:`y = |x|`, whose pseudo-inverse is the identity.

    Parameters
    ----------
    cache_size : int, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.AbsTransform()(torch.tensor([-1.0]))
    tensor([1.])
    """

    domain = constraints.real
    codomain = constraints.positive

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbsTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class AffineTransform(Transform):
    r"""
    The transform :math:`y = a + b x`.

    Parameters
    ----------
    loc, scale : Tensor or float
    event_dim : int, optional
        How many dimensions on the right are one value.
    cache_size : int, optional

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.distributions.AffineTransform(1.0, 2.0)(torch.ones(1))
    tensor([3.])
    """

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0):
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @property
    def domain(self) -> Constraint:  # type: ignore[override]
        dim = self.event_dim
        return constraints.independent(constraints.real, dim) if dim else constraints.real

    @property
    def codomain(self) -> Constraint:  # type: ignore[override]
        return self.domain

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return AffineTransform(self.loc, self.scale, self.event_dim, cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, AffineTransform)
            and _all_equal(self.loc, other.loc)
            and _all_equal(self.scale, other.scale)
        )

    __hash__ = Transform.__hash__

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return 1 if self.scale > 0 else -1 if self.scale < 0 else 0

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        scale, shape = self.scale, x.shape
        if isinstance(scale, Tensor):
            result = scale.abs().log()
        else:
            result = x.new_full(shape, math.log(abs(scale)))
        if self.event_dim:
            result = result.expand(_broadcast(result.shape, shape))
            result = _sum_rightmost(result, self.event_dim)
            shape = shape[: -self.event_dim]
        return result.expand(shape)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        return _broadcast(shape, _shape(self.loc), _shape(self.scale))

    inverse_shape = forward_shape


def _shape(value: Any) -> Sequence[int]:
    return getattr(value, "shape", ())


def _all_equal(one: Any, other: Any) -> bool:
    equal = one == other
    return bool(equal.all()) if isinstance(equal, Tensor) else bool(equal)
