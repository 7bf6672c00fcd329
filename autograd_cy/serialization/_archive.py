"""PyTorch's files: a zip archive of a pickle and of the memory that its tensors show.

Names of torch are written and read as text, so torch need not be there, and reading calls nothing
but the functions of this file. What users call is in ``__init__.py``.
"""

from __future__ import annotations

import mmap
import pickle
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Callable
from typing import IO, Any, ClassVar

import numpy as np

from autograd_cy._C import dtypes as _dtypes
from autograd_cy._C.copying import _rebuild_tensor, _storage_from_bytes, _storage_on_meta
from autograd_cy._C.dtypes import dtype as _dtype
from autograd_cy._C.exchange import UntypedStorage, _storage_to_device
from autograd_cy._C.placement import device, layout, strided
from autograd_cy._C.tensor import Size, Tensor
from autograd_cy.serialization._pickles import LoadError, dimensions, modest
from autograd_cy.storage import TypedStorage

__all__ = ["FIRST_BYTES", "Reader", "write"]

FIRST_BYTES = b"PK\x03\x04"
ALIGNMENT = 64  # of memory in the file, so that it can be mapped
VERSION = 3
READABLE = range(1, 11)  # versions of archives, as in torch
PIECE = 1 << 20  # so much is copied and written at once

_STORAGES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexDoubleStorage": "complex128",
    "ComplexFloatStorage": "complex64",
}
# Dtypes whose memory has no name of its own: files say the dtype with each tensor.
_WITHOUT_STORAGE = ("uint16", "uint32", "uint64")
_DTYPES: dict[str, _dtype] = {
    name: _dtypes._dtype_by_name(name) for name in (*_STORAGES.values(), *_WITHOUT_STORAGE)
}
_STORAGE_OF = {dtype: name for name, dtype in _STORAGES.items()}
_LAZY_BITS: dict[str, int] = {}  # "conj" and "neg": found when the first such tensor is written


# --- writing ------------------------------------------------------------------------------------


class _Name:
    """A name of torch's, which a pickle mentions."""

    def __init__(self, module: str, name: str):
        self.module = module
        self.name = name

    def __call__(self, *args: Any) -> Any:  # pickle asks whether it could be called
        raise TypeError(f"{self.module}.{self.name} is only a name here")


_REBUILD = _Name("torch._utils", "_rebuild_tensor_v2")
_REBUILD_AS = _Name("torch._utils", "_rebuild_tensor_v3")
_REBUILD_META = _Name("torch._utils", "_rebuild_meta_tensor_no_storage")
_REBUILD_WITH_STATE = _Name("torch._tensor", "_rebuild_from_type_v2")
_PARAMETER = _Name("torch._utils", "_rebuild_parameter")
_PARAMETER_WITH_STATE = _Name("torch._utils", "_rebuild_parameter_with_state")
_PARAMETER_MODULES = ("autograd_cy.nn.parameter", "torch.nn.parameter")
_MARKED = ("Parameter", "Buffer")  # and not their metaclass
_TENSOR = _Name("torch", "Tensor")
_SIZE = _Name("torch", "Size")
_DEVICE = _Name("torch", "device")
_LAYOUT = _Name("torch.serialization", "_get_layout")
_NO_HOOKS: OrderedDict = OrderedDict()  # torch writes one for each tensor
_UNTYPED = "UntypedStorage"
_NAMES = {name: _Name("torch", name) for name in (*_DTYPES, *_STORAGES)} | {
    _UNTYPED: _Name("torch.storage", _UNTYPED)
}


_PythonPickler: Any = pickle._Pickler  # type: ignore[attr-defined]


