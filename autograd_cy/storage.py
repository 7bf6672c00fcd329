"""
Memory blocks as objects: untyped ones, and the older kind that knows a dtype.

:class:`TypedStorage` and the classes with a name for each dtype (``FloatStorage``) are deprecated
in PyTorch, and warn once. New code uses ``Tensor.untyped_storage()``.
"""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from ._C._warned import warn as _warn
from ._C.copying import _rebuild_tensor, _storage_from_bytes
from ._C.creation import tensor
from ._C.dtypes import dtype as _Dtype
from ._C.dtypes import get_default_dtype
from ._C.exchange import UntypedStorage, _set_later
from ._C.tensor import Tensor, _install

__all__ = [  # noqa: F822 - the classes of each dtype are made at their first use
    "BFloat16Storage",
    "BoolStorage",
    "ByteStorage",
    "CharStorage",
    "ComplexDoubleStorage",
    "ComplexFloatStorage",
    "DoubleStorage",
    "FloatStorage",
    "HalfStorage",
    "IntStorage",
    "LongStorage",
    "ShortStorage",
    "Storage",
    "TypedStorage",
    "UntypedStorage",
]

# Storages have methods of these names.
_int = int
_bool = bool
_type = type

_DTYPES = {
    "BFloat16Storage": "bfloat16",
    "BoolStorage": "bool",
    "ByteStorage": "uint8",
    "CharStorage": "int8",
    "ComplexDoubleStorage": "complex128",
    "ComplexFloatStorage": "complex64",
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "IntStorage": "int32",
    "LongStorage": "int64",
    "ShortStorage": "int16",
}

_warned = False


def _warn_typed_storage_removal() -> None:
    global _warned
    if not _warned:
        _warned = True
        _warn(
            "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will "
            "be the only storage class. This should only matter to you if you are using storages "
            "directly.  To access UntypedStorage directly, use tensor.untyped_storage() instead of "
            "tensor.storage()",
            UserWarning,
        )


def _reset_warn_typed_storage_removal() -> None:
    global _warned
    _warned = False


def _dtype_named(name: str) -> _Dtype:
    from ._C import dtypes

    return dtypes._bool if name == "bool" else getattr(dtypes, name)


def _name_of(kind: _Dtype) -> str:
    """The name of the class of storages of a dtype."""
    short = str(kind).rpartition(".")[2]
    return next(name for name, of in _DTYPES.items() if of == short)


_FORMS = """
 * {none}
 * (int size{options})
 * (Sequence data{options})
 * (*, UntypedStorage wrap_storage{last})
"""


def _arguments(cls: type, args: tuple, wrap_storage: Any, where: str) -> str:
    """Check the arguments, and return the beginning of further messages about them."""
    typed = cls is TypedStorage
    options = ", *, torch.device device, torch.dtype dtype" if typed else ""
    forms = _FORMS.format(
        none="(*, torch.device device, torch.dtype dtype)" if typed else "no arguments",
        options=options,
        last=", torch.dtype dtype" if typed else "",
    )
    begin = f"{where} received an invalid combination of arguments. Expected one of:{forms}"
    if len(args) > 1:
        raise RuntimeError(f"{begin}Too many positional arguments")
    if wrap_storage is not None:
        if args:
            raise RuntimeError(
                f"{begin}No positional arguments should be given when using 'wrap_storage'"
            )
        if not isinstance(wrap_storage, UntypedStorage):
            raise TypeError(
                f"{begin}Argument 'wrap_storage' must be UntypedStorage, but got "
                f"{type(wrap_storage)}"
            )
    elif args and (
        isinstance(args[0], (Tensor, TypedStorage, UntypedStorage))
        or not (hasattr(args[0], "__index__") or isinstance(args[0], Sequence))
    ):
        raise TypeError(f"{begin}Argument type not recognized: {type(args[0])}")
    return begin


