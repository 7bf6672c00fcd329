"""PyTorch's files of before version 1.6: a stream of pickles, then the memory of the tensors; and
those of before version 0.1.10, tar archives of three such streams.

A stream has five pickles: a number that marks it, the version of the protocol, facts of the machine
that wrote it, the object, and the keys of the storages. The memory of each storage follows: the
number of its elements as int64, and the elements. What users call is in ``__init__.py``.
"""

from __future__ import annotations

import io
import pickle
import struct
import tarfile
from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np

from autograd_cy._C.copying import _rebuild_tensor, _storage_from_bytes, _storage_on_meta
from autograd_cy._C.dtypes import dtype as _dtype
from autograd_cy._C.exchange import UntypedStorage, _storage_to_device
from autograd_cy._C.placement import device
from autograd_cy._C.tensor import Tensor
from autograd_cy.serialization import _archive
from autograd_cy.serialization._pickles import LoadError, check_memo
from autograd_cy.storage import TypedStorage

__all__ = ["MAGIC", "StreamReader", "TarReader", "is_tar", "write"]

MAGIC = 0x1950A86A20F9469CFC6C
PROTOCOL = 1001
# How such a file begins: every pickle of protocol 2 and later does, and the number in protocol 1.
FIRST_BYTES = (b"\x80", pickle.dumps(MAGIC, 1))

_UINT8 = _archive._DTYPES["uint8"]


# --- writing ------------------------------------------------------------------------------------


def write(obj: Any, file: IO[bytes], protocol: int, make: Callable[..., Any]) -> None:
    """
    Write an object as a stream.

    Parameters
    ----------
    obj : object
    file : binary file
    protocol : int
        Of the pickles.
    make : callable
        Makes the pickler of a file and a protocol.
    """
    protocol = max(protocol, 1)
    pickled = io.BytesIO()
    pickler = make(pickled, protocol)
    pickler.is_stream = True
    pickler.dump(obj)
    machine = {
        "protocol_version": PROTOCOL,
        "little_endian": True,
        "type_sizes": {"short": 2, "int": 4, "long": 4},
    }
    for part in (MAGIC, PROTOCOL, machine):
        file.write(pickle.dumps(part, protocol))
    file.write(pickled.getvalue())
    entries = sorted(pickler.storages.values(), key=lambda entry: entry[0])
    file.write(pickle.dumps([number for number, *_ in entries], protocol))
    for _, _, count, storage in entries:
        if storage.device.type != "cpu":
            storage = _storage_to_device(storage, "cpu")
        file.write(struct.pack("<q", count))
        data = memoryview(storage).cast("B")
        for at in range(0, data.nbytes, _archive.PIECE):
            file.write(bytes(data[at : at + _archive.PIECE]))


# --- reading ------------------------------------------------------------------------------------


