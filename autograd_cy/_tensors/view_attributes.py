"""Attributes that are views (parts of numbers, transposes), and the order of dimensions."""

from __future__ import annotations

from autograd_cy._C import ops_complex as _complex
from autograd_cy._C import ops_shape as _shape
from autograd_cy._C.placement import channels_last as _channels_last
from autograd_cy._C.placement import channels_last_3d as _channels_last_3d
from autograd_cy._C.placement import memory_format as _memory_format
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


_FORMATS = {
    (_channels_last, 4): (0, 2, 3, 1),
    (_channels_last_3d, 5): (0, 2, 3, 4, 1),
}


def dim_order(self, *, ambiguity_check=False):
    """
    Return the dimensions in their order in memory, the outermost first.

    Parameters
    ----------
    ambiguity_check : bool or list of memory_format
        Raise an error if strides or dimensions of size 1 leave the order open; of a list, unless
        the tensor has exactly one of these formats, whose order is returned.

    Returns
    -------
    tuple of int

    Raises
    ------
    RuntimeError
        If the order is open, and `ambiguity_check` says so.
    TypeError
        If `ambiguity_check` is something else.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.ones(2, 3).t().dim_order()
    (1, 0)
    """
    formats = ambiguity_check if isinstance(ambiguity_check, list) else []
    if not (isinstance(ambiguity_check, bool) or ambiguity_check is formats) or not all(
        isinstance(f, _memory_format) for f in formats
    ):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    strides = self.stride()
    order = _order_in_memory(tuple(self.shape), strides)
    if ambiguity_check is False or (len(set(strides)) == self.ndim and 1 not in self.shape):
        return order
    fitting = [f for f in formats if self.is_contiguous(memory_format=f)]
    if len(fitting) != 1:
        raise RuntimeError(
            "The tensor does not have unique dim order, or cannot map to exact one of the given "
            "memory formats."
        )
    return _FORMATS.get((fitting[0], self.ndim), tuple(range(self.ndim)))


def _order_in_memory(sizes, strides):
    """The dimensions by their strides; one of stride 0, which fits everywhere, keeps its place."""
    order = [*range(len(sizes) - 1, -1, -1)]
    for i in range(1, len(sizes)):
        place = i
        for k in range(i - 1, -1, -1):
            inner, outer = order[k], order[place]
            if not strides[inner] or not strides[outer]:
                continue
            if (strides[inner], sizes[inner]) > (strides[outer], sizes[outer]):
                order[k], order[place] = outer, inner
                place = k
            elif strides[inner] < strides[outer]:
                break
    return tuple(order[::-1])


def module_load(self, other, assign=False):
    """
    Return what takes the place of this parameter or buffer when a module loads `other` for it.

    For programs that swap parameters; `Module.load_state_dict` copies values itself.

    Parameters
    ----------
    other : Tensor
    assign : bool
        Whether `other` itself is to be used.

    Returns
    -------
    Tensor
        Without history: `other`, or this tensor, which has its values then.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.ones(2).module_load(ag.zeros(2))
    tensor([0., 0.])
    """
    return other.detach() if assign else self.copy_(other).detach()


_install("dim_order", dim_order)
_install("module_load", module_load)

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
