"""Functions and methods that need no record of their own: conversions, predicates, comparisons."""

from __future__ import annotations

import warnings as _warnings
from builtins import bool as _bool
from typing import Any

from autograd_cy._C import dtypes as _dtypes
from autograd_cy._C import ops_arithmetic as _arithmetic
from autograd_cy._C import ops_comparison as _comparison
from autograd_cy._C import ops_complex as _complex
from autograd_cy._C import ops_copying as _copying
from autograd_cy._C import ops_shape as _shape
from autograd_cy._C.arguments import _check_arguments
from autograd_cy._C.dtypes import dtype as _dtype
from autograd_cy._C.placement import _device_code
from autograd_cy._C.placement import device as _device
from autograd_cy._C.placement import memory_format as _memory_format
from autograd_cy._C.tensor import Tensor, _install, _type_name, _warn_always
from autograd_cy._tensors.events import seen_as
from autograd_cy._tensors.tensor_types import dtype_of as _dtype_of_kind

__all__ = [
    "allclose",
    "equal",
    "is_complex",
    "is_conj",
    "is_floating_point",
    "is_inference",
    "is_neg",
    "is_nonzero",
    "is_tensor",
    "isclose",
    "numel",
    "result_type",
    "zero_",
]


def _need_tensor(x, op, name="input"):
    if not isinstance(x, Tensor):
        raise TypeError(f"{op}(): argument '{name}' must be Tensor, not {type(x).__name__}")
    return x


def is_tensor(obj: Any) -> bool:
    """
    Whether `obj` is a tensor.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.is_tensor(1.0)
    False
    """
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """
    Whether the dtype of a tensor is a floating one.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.is_floating_point(ag.ones(1))
    True
    """
    return _need_tensor(input, "is_floating_point").is_floating_point()


def is_complex(input: Tensor) -> bool:
    """
    Whether the dtype of a tensor is complex.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.is_complex(ag.ones(1))
    False
    """
    return _need_tensor(input, "is_complex").is_complex()


def is_inference(input: Tensor) -> bool:
    """
    Whether a tensor was made in inference mode.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.is_inference(ag.ones(1))
    False
    """
    return _need_tensor(input, "is_inference").is_inference()


def is_nonzero(input: Tensor) -> bool:
    """
    Whether the only element of a tensor isn't zero.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.is_nonzero(ag.tensor([0.0]))
    False
    """
    return bool(_need_tensor(input, "is_nonzero"))


def is_conj(input: Tensor) -> bool:
    """
    Whether the conjugation of a tensor is still to be done: memory holds the conjugates.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(1, dtype=ag.complex64)
    >>> ag.is_conj(x.conj()), ag.is_conj(x.conj().clone())
    (True, False)
    """
    return _need_tensor(input, "is_conj").is_conj()


def is_neg(input: Tensor) -> bool:
    """
    Whether the negation of a tensor is still to be done: memory holds the negatives.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> x = ag.ones(1, dtype=ag.complex64)
    >>> ag.is_neg(x.conj().imag), ag.is_neg(-x)
    (True, False)
    """
    return _need_tensor(input, "is_neg").is_neg()


def numel(input: Tensor) -> int:
    """
    Number of elements of a tensor.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.numel(ag.ones(2, 3))
    6
    """
    return _need_tensor(input, "numel").numel()


def result_type(tensor: Any, other: Any) -> Any:
    """
    The dtype that an operation on both gives by torch's promotion rules.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.result_type(ag.tensor([1, 2]), 1.0)
    autograd_cy.float32
    """
    return _dtypes_of_operands(tensor, other)


def _dtypes_of_operands(a, b):
    from autograd_cy._C.arguments import _result_type

    return _result_type(a, b)


@seen_as("aten::isclose")
def isclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """
    Whether ``|input - other| <= atol + rtol * |other|``, element by element.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.isclose(ag.tensor([1.0]), ag.tensor([1.0 + 1e-7]))
    tensor([True])
    """
    _check_arguments(
        "isclose",
        (input, "Tensor", "input", 1),
        (other, "Tensor", "other", 2),
        (rtol, "float", "rtol", 3),
        (atol, "float", "atol", 4),
        (equal_nan, "bool", "equal_nan", 5),
    )
    if input.dtype != other.dtype:
        raise RuntimeError(f"{other.dtype} did not match {input.dtype}")
    if rtol < 0 or atol < 0:
        raise RuntimeError(f"rtol and atol must be >= 0, but got {rtol} and {atol}")
    close = _comparison.eq(input, other)
    if equal_nan:
        close = close | (_comparison.isnan(input) & _comparison.isnan(other))
    if rtol == 0 and atol == 0:
        return close
    if not (input.is_floating_point() or input.is_complex()):
        input, other = input.double(), other.double()
    gap = _arithmetic.abs(input - other)
    allowed = atol + _arithmetic.abs(rtol * other)
    return close | (_comparison.isfinite(gap) & (gap <= allowed))