class TypedStorage:
    """
    A memory block seen as elements of one dtype.

    Parameters
    ----------
    size_or_data : int or sequence, optional
        A number of elements without values, 0 by default; or the elements.
    wrap_storage : UntypedStorage, optional
        The memory, instead of new memory.
    dtype : dtype, optional
        By default the default dtype.
    device : device, optional
        The CPU by default.

    Raises
    ------
    RuntimeError, TypeError
        If the arguments are others than these.

    Examples
    --------
    >>> import warnings
    >>> import autograd_cy as ag
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     s = ag.tensor([1.0, 2.0, 3.0])[1:].storage()
    >>> len(s), s[0]
    (3, 1.0)
    """

    is_sparse = False
    is_hpu = False
    _untyped_storage: UntypedStorage
    dtype: _Dtype

    def __init__(
        self,
        *args: Any,
        wrap_storage: UntypedStorage | None = None,
        dtype: _Dtype | None = None,
        device: Any = None,
        _internal: _bool = False,
    ):
        if not _internal:
            _warn_typed_storage_removal()
        begin = _arguments(TypedStorage, args, wrap_storage, "TypedStorage.__init__")
        if wrap_storage is not None:
            if dtype is None:
                raise RuntimeError(f"{begin}Argument 'dtype' must be specified")
            if device is not None:
                raise RuntimeError(
                    f"{begin}Argument 'device' should not be specified when 'wrap_storage' is given"
                )
        self.dtype = get_default_dtype() if dtype is None else dtype
        if wrap_storage is not None:
            self._untyped_storage = wrap_storage
        else:
            self._untyped_storage = self._new_memory(args[0] if args else 0, device)

    def _new_memory(self, content: Any, device: Any) -> UntypedStorage:
        device = "cpu" if device is None else device
        if hasattr(content, "__index__"):
            return UntypedStorage(operator.index(content) * self.dtype.itemsize, device=device)
        return tensor(content, dtype=self.dtype, device=device).untyped_storage()

    def _elements(self) -> Tensor:
        size = (self._size(),)
        return _rebuild_tensor(Tensor, self._untyped_storage, self.dtype, 0, size, (1,), False)

    @classmethod
    def _of(cls, untyped: UntypedStorage, kind: _Dtype) -> TypedStorage:
        return TypedStorage(wrap_storage=untyped, dtype=kind, _internal=True)

    def _with(self, untyped: UntypedStorage) -> TypedStorage:
        return self if untyped is self._untyped_storage else self._of(untyped, self.dtype)

    @property
    def _dtype(self) -> _Dtype:
        return self.dtype

    @property
    def _cdata(self) -> _int:
        return self._untyped_storage._cdata

    def untyped(self) -> UntypedStorage:
        """The block without a dtype."""
        return self._untyped_storage

    @property
    def device(self) -> Any:
        """The device of the memory."""
        return self._untyped_storage.device

    @property
    def is_cuda(self) -> _bool:
        """True if the memory is on a GPU."""
        return self._untyped_storage.is_cuda

    @property
    def filename(self) -> str | None:
        """The file whose memory this is, or None."""
        return self._untyped_storage.filename

    def get_device(self) -> _int:
        """Index of the device, -1 on the CPU and on meta."""
        return self._untyped_storage.get_device()

    def cpu(self) -> TypedStorage:
        """The elements on the CPU: a copy, or this object if they lie there."""
        return self._with(self._untyped_storage.cpu())

    def cuda(self, device: Any = None, non_blocking: _bool = False) -> TypedStorage:
        """The elements on a GPU, the current one by default: a copy, or this object."""
        return self._with(self._untyped_storage.cuda(device, non_blocking))

    def to(self, *, device: Any, non_blocking: _bool = False) -> TypedStorage:
        """The elements on a device: a copy, or this object if they lie there."""
        return self._with(self._untyped_storage.to(device=device, non_blocking=non_blocking))

    def data_ptr(self) -> _int:
        """Address of the first byte."""
        return self._untyped_storage.data_ptr()

    _data_ptr = data_ptr

    def nbytes(self) -> _int:
        """Size in bytes."""
        return self._untyped_storage.nbytes()

    _nbytes = nbytes

    def element_size(self) -> _int:
        """Bytes of one element."""
        return self.dtype.itemsize

    _element_size = element_size

    def size(self) -> _int:
        """Number of elements."""
        return self._size()

    def _size(self) -> _int:
        return self.nbytes() // self.dtype.itemsize

    def __sizeof__(self) -> _int:
        return super().__sizeof__() + self.nbytes()

    def is_shared(self) -> _bool:
        """Return whether other processes share the memory."""
        return self._untyped_storage.is_shared()

    def share_memory_(self) -> TypedStorage:
        """Move the elements to memory that other processes share; no tensor may use them."""
        self._untyped_storage.share_memory_()
        return self

    def is_pinned(self, device: Any = None) -> _bool:
        """Return whether the memory is pinned."""
        return self._untyped_storage.is_pinned(device)

    def pin_memory(self, device: Any = None) -> TypedStorage:
        """A copy in pinned memory, or this object if it is pinned."""
        return self._with(self._untyped_storage.pin_memory(device))

    def resizable(self) -> _bool:
        """Return whether the memory is the library's own, so that its size can be changed."""
        return self._untyped_storage.resizable()

    def resize_(self, size: _int) -> None:
        """Change the number of elements; see :meth:`UntypedStorage.resize_`."""
        self._untyped_storage.resize_(operator.index(size) * self.dtype.itemsize)

    def tolist(self) -> list:
        """The elements as a list of Python numbers."""
        return self._elements().tolist()

    def clone(self) -> TypedStorage:
        """A copy."""
        return self._of(self._untyped_storage.clone(), self.dtype)

    def copy_(self, source: Any, non_blocking: _bool | None = None) -> TypedStorage:
        """Take the bytes of another storage of as many bytes."""
        self._untyped_storage.copy_(source)
        return self

    def fill_(self, value: Any) -> TypedStorage:
        """Set all elements to a number."""
        self._elements().fill_(self._value(value))
        return self

    def type(self, dtype: Any = None, non_blocking: _bool = False) -> Any:
        """The name of the class of storages, or the elements as another dtype or class."""
        if dtype is None:
            return f"torch.{'cuda.' if self.is_cuda else ''}{self.pickle_storage_type()}"
        return _convert(self, dtype)

    def pickle_storage_type(self) -> str:
        """The name of the class of storages of this dtype, as files of tensors have it."""
        return _name_of(self.dtype)

    def float(self) -> TypedStorage:
        """The elements as float32, in a new storage unless they are."""
        return _convert(self, "float32")

    def double(self) -> TypedStorage:
        """The elements as float64, in a new storage unless they are."""
        return _convert(self, "float64")

    def half(self) -> TypedStorage:
        """The elements as float16, in a new storage unless they are."""
        return _convert(self, "float16")

    def bfloat16(self) -> TypedStorage:
        """The elements as bfloat16, in a new storage unless they are."""
        return _convert(self, "bfloat16")

    def long(self) -> TypedStorage:
        """The elements as int64, in a new storage unless they are."""
        return _convert(self, "int64")

    def int(self) -> TypedStorage:
        """The elements as int32, in a new storage unless they are."""
        return _convert(self, "int32")

    def short(self) -> TypedStorage:
        """The elements as int16, in a new storage unless they are."""
        return _convert(self, "int16")

    def char(self) -> TypedStorage:
        """The elements as int8, in a new storage unless they are."""
        return _convert(self, "int8")

    def byte(self) -> TypedStorage:
        """The elements as uint8, in a new storage unless they are."""
        return _convert(self, "uint8")

    def bool(self) -> TypedStorage:
        """The elements as bools, in a new storage unless they are."""
        return _convert(self, "bool")

    def complex_double(self) -> TypedStorage:
        """The elements as complex128, in a new storage unless they are."""
        return _convert(self, "complex128")

    def complex_float(self) -> TypedStorage:
        """The elements as complex64, in a new storage unless they are."""
        return _convert(self, "complex64")

    @classmethod
    def from_buffer(
        cls, buffer: Any, byte_order: str | None = None, count: _int = -1, offset: _int = 0, *,
        dtype: _Dtype | None = None,
    ) -> TypedStorage:  # fmt: skip
        """Copy elements of an object with the buffer protocol; see `UntypedStorage.from_buffer`."""
        kind = cls.dtype if dtype is None and cls is not TypedStorage else dtype
        kind = get_default_dtype() if kind is None else kind
        return cls._of(_from_buffer(buffer, byte_order, count, offset, kind), kind)

    @classmethod
    def from_file(cls, filename: str, shared: _bool = False, size: _int = 0) -> TypedStorage:
        """Map a file into memory; see `UntypedStorage.from_file`, where `size` is in bytes."""
        if cls is TypedStorage:
            raise RuntimeError("from_file can only be called on derived classes, as FloatStorage")
        kind = cls.dtype
        return cls._of(UntypedStorage.from_file(filename, shared, size * kind.itemsize), kind)

    @classmethod
    def _new_shared(cls, size: _int, *, device: Any = None) -> TypedStorage:
        kind = get_default_dtype() if cls is TypedStorage else cls.dtype
        return cls._of(UntypedStorage._new_shared(size * kind.itemsize), kind)

    def _value(self, value: Any) -> Any:
        """Return a number or a tensor to write."""
        if isinstance(value, (TypedStorage, UntypedStorage)):
            raise RuntimeError(f"cannot set item with value type {_type(value)}")
        number = isinstance(value, (Tensor, _int, builtins.float, complex))
        if number or (hasattr(value, "item") and not getattr(value, "ndim", 0)):
            return value
        raise TypeError(
            f"can't assign a {_type(value).__name__} to a storage of {self.dtype}; give a number"
        )

    def _place(self, index: Any) -> Any:
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if isinstance(index, _bool):
            raise TypeError(f"can't index a {_type(self)} with {_type(index)}")
        try:
            i = operator.index(index)
        except TypeError:
            raise RuntimeError(f"can't index a {_type(self)} with {_type(index)}") from None
        if not -self._size() <= i < self._size():
            raise IndexError(f"index {index} out of range for storage of size {self._size()}")
        return i

    def __len__(self) -> _int:
        return self._size()

    def __iter__(self) -> Iterator:
        return iter(self.tolist())

    def __getitem__(self, index: Any) -> Any:
        return self._elements()[self._place(index)].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            self._elements()[index] = self._value(value)
        else:
            self._elements()[self._place(index)] = self._value(value)

    def __eq__(self, other: object) -> _bool:
        if not isinstance(other, TypedStorage):
            return NotImplemented
        return self._untyped_storage == other._untyped_storage and self.dtype == other.dtype

    def __hash__(self) -> _int:
        return hash((self._untyped_storage, self.dtype))

    def __copy__(self) -> TypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict) -> TypedStorage:
        import copy

        return self._of(copy.deepcopy(self._untyped_storage, memo), self.dtype)

    def __reduce__(self) -> Any:
        return _rebuild, (self._untyped_storage, self.dtype)

    def __repr__(self) -> str:
        lines = "..." if self.device.type == "meta" else "\n".join(f" {x}" for x in self.tolist())
        kind = f"dtype={self.dtype}, device={self.device}"
        return f"{lines}\n[autograd_cy.storage.TypedStorage({kind}) of size {self._size()}]"


