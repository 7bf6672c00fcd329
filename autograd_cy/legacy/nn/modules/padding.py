"""Margins around images."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from .module import Module

__all__ = [
    "ReflectionPad2d",
    "ReplicationPad2d",
    "ReplicationPad3d",
]


class _Pad(Module):
    sides: int
    mode: str

    def __init__(self, padding: Any):
        super().__init__()
        sizes = tuple(padding) if isinstance(padding, (tuple, list)) else (padding,) * self.sides
        if len(sizes) != self.sides:
            raise ValueError(
                f"{type(self).__name__}: padding must be a number or {self.sides} of them"
            )
        self.padding = sizes

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, self.mode)

    def _extra(self) -> str:
        return str(self.padding)


class ReflectionPad2d(_Pad):
    """Margins that show the image mirrored: left, right, top, bottom, or one number."""

    sides, mode = 4, "reflect"


class ReplicationPad2d(_Pad):
    """Margins that repeat the border: left, right, top, bottom, or one number."""

    sides, mode = 4, "replicate"


class ReplicationPad3d(_Pad):
    """Margins that repeat the border of volumes: six numbers, or one."""

    sides, mode = 6, "replicate"
