"""
Derivatives of drawn numbers by their parameters, with the probability fixed.

A number z with distribution function F(z; a) and density p moves with the parameter by
dz/da = -dF/da / p (M. Figurnov, S. Mohamed, A. Mnih, "Implicit reparameterization gradients",
2018).
Both distributions here are exponential families in log t, so that

    dF/da = int_{-inf}^z p(t) (log t - E log t) dt,

which is minus the integral above z, too. The integrand changes its sign at t = exp(E log t); on the
side of z that doesn't have that point nothing cancels. In the variable log t (gamma) or logit t
(beta), p(t) / p(z) is the exponential of a concave function that is 0 at z: the integral ends
where that function is -45, and is computed by Gauss and Legendre's formula in the logarithm of the
distance from z, as tails may be many times as long as what is close to z.
"""

from __future__ import annotations

import numpy as np
import scipy.special  # type: ignore[import-untyped]

__all__ = ["dirichlet_derivative", "gamma_derivative"]

_DEPTH = 45.0  # e**-45 is less than a rounding of float64
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)


def _wide(*arrays: np.ndarray) -> list[np.ndarray]:
    """The arrays broadcast, as vectors of float64."""
    whole = np.broadcast_arrays(*(np.asarray(a, np.float64) for a in arrays))
    return [a.reshape(-1) for a in whole]


def _integrate(length: np.ndarray, integrand) -> np.ndarray:  # type: ignore[no-untyped-def]
    """Integrate a function of the distance from 0 to `length`."""
    near = np.minimum(length, 1.0)
    far = np.log1p(length / near)
    total = np.zeros_like(length)
    for node, weight in zip((_NODES + 1) / 2, _WEIGHTS / 2, strict=True):
        distance = np.expm1(node * far)
        total += weight * integrand(near * distance) * (1 + distance)
    return total * near * far


def _newton(length, depth, derivative):  # type: ignore[no-untyped-def]
    """The distance at which a convex `depth` is that of the end, from one that is too large."""
    for _ in range(32):
        better = length - (depth(length) - _DEPTH) / derivative(length)
        if not np.any(np.abs(better - length) > 0.05 * length):
            return better
        length = better
    return length


def gamma_derivative(concentration: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Derivative of gamma numbers by their concentration."""
    shape = np.broadcast_shapes(concentration.shape, drawn.shape)
    a, z = _wide(concentration, drawn)
    result = np.where(np.isnan(a) | np.isnan(z), np.nan, 0.0)
    with np.errstate(all="ignore"):
        fine = np.isfinite(a) & np.isfinite(z) & (a > 0) & (z > 0)
        middle = scipy.special.digamma(a)  # the mean of log t
        below = np.log(z) <= np.maximum(middle, 0)
        for side in (True, False):
            at = np.flatnonzero(fine & (below == side))
            if at.size:
                result[at] = (_gamma_below if side else _gamma_above)(a[at], z[at], middle[at])
    return result.reshape(shape).astype(drawn.dtype)


def _gamma_below(a: np.ndarray, z: np.ndarray, middle: np.ndarray) -> np.ndarray:
    off = np.log(z) - middle

    def depth(u):  # type: ignore[no-untyped-def]
        return a * u + z * np.expm1(-u)

    length = _newton((_DEPTH + z) / a, depth, lambda u: a - z * np.exp(-u))
    return -z * _integrate(length, lambda u: np.exp(-depth(u)) * (off - u))


def _gamma_above(a: np.ndarray, z: np.ndarray, middle: np.ndarray) -> np.ndarray:
    off = np.log(z) - middle
    length = np.where(z < 20, np.log1p(70 / z), np.sqrt(2 * _DEPTH / z) + 1 / z)
    return z * _integrate(length, lambda u: np.exp(a * u - z * np.expm1(u)) * (off + u))


def dirichlet_derivative(x: np.ndarray, alpha: np.ndarray, total: np.ndarray) -> np.ndarray:
    """
    Derivative of a part of a Dirichlet vector by its concentration, over 1 less the part.

    The part has a beta distribution. As its concentration changes, the other parts keep their
    proportions, and the derivative of each part j is this number times (1 if it is the part, else
    0) less x_j.
    """
    shape = np.broadcast_shapes(x.shape, alpha.shape, total.shape)
    part, a, b = _wide(x, alpha, total)
    b = b - a
    result = np.where(np.isnan(part) | np.isnan(a) | np.isnan(b), np.nan, 0.0)
    with np.errstate(all="ignore"):
        fine = (part > 0) & (part < 1) & (a > 0) & (b > 0) & np.isfinite(a) & np.isfinite(b)
        middle = scipy.special.digamma(a) - scipy.special.digamma(a + b)
        below = np.log(part) <= np.maximum(middle, -np.log1p(b))
        for side in (True, False):
            at = np.flatnonzero(fine & (below == side))
            if at.size:
                result[at] = _beta(part[at], a[at], b[at], middle[at], side)
    return result.reshape(shape).astype(x.dtype)


def _beta(
    x: np.ndarray, a: np.ndarray, b: np.ndarray, middle: np.ndarray, below: bool
) -> np.ndarray:
    """-dF/da / p / (1 - x), by the part of the integral on one side of x, in s = logit t."""
    start = scipy.special.logit(x)
    sign = -1.0 if below else 1.0
    log_x, log_rest = np.log(x), np.log1p(-x)

    def logs(u):  # type: ignore[no-untyped-def]
        s = start + sign * u
        rest = np.where(s < 0, -np.log1p(np.exp(-np.abs(s))), -s - np.log1p(np.exp(-np.abs(s))))
        return s + rest, rest  # log t, log(1 - t)

    def depth(u):  # type: ignore[no-untyped-def]
        t, rest = logs(u)
        return a * (log_x - t) + b * (log_rest - rest)

    def derivative(u):  # type: ignore[no-untyped-def]
        t = scipy.special.expit(start + sign * u)
        return sign * ((a + b) * t - a)

    # Far from x the depth is a straight line, which these distances are beyond.
    length = (_DEPTH - b * log_rest) / a - log_rest if below else (_DEPTH - a * log_x) / b - log_x
    length = _newton(length, depth, derivative)
    moment = _integrate(length, lambda u: np.exp(-depth(u)) * (logs(u)[0] - middle))
    return sign * x * moment
