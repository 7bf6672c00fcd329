"""Tensors in files, in the format of PyTorch (``_archive.py``).

By default loading runs no code from the file: only tensors, containers and numbers may come back.
"""

from __future__ import annotations

import _compat_pickle
import io
import os
import pickle
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import IO, Any

from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.placement import _is_usable, _why_not, device
from autograd_cy._C.streams import _device_count
from autograd_cy._C.tensor import Tensor
from autograd_cy._environment.contexts import _Context
from autograd_cy.serialization import _archive, _pickles

__all__ = ["load", "save"]

# How files of torch of before version 1.6 begin.
_LEGACY = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P"

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


def _pairs(given: list) -> list[tuple[Any, str]]:
    """Things with the full names by which files ask for them."""
    return [x if isinstance(x, tuple) else (x, f"{x.__module__}.{x.__qualname__}") for x in given]


_RENAMED: dict[tuple[str, str], Any] = {}

# What pickle raises for bytes that make no sense, beside UnpicklingError.
_DAMAGE = AttributeError, EOFError, ImportError, LookupError, OverflowError, TypeError, ValueError


class _Unpickler(pickle.Unpickler):
    """Take memory from an archive, and names only from those that are allowed."""

    archive: _archive.Reader
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
            return super().find_class(module, name)
        return self.find_safe(module, name)

    def remembered(self, found: Any) -> Any:
        self.stands_in = self.stands_in or found in _pickles.CLASSES
        return found

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
            return super().find_class(*modern)
        # Parameter and other tensor classes of this package.
        if module.partition(".")[0] == "autograd_cy" and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) and issubclass(found, Tensor):
                return found
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
        Python's; there are no others.
    pickle_protocol : int
    _use_new_zipfile_serialization : bool
        False asks for the format of before PyTorch 1.6, which isn't written here: it warns.

    Raises
    ------
    ValueError
        If `pickle_module` is another one.

    Warns
    -----
    UserWarning
        If the older format is asked for.

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
    _check_pickle_module("save", pickle_module)
    if not _use_new_zipfile_serialization:
        _warn(
            "save: the format of before PyTorch 1.6 isn't written here; the file is an archive, "
            "which later versions read",
            UserWarning,
        )
    named = isinstance(f, (str, os.PathLike))
    stem = PurePath(os.fsdecode(f)).stem if named else "archive"  # type: ignore[arg-type]
    with _opened(f, "wb") as handle:
        if not hasattr(handle, "write"):
            raise AttributeError(
                f"save: f must be a path or a file that can be written, not {type(f).__name__}"
            )
        _archive.write(obj, handle, stem, pickle_protocol)


def load(
    f: str | os.PathLike | IO[bytes],
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
) -> Any:
    """
    Read an object that :func:`save` or PyTorch's ``torch.save`` wrote.

    Parameters
    ----------
    f : path or binary file
        A file must be able to seek.
    map_location : device, str, dict or callable, optional
        Where all tensors go: the CPU, or ``"meta"``, which takes their shapes alone. A dictionary
        says it for places by name, a function gets a storage and the name of its place and returns
        a storage, or None. Left out, each goes where it was.
    pickle_module : module, optional
        Python's; there are no others.
    weights_only : bool, optional
        False lets the file run any code: only for files from those you trust. By default True.
    mmap : bool, optional
        Whether the memory of tensors is that of the file, which is read when it is needed. What
        is written to them doesn't reach the file.

    Returns
    -------
    object

    Raises
    ------
    pickle.UnpicklingError
        If the file is of another kind or damaged, or names something that is not here or that
        `weights_only` does not allow.
    RuntimeError
        If tensors were on a device that isn't here, and `map_location` says nothing.

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
    _check_pickle_module("load", pickle_module)
    place = _placement(map_location)
    with _opened(f, "rb") as handle:
        if not hasattr(handle, "read"):
            raise AttributeError(
                f"load: f must be a path or a file that can be read, not {type(f).__name__}"
            )
        first = handle.read(len(_LEGACY))
        if not isinstance(first, (bytes, bytearray, memoryview)):
            raise TypeError(
                "load: f must be a binary file, opened with mode 'rb', but reading it gives "
                f"{type(first).__name__}; a file in memory is an io.BytesIO"
            )
        first = bytes(first)
        if not first.startswith(_archive.FIRST_BYTES):
            raise pickle.UnpicklingError(_what_it_is(first))
        if mmap and not isinstance(f, (str, os.PathLike)):
            raise ValueError("load: f must be a path in order to use mmap=True")
        try:
            reader = _archive.Reader(handle, place, bool(mmap))
            pickled = reader.pickled()
        except (zipfile.BadZipFile, NotImplementedError, OSError, *_DAMAGE) as error:
            raise pickle.UnpicklingError(f"load: the file is damaged: {error}") from error
        return _unpickled(pickled, weights_only, reader)


def _unpickled(pickled: Any, weights_only: bool | None, archive: _archive.Reader) -> Any:
    unpickler = _Unpickler(io.BytesIO(pickled))
    unpickler.archive = archive
    unpickler.weights_only = weights_only is None or bool(weights_only)
    if unpickler.weights_only:
        _pickles.check_memo(pickled)
    try:
        found = unpickler.load()
        return _pickles.classes_again(found) if unpickler.stands_in else found
    except _DAMAGE as error:
        raise pickle.UnpicklingError(
            f"load: the file is damaged, or names what is not here: {type(error).__name__}: {error}"
        ) from error


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
        found = device(where)
    except RuntimeError:
        found = None
    if found is not None and _is_usable(found):
        count = _device_count(found.type)
        if found.index is None or found.index < count or found.type in ("cpu", "meta"):
            return found
        kind, count = found.type.upper(), _device_count(found.type)
        raise RuntimeError(
            f"Attempting to deserialize object on {kind} device {found.index} but there are "
            f"{count} of them (torch.{found.type}.device_count() is {count}). Please use load with "
            "map_location to map your storages to an existing device."
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
    if first.startswith(_LEGACY):
        return (
            "load: this file is in PyTorch's format of before version 1.6, which isn't read here. "
            "Write it anew in PyTorch: torch.save(torch.load(file), new_file)"
        )
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


def _check_pickle_module(name: str, module: Any) -> None:
    if module is not None and getattr(module, "Pickler", None) is not pickle.Pickler:
        raise ValueError(f"{name}: pickle_module must be Python's pickle, not {module!r}")