def _rebuild(untyped: UntypedStorage, kind: _Dtype) -> TypedStorage:
    return TypedStorage._of(untyped, kind)


class _LegacyStorageMeta(type):
    """Storages of a dtype are instances of the class that has its name."""

    dtype: _Dtype

    def __instancecheck__(cls, instance: Any) -> bool:
        if type(instance) is not TypedStorage or not hasattr(cls, "_device"):
            return type.__instancecheck__(cls, instance)
        return instance.device.type == cls._device and instance.dtype == cls.dtype


class _LegacyStorage(TypedStorage, metaclass=_LegacyStorageMeta):
    """The base class of ``FloatStorage`` and its like, whose calls make a `TypedStorage`."""

    _device: str

    def __new__(cls, *args: Any, **options: Any) -> TypedStorage:  # type: ignore[misc]
        _warn_typed_storage_removal()
        wrap_storage = options.pop("wrap_storage", None)
        begin = _arguments(cls, args, wrap_storage, f"{cls}.__new__")
        if options:
            name = next(iter(options))
            raise RuntimeError(f"{begin}Keyword argument {name!r} cannot be specified")
        return TypedStorage(
            *args,
            wrap_storage=wrap_storage,
            dtype=cls.dtype,
            device=None if wrap_storage is not None else cls._device,
            _internal=True,
        )


