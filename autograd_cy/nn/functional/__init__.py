"""Layers and losses as functions without state: thin names over the operators.

The operators are those of the top-level namespace. What is added here is what belongs to the Python
side alone: in-place variants by flag, deprecated spellings, and a few checks. Operators whose
record says ``namespace="nn.functional"`` come from the records.
"""

from __future__ import annotations

from autograd_cy._interpreted import complete as _complete
from autograd_cy._interpreted.indexing import one_hot
from autograd_cy._interpreted.neural import batch_norm
from autograd_cy.nn.functional._activation import (
    gelu,
    log_softmax,
    relu,
    sigmoid,
    softmax,
    tanh,
    threshold,
)
from autograd_cy.nn.functional._affine import linear
from autograd_cy.nn.functional._dropout import dropout
from autograd_cy.nn.functional._embedding import embedding, embedding_bag
from autograd_cy.nn.functional._loss import cross_entropy, mse_loss, nll_loss

__all__ = [
    "batch_norm",
    "cross_entropy",
    "dropout",
    "embedding",
    "embedding_bag",
    "gelu",
    "linear",
    "log_softmax",
    "mse_loss",
    "nll_loss",
    "one_hot",
    "relu",
    "sigmoid",
    "softmax",
    "tanh",
    "threshold",
]

_complete("nn.functional", globals())
