"""
The operations of modules as functions of Variables, as they were called.

Losses take ``size_average``; ``softmax`` chooses its dimension by the number of them; ``dropout``
does nothing unless ``training`` is set.
"""

from __future__ import annotations

from autograd_cy._lazy import attach as _attach

from . import _activations, _layers, _losses, _pooling
from ._activations import *  # noqa: F403
from ._layers import *  # noqa: F403
from ._losses import *  # noqa: F403
from ._pooling import *  # noqa: F403

__all__ = [
    *_activations.__all__,
    *_layers.__all__,
    *_losses.__all__,
    *_pooling.__all__,
]


_HINT = (
    ": this function of the era isn't offered, or it is a later one; those are in "
    "autograd_cy.nn.functional"
)
__getattr__, __dir__ = _attach(__name__, hint=_HINT)
