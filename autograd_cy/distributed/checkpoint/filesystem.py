"""Writing and reading checkpoints in folders."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor

from . import _folder
from ._tree import bytes_of, dtype_of, tensors_of
from .api import Refusal
from .metadata import Metadata, TensorProperties, TensorStorageMetadata

__all__ = ["FileSystemReader", "FileSystemWriter"]

_CHUNK = 16 << 20  # bytes that are written or read at a time


def absolute(path: str | os.PathLike) -> Path:
    """Return a path that stays the same when the program changes its folder."""
    return Path(os.path.abspath(path))


class FileSystemWriter:
    """
    Write a checkpoint to a folder.

    Parameters
    ----------
    path : path
        The folder, which is made.
    single_file_per_rank : bool, default True
        Only True is supported.
    sync_files : bool, default True
        Whether data are brought to disk before the folder gets its name, so that a checkpoint is
        whole even if the machine fails.
    thread_count, per_thread_copy_ahead : int, optional
        Accepted, without effect: ranks write at the same time.
    overwrite : bool, default True
        Whether a checkpoint of the same name is replaced; otherwise it is an error.

    Raises
    ------
    ValueError
        If `single_file_per_rank` is False.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed import checkpoint
    >>> writer = checkpoint.FileSystemWriter("two", sync_files=False)
    >>> _ = checkpoint.save({"a": ag.ones(2)}, storage_writer=writer)
    """

    def __init__(
        self,
        path: str | os.PathLike,
        single_file_per_rank: bool = True,
        sync_files: bool = True,
        thread_count: int = 1,
        per_thread_copy_ahead: int = 10_000_000,
        overwrite: bool = True,
    ) -> None:
        if not single_file_per_rank:
            raise ValueError("FileSystemWriter: each rank writes one file; leave it out")
        self.path = absolute(path)
        self.sync_files = sync_files
        self.overwrite = overwrite

    def _write(self, nodes: list[dict[str, Any]], tensors: dict[str, Tensor], rank: int) -> None:
        """Write the file of a rank."""
        if not nodes:
            return
        name = _folder.incomplete(self.path) / _folder.file_name(rank)
        try:
            with open(name, "xb") as file:
                file.write(_folder.header_of(nodes))
                for node in nodes:
                    data, owner = bytes_of(tensors[node["tensor"]])
                    for start in range(0, len(data), _CHUNK):
                        file.write(data[start : start + _CHUNK])
                    del data, owner
                if self.sync_files:
                    file.flush()
                    os.fsync(file.fileno())
        except OSError as error:
            # Errors of writing have no name of a file, which a reader needs.
            raise OSError(error.errno, error.strerror, error.filename or str(name)) from error


class FileSystemReader:
    """
    Read a checkpoint from a folder.

    Parameters
    ----------
    path : path
        The folder.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed import checkpoint
    >>> _ = checkpoint.save({"a": ag.ones(2)}, checkpoint_id="three")
    >>> metadata = checkpoint.FileSystemReader("three").read_metadata()
    >>> list(metadata.state_dict_metadata)
    ['a']
    """

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = _folder.locate(absolute(path))

    def read_metadata(self) -> Metadata:
        """
        Return the names, dtypes and shapes of the tensors.

        Returns
        -------
        Metadata

        Raises
        ------
        CheckpointException
            If there is no checkpoint, or it is damaged.
        """
        from .api import Ranks

        return metadata_of(Ranks(None, "FileSystemReader").together(self._read_index))

    def _read_index(self) -> dict[str, Any]:
        return _folder.read_index(self.path)

    def _read(
        self, nodes: Iterable[dict[str, Any]], files: dict[str, Any]
    ) -> dict[tuple[str, str], Tensor]:
        """Return the tensors of nodes by file and name, with their checksums compared."""
        by_file: dict[str, dict[str, dict[str, Any]]] = {}
        for node in nodes:
            by_file.setdefault(node["file"], {})[node["tensor"]] = node
        tensors = {}
        for name, own in by_file.items():
            path = self.path / name
            if path.stat().st_size != files[name]["bytes"]:
                raise _damaged(path, "it has another size than it was written with")
            with open(path, "rb") as file:
                for node in sorted(own.values(), key=lambda node: node["offset"]):
                    file.seek(files[name]["data"] + node["offset"])
                    tensors[name, node["tensor"]] = _read_tensor(file, node, path)
        return tensors


def _read_tensor(file: Any, node: dict[str, Any], path: Path) -> Tensor:
    tensor = ag.empty(tuple(node["shape"]), dtype=dtype_of(node["dtype"]), device="cpu")
    crc = 0
    if node["nbytes"] != tensor.nbytes:
        raise _damaged(path, f"{node['tensor']} has another size than its shape says")
    if node["nbytes"]:
        data = memoryview(tensor.untyped_storage())[: node["nbytes"]]  # type: ignore[arg-type]
        for start in range(0, len(data), _CHUNK):
            part = data[start : start + _CHUNK]
            if file.readinto(part) != len(part):
                raise _damaged(path, f"it ends within {node['tensor']}")
            crc = zlib.crc32(part, crc)
    if crc != node["crc32"]:
        raise _damaged(path, f"the checksum of {node['tensor']} differs")
    return tensor


def _damaged(path: Path, why: str) -> Refusal:
    return Refusal(f"{path} is damaged, {why}: load another checkpoint, such as the one before")


def metadata_of(content: dict[str, Any]) -> Metadata:
    """Return the description of what an index has."""
    tensors = {
        node["tensor"]: TensorStorageMetadata(
            TensorProperties(dtype_of(node["dtype"])), ag.Size(node["shape"])
        )
        for node in tensors_of(content["tree"])
    }
    return Metadata(tensors, content["world_size"])
