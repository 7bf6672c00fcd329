"""
The operations of modules as functions of Variables, as they were called.

Losses take ``size_average``; ``softmax`` chooses its dimension by the number of them; ``dropout``
does nothing unless ``training`` is set.
"""

from __future__ import annotations

from typing import Any

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


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"module 'autograd_cy.legacy.nn.functional' has no attribute {name!r}: this function of "
        "the era isn't offered, or it is a later one; those are in autograd_cy.nn.functional"
    )