class _Pickler(_PythonPickler):
    """Write tensors as torch does; the one in Python, as only that can write names alone."""

    def __init__(self, file: IO[bytes], protocol: int):
        super().__init__(file, protocol)
        # By id: number, kind, number of elements, and the storage itself.
        self.storages: dict[int, tuple[str, str, int, Any]] = {}
        self.kinds: dict[int, str] = {}  # of their elements
        # Whether it goes into a stream, as before version 1.6.
        self.is_stream = False

    def stored(self, storage: Any, kind: str) -> tuple[str, str, int, Any]:
        """The entry of a storage."""
        of = "ByteStorage" if kind == "UntypedStorage" else kind
        if self.kinds.setdefault(id(storage), of) != of and storage.nbytes():
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different "
                f"types ({self.kinds[id(storage)]} and {of}); save clones of them"
            )
        if id(storage) not in self.storages:
            itemsize = _DTYPES[_STORAGES[kind]].itemsize if kind in _STORAGES else 1
            count = storage.nbytes() // itemsize
            if count * itemsize != storage.nbytes():
                kind, count = _UNTYPED, storage.nbytes()
            number = str(len(self.storages))
            self.storages[id(storage)] = (number, kind, count, storage)
        return self.storages[id(storage)]

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, _Memory):
            storage, kind = obj.storage, obj.kind
        elif isinstance(obj, TypedStorage):
            storage, kind = obj.untyped(), _storage_kind(obj.dtype)
        elif isinstance(obj, UntypedStorage) and obj.device.type != "meta":
            storage, kind = obj, _UNTYPED
        else:
            return None
        number, kind, count, _ = self.stored(storage, kind)
        saved = ("storage", _NAMES[kind], number, str(storage.device), count)
        return (*saved, None) if self.is_stream else saved

    def save_name(self, obj: _Name) -> None:
        self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
        self.memoize(obj)

    dispatch: ClassVar[dict] = {**_PythonPickler.dispatch, _Name: save_name}

    def reducer_override(self, obj: Any) -> Any:
        kind = type(obj)
        if kind is Tensor:
            return self.of_tensor(obj)
        if kind is Size:
            return _SIZE, (tuple(obj),)
        if kind is device:
            return _DEVICE, (str(obj),)
        if kind is layout and obj is strided:
            return _LAYOUT, ("torch.strided",)
        if kind is _dtype:
            return NotImplemented
        if kind.__module__ in _PARAMETER_MODULES and kind.__name__ in _MARKED:
            if kind.__name__ == "Parameter":
                fields = obj.data, obj.requires_grad, _NO_HOOKS
                state = obj.__dict__
                return (
                    (_PARAMETER_WITH_STATE, (*fields, {**state})) if state else (_PARAMETER, fields)
                )
            state = {**obj.__dict__, "_is_buffer": True}
            function, args = self.of_tensor(obj.data)
            return _REBUILD_WITH_STATE, (function, _TENSOR, args, state)
        return NotImplemented

    def save_dtype(self, obj: _dtype) -> None:
        self.save(_NAMES[_name_of(obj)])

    dispatch[_dtype] = save_dtype

    def of_tensor(self, x: Tensor) -> tuple[_Name, tuple]:
        """The function that makes a tensor again, and its arguments."""
        _, (_, storage, dtype, offset, size, stride, requires_grad, *lazy), *state = (
            x.__reduce_ex__(4)
        )
        function = _REBUILD
        args: tuple[Any, ...]
        if storage.device.type == "meta":
            function = _REBUILD_META
            args = (dtype, size, stride, requires_grad)
        else:
            kind = _storage_kind(dtype)
            memory = _Memory(storage, kind)
            args = (memory, offset, size, stride, requires_grad, _NO_HOOKS)
            if self.stored(storage, kind)[1] != kind or kind == _UNTYPED:
                function = _REBUILD_AS  # the kind of the memory doesn't say the dtype
                args += (dtype,)
            if lazy:
                args += ({name: True for name in ("conj", "neg") if getattr(x, f"is_{name}")()},)
        if state:
            return _REBUILD_WITH_STATE, (function, _TENSOR, args, state[0])
        return function, args


#: What is written in this way whatever module pickles.
_OURS = {kind: _Pickler.dispatch[kind] for kind in (_Name, _dtype)}


class _Memory:
    """A storage as that of tensors of one dtype."""

    __slots__ = ("kind", "storage")

    def __init__(self, storage: UntypedStorage, kind: str):
        self.storage = storage
        self.kind = kind


def _name_of(dtype: _dtype) -> str:
    return str(dtype).rpartition(".")[2]


def _storage_kind(dtype: _dtype) -> str:
    """The kind of memory of tensors of a dtype."""
    return _STORAGE_OF.get(_name_of(dtype), _UNTYPED)


