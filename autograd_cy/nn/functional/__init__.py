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
from autograd_cy.nn.functional._gate import (
    gumbel_softmax,
    mish,
    silu,
    softmin,
    softsign,
    tanhshrink,
)
from autograd_cy.nn.functional._loss import cross_entropy, mse_loss, nll_loss
from autograd_cy.nn.functional._rectifier import (
    celu,
    celu_,
    elu,
    elu_,
    hardsigmoid,
    hardswish,
    hardtanh,
    hardtanh_,
    leaky_relu,
    leaky_relu_,
    relu6,
    relu_,
    rrelu,
    rrelu_,
    selu,
    selu_,
    threshold_,
)

__all__ = [
    "celu",
    "celu_",
    "cross_entropy",
    "dropout",
    "elu",
    "elu_",
    "gelu",
    "gumbel_softmax",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "log_softmax",
    "mish",
    "mse_loss",
    "nll_loss",
    "relu",
    "relu6",
    "relu_",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
]

__getattr__, __dir__ = _later("nn.functional", globals())
