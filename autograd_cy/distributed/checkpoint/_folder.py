"""The folder of a checkpoint: files of tensors, an index, and how it appears at once.

A checkpoint is written to ``NAME.incomplete``. When all its files are on disk, the first rank adds
``index.json`` and renames the folder to ``NAME``, so that a folder of that name is complete
whenever a job is killed. A checkpoint of the same name becomes ``NAME.previous`` until then.

The files are of the safetensors format, one a rank: a length, a header in JSON, and the tensors one
after the other. The index has the tree of the state, with the place and the checksum of each
tensor.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import uuid
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .api import Refusal

__all__ = [
    "finish",
    "header_of",
    "last_of",
    "prepare",
    "read_index",
    "remove_old",
    "sync_folder",
]

INDEX = "index.json"
#: The file that says which call of ``save`` writes a folder, as long as it does.
OWNER = "owner"
INCOMPLETE, PREVIOUS = ".incomplete", ".previous"
FORMAT, VERSION = "autograd_cy.distributed.checkpoint", 1
_FILE_NAME = re.compile(r"rank_\d{5,}\.safetensors")
#: The longest first line of an index.
_LINE = 200

#: dtype -> the one of the safetensors format, and numbers in an element.
_DTYPES = {
    "float64": ("F64", 1),
    "float32": ("F32", 1),
    "float16": ("F16", 1),
    "bfloat16": ("BF16", 1),
    "int64": ("I64", 1),
    "int32": ("I32", 1),
    "int16": ("I16", 1),
    "int8": ("I8", 1),
    "uint64": ("U64", 1),
    "uint32": ("U32", 1),
    "uint16": ("U16", 1),
    "uint8": ("U8", 1),
    "bool": ("BOOL", 1),
    "complex64": ("F32", 2),
    "complex128": ("F64", 2),
}


def file_name(rank: int) -> str:
    """Return the name of the file of a rank."""
    return f"rank_{rank:05d}.safetensors"


def header_of(nodes: Iterable[dict[str, Any]]) -> bytes:
    """Return the beginning of a file of tensors whose places are known."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    for node in nodes:
        dtype, numbers = _DTYPES[node["dtype"]]
        shape = node["shape"] + ([numbers] if numbers > 1 else [])
        begin = node["offset"]
        offsets = [begin, begin + node["nbytes"]]
        header[node["tensor"]] = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def sync_folder(folder: Path) -> None:
    """Bring the names of a folder to disk, where its file system can."""
    number = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some network file systems can't
            os.fsync(number)
    finally:
        os.close(number)


def incomplete(path: Path) -> Path:
    """Return the folder where a checkpoint is written."""
    return path.with_name(path.name + INCOMPLETE)


def previous(path: Path) -> Path:
    """Return the folder of the checkpoint that another one of the same name replaces."""
    return path.with_name(path.name + PREVIOUS)


# --- writing -------------------------------------------------------------------------------------


