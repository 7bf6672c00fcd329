"""Tables of trained vectors."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from ..parameter import fresh
from .module import Module

__all__ = [
    "Embedding",
]


class Embedding(Module):
    """
    A trained vector for each of `num_embeddings` numbers, which come as LongTensor Variables.

    Parameters
    ----------
    num_embeddings, embedding_dim : int
    padding_idx : int, optional
        A number whose vector is zero and isn't trained.
    max_norm, norm_type : float, optional
        Vectors that are used are scaled down to this norm.
    scale_grad_by_freq : bool, optional
        Divide the gradient of a vector by how often it was named.
    sparse : bool, optional
        Not supported: gradients are dense.
    """

    _apart = False

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ):
        super().__init__()
        if sparse:
            raise NotImplementedError("Embedding: gradients are dense; leave sparse=True out")
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise AssertionError(
                f"Embedding: padding_idx {padding_idx} is not one of {num_embeddings} embeddings"
            )
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.weight = fresh(num_embeddings, embedding_dim)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the vectors anew."""
        self.weight.data.normal_(0, 1)
        if self.padding_idx is not None:
            self.weight.data[self.padding_idx].fill_(0)

    def forward(self, input: Any) -> Any:
        if self.max_norm is not None:
            used = input.data.contiguous().view(-1)
            rows = self.weight.data.index_select(0, used).renorm(self.norm_type, 0, self.max_norm)
            self.weight.data.index_copy_(0, used, rows)
        return F.embedding(input, self.weight, self.padding_idx, self.scale_grad_by_freq)

    def _extra(self) -> str:
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"
