"""The tensor types of the older interface: ``FloatTensor`` and its relatives.

They construct tensors of one dtype and answer ``isinstance``; every tensor is in fact a
:class:`Tensor`. ``Tensor.new`` is the same constructor with the dtype of a tensor at hand.
"""

from __future__ import annotations

import operator
from typing import Any

from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.copying import _rebuild_tensor
from autograd_cy._C.creation import empty
from autograd_cy._C.creation import tensor as _tensor
from autograd_cy._C.default_device import set_default_device
from autograd_cy._C.dtypes import (
    _bool,
    bfloat16,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
)
from autograd_cy._C.dtypes import dtype as _dtype
from autograd_cy._C.exchange import UntypedStorage
from autograd_cy._C.placement import _require_device, strided
from autograd_cy._C.placement import device as _device
from autograd_cy._C.tensor import Size, Tensor, _dtype_of_type_name, _install
from autograd_cy.storage import TypedStorage

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
    "set_default_tensor_type",
]


class TensorType(type):
    """Class of the tensor types: it makes tensors, and knows them by their dtype."""

    _kind: _dtype
    _home = "cpu"  # the type of device of its tensors
    _module = "autograd_cy"
    _has_instances = False  # no tensor is of such a class, so none dispatches to it (see overrides)

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], *, dtype: Any = None
    ) -> TensorType:
        if dtype is None:
            raise TypeError(
                f"type '{bases[0].__module__}.{bases[0].__name__}' is not an acceptable base type; "
                "derive from autograd_cy.Tensor"
            )
        cls = super().__new__(mcs, name, bases, {**namespace, "__module__": mcs._module})
        cls._kind = dtype
        return cls

    def __call__(cls, *args: Any, **kwargs: Any) -> Tensor:
        return construct(cls._kind, args, **kwargs)

    def __instancecheck__(cls, instance: object) -> bool:
        return (
            isinstance(instance, Tensor)
            and instance.dtype == cls._kind
            and instance.device.type == cls._home
        )

    # Data descriptors of the class of a class win over what it inherits from Tensor.

    @property
    def dtype(cls) -> _dtype:
        """The dtype of the tensors."""
        return cls._kind

    @property
    def layout(cls) -> Any:
        """The layout of the tensors."""
        return strided

    @property
    def is_cuda(cls) -> bool:
        """Tell if the tensors are on a GPU."""
        return cls._home == "cuda"

    @property
    def is_sparse(cls) -> bool:
        """True if the tensors are sparse: no."""
        return False


def construct(
    dtype: _dtype, args: tuple, *, device: Any = None, where: Any = "cpu", **named: Any
) -> Tensor:
    """
    Return a tensor as ``FloatTensor(...)`` makes it.

    Parameters
    ----------
    dtype : dtype
    args : tuple
        Nothing (no elements), sizes or one Size (uninitialised elements), a sequence or array of
        values, a tensor of `dtype` (an alias of it, which autograd follows), or a storage (the
        same memory).
    device : device or str, optional
        That of `where`.
    where : device or str
        Where the result lies; the CPU but for ``Tensor.new``.
    **named
        `data` or `size` by name.

    Raises
    ------
    TypeError
        If `args` are none of these.
    RuntimeError
        If a value doesn't fit the dtype, a size is negative, or the device is no CPU.
    """
    if device is not None and _require_device(device).type != _device(where).type:
        raise RuntimeError(
            f"legacy constructor expects device type: {_device(where).type} but device type: "
            f"{_device(device).type} was passed; use empty() or tensor() with device="
        )
    if device is not None:
        where = device
    for name in ("data", "size"):
        if name in named and not args:
            value = named.pop(name)
            args = (Size(value),) if name == "size" else (value,)
    if named:
        raise TypeError(
            "new() received an invalid combination of arguments - got "
            f"({', '.join([*(type(a).__name__ for a in args), *named])}); what there is: sizes, "
            "data, or a tensor or storage, and device"
        )
    if not args:
        return empty(0, dtype=dtype, device=where)
    if len(args) > 1:
        return empty([_size(a, i) for i, a in enumerate(args)], dtype=dtype, device=where)
    (data,) = args
    if isinstance(data, Tensor):
        if data.dtype != dtype:
            raise TypeError(f"new(): expected a tensor of {dtype} (got {data.dtype}); convert it")
        if data.device.type != _device(where).type:
            raise RuntimeError(
                f"legacy constructor expects device type: {_device(where).type} but device type: "
                f"{data.device.type} was passed; move it with .to()"
            )
        return data[...]
    if isinstance(data, Size):
        return empty(data, dtype=dtype, device=where)
    if isinstance(data, (TypedStorage, UntypedStorage)):
        return _on_storage(data, dtype, _device(where).type)
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if hasattr(data, "__len__") and hasattr(data, "__getitem__") and not isinstance(data, dict):
        return _tensor(data, dtype=dtype, device=where)
    if hasattr(data, "__index__") and not isinstance(data, bool):
        return empty(_size(data, 0), dtype=dtype, device=where)
    raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")