def prepare(path: Path, overwrite: bool) -> str:
    """Make the folder in which a checkpoint is written, and return who writes it.

    Raises
    ------
    Refusal
        If another thing has the name.
    """
    if path.exists() and head_of(path) is None and (not path.is_dir() or any(path.iterdir())):
        raise Refusal(f"{path} exists and is no checkpoint: give the name of a new folder")
    if path.exists() and not overwrite and head_of(path) is not None:
        raise Refusal(f"the checkpoint {path} exists: give another name, or overwrite=True")
    folder = incomplete(path)
    if folder.exists():  # of a job that was killed
        shutil.rmtree(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir()
    owner = uuid.uuid4().hex
    try:
        (folder / OWNER).write_text(owner)
    except OSError:  # such as that of a full disk
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return owner


def _is_of(path: Path, owner: str) -> bool:
    """Return whether nobody else has begun to write a checkpoint of this name meanwhile."""
    try:
        return (incomplete(path) / OWNER).read_text() == owner
    except OSError:
        return False


def finish(path: Path, content: dict[str, Any], sync: bool, owner: str) -> None:
    """Add the index, and give the folder its name."""
    folder = incomplete(path)
    if not _is_of(path, owner):
        raise Refusal(
            f"another program saves {path} as well, or has removed {folder}: end one of the two, "
            "or give each a folder of its own"
        )
    for name, size in content["files"].items():
        file = folder / name
        if not file.exists() or file.stat().st_size != size["bytes"]:
            raise Refusal(
                f"{file} isn't there, or not whole, for the first rank: the folder must be on a "
                "file system that all nodes share"
            )
    body = json.dumps(content, separators=(",", ":"), allow_nan=False)
    head = {
        "format": FORMAT,
        "version": VERSION,
        "sequence": 1 + max([head["sequence"] for _, head in heads_in(path.parent)], default=0),
        "crc32": zlib.crc32(body.encode()),
    }
    (folder / OWNER).unlink()
    with open(folder / INDEX, "w", encoding="utf-8") as file:
        file.write(f"{json.dumps(head)}\n{body}\n")
        if sync:
            file.flush()
            os.fsync(file.fileno())
    if sync:
        sync_folder(folder)
    _exchange_folders(path)
    if sync:
        sync_folder(path.parent)
    _remove(previous(path))


def _exchange_folders(path: Path) -> None:
    replaces = path.exists() and head_of(path) is not None
    if replaces:
        _remove(previous(path))
        os.rename(path, previous(path))
    elif path.exists():
        path.rmdir()  # an empty folder
    try:
        os.rename(incomplete(path), path)
    except OSError:
        if replaces:
            os.rename(previous(path), path)
        raise


def _remove(folder: Path) -> None:
    """Remove a checkpoint; its index first, so that no rest of it looks complete."""
    if folder.exists():
        (folder / INDEX).unlink(missing_ok=True)
        shutil.rmtree(folder)


def give_up(path: Path, owner: str) -> None:
    """Remove what was written of a checkpoint that has failed, but not what another writes."""
    if _is_of(path, owner) or not (incomplete(path) / OWNER).exists():
        shutil.rmtree(incomplete(path), ignore_errors=True)


def check_keep(path: Path, keep: int | None) -> None:
    """Refuse a number of checkpoints that can't be.

    Raises
    ------
    ValueError
    """
    if keep is None:
        return
    if isinstance(keep, bool) or not isinstance(keep, int) or keep < 1:
        raise ValueError(f"distributed.checkpoint.save: keep must be at least 1, not {keep!r}")
    if not re.search(r"\d$", path.name):
        raise ValueError(
            f"distributed.checkpoint.save: keep={keep} removes older checkpoints whose names "
            f"differ from {path.name!r} in the number at the end, and there is none: call it "
            f"{path.name}_1 or the like"
        )


def remove_old(path: Path, keep: int) -> None:
    """Remove all but the last checkpoints whose names differ in the number at the end."""
    stem = re.escape(re.sub(r"\d+$", "", path.name))
    series = re.compile(rf"{stem}\d+({re.escape(PREVIOUS)})?")
    numbered = [
        (head["sequence"], folder)
        for folder, head in heads_in(path.parent)
        if series.fullmatch(folder.name)
    ]
    for _, folder in sorted(numbered)[:-keep]:
        _remove(folder)
    rest = re.compile(rf"{stem}\d+{re.escape(INCOMPLETE)}")
    for folder in path.parent.iterdir():
        if rest.fullmatch(folder.name):  # of a job that was killed
            shutil.rmtree(folder)


# --- reading -------------------------------------------------------------------------------------


def head_of(folder: Path) -> dict[str, Any] | None:
    """Return the first line of an index, None if the folder is no complete checkpoint."""
    try:
        with open(folder / INDEX, encoding="utf-8") as file:
            head = json.loads(file.readline(_LINE))
    except (OSError, ValueError):
        return None
    return head if isinstance(head, dict) and head.get("format") == FORMAT else None


def heads_in(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Return the complete checkpoints in a folder, and the first lines of their indices."""
    if not folder.is_dir():
        return []
    with os.scandir(folder) as entries:
        names = [each.name for each in entries if not each.name.endswith(INCOMPLETE)]
    heads = [(folder / name, head_of(folder / name)) for name in sorted(names)]
    return [(path, head) for path, head in heads if head is not None]


def last_of(folder: Path) -> Path | None:
    """Return the checkpoint in a folder that was saved last, None if there is none."""
    heads = heads_in(folder)
    return max(heads, key=lambda pair: pair[1]["sequence"])[0] if heads else None


def locate(path: Path) -> Path:
    """Return the folder of a checkpoint: its own, or the one that it had while it was replaced."""
    return previous(path) if head_of(path) is None and head_of(previous(path)) else path


def read_index(path: Path) -> dict[str, Any]:
    """Return the content of an index.

    Raises
    ------
    Refusal
        If there is no checkpoint, or a damaged one, or one of a newer version.
    """
    file = path / INDEX
    if not file.exists():
        raise Refusal(f"there is no checkpoint in {path}; {_hint(path)}")
    damaged = Refusal(f"{file} is damaged: load another checkpoint, such as the one before")
    try:
        line, _, rest = file.read_text(encoding="utf-8").partition("\n")
        head = json.loads(line)
        version = int(head["version"])
    except (ValueError, KeyError, TypeError):
        raise damaged from None
    if version > VERSION:
        raise Refusal(
            f"{path} has version {version} of the format, and this one knows {VERSION}: "
            "update autograd_cy"
        )
    body = rest.removesuffix("\n")
    if head.get("crc32") != zlib.crc32(body.encode()):
        raise damaged
    content = json.loads(body)
    if not all(_FILE_NAME.fullmatch(name) for name in content["files"]):
        raise damaged  # such as one of another folder
    return content


def _hint(path: Path) -> str:
    if (path / ".metadata").exists():
        return (
            "it is one of PyTorch's: convert it there by "
            "torch.distributed.checkpoint.format_utils.dcp_to_torch_save, and use autograd_cy.load"
        )
    inside = last_of(path)
    if inside is not None:
        return f"there are some below it, the last in {inside}"
    return "latest(FOLDER) names the last of a folder"