_classes: dict[tuple[str, str], type] = {}
_DOC = """
The older name of :class:`TypedStorage` of {dtype}.

Parameters
----------
size_or_data : int or sequence, optional
    A number of elements without values, 0 by default; or the elements.
wrap_storage : UntypedStorage, optional
    The memory, instead of new memory.

Examples
--------
>>> import warnings
>>> import autograd_cy as ag
>>> with warnings.catch_warnings():
...     warnings.simplefilter("ignore")
...     ag.{name}([1, 0]).dtype
autograd_cy.{dtype}
"""


def _class_of(name: str, device: str = "cpu") -> type:
    """The class ``FloatStorage`` or another of the older names, of the CPU or of CUDA."""
    if (name, device) not in _classes:
        short = _DTYPES[name]
        members = {
            "dtype": _dtype_named(short),
            "_device": device,
            "__module__": "autograd_cy" if device == "cpu" else f"autograd_cy.{device}",
            "__doc__": _DOC.format(name=name, dtype=short),
        }
        _classes[name, device] = _LegacyStorageMeta(name, (_LegacyStorage,), members)
    return _classes[name, device]


def __getattr__(name: str) -> Any:
    if name in _DTYPES or name == "Storage":
        return _class_of("FloatStorage" if name == "Storage" else name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _convert(storage: Any, kind: Any) -> Any:
    """The elements of a storage as those of another dtype, or of a class of storages."""
    if isinstance(kind, str):
        name = kind.rpartition(".")[2]
        kind = _class_of(name, "cuda" if ".cuda." in kind else "cpu") if name in _DTYPES else kind
        if kind == "UntypedStorage" or name == "UntypedStorage":
            return storage.untyped()
        if isinstance(kind, str):
            kind = _dtype_named(name)
    device = "cpu"
    if isinstance(kind, type):
        if issubclass(kind, UntypedStorage):
            return storage.untyped()
        of: Any = kind
        device = of._device if issubclass(of, _LegacyStorage) else storage.device.type
        kind = of.dtype
    else:
        device = storage.device.type
    if isinstance(storage, UntypedStorage):
        elements = TypedStorage._of(storage, _dtype_named("uint8"))._elements()
    else:
        elements = storage._elements()
        if storage.dtype == kind and storage.device.type == device:
            return storage
    result = elements.to(device=device, dtype=kind)
    if result is elements:
        result = elements.clone()
    return TypedStorage._of(Tensor.untyped_storage(result), kind)


def _from_buffer(
    buffer: Any, byte_order: str | None, count: int, offset: int, kind: _Dtype | None
) -> UntypedStorage:
    if kind is None:
        raise RuntimeError("argument 'dtype' cannot be None")
    item = kind.itemsize
    if byte_order is None and item > 1:
        raise RuntimeError("function missing required argument 'byte_order' (pos 2)")
    if byte_order not in (None, "native", "little", "big"):
        raise ValueError(
            f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')"
        )
    data = memoryview(buffer).cast("B")
    if not 0 <= offset <= data.nbytes:
        raise ValueError(f"offset must be non-negative and no greater than buffer length "
                         f"({data.nbytes}) , but got {offset}")  # fmt: skip
    if count < 0:
        if (data.nbytes - offset) % item:
            raise ValueError(
                f"buffer size ({data.nbytes}) must be a multiple of element size ({item})"
            )
        count = (data.nbytes - offset) // item
    if offset + count * item > data.nbytes:
        raise ValueError(
            f"buffer has only {(data.nbytes - offset) // item} elements after offset {offset}, "
            f"but specified a size of {count}"
        )
    result = UntypedStorage(count * item)
    bytes_of: Any = result
    memoryview(bytes_of)[:] = data[offset : offset + count * item]
    if byte_order not in (None, "native", sys.byteorder):
        result.byteswap(kind)
    return result


def map_file(filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
    """
    Map a file into memory, as `UntypedStorage.from_file` does.

    Parameters
    ----------
    filename : str
    shared : bool
        Write changes to the file, which is made, or made longer, if it has fewer bytes.
    nbytes : int
        0: all that the file has.

    Returns
    -------
    UntypedStorage

    Raises
    ------
    RuntimeError
        If the file can't be opened, or has fewer bytes and isn't shared.
    """
    import mmap
    import os

    class MappedFile(mmap.mmap):
        filename: str | None

    path = os.fspath(filename)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY, 0o600)
    except OSError as error:
        raise RuntimeError(
            f"unable to open file <{path}> in {'read-write' if shared else 'read-only'} mode: "
            f"{error.strerror} ({error.errno})"
        ) from None
    try:
        there = os.fstat(descriptor).st_size
        if nbytes < 0:
            raise RuntimeError(f"unable to mmap {nbytes} bytes from file <{path}>")
        size = nbytes or there
        if there < size:
            if not shared:
                raise RuntimeError(
                    f"file <{path}> size <{there}> is smaller than the required mapping size "
                    f"<{size}>"
                )
            os.ftruncate(descriptor, size)
        if not size:
            return UntypedStorage(0)
        access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
        mapped = MappedFile(descriptor, size, access=access)
    finally:
        os.close(descriptor)
    mapped.filename = path if shared else None
    return _storage_from_bytes(memoryview(mapped))


def storage(self: Tensor) -> TypedStorage:
    """
    The memory block that this tensor shows, with its dtype; warns that these are deprecated.

    Returns
    -------
    TypedStorage

    Examples
    --------
    >>> import warnings
    >>> import autograd_cy as ag
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     ag.zeros(4)[1:].storage().size()
    4
    """
    _warn_typed_storage_removal()
    return _typed_storage(self)


def _typed_storage(self: Tensor) -> TypedStorage:
    """The memory block that this tensor shows, with its dtype."""
    return TypedStorage._of(self.untyped_storage(), self.dtype)


def storage_type(self: Tensor) -> type:
    """
    The class of storages with this tensor's dtype.

    Returns
    -------
    type

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.zeros(4).storage_type()
    <class 'autograd_cy.FloatStorage'>
    """
    return _class_of(_name_of(self.dtype), "cuda" if self.is_cuda else "cpu")


_set_later(convert=_convert, from_buffer=_from_buffer, map_file=map_file)
_install("storage", storage)
_install("_typed_storage", _typed_storage)
_install("storage_type", storage_type)
