"""Layers and losses as functions without state: thin names over the operators.

The operators are those of the top-level namespace. What is added here is what belongs to the Python
side alone: in-place variants by flag, deprecated spellings, and a few checks. Operators whose
record says ``namespace="nn.functional"``, or ``also=("nn.functional",)`` beside the top level, come
from the records, and are loaded when they are first used.
"""

from __future__ import annotations

from autograd_cy._interpreted import later as _later
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
from autograd_cy.nn.functional._loss import cross_entropy, mse_loss, nll_loss
from autograd_cy.nn.functional._normalization import (
    batch_norm,
    group_norm,
    instance_norm,
    local_response_norm,
    normalize,
)

__all__ = [
    "batch_norm",
    "cross_entropy",
    "dropout",
    "gelu",
    "group_norm",
    "instance_norm",
    "linear",
    "local_response_norm",
    "log_softmax",
    "mse_loss",
    "nll_loss",
    "normalize",
    "relu",
    "sigmoid",
    "softmax",
    "tanh",
    "threshold",
]

__getattr__, __dir__ = _later("nn.functional", globals())
