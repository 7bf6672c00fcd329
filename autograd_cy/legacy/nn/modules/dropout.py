"""Elements or channels set to zero at random."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from .module import Module

__all__ = [
    "Dropout",
    "Dropout2d",
    "Dropout3d",
]


class Dropout(Module):
    """Elements set to zero with probability `p` in training mode, the others scaled up."""

    _function = staticmethod(F.dropout)

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return type(self)._function(input, self.p, self.training, self.inplace)

    def _extra(self) -> str:
        return f"p = {self.p}{', inplace' if self.inplace else ''}"


class Dropout2d(Dropout):
    """Whole channels set to zero with probability `p` in training mode."""

    _function = staticmethod(F.dropout2d)

    def _extra(self) -> str:
        return f"p={self.p}{', inplace' if self.inplace else ''}"


class Dropout3d(Dropout2d):
    """Whole channels set to zero with probability `p` in training mode."""