def pickler_of(module: Any) -> type:
    """
    Return the class of picklers that write tensors, and all else as those of a module do.

    Parameters
    ----------
    module : module
        With a class ``Pickler``, as Python's `pickle` and modules in its manner have it.
    """
    theirs = module.Pickler
    if theirs is pickle.Pickler or theirs is _PythonPickler:
        return _Pickler
    if issubclass(theirs, _PythonPickler):
        members = {"dispatch": {**theirs.dispatch, **_OURS}, "theirs": theirs}
        return type("_Pickler", (_Borrowing, theirs), members)
    return type("_Pickler", (_Borrowing,), {"theirs": theirs})


class _Borrowing(_Pickler):
    """Asks another class of picklers how an object is reduced that is none of ours."""

    theirs: Any

    def reducer_override(self, obj: Any) -> Any:
        reduced = super().reducer_override(obj)
        other = _in_python(self.theirs, "reducer_override")
        return other(self, obj) if reduced is NotImplemented and other is not None else reduced

    def __getattr__(self, name: str) -> Any:
        # What the methods of another class use, if that extends the pickler in C.
        member = _in_python(self.theirs, name)
        if member is None:
            raise AttributeError(name)
        return member.__get__(self, type(self)) if hasattr(member, "__get__") else member


def _in_python(cls: type, name: str) -> Any:
    """Return what a class or its bases define by a name in Python, or None."""
    for base in cls.__mro__:
        if base.__module__ in ("_pickle", "builtins") or base is _PythonPickler:
            return None
        if name in vars(base):
            return vars(base)[name]
    return None


def write(
    obj: Any, file: IO[bytes], stem: str, protocol: int, make: Callable[..., Any] = _Pickler
) -> None:
    """
    Write an object as an archive.

    Parameters
    ----------
    obj : object
    file : binary file
    stem : str
        The folder in the archive.
    protocol : int
        Of the pickle; 0 can't hold what isn't text and becomes 1.
    make : callable
        Makes the pickler of a file and a protocol.
    """
    import io

    pickled = io.BytesIO()
    pickler = make(pickled, max(protocol, 1))
    pickler.dump(obj)
    archive = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)

    def add(name: str, data: Any) -> None:
        entry = zipfile.ZipInfo(f"{stem}/{name}")
        data = memoryview(data).cast("B")
        size = data.nbytes
        large = size * 1.05 > zipfile.ZIP64_LIMIT
        # A field that readers skip, as long as the data needs to be aligned.
        start = archive.fp.tell() + 30 + len(entry.filename.encode()) + 4  # type: ignore[union-attr]
        padding = -(start + (20 if large else 0)) % ALIGNMENT
        entry.extra = b"FB" + padding.to_bytes(2, "little") + b"Z" * padding
        with archive.open(entry, "w", force_zip64=large) as out:
            # Copies: another thread may go on with the training meanwhile, and what is written
            # must be what its checksum was made of.
            for at in range(0, size, PIECE):
                out.write(bytes(data[at : at + PIECE]))

    try:
        # No view of it: an end while it is written would leave the view in the error's traceback.
        add("data.pkl", pickled.getvalue())
        add(".format_version", b"1")
        add(".storage_alignment", str(ALIGNMENT).encode())
        add("byteorder", b"little")
        for number, _, _, storage in pickler.storages.values():
            if storage.device.type != "cpu":
                storage = _storage_to_device(storage, "cpu")
            add(f"data/{number}", memoryview(storage))
        add("version", f"{VERSION}\n".encode())
    except BaseException:
        # Without its directory what is half written is no archive, and closing can't raise.
        archive.fp = None
        raise
    archive.close()


# --- reading ------------------------------------------------------------------------------------


def _check_recorded(requires_grad: Any) -> None:
    if not isinstance(requires_grad, bool):
        raise LoadError(
            "load: the file is damaged: requires_grad must be a bool, not "
            f"{type(requires_grad).__name__}"
        )


def _untyped(storage: Any) -> UntypedStorage:
    if isinstance(storage, TypedStorage):
        return storage.untyped()
    if not isinstance(storage, UntypedStorage):
        raise LoadError(f"load: a tensor was to be made of {type(storage).__name__}")
    return storage


def _lazy_bit(name: str) -> int:
    """The flag of a tensor whose conjugation or negation is still to be done."""
    if name not in _LAZY_BITS:
        from autograd_cy import view_as_complex, zeros

        example = view_as_complex(zeros(2)).conj()
        if name == "neg":
            example = example.imag
        _LAZY_BITS[name] = example.__reduce_ex__(4)[1][-1]
    return _LAZY_BITS[name]