@seen_as("aten::allclose")
def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """
    Whether all elements are close, see :func:`isclose`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.allclose(ag.ones(2), ag.ones(2) + 1e-9)
    True
    """
    _check_arguments("allclose", (input, "Tensor", "input", 1), (other, "Tensor", "other", 2))
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


@seen_as("aten::equal")
def equal(input: Tensor, other: Tensor) -> bool:
    """
    Whether two tensors have the same shape and elements.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.equal(ag.ones(2), ag.ones(2))
    True
    """
    _check_arguments("equal", (input, "Tensor", "input", 1), (other, "Tensor", "other", 2))
    return input.shape == other.shape and bool(_comparison.eq(input, other).all())


# --- methods ----------------------------------------------------------------------------------


def _is_dtype(x):
    return (
        x is None or isinstance(x, _dtype) or x is float or x is int or x is _bool or x is complex
    )


def _no_such_conversion(args, **named):
    words = [type(x).__name__ for x in args]
    words += [f"{name}={type(x).__name__}" for name, x in named.items()]
    return TypeError(
        f"to() received an invalid combination of arguments - got ({', '.join(words)}), but "
        "expected a dtype, a device, or a Tensor, then non_blocking and copy, both bool"
    )


def _to_arguments(args, dtype, device, non_blocking, copy):
    """What `args` say together with the named ones; nothing may be said twice."""
    first, rest = args[0], args[1:]
    twice = False
    if isinstance(first, Tensor):
        twice = dtype is not None or device is not None
        dtype, device = first.dtype, first.device
    elif isinstance(first, (_device, str)) or (first is None and rest):
        twice = device is not None
        device = first
        if rest and _is_dtype(rest[0]):
            twice = twice or dtype is not None
            dtype, rest = rest[0], rest[1:]
    elif type(first) is int:
        raise RuntimeError(f"to(): there is no device {first}; devices are 'cpu' and 'meta'")
    elif _is_dtype(first):
        twice = dtype is not None
        dtype = first
    else:
        twice = True
    if twice or len(rest) > 2 or any(type(x) is not _bool for x in rest):
        raise _no_such_conversion(args)
    return dtype, device, *rest, *((non_blocking, copy)[len(rest) :])


def _to(self, *args, dtype=None, device=None, copy=False, non_blocking=False, memory_format=None):
    """
    This tensor with another dtype or memory format; itself if nothing changes and `copy` is False.

    Parameters
    ----------
    *args
        A dtype, a device, or a tensor whose dtype and device to take, then `non_blocking` and
        `copy`.
    dtype : dtype, optional
    device : device or str, optional
    copy : bool, default False
        Copy even if nothing changes.
    memory_format : memory_format, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.ones(1).to(ag.float64)
    tensor([1.], dtype=autograd_cy.float64)
    """
    if args:
        dtype, device, non_blocking, copy = _to_arguments(args, dtype, device, non_blocking, copy)
    if not (copy is True or copy is False) or type(non_blocking) is not _bool:
        raise _no_such_conversion((), copy=copy, non_blocking=non_blocking)
    out = self
    if dtype is not None and dtype != self.dtype:
        out = _copying._to_dtype(self, dtype)
    if device is not None and (place := _device_code(device)) != _device_code(self.device):
        out = _copying._to_device(out, place)
    if copy and out is self:
        out = _copying.clone(self)
    if memory_format is not None and not out.is_contiguous(memory_format=memory_format):
        out = _copying._contiguous(out, memory_format)
    return out


def _conversion(name, dtype):
    def convert(self, *, memory_format=None):
        return _to(self, dtype=dtype, memory_format=memory_format)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"This tensor as {dtype!r}; itself if it has that dtype."
    return convert


