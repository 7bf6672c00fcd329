"""Attributes that are views, real and imaginary parts and transposes; the order of dimensions."""

from __future__ import annotations

from typing import Any

from autograd_cy._C import ops_complex as _complex
from autograd_cy._C import ops_shape as _shape
from autograd_cy._C.placement import memory_format
from autograd_cy._C.tensor import Tensor, _install, _warn_once

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


# --- the order of dimensions in memory ---------------------------------------------------------


def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """
    The dimensions in the order of memory, the outermost first.

    Parameters
    ----------
    ambiguity_check : bool or list of memory_format, optional
        Whether several possible orders are an error; or formats, of which the tensor must be in
        just one.

    Returns
    -------
    tuple of int

    Raises
    ------
    RuntimeError
        If several orders are possible, where that is checked.
    TypeError
        If `ambiguity_check` is something else.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(2, 3, 4, 5).to(memory_format=ag.channels_last).dim_order()
    (0, 2, 3, 1)
    """
    formats = ambiguity_check if isinstance(ambiguity_check, list) else None
    if not isinstance(ambiguity_check, bool) and (
        formats is None or not all(isinstance(f, memory_format) for f in formats)
    ):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    size, stride = tuple(self.shape), self.stride()
    unique = True
    if formats is not None:
        unique = sum(self.is_contiguous(memory_format=f) for f in formats) == 1
    elif ambiguity_check:
        unique = len({*stride}) == len(stride) and 1 not in size
    if not unique:
        raise RuntimeError(
            "The tensor does not have unique dim order, or cannot map to exact one of the given "
            "memory formats."
        )
    # Insertion, from the innermost dimension out, because those of stride 0 fit everywhere.
    order = [*range(self.ndim - 1, -1, -1)]
    for i in range(1, self.ndim):
        place = i
        for k in range(i - 1, -1, -1):
            inner, outer = order[k], order[place]
            if not stride[inner] or not stride[outer]:
                continue
            if (stride[inner], size[inner]) > (stride[outer], size[outer]):
                order[k], order[place] = outer, inner
                place = k
            elif stride[inner] < stride[outer]:
                break
    return tuple(order[::-1])


def module_load(self: Tensor, other: Tensor, assign: bool = False) -> Tensor:
    """
    What ``load_state_dict`` exchanges a parameter with: a subclass may define it otherwise.

    It is asked while ``__future__.get_swap_module_params_on_conversion()`` is true.

    Parameters
    ----------
    other : Tensor
        The value in the state.
    assign : bool, optional
        Whether `other` takes the place of the parameter, or its values are copied.

    Returns
    -------
    Tensor
        Neither `self` nor `other`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(2).module_load(ag.ones(2))
    tensor([1., 1.])
    """
    return other.detach() if assign else self.copy_(other).detach()


_install("dim_order", dim_order)
_install("module_load", module_load)

for _name, _attribute in {
    "T": property(_transposed),
    "mT": property(_matrix_transposed),
    "mH": property(
        lambda self: _complex.conj(_matrix_transposed(self)), doc="The conjugate of mT."
    ),
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