def _rebuild_tensor_v1(storage: Any, offset: int, size: Any, stride: Any) -> Tensor:
    return _rebuild_tensor_v2(storage, offset, size, stride, False)


def _rebuild_tensor_v2(
    storage: Any, offset: int, size: Any, stride: Any, requires_grad: bool, hooks: Any = None,
    metadata: Any = None,
) -> Tensor:  # fmt: skip
    if not isinstance(storage, TypedStorage):
        raise LoadError("load: a tensor's memory has no dtype")
    offset += getattr(storage, "begin", 0)
    return _rebuild_tensor_v3(
        storage, offset, size, stride, requires_grad, hooks, storage.dtype, metadata
    )


def _rebuild_tensor_v3(
    storage: Any, offset: int, size: Any, stride: Any, requires_grad: bool, hooks: Any,
    dtype: Any, metadata: Any = None,
) -> Tensor:  # fmt: skip
    _check_recorded(requires_grad)
    bits = 0
    for name in ("conj", "neg"):
        if metadata and metadata.get(name):
            bits |= _lazy_bit(name)
    sizes = dimensions(size), dimensions(stride)
    return _rebuild_as(Tensor, storage, dtype, offset, *sizes, requires_grad, bits)


def _rebuild_as(cls: Any, storage: Any, *rest: Any) -> Tensor:
    """Return a tensor on memory; LoadError if it isn't one, or leaves the memory."""
    untyped = _untyped(storage)
    try:
        return _rebuild_tensor(cls, untyped, *rest)
    except RuntimeError as error:
        if type(error) is not RuntimeError:
            raise
        raise LoadError(f"load: the file is damaged: {error}") from error


def _rebuild_here(cls: Any, storage: Any, *rest: Any) -> Tensor:
    _check_recorded(rest[4])
    return _rebuild_as(cls, storage, *rest)


def _rebuild_on_meta(dtype: Any, size: Any, stride: Any, requires_grad: bool) -> Tensor:
    _check_recorded(requires_grad)
    size, stride = dimensions(size), dimensions(stride)
    last = sum((n - 1) * s for n, s in zip(size, stride)) + 1 if all(size) else 0
    storage = _storage_on_meta(last * dtype.itemsize)
    return _rebuild_tensor(Tensor, storage, dtype, 0, size, stride, requires_grad)


def _rebuild_parameter(data: Any, requires_grad: bool, hooks: Any = None, state: Any = None) -> Any:
    from autograd_cy.nn.parameter import Parameter  # which few files have

    result = Parameter(data, requires_grad)
    if state:
        result.__setstate__(state)
    return result


def _rebuild_with_state(function: Any, kind: Any, args: Any, state: Any) -> Any:
    if function not in _MAKERS:
        raise LoadError(f"load: {function!r} makes no tensor")
    result = function(*args)
    if isinstance(state, tuple):  # attributes and slots
        state = {**(state[0] or {}), **(state[1] or {})}
    state = dict(state)
    if state.pop("_is_buffer", False):
        from autograd_cy.nn.parameter import Buffer

        result = Buffer(result, persistent=bool(state.pop("persistent", True)))
    elif isinstance(kind, type) and kind is not Tensor:
        result = Tensor._make_subclass(kind, result)
    if state:
        result.__setstate__(state)
    return result


def _get_layout(name: str) -> Any:
    if name != "torch.strided":
        raise LoadError(
            f"load: the layout {name} isn't here; tensors are strided. {_CONVERTED('.to_dense()')}"
        )
    return strided


_CONVERTED = "Convert it in PyTorch first (`{}`), and save that.".format
# Tensors that are not here, by what files call what makes them: the kind, and the way out.
_UNKNOWN_KINDS = {
    "_rebuild_sparse_tensor": ("a sparse tensor", ".to_dense()"),
    "_rebuild_qtensor": ("a quantized tensor", ".dequantize()"),
    "_rebuild_nested_tensor": ("a nested tensor", ".to_padded_tensor(0.0)"),
    "_rebuild_njt": ("a nested tensor", ".to_padded_tensor(0.0)"),
}
_UNKNOWN_DTYPES = {
    "float8": ".float()",
    "float4": ".float()",
    "complex32": ".to(torch.complex64)",
    **dict.fromkeys(("qint8", "quint8", "qint32"), ".dequantize()"),
}


