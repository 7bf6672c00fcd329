"""Types for annotations, by the names of ``torch.types``."""

import builtins
import os
from collections.abc import Sequence
from typing import IO, TypeAlias, Union

from autograd_cy import Size, Tensor, device, dtype, layout
from autograd_cy.storage import UntypedStorage as Storage

__all__ = ["Device", "FileLike", "Number", "Storage"]

_dtype = dtype
_device = device
_layout = layout
_int = builtins.int
_float = builtins.float
_bool = builtins.bool
_bytes = builtins.bytes
_complex = builtins.complex
_str = builtins.str

Number: TypeAlias = int | float | bool
Device: TypeAlias = device | str | int | None
FileLike: TypeAlias = Union[str, "os.PathLike[str]", IO[bytes]]

_Number = (int, float, bool)
_size: TypeAlias = Size | list[int] | tuple[int, ...]
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
_TensorOrOptionalTensors: TypeAlias = Tensor | Sequence[Tensor | None]