def _on_storage(storage: TypedStorage | UntypedStorage, dtype: _dtype, home: str) -> Tensor:
    if storage.device.type != home:
        raise TypeError(f"new(): expected a storage on {home}, not on {storage.device}")
    if isinstance(storage, TypedStorage):
        if storage.dtype != dtype:
            raise TypeError(f"new(): expected a storage of {dtype} (got {storage.dtype})")
        storage = storage.untyped()
    size = (storage.nbytes() // dtype.itemsize,)
    return _rebuild_tensor(Tensor, storage, dtype, 0, size, (1,), False)


def _size(value: Any, position: int) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"new(): argument 'size' failed to unpack the object at pos {position + 1} with error "
            f'"type must be tuple of ints,but got {type(value).__name__}"'
        ) from None


def kind_of(kind: Any) -> tuple[_dtype, str | None]:
    """
    Return the dtype, and the type of device, that a tensor type, its name or a dtype stands for.

    Returns
    -------
    dtype, str or None
        A dtype alone is of any device, which is None.

    Raises
    ------
    ValueError
        If a name or class is no tensor type.
    TypeError
        If `kind` is something else.
    """
    if isinstance(kind, _dtype):
        return kind, None
    if isinstance(kind, TensorType):
        return kind.dtype, kind._home
    if kind is Tensor:
        return get_default_dtype(), None
    if isinstance(kind, str):
        module = kind.rpartition(".")[0]
        home = "cuda" if module in ("torch.cuda", "autograd_cy.cuda") else "cpu"
        if home == "cpu" and module not in ("torch", "autograd_cy"):
            raise ValueError(f"invalid type: '{kind}'")
        if kind.endswith(".Tensor"):
            return get_default_dtype(), home
        return _dtype_of_type_name(kind), home
    if isinstance(kind, type):
        raise ValueError(f"invalid type: '{kind.__name__}'")
    raise TypeError("dtype must be a type, str, or dtype object")


class FloatTensor(Tensor, metaclass=TensorType, dtype=float32):
    """
    Make float32 tensors, as in the older interface; see also :func:`autograd_cy.tensor`.

    Parameters
    ----------
    *args
        Nothing, sizes or a Size (uninitialised elements), a sequence or array of values, a float32
        tensor (the result shows its memory, and gradients flow to it), or a storage.
    device : device or str, optional
        The CPU.

    Returns
    -------
    Tensor
        Of float32. ``isinstance(t, FloatTensor)`` tells whether a tensor has that dtype.

    Raises
    ------
    TypeError
        If the arguments are none of these, or a tensor has another dtype.
    RuntimeError
        If a value doesn't fit or a size is negative.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.FloatTensor([1, 2])
    tensor([1., 2.])
    >>> ag.FloatTensor(2, 3).shape
    autograd_cy.Size([2, 3])
    >>> isinstance(ag.ones(1), ag.FloatTensor), isinstance(ag.ones(1).long(), ag.FloatTensor)
    (True, False)
    """