def not_here(module: str, name: str) -> str:
    """Return the error's text for a name of torch's that isn't here."""
    if name in _UNKNOWN_KINDS:
        kind, way_out = _UNKNOWN_KINDS[name]
        return f"load: the file holds {kind}, and there are none here. {_CONVERTED(way_out)}"
    way_out = _UNKNOWN_DTYPES.get(name.partition("_")[0], "")
    if module == "torch" and way_out:
        return (
            f"load: the file holds a tensor of torch.{name}, a dtype that isn't here. "
            f"{_CONVERTED(way_out)}"
        )
    return (
        f"load: the file holds {module}.{name}, an object of PyTorch's that isn't here. Modules "
        "and optimizers come over by their state_dict(): save that with torch.save, and load it "
        "into one made here."
    )


_MAKERS = (
    _rebuild_tensor_v1,
    _rebuild_tensor_v2,
    _rebuild_tensor_v3,
    _rebuild_on_meta,
    _rebuild_parameter,
)
#: What files of torch may name, and what it is here.
NAMES: dict[tuple[str, str], Any] = {
    ("torch._utils", "_rebuild_tensor"): _rebuild_tensor_v1,
    ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor_v2,
    ("torch._utils", "_rebuild_tensor_v3"): _rebuild_tensor_v3,
    ("torch._utils", "_rebuild_meta_tensor_no_storage"): _rebuild_on_meta,
    ("torch._utils", "_rebuild_parameter"): _rebuild_parameter,
    ("torch._utils", "_rebuild_parameter_with_state"): _rebuild_parameter,
    ("torch._tensor", "_rebuild_from_type_v2"): _rebuild_with_state,
    ("torch", "Tensor"): Tensor,
    ("torch", "Size"): modest(Size),
    ("torch", "device"): device,
    ("torch.serialization", "_get_layout"): _get_layout,
    ("autograd_cy._C.copying", "_rebuild_tensor"): _rebuild_here,
    **{("torch", name): dtype for name, dtype in _DTYPES.items()},
}
#: Kinds of memory: as the first argument of what stands for it, these are called by nothing.
STORAGE_NAMES = {("torch", name): name for name in _STORAGES} | {
    ("torch.storage", "UntypedStorage"): "UntypedStorage"
}