class _Plain(pickle.Unpickler):
    """Reads numbers, texts and containers, and the names of kinds of memory and of tensors."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _archive.STORAGE_NAMES:
            return name
        if module.partition(".")[0] == "torch" and name.endswith("Tensor"):
            return name
        raise LoadError(f"load: the file is damaged: it names {module}.{name} where it can't")


def _plain(stream: io.BytesIO) -> Any:
    check_memo(stream.getbuffer()[stream.tell() :])
    try:
        return _Plain(stream, encoding="latin-1").load()
    except LoadError:
        raise
    except Exception as error:
        raise LoadError(f"load: the file is damaged: {type(error).__name__}: {error}") from error


def _text(x: Any) -> Any:
    """A text that a pickle of Python 2 has, with ``encoding="bytes"``, as bytes."""
    return x.decode("ascii", "replace") if isinstance(x, bytes) else x


class _Part(TypedStorage):
    """A part of memory: a storage whose tensors begin behind its beginning."""

    def __init__(self, storage: UntypedStorage, dtype: _dtype, begin: int):
        super().__init__(wrap_storage=storage, dtype=dtype, _internal=True)
        self.begin = begin


class _Memory:
    """A storage whose elements come behind the pickle that speaks of it."""

    def __init__(self, dtype: _dtype, count: int, where: Any):
        self.dtype, self.count = dtype, count
        self.size = count * dtype.itemsize
        self.own: Any = _storage_from_bytes(np.zeros(self.size, np.uint8))
        self.storage = self.own
        if not isinstance(where, device):
            moved = where(self.own)
            self.storage = self.own if moved is None else _archive._untyped(moved)
        elif where.type == "meta":
            self.storage = _storage_on_meta(self.size)
        elif where.type != "cpu":
            self.storage = _storage_to_device(self.own, where)

    def fill(self, data: bytes, swapped: bool) -> None:
        """Put the elements where they belong."""
        here = _bytes_of(self.own, self.size)
        array = here.numpy()
        array[:] = np.frombuffer(data, np.uint8)
        if swapped:
            _archive._swap(array, self.dtype)
        if self.storage is not self.own and self.storage.device.type != "meta":
            _bytes_of(self.storage, self.size).copy_(here)

    def part(self, offset: Any, count: Any) -> _Part:
        """Return elements of it as a storage that shares their memory."""
        if not all(isinstance(n, int) and n >= 0 for n in (offset, count)):
            raise LoadError("load: the file is damaged: a part of memory without its place")
        if offset + count > self.count:
            raise LoadError("load: the file is damaged: a part is longer than its memory")
        return _Part(self.storage, self.dtype, offset)


def _bytes_of(storage: Any, size: int) -> Tensor:
    return _rebuild_tensor(Tensor, storage, _UINT8, 0, (size,), (1,), False)


class StreamReader:
    """
    A stream that is read.

    Parameters
    ----------
    data : bytes
        The whole file.
    placed : callable
        Gets the place where a storage was and says where it goes: a device, or a function of the
        storage that returns it or another one.
    """

    def __init__(self, data: bytes, placed: Callable[[str], Any]):
        self.stream, self.size = io.BytesIO(data), len(data)
        self.placed = placed
        self.memories: dict[str, _Memory] = {}
        self.promised = 0
        if _plain(self.stream) != MAGIC:
            raise LoadError(
                "load: this is not a file that autograd_cy.save or torch.save wrote, but another "
                "pickle"
            )
        version = _plain(self.stream)
        if version != PROTOCOL:
            raise LoadError(f"load: the file is of protocol {version!r:.40}, which is unknown")
        machine = _plain(self.stream)
        self.swapped = isinstance(machine, dict) and machine.get("little_endian") is False

    def rest(self) -> memoryview:
        """Return the bytes that are not read yet."""
        return self.stream.getbuffer()[self.stream.tell() :]

    def storage(self, saved: Any) -> Any:
        """The memory that a pickle speaks of; its elements come later."""
        if isinstance(saved, tuple) and len(saved) > 1 and _text(saved[0]) == "module":
            return saved[1]  # a class, with its source
        if not (isinstance(saved, tuple) and len(saved) == 6 and _text(saved[0]) == "storage"):
            raise LoadError(f"load: unknown kind of persistent id: {saved!r:.80}")
        _, kind, key, location, count, view = saved
        key, location = _text(key), _text(location)
        if not (kind == "UntypedStorage" or kind in _archive._STORAGES) or not isinstance(key, str):
            raise LoadError("load: memory of an unknown kind")
        if not isinstance(count, int) or count < 0 or not isinstance(location, str):
            raise LoadError("load: memory without a size or a place")
        if key not in self.memories:
            self.memories[key] = self.promise(kind, count, location)
        memory = self.memories[key]
        if view is not None:  # of very old files, for tensors that share memory
            if not isinstance(view, tuple) or len(view) != 3:
                raise LoadError("load: the file is damaged: a part of memory without its place")
            return memory.part(*view[1:])
        if kind == "UntypedStorage":
            return memory.storage
        return TypedStorage._of(memory.storage, memory.dtype)

    def promise(self, kind: Any, count: int, location: str) -> _Memory:
        """Make memory whose elements come later, if the file is long enough for them."""
        dtype = _UINT8 if kind == "UntypedStorage" else _archive._DTYPES[_archive._STORAGES[kind]]
        self.promised += count * dtype.itemsize
        if self.promised > self.size:
            raise LoadError("load: the file ends within the memory of its tensors")
        return _Memory(dtype, count, self.placed(location))

    def fill(self) -> None:
        """Read the elements of all storages."""
        keys = _plain(self.stream)
        if not isinstance(keys, list):
            raise LoadError("load: the file is damaged: no list of its storages")
        for key in map(_text, keys):
            if key not in self.memories:
                raise LoadError(f"load: the file is damaged: memory {key!r:.40} of no tensor")
            memory = self.memories[key]
            _fill(memory, self.stream, self.swapped)
        if len(set(map(_text, keys))) != len(self.memories):
            raise LoadError("load: the file is damaged: tensors without memory")


def _fill(memory: _Memory, stream: IO[bytes], swapped: bool) -> None:
    count = _counted(stream, swapped)
    if count != memory.count:
        raise LoadError(
            f"load: the file is damaged: memory of {count} elements in place of {memory.count}"
        )
    data = stream.read(memory.size)
    if len(data) < memory.size:
        raise LoadError("load: the file ends within the memory of its tensors")
    memory.fill(data, swapped)


def _counted(stream: IO[bytes], swapped: bool) -> int:
    """Read the number of elements of a storage."""
    data = stream.read(8)
    if len(data) < 8:
        raise LoadError("load: the file ends within the memory of its tensors")
    return int(struct.unpack(">q" if swapped else "<q", data)[0])


# --- tar archives -------------------------------------------------------------------------------


def is_tar(first: bytes) -> bool:
    """Tell whether a file that begins so is a tar archive."""
    return first[257:262] == b"ustar"


class TarReader:
    """The members of a tar archive beside its pickle: tensors by their numbers."""

    def __init__(self, data: bytes, placed: Callable[[str], Any]):
        self.placed, self.size = placed, len(data)
        self.objects: dict[Any, Any] = {}
        try:
            parts = {}
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                for name in ("storages", "tensors", "pickle"):
                    member = archive.extractfile(name)
                    if member is None:
                        raise LoadError(f"load: the file is damaged: {name} is no file in it")
                    parts[name] = io.BytesIO(member.read())
        except (tarfile.TarError, KeyError, OSError, EOFError, ValueError) as error:
            raise LoadError(f"load: this tar archive is not one of torch.save: {error}") from error
        self.pickled = parts["pickle"]
        self.read_storages(parts["storages"])
        self.read_tensors(parts["tensors"])

    def read_storages(self, stream: io.BytesIO) -> None:
        for _ in _numbered(stream):
            key, location, kind = _parts_of(_plain(stream), 3)
            if kind not in _archive._STORAGES or not isinstance(location, str):
                raise LoadError("load: memory of an unknown kind")
            dtype = _archive._DTYPES[_archive._STORAGES[kind]]
            at = stream.tell()
            count = _counted(stream, False)
            if not 0 <= count * dtype.itemsize <= self.size:
                raise LoadError("load: the file ends within the memory of its tensors")
            stream.seek(at)
            memory = _Memory(dtype, count, self.placed(location))
            _fill(memory, stream, False)
            self.objects[key] = memory, TypedStorage._of(memory.storage, dtype)
        views = _plain(stream)
        for view in views if isinstance(views, list) else ():
            target, root, offset, count = _parts_of(view, 4)
            memory, _ = self.entry(root)
            self.objects[target] = memory, memory.part(offset, count)

    def read_tensors(self, stream: io.BytesIO) -> None:
        for _ in _numbered(stream):
            key, number, _ = _parts_of(_plain(stream), 3)
            _, storage = self.entry(number)
            dims = _integers(stream, 1, "i")[0]
            stream.read(4)  # how C aligned it
            if not 0 <= dims <= 64:
                raise LoadError(f"load: the file is damaged: a tensor of {dims} dimensions")
            size, stride = _integers(stream, dims), _integers(stream, dims)
            (offset,) = _integers(stream, 1)
            self.objects[key] = _archive._rebuild_tensor_v1(storage, offset, size, stride)

    def entry(self, key: Any) -> Any:
        obj = self.objects.get(key)
        if not isinstance(obj, tuple):
            raise LoadError("load: the file is damaged: a tensor without memory")
        return obj

    def storage(self, saved: Any) -> Any:
        """The object of a persistent id."""
        if isinstance(saved, tuple) and saved:
            return saved[0]  # a class, with its source
        try:
            obj = self.objects[int(saved)]
        except (KeyError, TypeError, ValueError):
            raise LoadError(f"load: unknown kind of persistent id: {saved!r:.80}") from None
        return obj[1] if isinstance(obj, tuple) else obj


def _numbered(stream: io.BytesIO) -> Iterator[int]:
    count = _plain(stream)
    if not isinstance(count, int):
        raise LoadError("load: the file is damaged: no number of its parts")
    return iter(range(count))


def _parts_of(x: Any, count: int) -> tuple[Any, ...]:
    if not isinstance(x, (tuple, list)) or len(x) != count:
        raise LoadError(f"load: the file is damaged: {count} parts, not {x!r:.40}")
    return tuple(x)


def _integers(stream: IO[bytes], count: int, kind: str = "q") -> tuple[int, ...]:
    form = f"<{count}{kind}"
    data = stream.read(struct.calcsize(form))
    try:
        return struct.unpack(form, data)
    except struct.error:
        raise LoadError("load: the file ends within its tensors") from None
