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
from autograd_cy.nn.functional._embedding import embedding, embedding_bag
from autograd_cy.nn.functional._gate import (
    gumbel_softmax,
    mish,
    silu,
    softmin,
    softsign,
    tanhshrink,
)
from autograd_cy.nn.functional._loss import cross_entropy, mse_loss, nll_loss
from autograd_cy.nn.functional._pointwise_loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    huber_loss,
    kl_div,
    l1_loss,
    smooth_l1_loss,
    soft_margin_loss,
)
from autograd_cy.nn.functional._pooling import (
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d,
    adaptive_max_pool3d_with_indices,
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool3d,
)
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
from autograd_cy.nn.functional._resampling import (
    interpolate,
    upsample,
    upsample_bilinear,
    upsample_nearest,
)
from autograd_cy.nn.functional._unpooling import (
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)

__all__ = [
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "cross_entropy",
    "dropout",
    "elu",
    "elu_",
    "embedding",
    "embedding_bag",
    "gelu",
    "gumbel_softmax",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "huber_loss",
    "interpolate",
    "kl_div",
    "l1_loss",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "log_softmax",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
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
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

__getattr__, __dir__ = _later("nn.functional", globals())