class Reader:
    """
    An archive that is open for reading.

    Parameters
    ----------
    file : binary file
    placed : callable
        Gets the place where a storage was and says where it goes: a device, or a function of the
        storage that returns it or another one.
    mapped : bool
        Whether memory is that of the file, from which it is read when it is used. Writes to it
        don't reach the file.
    swapped : bool
        Whether the highest byte comes first, if the file says nothing.
    """

    def __init__(
        self,
        file: IO[bytes],
        placed: Callable[[str], Any],
        mapped: bool = False,
        swapped: bool = False,
    ):
        self.file = file
        self.placed = placed
        self.storages: dict[str, Any] = {}
        self.archive = zipfile.ZipFile(file)
        names = {info.filename: info for info in self.archive.infolist()}
        stems = [name[: -len("data.pkl")] for name in names if name.count("/") == 1
                 and name.endswith("/data.pkl")]  # fmt: skip
        if len(stems) != 1:
            raise LoadError("load: this is a zip archive, but not one of torch.save")
        self.stem = stems[0]
        self.entries = {
            name[len(self.stem) :]: info
            for name, info in names.items()
            if name.startswith(self.stem)
        }
        if "constants.pkl" in self.entries:
            raise LoadError(
                "load: this is a TorchScript archive, made by torch.jit.save; its program can't "
                "be run here. Save the state_dict() of the module with torch.save."
            )
        self.check_version()
        self.swapped = swapped
        if "byteorder" in self.entries:
            order = bytes(self.read("byteorder"))
            if order not in (b"little", b"big"):
                raise LoadError(f"load: unknown byte order {order!r}")
            self.swapped = order == b"big"
        self.map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) if mapped else None

    def check_version(self) -> None:
        """Raise unless the archive says that it is of a version which is known."""
        name = ".data/version" if ".data/version" in self.entries else "version"
        said = bytes(self.read(name)).decode("latin-1").strip()
        if not said.isdecimal():
            raise LoadError(f"load: the file is damaged: its version is {said!r:.40}")
        if len(said) > 9 or int(said) not in READABLE:
            raise LoadError(
                f"load: the file is of version {said:.40}, but versions {READABLE[0]} to "
                f"{READABLE[-1]} are read here; write it anew with an older version of PyTorch"
            )

    def pickled(self) -> Any:
        """The pickle."""
        return self.read("data.pkl")

    def read(self, name: str, least: int = 0) -> Any:
        """The bytes of an entry."""
        start, size, wanted = self.find(name)
        crc = 0
        if size < least:
            raise LoadError(f"load: the file is damaged: {name} has {size} bytes of {least}")
        data: Any = np.empty(size, np.uint8)
        self.file.seek(start)
        view, done = memoryview(data), 0
        into = getattr(self.file, "readinto", None)
        while done < size:
            part = view[done : done + (1 << 24)]
            if into is not None:
                got = into(part)
            else:
                chunk = self.file.read(len(part))
                got = len(chunk)
                part[:got] = chunk
            if not got:
                raise LoadError(f"load: the file ends within {name}")
            crc = zlib.crc32(part[:got], crc)
            done += got
        if crc != wanted:
            raise LoadError(f"load: the file is damaged: wrong checksum of {name}")
        return data

    def find(self, name: str) -> tuple[int, int, int]:
        """Return the place of the bytes of an entry: start, number, checksum."""
        info = self.entries.get(name)
        if info is None:
            raise LoadError(f"load: the file is damaged: it has no {name}")
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
            raise LoadError(f"load: {name} is compressed or encrypted, which torch.save never does")
        self.file.seek(0, 2)
        end = self.file.tell()
        self.file.seek(info.header_offset)
        header = self.file.read(30)
        if len(header) < 30 or not header.startswith(FIRST_BYTES):
            raise LoadError(f"load: the file is damaged: no {name} where it should be")
        start = info.header_offset + 30
        start += int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        if start + info.file_size > end:
            raise LoadError(f"load: the file ends within {name}")
        return start, info.file_size, info.CRC

    def storage(self, saved: Any) -> Any:
        """The memory that a pickle speaks of, ``("storage", kind, key, location, count)``."""
        if not (isinstance(saved, tuple) and len(saved) == 5 and saved[0] == "storage"):
            raise LoadError(f"load: unknown kind of persistent id: {saved!r:.80}")
        _, kind, key, location, count = saved
        typed = kind in _STORAGES if isinstance(kind, str) else False
        if not (typed or kind == "UntypedStorage") or not isinstance(key, str):
            raise LoadError("load: memory of an unknown kind")
        if not isinstance(count, int) or count < 0 or not isinstance(location, str):
            raise LoadError("load: memory without a size or a place")
        if key not in self.storages:
            dtype = _DTYPES[_STORAGES[kind]] if typed else _DTYPES["uint8"]
            memory = self.load_storage(f"data/{key}", dtype, count, location)
            self.storages[key] = TypedStorage._of(memory, dtype) if typed else memory
        return self.storages[key]

    def load_storage(self, name: str, dtype: _dtype, count: int, location: str) -> UntypedStorage:
        size = count * dtype.itemsize
        where = self.placed(location)
        if isinstance(where, device) and where.type == "meta":
            self.find(name)
            return _storage_on_meta(size)
        if self.map is not None and not self.swapped:
            start, there, _ = self.find(name)
            if there < size:
                raise LoadError(f"load: the file is damaged: {name} is too short")
            storage = _storage_from_bytes(memoryview(self.map)[start : start + size])
        else:
            data = self.read(name, size)
            if self.swapped:
                _swap(data, dtype)
            storage = _storage_from_bytes(data)
        if isinstance(where, device):
            return storage if where.type == "cpu" else _storage_to_device(storage, where)
        elsewhere = where(storage)
        return storage if elsewhere is None else _untyped(elsewhere)


def _swap(data: Any, dtype: _dtype) -> None:
    width = dtype.itemsize // 2 if dtype.is_complex else dtype.itemsize
    data[: data.size // width * width].view(f"u{width}").byteswap(inplace=True)