for _name, _code in {
    "float": _dtypes.float32,
    "double": _dtypes.float64,
    "half": _dtypes.float16,
    "bfloat16": _dtypes.bfloat16,
    "int": _dtypes.int32,
    "long": _dtypes.int64,
    "short": _dtypes.int16,
    "char": _dtypes.int8,
    "byte": _dtypes.uint8,
    "bool": _dtypes._bool,
    "cfloat": _dtypes.complex64,
    "cdouble": _dtypes.complex128,
}.items():
    _install(_name, _conversion(_name, _code))


def _type_as(self, other):
    """This tensor with the dtype of `other`."""
    return _to(self, dtype=_need_tensor(other, "type_as", "other").dtype)


def _is_same_size(self, other):
    """Whether another tensor has the same shape."""
    return self.shape == _need_tensor(other, "is_same_size", "other").shape


def _type(self, dtype=None, non_blocking=False):
    """
    Name of the tensor type, or the tensor in another dtype.

    Parameters
    ----------
    dtype : dtype, tensor type or str, optional
        Such as ``ag.float64``, ``ag.DoubleTensor`` or ``"torch.DoubleTensor"``.
    non_blocking : bool
        Without effect on the CPU.

    Returns
    -------
    str or Tensor

    Raises
    ------
    ValueError
        If a name or class is no tensor type.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.ones(1).type()
    'autograd_cy.FloatTensor'
    >>> ag.ones(1).type(ag.LongTensor)
    tensor([1])
    """
    if dtype is None:
        return _type_name(self)
    return _to(self, dtype=_dtype_of_kind(dtype))


def _cpu(self):
    """This tensor on the CPU; itself if it is there already."""
    return _to(self, device="cpu")


def _cuda(self, device=None, non_blocking=False):
    """This tensor on a GPU; an error, since there is no GPU support yet."""
    return _to(self, device="cuda" if device is None else device)


def _contiguous(self, *, memory_format=None):
    """This tensor laid out in memory in order; itself if it is so already."""
    if isinstance(memory_format, _memory_format):
        if self.is_contiguous(memory_format=memory_format):
            return self
        return _copying._contiguous(self, memory_format)
    if memory_format is not None:
        raise TypeError(f"memory_format must be a memory_format, not {memory_format!r}")
    if self.is_contiguous():
        return self
    return _copying._contiguous(self)


def _set_real(self, value):
    """Write the real part; `value` is broadcast and converted."""
    _complex.real(self).copy_(value)


def _set_imag(self, value):
    """Write the imaginary part of a complex tensor."""
    _complex.imag(self).copy_(value)


_warned: set[str] = set()


def _warn_of_reversal(ndim):
    if ndim:
        text = (
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
            "deprecated. Consider `x.mT` to transpose batches of matrices, or "
            "`x.permute(tuple(range(x.ndim - 1, -1, -1)))`."
        )
    else:
        text = "x.T is deprecated on 0-D tensors. This function is the identity in these cases."
    if text not in _warned or _warn_always():
        _warned.add(text)
        _warnings.warn(text, UserWarning, stacklevel=3)


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


def _where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """
    This tensor where `condition` holds, `other` elsewhere.

    Parameters
    ----------
    condition : Tensor
        Of dtype bool.
    other : Tensor or Number

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(2).where(ag.tensor([True, False]), 5)
    tensor([0., 5.])
    """
    return _comparison.where(condition, self, other)


for _name, _function in {
    "to": _to,
    "type": _type,
    "type_as": _type_as,
    "cpu": _cpu,
    "cuda": _cuda,
    "contiguous": _contiguous,
    "isclose": isclose,
    "allclose": allclose,
    "equal": equal,
    "is_nonzero": is_nonzero,
    "is_same_size": _is_same_size,
    "where": _where,
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
    _install(_name, _function)


def zero_(input: Tensor) -> Tensor:
    """
    Set all elements of a tensor to zero, in place.

    Parameters
    ----------
    input : Tensor
        The tensor.

    Returns
    -------
    Tensor
        The same one.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zero_(ag.ones(2))
    tensor([0., 0.])
    """
    return _need_tensor(input, "zero_").zero_()


def _divided_into(self: Tensor, other: Any) -> Tensor:
    """Return ``other / self``, by the name that Python 2 had for it."""
    return self.reciprocal() * other


_install("__rdiv__", _divided_into)
