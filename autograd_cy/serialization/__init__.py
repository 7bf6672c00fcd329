"""Tensors in files, in the format of PyTorch (``_archive.py``).

By default loading runs no code from the file: only tensors, containers and numbers may come back.
"""

from __future__ import annotations

import _compat_pickle
import io
import os
import pickle
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import PurePath
from typing import IO, Any, NamedTuple, cast

from autograd_cy._C.placement import _is_usable, _why_not, device
from autograd_cy._C.streams import _device_count
from autograd_cy._C.tensor import Tensor
from autograd_cy._environment.contexts import _Context
from autograd_cy.serialization import _archive, _legacy, _pickles
from autograd_cy.serialization._pickles import LoadError

__all__ = ["load", "save"]


#: What `map_location` may be, in annotations.
MAP_LOCATION = Callable[[Any, str], Any] | device | str | dict[str, str] | None


# So much of a file is read to tell its kind.
_HEAD = 512

# What a file may name when it is loaded with weights_only=True, beside _pickles.SAFE.
_SAFE = {
    ("autograd_cy._C.copying", "_storage_on_meta"),
    ("autograd_cy._C.random", "_rebuild_generator"),
    ("builtins", "complex"),
    ("builtins", "range"),
    ("builtins", "slice"),
    ("collections", "OrderedDict"),
}


_always_safe = frozenset(_SAFE)
_added: list[Any] = []


class LoadEndianness(Enum):
    """Byte orders of files: that of this machine, the lowest byte first, or the highest."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


_endianness: LoadEndianness | None = None


def get_default_load_endianness() -> LoadEndianness | None:
    """
    Return the byte order of files that don't say theirs, as old ones of PyTorch don't.

    Returns
    -------
    LoadEndianness or None
        None, unless it was set: little-endian.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.serialization.get_default_load_endianness() is None
    True
    """
    return _endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """
    Set the byte order of files that don't say theirs.

    Parameters
    ----------
    endianness : LoadEndianness or None

    Raises
    ------
    TypeError
        If it is something else.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.serialization.set_default_load_endianness(ag.serialization.LoadEndianness.BIG)
    >>> ag.serialization.get_default_load_endianness()
    <LoadEndianness.BIG: 3>
    >>> ag.serialization.set_default_load_endianness(None)
    """
    global _endianness
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    _endianness = endianness


def add_safe_globals(safe_globals: list) -> None:
    """
    Allow :func:`load` to make objects of these classes, or to call these functions.

    Parameters
    ----------
    safe_globals : list of type or function
        Or of pairs of one and of the full name by which files ask for it.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import autograd_cy as ag
    >>> ag.serialization.add_safe_globals([Fraction])
    >>> ag.serialization.get_safe_globals()[-1]
    <class 'fractions.Fraction'>
    """
    _added.extend(safe_globals)
    for thing, full in _pairs(safe_globals):
        module, _, name = full.rpartition(".")
        _RENAMED[module, name] = thing
        _SAFE.add((module, name))


def get_safe_globals() -> list:
    """
    Return the classes that :func:`add_safe_globals` allowed.

    Returns
    -------
    list

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.serialization.clear_safe_globals()
    >>> ag.serialization.get_safe_globals()
    []
    """
    return list(_added)


def clear_safe_globals() -> None:
    """Take back what :func:`add_safe_globals` allowed."""
    _added.clear()
    _RENAMED.clear()
    _SAFE.intersection_update(_always_safe)


def safe_globals(safe_globals: list) -> _Context:
    """
    Allow classes and functions for a ``with`` block, as :func:`add_safe_globals` does.

    Parameters
    ----------
    safe_globals : list of type or function

    Examples
    --------
    >>> import io
    >>> from fractions import Fraction
    >>> import autograd_cy as ag
    >>> file = io.BytesIO()
    >>> ag.save(Fraction(1, 3), file)
    >>> with ag.serialization.safe_globals([Fraction]):
    ...     ag.load(file.seek(0) or file)
    Fraction(1, 3)
    """
    renamed = {(n.rpartition(".")[0], n.rpartition(".")[2]): x for x, n in _pairs(safe_globals)}
    return _Context(
        [
            (globals(), "_SAFE", _SAFE | renamed.keys()),
            (globals(), "_RENAMED", _RENAMED | renamed),
            (globals(), "_added", [*_added, *safe_globals]),
        ]
    )


def _pairs(things: list) -> list[tuple[Any, str]]:
    """Things with the full names by which files ask for them."""
    return [x if isinstance(x, tuple) else (x, f"{x.__module__}.{x.__qualname__}") for x in things]


_RENAMED: dict[tuple[str, str], Any] = {}

# What pickle raises for bytes that make no sense, beside UnpicklingError.
_DAMAGE = AttributeError, EOFError, ImportError, LookupError, OverflowError, TypeError, ValueError


class _Reading:
    """The part of unpicklers that takes memory from a file, and names only if they are allowed."""

    archive: Any  # has a method `storage`
    weights_only: bool
    stands_in = False  # a modest function was given for a class

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _archive.NAMES:
            return self.remembered(_archive.NAMES[module, name])
        if (module, name) in _archive.STORAGE_NAMES:
            return _archive.STORAGE_NAMES[module, name]
        if module.partition(".")[0] == "torch" and (module, name) not in _SAFE:
            raise pickle.UnpicklingError(_archive.not_here(module, name))
        if not self.weights_only:
            return super().find_class(module, name)  # type: ignore[misc]
        return self.find_safe(module, name)

    def remembered(self, obj: Any) -> Any:
        self.stands_in = self.stands_in or obj in _pickles.CLASSES
        return obj

    def find_safe(self, module: str, name: str) -> Any:
        # Protocol 2 writes the names of Python 2.
        if (module, name) in _compat_pickle.NAME_MAPPING:
            module, name = _compat_pickle.NAME_MAPPING[module, name]
        module = _compat_pickle.IMPORT_MAPPING.get(module, module)
        modern = module, name
        if modern in _RENAMED:
            return _RENAMED[modern]
        if modern in _pickles.SAFE:
            return self.remembered(_pickles.SAFE[modern])
        if modern in _SAFE:
            return super().find_class(*modern)  # type: ignore[misc]
        # Parameter and other tensor classes of this package.
        if module.partition(".")[0] == "autograd_cy" and "." not in name:
            cls = super().find_class(module, name)  # type: ignore[misc]
            if isinstance(cls, type) and issubclass(cls, Tensor):
                return cls
        needs, instead = name if module == "builtins" else f"{module}.{name}", ""
        if module.startswith("numpy.") and name == "scalar":  # which then asks for its dtype
            needs += ", numpy.dtype"
            instead = " Numbers of NumPy that are saved as float(x) or int(x) need neither."
        elif module.startswith("numpy.") and name == "_reconstruct":  # of an array
            needs += ", numpy.ndarray, numpy.dtype"
            instead = (
                " Arrays of NumPy that are saved as tensors (from_numpy) or lists (tolist) need "
                "neither."
            )
        raise pickle.UnpicklingError(
            f"load: the file asks for {module}.{name}, which weights_only=True does not allow. "
            f"Allow it with add_safe_globals([{needs}]), or, if you trust the file's author, load "
            f"with weights_only=False: that can run any code.{instead}"
        )

    def persistent_load(self, pid: Any) -> Any:
        return self.archive.storage(pid)


class _Unpickler(_Reading, pickle.Unpickler):
    """Python's unpickler, which takes memory from a file."""


