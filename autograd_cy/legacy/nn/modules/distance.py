"""Distances of rows."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from .module import Module

__all__ = [
    "CosineSimilarity",
    "PairwiseDistance",
]


class CosineSimilarity(Module):
    """The cosines of the angles of slices along a dimension."""

    def __init__(self, dim: int = 1, eps: float = 1e-8):
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Any, x2: Any) -> Any:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The p-norms of the differences of rows, in a column."""

    def __init__(self, p: float = 2, eps: float = 1e-6):
        super().__init__()
        self.norm = p
        self.eps = eps

    def forward(self, x1: Any, x2: Any) -> Any:
        return F.pairwise_distance(x1, x2, self.norm, self.eps)
