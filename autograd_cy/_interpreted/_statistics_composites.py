"""Quantiles by sorting, covariances by products of matrices."""

from __future__ import annotations

from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.launch import is_capturing
from autograd_cy._C.levels import _batch_level
from autograd_cy._C.tensor import Tensor
from autograd_cy._tensors.namespace import (
    bfloat16,
    clamp,
    complex,
    conj,
    diagonal,
    float16,
    float32,
    float64,
    full_like,
    gather,
    imag,
    int64,
    isnan,
    lerp,
    logical_not,
    matmul,
    movedim,
    promote_types,
    real,
    round,
    sort,
    sqrt,
    squeeze,
    sum,
    tensor,
    unsqueeze,
    where,
)
from autograd_cy._tensors.namespace import bool as _bool
from autograd_cy._tensors.predicates import need_dim


def _is_visible(t: Tensor) -> bool:
    """Tell whether a program may look at the values of a tensor now."""
    return not is_capturing() and _batch_level(t) < 0 and t.device.type == "cpu"


def _looks_at_weights(t: Tensor) -> bool:
    """Tell whether weights have values to check, which a device is waited for, as in torch."""
    if _batch_level(t) >= 0 or t.device.type == "meta":
        return False
    if is_capturing():
        raise RuntimeError("cov: can't be captured: it checks the values of its weights")
    return True


# --- quantiles ------------------------------------------------------------------------------------

HALVES = (float16, bfloat16)  # computed in float32
WORDS = ("linear", "lower", "higher", "midpoint", "nearest")
MOST = 16_000_000  # elements, as in torch


def quantile(
    self: Tensor, q: float | Tensor, dim: int | None, keepdim: bool, *, interpolation: str
) -> Tensor:
    return _quantile("quantile", self, q, dim, keepdim, interpolation)


def nanquantile(
    self: Tensor, q: float | Tensor, dim: int | None, keepdim: bool, *, interpolation: str
) -> Tensor:
    return _quantile("nanquantile", self, q, dim, keepdim, interpolation)


def _quantile(
    op: str, self: Tensor, q: float | Tensor, dim: int | None, keepdim: bool, interpolation: str
) -> Tensor:
    which = _check_quantile(op, self, q, interpolation)
    if dim is None:
        rows, place = self.reshape(-1), 0
    else:
        place = need_dim(dim, max(self.ndim, 1))
        rows = movedim(self, place, -1) if self.ndim else self.reshape(-1)
    if not self.numel():
        raise RuntimeError(f"{op}() input tensor must be non-empty")
    ordered = sort(rows, -1)[0]
    last = rows.shape[-1] - 1
    if op == "quantile":  # NaN is sorted behind all others, and chosen if there is one
        ranks = where(isnan(ordered.narrow(-1, last, 1)), last, which * last)
    else:
        count = sum(logical_not(isnan(ordered)), -1, True)
        ranks = clamp((count - 1) * which, min=0)
    result = _between(ordered, ranks, interpolation)
    if keepdim and dim is None:
        result = result.reshape((1,) * self.ndim + tuple(result.shape))
    elif keepdim and self.ndim:
        result = unsqueeze(result, place)
    if isinstance(q, Tensor) and q.ndim:
        return movedim(result, -1, 0)
    return squeeze(result, -1)


def _between(ordered: Tensor, ranks: Tensor, interpolation: str) -> Tensor:
    """Return the elements at ranks, which needn't be whole."""
    if ranks.ndim < ordered.ndim:
        ranks = ranks.expand(*ordered.shape[:-1], ranks.shape[-1])
    if interpolation == "nearest":
        return gather(ordered, -1, round(ranks).to(int64))
    below = ranks.floor()
    if interpolation == "lower":
        return gather(ordered, -1, below.to(int64))
    above = gather(ordered, -1, ranks.ceil().to(int64))
    if interpolation == "higher":
        return above
    weights = full_like(ranks, 0.5) if interpolation == "midpoint" else ranks - below.detach()
    return lerp(gather(ordered, -1, below.to(int64)), above, weights)