@contextmanager
def _opened(f: str | os.PathLike | IO[bytes], mode: str) -> Iterator[IO[bytes]]:
    if isinstance(f, (str, os.PathLike)):
        with open(f, mode) as handle:
            yield handle
    else:
        yield f


def save(
    obj: Any,
    f: str | os.PathLike | IO[bytes],
    pickle_module: Any = pickle,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """
    Write an object to a file that :func:`load` reads, and PyTorch's ``torch.load``.

    Parameters
    ----------
    obj : object
        Tensors, or containers of tensors such as a ``state_dict``. Memory shared by several tensors
        is written once, and wholly: clone a small view of a large tensor first.
    f : path or binary file
    pickle_module : module, optional
        A module in the manner of `pickle`, with a class ``Pickler``, that writes what is no tensor.
    pickle_protocol : int
    _use_new_zipfile_serialization : bool
        False writes the format of before PyTorch 1.6.

    Raises
    ------
    AttributeError
        If `f` can't be written, or `pickle_module` has no ``Pickler``.

    Examples
    --------
    >>> import io
    >>> import autograd_cy as ag
    >>> file = io.BytesIO()
    >>> ag.save({"w": ag.ones(2)}, file)
    >>> _ = file.seek(0)
    >>> ag.load(file)
    {'w': tensor([1., 1.])}
    """
    _check_pickle_module("save", pickle_module, "Pickler")
    make = _archive.pickler_of(pickle_module)
    named = isinstance(f, (str, os.PathLike))
    stem = PurePath(os.fsdecode(f)).stem if named else "archive"  # type: ignore[arg-type]
    with _opened(f, "wb") as handle:
        if not hasattr(handle, "write"):
            raise AttributeError(
                f"save: f must be a path or a file that can be written, not {type(f).__name__}"
            )
        if _use_new_zipfile_serialization:
            _archive.write(obj, handle, stem, pickle_protocol, make)
        else:
            _legacy.write(obj, handle, pickle_protocol, make)


def load(
    f: str | os.PathLike | IO[bytes],
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """
    Read an object that :func:`save` or PyTorch's ``torch.save`` wrote, of whatever version.

    Parameters
    ----------
    f : path or binary file
        A file must be able to seek.
    map_location : device, str, dict or callable, optional
        Where all tensors go: the CPU, or ``"meta"``, which takes their shapes alone. A dictionary
        says it for places by name, a function gets a storage and the name of its place and returns
        a storage, or None. Left out, each goes where it was.
    pickle_module : module, optional
        A module in the manner of `pickle`, with a class ``Unpickler``; with ``weights_only=False``,
        which is the default then.
    weights_only : bool, optional
        False lets the file run any code: only for files from those you trust. By default True.
    mmap : bool, optional
        Whether the memory of tensors is that of the file, which is read when it is needed. What
        is written to them doesn't reach the file. Files of before PyTorch 1.6 can't be mapped.
    **pickle_load_args
        Options of the unpickler, as ``encoding``: how texts that Python 2 wrote are decoded, by
        default as UTF-8.

    Returns
    -------
    object

    Raises
    ------
    pickle.UnpicklingError
        If the file names something that is not here or that `weights_only` does not allow. If it is
        damaged, cut off or of another kind, the error is a RuntimeError, too.
    RuntimeError
        If tensors were on a device that isn't here, and `map_location` says nothing, or if
        `pickle_module` is given with ``weights_only=True``.

    Examples
    --------
    >>> import io
    >>> import autograd_cy as ag
    >>> file = io.BytesIO()
    >>> ag.save(ag.arange(3), file)
    >>> _ = file.seek(0)
    >>> ag.load(file)
    tensor([0, 1, 2])
    """
    if pickle_module is not None:
        _check_pickle_module("load", pickle_module, "Unpickler")
        if weights_only:
            raise RuntimeError(
                "Can not safely load weights when explicit pickle_module is specified; leave "
                "pickle_module or weights_only=True out"
            )
    safe = pickle_module is None if weights_only is None else bool(weights_only)
    options = _Options(pickle_module or pickle, safe, {"encoding": "utf-8", **pickle_load_args})
    place = _placement(map_location)
    with _opened(f, "rb") as handle:
        if not hasattr(handle, "read"):
            raise AttributeError(
                f"load: f must be a path or a file that can be read, not {type(f).__name__}"
            )
        if type(handle) not in (io.BufferedReader, io.BytesIO):
            handle = cast(IO[bytes], _Whole(handle))
        first = handle.read(_HEAD)
        if not isinstance(first, (bytes, bytearray, memoryview)):
            raise TypeError(
                "load: f must be a binary file, opened with mode 'rb', but reading it gives "
                f"{type(first).__name__}; a file in memory is an io.BytesIO"
            )
        first = bytes(first)
        if not first.startswith(_archive.FIRST_BYTES):
            return _load_older(first, handle, place, options, mmap)
        if mmap and not isinstance(f, (str, os.PathLike)):
            raise ValueError("load: f must be a path in order to use mmap=True")
        _check_seekable(handle)
        try:
            big = _endianness is LoadEndianness.BIG or (
                _endianness is LoadEndianness.NATIVE and sys.byteorder == "big"
            )
            reader = _archive.Reader(handle, place, bool(mmap), big)
            pickled = reader.pickled()
        except (zipfile.BadZipFile, NotImplementedError, OSError, *_DAMAGE) as error:
            raise LoadError(f"load: the file is damaged: {error}") from error
        return _unpickled(io.BytesIO(pickled), pickled, reader, options)


class _Whole:
    """A file whose `read` may give less than it is asked for, as one without a buffer does."""

    def __init__(self, file: Any):
        self.file = file

    def read(self, size: int = -1) -> Any:
        data = self.file.read(size)
        if size < 0 or not isinstance(data, bytes) or not 0 < len(data) < size:
            return data
        parts = [data]
        missing = size - len(data)
        while missing > 0 and (more := self.file.read(missing)):
            parts.append(more)
            missing -= len(more)
        return b"".join(parts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


class _Options(NamedTuple):
    """How a pickle is read."""

    module: Any
    weights_only: bool
    arguments: dict[str, Any]


def _check_seekable(handle: Any) -> None:
    """Raise what a file raises that has no `seek`, and say what to do."""
    try:
        handle.seek(0, os.SEEK_END)
    except (io.UnsupportedOperation, AttributeError) as error:
        raise type(error)(
            f"{error}. load: a file of save must be seekable; read it into an io.BytesIO before, "
            "and load that"
        ) from None


def _load_older(
    first: bytes, handle: IO[bytes], place: Any, options: _Options, mmap: bool | None
) -> Any:
    """Read a file of before PyTorch 1.6."""
    is_tar = _legacy.is_tar(first)
    if not is_tar and not first.startswith(_legacy.FIRST_BYTES):
        raise LoadError(_what_it_is(first))
    data = first + handle.read()
    reader: Any = (_legacy.TarReader if is_tar else _legacy.StreamReader)(data, place)
    if mmap:
        raise RuntimeError(
            "load: mmap can only be used with files saved with "
            "`torch.save(_use_new_zipfile_serialization=True)`; leave mmap=True out"
        )
    if is_tar:
        return _unpickled(reader.pickled, reader.pickled.getbuffer(), reader, options)
    result = _unpickled(reader.stream, reader.rest(), reader, options)
    reader.fill()
    return result


def _unpickled(stream: IO[bytes], pickled: Any, archive: Any, options: _Options) -> Any:
    kind: Any = _Unpickler
    if options.module.Unpickler is not pickle.Unpickler:
        kind = type("_Unpickler", (_Reading, options.module.Unpickler), {})
    unpickler = kind(stream, **options.arguments)
    unpickler.archive = archive
    unpickler.weights_only = options.weights_only
    if unpickler.weights_only:
        _pickles.check_memo(pickled)
    try:
        result = unpickler.load()
        return _pickles.classes_again(result) if unpickler.stands_in else result
    except _DAMAGE as error:
        raise LoadError(
            f"load: the file is damaged, or names what is not here: {type(error).__name__}: {error}"
        ) from error
    except pickle.UnpicklingError as error:
        if type(error) is not pickle.UnpicklingError or str(error).startswith("load:"):
            raise
        raise LoadError(f"load: the file is damaged: {error}") from error


def _placement(map_location: Any) -> Callable[[str], Any]:
    """Return the destination of a storage, by its old place: a device, or a function of the
    storage."""
    if callable(map_location):
        return lambda location: lambda storage: map_location(storage, location)
    if isinstance(map_location, dict):
        return lambda location: _known(map_location.get(location, location), location)
    if map_location is None:
        return lambda location: _known(location, location)
    _known(map_location, None)
    return lambda location: device(map_location)


def _known(where: Any, location: str | None) -> device:
    """The device, if a file can be loaded to it."""
    try:
        target = device(where)
    except RuntimeError:
        target = None
    if target is not None and _is_usable(target):
        count = _device_count(target.type)
        if target.index is None or target.index < count or target.type in ("cpu", "meta"):
            return target
        kind, count = target.type.upper(), _device_count(target.type)
        raise RuntimeError(
            f"Attempting to deserialize object on {kind} device {target.index} but there are "
            f"{count} of them (torch.{target.type}.device_count() is {count}). Please use load "
            "with map_location to map your storages to an existing device."
        )
    kind = str(where).partition(":")[0]
    if kind == "cuda":
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is "
            "False. If you are running on a CPU-only machine, please use load with "
            "map_location=torch.device('cpu') to map your storages to the CPU. What is missing: "
            f"{_why_not()}"
        )
    if location is None:
        raise RuntimeError(
            f"load: map_location must name a device that is here, such as 'cpu', 'cuda' or 'meta', "
            f"not {where!r}"
        )
    raise RuntimeError(
        f"Attempting to deserialize object on a {kind.upper()} device, which isn't here. Please "
        "use load with map_location=torch.device('cpu') to map your storages to the CPU."
    )


def _what_it_is(first: bytes) -> str:
    """The error for a file of another kind."""
    if first.startswith(b"\x89HDF"):
        return "load: this is an HDF5 file; read it with h5py"
    if first.startswith(b"\x93NUMPY"):
        return "load: this is a file of NumPy; read it with numpy.load"
    return (
        "load: this is not a file that autograd_cy.save or torch.save wrote (one in the format "
        "of safetensors is read by autograd_cy.utils.safetensors.load_file)"
    )


def default_restore_location(storage: Any, location: str) -> Any:
    """
    Return the memory of a tensor where it is to be: it is on the CPU already.

    Parameters
    ----------
    storage : UntypedStorage
    location : str

    Returns
    -------
    UntypedStorage
        `storage`.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> storage = ag.ones(2).untyped_storage()
    >>> ag.serialization.default_restore_location(storage, "cpu") is storage
    True
    """
    return storage


def _check_pickle_module(name: str, module: Any, kind: str) -> None:
    if not isinstance(getattr(module, kind, None), type):
        raise AttributeError(
            f"{name}: pickle_module must be a module with a class {kind}, as pickle, not {module!r}"
        )
