"""Attributes that are views: real and imaginary parts, and transposes."""

from __future__ import annotations

from autograd_cy._C import ops_complex as _complex
from autograd_cy._C import ops_shape as _shape
from autograd_cy._C.tensor import _install, _warn_once

# --- parts of complex numbers ----------------------------------------------------------------


def _set_real(self, value):
    """Write the real part; `value` is broadcast and converted."""
    _complex.real(self).copy_(value)


def _set_imag(self, value):
    """Write the imaginary part of a complex tensor."""
    _complex.imag(self).copy_(value)


# --- transposes --------------------------------------------------------------------------------


def _warn_of_reversal(ndim):
    if ndim:
        text = (
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
            "deprecated. Consider `x.mT` to transpose batches of matrices, or "
            "`x.permute(tuple(range(x.ndim - 1, -1, -1)))`."
        )
    else:
        text = "x.T is deprecated on 0-D tensors. This function is the identity in these cases."
    _warn_once(text)


def _transposed(self):
    """The tensor with its dimensions reversed."""
    if self.ndim != 2:
        _warn_of_reversal(self.ndim)
    return _shape.permute(self, tuple(range(self.ndim - 1, -1, -1)))


def _matrix_transposed(self):
    """The tensor with its last two dimensions exchanged."""
    if not self.ndim:
        return self
    if self.ndim < 2:
        raise RuntimeError(
            f"tensor.mT is only supported on matrices or batches of matrices. Got {self.ndim}-D "
            "tensor."
        )
    return _shape.transpose(self, -2, -1)


def _adjoint(self):
    """The conjugate transpose of a matrix."""
    if self.ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor."
        )
    return _complex.conj(_shape.t(self))


def _conjugate_transposed(self):
    """The conjugate of mT."""
    if not self.ndim:
        _warn_once("Tensor.mH is deprecated on 0-D tensors. Consider using x.conj().")
    return _complex.conj(_matrix_transposed(self))


for _name, _attribute in {
    "T": property(_transposed),
    "mT": property(_matrix_transposed),
    "mH": property(_conjugate_transposed),
    "H": property(_adjoint),
    "_conj": _complex._conj,
    "_neg_view": _complex._neg_view,
    "real": property(
        _complex.real, _set_real, doc="The real part as a view; a real tensor itself."
    ),
    "imag": property(
        _complex.imag, _set_imag, doc="The imaginary part of a complex tensor, a view."
    ),
}.items():
    _install(_name, _attribute)
