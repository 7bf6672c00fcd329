"""Layers and losses as functions without state: thin names over the operators.

The operators are those of the top-level namespace. What is added here is what belongs to the Python
side alone: in-place variants by flag, deprecated spellings, and a few checks. Operators whose
record says ``namespace="nn.functional"``, or ``also=("nn.functional",)`` beside the top level, come
from the records, and are loaded when they are first used. Functions that only add options to an
operator (``functional="relu(input, inplace)"``) are in ``_from_records.py``, written by the build.
"""

from __future__ import annotations

from autograd_cy._interpreted import later as _later
from autograd_cy.nn.functional._activation import *  # noqa: F403
from autograd_cy.nn.functional._attention import *  # noqa: F403
from autograd_cy.nn.functional._dropout import *  # noqa: F403
from autograd_cy.nn.functional._embedding import *  # noqa: F403
from autograd_cy.nn.functional._from_records import *  # noqa: F403
from autograd_cy.nn.functional._grid import *  # noqa: F403
from autograd_cy.nn.functional._loss import *  # noqa: F403
from autograd_cy.nn.functional._margin_loss import *  # noqa: F403
from autograd_cy.nn.functional._normalization import *  # noqa: F403
from autograd_cy.nn.functional._pointwise_loss import *  # noqa: F403
from autograd_cy.nn.functional._pooling import *  # noqa: F403
from autograd_cy.nn.functional._resampling import *  # noqa: F403
from autograd_cy.nn.functional._softmax import *  # noqa: F403
from autograd_cy.nn.functional._unpooling import *  # noqa: F403

__all__ = sorted(name for name, value in globals().items() if hasattr(value, "_public"))

# In-place forms that are those of the top level.
_TOP = ("celu_", "relu_", "rrelu_", "selu_", "threshold_")

__getattr__, __dir__ = _later("nn.functional", globals(), _TOP)
