"""The tensor types of the older interface for GPUs: ``cuda.FloatTensor`` and its relatives.

They make tensors of one dtype on the current GPU, and answer ``isinstance``.
"""

from __future__ import annotations

from typing import Any

from autograd_cy._C.dtypes import (
    _bool,
    bfloat16,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from autograd_cy._C.tensor import Tensor
from autograd_cy._tensors.tensor_types import TensorType, construct

__all__ = [
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
]


class GPUTensorType(TensorType):
    """Class of the tensor types of GPUs: it makes tensors there, and knows them by their dtype."""

    _home = "cuda"
    _module = "autograd_cy.cuda"

    def __call__(cls, *args: Any, **kwargs: Any) -> Tensor:
        return construct(cls._kind, args, where="cuda", **kwargs)


class FloatTensor(Tensor, metaclass=GPUTensorType, dtype=float32):
    """
    Make float32 tensors on the current GPU, as in the older interface.

    Parameters
    ----------
    *args
        As of :class:`autograd_cy.FloatTensor`.
    device : device or str, optional
        Another GPU.

    Returns
    -------
    Tensor
        ``isinstance(t, FloatTensor)`` tells whether a tensor has that dtype and is on a GPU.

    Raises
    ------
    RuntimeError
        If GPUs can't be used; the text says what is missing.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> isinstance(ag.ones(1), ag.cuda.FloatTensor)
    False
    """


class DoubleTensor(Tensor, metaclass=GPUTensorType, dtype=float64):
    """
    Make float64 tensors on the current GPU; see :class:`FloatTensor`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> isinstance(ag.ones(1), ag.cuda.DoubleTensor)
    False
    """


class HalfTensor(Tensor, metaclass=GPUTensorType, dtype=float16):
    """
    Make float16 tensors on the current GPU; see :class:`FloatTensor`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> isinstance(ag.ones(1), ag.cuda.HalfTensor)
    False
    """


class BFloat16Tensor(Tensor, metaclass=GPUTensorType, dtype=bfloat16):
    """
    Make bfloat16 tensors on the current GPU; see :class:`FloatTensor`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> isinstance(ag.ones(1), ag.cuda.BFloat16Tensor)
    False
    """


class ByteTensor(Tensor, metaclass=GPUTensorType, dtype=uint8):
    """
    Make uint8 tensors on the current GPU; see :class:`FloatTensor`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> isinstance(ag.ones(1), ag.cuda.ByteTensor)
    False
    """


class CharTensor(Tensor, metaclass=GPUTensorType, dtype=int8):
    """
    Make int8 tensors on the current GPU; see :class:`FloatTensor`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> isinstance(ag.ones(1), ag.cuda.CharTensor)
    False
    """


class ShortTensor(Tensor, metaclass=GPUTensorType, dtype=int16):
    """
    Make int16 tensors on the current GPU; see :class:`FloatTensor`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> isinstance(ag.ones(1), ag.cuda.ShortTensor)
    False
    """


class IntTensor(Tensor, metaclass=GPUTensorType, dtype=int32):
    """
    Make int32 tensors on the current GPU; see :class:`FloatTensor`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> isinstance(ag.ones(1), ag.cuda.IntTensor)
    False
    """


class LongTensor(Tensor, metaclass=GPUTensorType, dtype=int64):
    """
    Make int64 tensors on the current GPU; see :class:`FloatTensor`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> isinstance(ag.ones(1), ag.cuda.LongTensor)
    False
    """


class BoolTensor(Tensor, metaclass=GPUTensorType, dtype=_bool):
    """
    Make bool tensors on the current GPU; see :class:`FloatTensor`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> isinstance(ag.ones(1), ag.cuda.BoolTensor)
    False
    """