def _check_quantile(op: str, self: Tensor, q: float | Tensor, interpolation: str) -> Tensor:
    """Refuse what has no quantile, and return `q` as a vector."""
    if self.dtype not in (float32, float64):
        raise RuntimeError(
            f"{op}() input tensor must be either float or double dtype, not {self.dtype}"
        )
    if interpolation not in WORDS:
        raise RuntimeError(
            f"{op}() interpolation must be one of linear, lower, higher, midpoint or nearest, but "
            f"got {interpolation}"
        )
    if self.numel() > MOST:
        raise RuntimeError(f"{op}() input tensor is too large: {self.numel()} elements")
    if not isinstance(q, Tensor):
        if not 0 <= q <= 1:
            raise RuntimeError(f"{op}() q must be in the range [0, 1] but got {q}")
        return tensor([q], dtype=self.dtype, device=self.device)
    if q.ndim > 1:
        raise RuntimeError(
            f"{op}() q must be a scalar or 1D tensor, but has the shape {list(q.shape)}"
        )
    if q.dtype != self.dtype:
        raise RuntimeError(
            f"{op}() q tensor must be same dtype as the input tensor, but they are {q.dtype} and "
            f"{self.dtype}"
        )
    if q.device != self.device:
        raise RuntimeError(
            f"{op}() q tensor must be on the same device as the input tensor, but they are on "
            f"{q.device} and {self.device}"
        )
    if _is_visible(q) and q.numel() and not bool(((q >= 0) & (q <= 1)).all()):
        raise RuntimeError(f"{op}() q values must be in the range [0, 1]")
    return q.reshape(-1)


# --- covariances ----------------------------------------------------------------------------------


def cov(
    self: Tensor, *, correction: int, fweights: Tensor | None, aweights: Tensor | None
) -> Tensor:
    if self.ndim > 2:
        raise RuntimeError(
            "cov(): expected input to have two or fewer dimensions but got an input with "
            f"{self.ndim} dimensions"
        )
    if self.dtype == _bool:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    if self.dtype in HALVES:
        wide = cov(self.to(float32), correction=correction, fweights=fweights, aweights=aweights)
        kind = self.dtype if aweights is None else promote_types(self.dtype, aweights.dtype)
        return wide.to(kind)
    rows = self.reshape(1, -1) if self.ndim < 2 else self
    count = rows.shape[1]
    _check_weights("fweights", fweights, count)
    _check_weights("aweights", aweights, count)
    if fweights is None and aweights is None:
        freedom = float(count - correction)
        _warn_of_freedom(freedom)
        centred = rows - sum(rows, 1, True) / count
        return squeeze(matmul(centred, conj(centred.t())) / max(freedom, 0.0))
    weights = fweights if aweights is None else aweights
    assert weights is not None
    if fweights is not None and aweights is not None:
        weights = fweights * aweights
    total = sum(weights)
    if _looks_at_weights(total) and not bool(total != 0):
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    centred = rows - sum(rows * weights, 1, True) / total
    if aweights is None:
        norm = total - correction
    elif correction == 0:
        norm = total
    else:
        norm = total - correction * sum(weights * aweights) / total
    if _looks_at_weights(norm) and bool(norm <= 0):
        _warn_of_freedom(0.0)
    product = matmul(centred, conj((centred * weights).t()))
    return squeeze(product / clamp(norm, min=0))


def _warn_of_freedom(freedom: float) -> None:
    if freedom <= 0:
        _warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number "
            "of observations."
        )


def _check_weights(name: str, weights: Tensor | None, count: int) -> None:
    if weights is None:
        return
    if weights.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
            f"{weights.ndim} dimensions"
        )
    whole = not (weights.is_floating_point() or weights.is_complex() or weights.dtype == _bool)
    if name == "fweights" and not whole:
        raise RuntimeError(
            "cov(): expected fweights to have integral dtype but got fweights with "
            f"{weights.dtype} dtype"
        )
    if name == "aweights" and not weights.is_floating_point():
        raise RuntimeError(
            "cov(): expected aweights to have floating point dtype but got aweights with "
            f"{weights.dtype} dtype"
        )
    if weights.numel() != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input "
            f"but got {weights.numel()} != {count}"
        )
    if _looks_at_weights(weights) and weights.numel() and bool((weights < 0).any()):
        raise RuntimeError(f"cov(): {name} cannot be negative")


def corrcoef(self: Tensor) -> Tensor:
    if self.ndim > 2:
        raise RuntimeError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{self.ndim} dimensions"
        )
    if self.dtype in HALVES:
        return corrcoef(self.to(float32)).to(self.dtype)
    covariances = cov(self, correction=1, fweights=None, aweights=None)
    if not covariances.ndim:
        return covariances / covariances
    deviations = sqrt(real(diagonal(covariances)))
    result = covariances / unsqueeze(deviations, 1) / unsqueeze(deviations, 0)
    # Rounding may lead out of the range.
    if not result.is_complex():
        return clamp(result, -1, 1)
    return complex(clamp(real(result), -1, 1), clamp(imag(result), -1, 1))
