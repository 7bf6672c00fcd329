"""
Checkpoints of all ranks together, by the names of ``torch.distributed.checkpoint``.

:func:`save` writes a folder that appears when it is complete, :func:`load` reads it on any number
of ranks, and :func:`latest` names the last one. The format isn't PyTorch's; the files of tensors
are safetensors files, and reading runs no code of theirs.
"""

from __future__ import annotations

from autograd_cy._lazy import attach as _attach

from .api import CheckpointException
from .filesystem import FileSystemReader, FileSystemWriter
from .metadata import Metadata, TensorStorageMetadata
from .random_state import RandomState
from .state_dict_loader import latest, load
from .state_dict_saver import save
from .stateful import Stateful

__all__ = [
    "CheckpointException",
    "FileSystemReader",
    "FileSystemWriter",
    "Metadata",
    "RandomState",
    "Stateful",
    "TensorStorageMetadata",
    "latest",
    "load",
    "save",
]

__getattr__, __dir__ = _attach(__name__, ["state_dict"])
