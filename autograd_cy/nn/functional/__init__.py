"""Layers and losses as functions without state: thin names over the operators.

The operators are those of the top-level namespace. What is added here is what belongs to the Python
side alone: in-place variants by flag, deprecated spellings, and a few checks. Operators whose
record says ``namespace="nn.functional"``, or ``also=("nn.functional",)`` beside the top level, come
from the records, and are loaded when they are first used. Functions that only add options to an
operator (``functional="relu(input, inplace)"``) are in ``_from_records.py``, written by the build.
"""

from __future__ import annotations

from autograd_cy._interpreted import later as _later
from autograd_cy.nn.functional._activation import *
from autograd_cy.nn.functional._attention import *
from autograd_cy.nn.functional._dropout import *
from autograd_cy.nn.functional._embedding import *
from autograd_cy.nn.functional._from_records import *
from autograd_cy.nn.functional._grid import *
from autograd_cy.nn.functional._margin_loss import *
from autograd_cy.nn.functional._normalization import *
from autograd_cy.nn.functional._pooling import *
from autograd_cy.nn.functional._resampling import *
from autograd_cy.nn.functional._softmax import *
from autograd_cy.nn.functional._unpooling import *

__all__ = sorted(name for name, value in globals().items() if hasattr(value, "_public"))

# In-place forms that are those of the top level.
_TOP = ("celu_", "relu_", "rrelu_", "selu_", "threshold_")

__getattr__, __dir__ = _later("nn.functional", globals(), _TOP)