class DoubleTensor(Tensor, metaclass=TensorType, dtype=float64):
    """
    Make float64 tensors; arguments and errors are those of :class:`FloatTensor`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.DoubleTensor([1, 2])
    tensor([1., 2.], dtype=autograd_cy.float64)
    """


class HalfTensor(Tensor, metaclass=TensorType, dtype=float16):
    """
    Make float16 tensors; arguments and errors are those of :class:`FloatTensor`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.HalfTensor([1, 2])
    tensor([1., 2.], dtype=autograd_cy.float16)
    """


class BFloat16Tensor(Tensor, metaclass=TensorType, dtype=bfloat16):
    """
    Make bfloat16 tensors; arguments and errors are those of :class:`FloatTensor`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.BFloat16Tensor([1, 2])
    tensor([1., 2.], dtype=autograd_cy.bfloat16)
    """


class ByteTensor(Tensor, metaclass=TensorType, dtype=uint8):
    """
    Make uint8 tensors; arguments and errors are those of :class:`FloatTensor`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.ByteTensor([1, 255])
    tensor([  1, 255], dtype=autograd_cy.uint8)
    """


class CharTensor(Tensor, metaclass=TensorType, dtype=int8):
    """
    Make int8 tensors; arguments and errors are those of :class:`FloatTensor`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.CharTensor([1, -2])
    tensor([ 1, -2], dtype=autograd_cy.int8)
    """


class ShortTensor(Tensor, metaclass=TensorType, dtype=int16):
    """
    Make int16 tensors; arguments and errors are those of :class:`FloatTensor`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.ShortTensor([1, 2])
    tensor([1, 2], dtype=autograd_cy.int16)
    """


class IntTensor(Tensor, metaclass=TensorType, dtype=int32):
    """
    Make int32 tensors; arguments and errors are those of :class:`FloatTensor`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.IntTensor([1, 2])
    tensor([1, 2], dtype=autograd_cy.int32)
    """


class LongTensor(Tensor, metaclass=TensorType, dtype=int64):
    """
    Make int64 tensors; arguments and errors are those of :class:`FloatTensor`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.LongTensor([1, 2])
    tensor([1, 2])
    """


class BoolTensor(Tensor, metaclass=TensorType, dtype=_bool):
    """
    Make bool tensors; arguments and errors are those of :class:`FloatTensor`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.BoolTensor([0, 1])
    tensor([False,  True])
    """


def set_default_tensor_type(t: Any, /) -> None:
    """
    Set the default dtype, and device, by a tensor type; :func:`set_default_dtype` is newer.

    Parameters
    ----------
    t : tensor type or str
        Such as ``DoubleTensor`` or ``"torch.DoubleTensor"``.

    Raises
    ------
    TypeError
        If the type isn't a floating one.

    Warns
    -----
    UserWarning
        Always: the function is deprecated.

    Examples
    --------
    >>> import autograd_cy as ag, warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     ag.set_default_tensor_type(ag.FloatTensor)
    >>> ag.get_default_dtype()
    autograd_cy.float32
    """
    dtype, home = kind_of(t)
    if not dtype.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _warn(
        "set_default_tensor_type() is deprecated, please use set_default_dtype() instead.",
        UserWarning,
    )
    set_default_device(None if home == "cpu" else home)
    set_default_dtype(dtype)


def new(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """
    Return a tensor of the dtype of this one, with arguments and errors of :class:`FloatTensor`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(1, dtype=ag.int32).new([4, 5])
    tensor([4, 5], dtype=autograd_cy.int32)
    """
    return construct(self.dtype, args, where=self.device, **kwargs)


_install("new", new)
