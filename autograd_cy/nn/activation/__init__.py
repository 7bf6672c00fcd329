"""Activations: made of pieces, smooth, and those that normalise."""

from . import piecewise, smooth, softmax
from .piecewise import *  # noqa: F403
from .smooth import *  # noqa: F403
from .softmax import *  # noqa: F403

__all__ = []
__all__ += piecewise.__all__
__all__ += smooth.__all__
__all__ += softmax.__all__
