"""Conversion to other dtypes, devices and memory formats, and the dtype of several operands."""

from __future__ import annotations

from builtins import bool as _bool
from typing import Any

from autograd_cy._C import dtypes as _dtypes
from autograd_cy._C import ops_copying as _copying
from autograd_cy._C.arguments import _result_type
from autograd_cy._C.dtypes import dtype as _dtype
from autograd_cy._C.placement import _device_code
from autograd_cy._C.placement import contiguous_format as _contiguous_format
from autograd_cy._C.placement import device as _device
from autograd_cy._C.placement import memory_format as _memory_format
from autograd_cy._C.placement import preserve_format as _preserve_format
from autograd_cy._C.tensor import Tensor, _install, _type_name
from autograd_cy._tensors.predicates import need_tensor
from autograd_cy._tensors.tensor_types import kind_of as _kind_of

__all__ = ["result_type"]


def result_type(tensor: Any, other: Any) -> Any:
    """
    Return the dtype that an operation on both gives by torch's promotion rules.

    Parameters
    ----------
    tensor, other : Tensor or Number
        The operands. A number, or a 0-d tensor beside one with dimensions, counts only by its kind:
        bool, integer, float or complex.

    Returns
    -------
    dtype

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.result_type(ag.tensor([1, 2]), 1.0)
    autograd_cy.float32
    """
    return _result_type(tensor, other)


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
    """Merge `args` with the named arguments; none may be given twice."""
    first, rest = args[0], args[1:]
    twice = False
    if isinstance(first, Tensor):
        twice = dtype is not None or device is not None
        dtype, device = first.dtype, first.device
    elif isinstance(first, (_device, str)) or type(first) is int or (first is None and rest):
        twice = device is not None
        device = _device(first) if type(first) is int else first
        if rest and _is_dtype(rest[0]):
            twice = twice or dtype is not None
            dtype, rest = rest[0], rest[1:]
    elif _is_dtype(first):
        twice = dtype is not None
        dtype = first
    else:
        twice = True
    if twice or len(rest) > 2 or any(type(x) is not _bool for x in rest):
        raise _no_such_conversion(args)
    return dtype, device, *rest, *((non_blocking, copy)[len(rest) :])


def _strides_in(shape, memory_format):
    """Return the strides of a dense tensor of 4 or 5 dimensions in a memory format."""
    order = [*range(len(shape))]
    if memory_format is not _contiguous_format:
        order.append(order.pop(1))
    strides, step = [1] * len(shape), 1
    for d in reversed(order):
        strides[d] = step
        step *= max(shape[d], 1)
    return tuple(strides)


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
    non_blocking : bool, default False
        Whether a copy between pinned memory and another device may go on after this returns.
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
        out = _copying._to_device(out, place, non_blocking)
    if copy and out is self:
        out = _copying.clone(self)
    if memory_format is not None and memory_format is not _preserve_format:
        if not out.is_contiguous(memory_format=memory_format):
            out = _copying._contiguous(out, memory_format)
        elif out.dim() in (4, 5) and out.stride() != _strides_in(out.shape, memory_format):
            # Where both orders fit, the strides say which one is meant.
            out = _copying.clone(out, memory_format=memory_format)
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
    """This tensor with the dtype of `other`, on the device of `other`."""
    need_tensor(other, "type_as", "other")
    return _to(self, dtype=other.dtype, device=other.device)


def _type(self, dtype=None, non_blocking=False):
    """
    Name of the tensor type, or the tensor in another dtype.

    Parameters
    ----------
    dtype : dtype, tensor type or str, optional
        Such as ``ag.float64``, ``ag.DoubleTensor`` or ``"torch.cuda.DoubleTensor"``. A dtype
        leaves the tensor where it is; the others say where it goes.
    non_blocking : bool
        Whether a copy between pinned memory and another device may go on after this returns.

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
    wanted, home = _kind_of(dtype)
    place = None if home in (None, self.device.type) else home
    return _to(self, dtype=wanted, device=place, non_blocking=non_blocking)


def _cpu(self):
    """This tensor on the CPU; itself if it is there already."""
    return _to(self, device="cpu")


def _cuda(self, device=None, non_blocking=False):
    """
    This tensor on the current GPU, or on another one; itself if it is there already.

    Parameters
    ----------
    device : device or str or int, optional
        The current GPU unless given; a number is an index of one.
    non_blocking : bool, default False
        Whether a copy from pinned memory may go on after this returns.

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        If GPUs can't be used: the text says whether kernels, PyCUDA or the driver are missing.
    """
    if device is None:
        device = "cuda"
    elif isinstance(device, int) and not isinstance(device, _bool):
        device = _device("cuda", device)
    return _to(self, device=device, non_blocking=non_blocking)


def _contiguous(self, *, memory_format=None):
    """Return a contiguous tensor of the same values; the tensor itself if it is contiguous."""
    if isinstance(memory_format, _memory_format):
        if self.is_contiguous(memory_format=memory_format):
            return self
        return _copying._contiguous(self, memory_format)
    if memory_format is not None:
        raise TypeError(f"memory_format must be a memory_format, not {memory_format!r}")
    if self.is_contiguous():
        return self
    return _copying._contiguous(self)


for _name, _method in {
    "to": _to,
    "type": _type,
    "type_as": _type_as,
    "cpu": _cpu,
    "cuda": _cuda,
    "contiguous": _contiguous,
}.items():
    _install(_name, _method)
