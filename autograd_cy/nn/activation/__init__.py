"""Activations: made of pieces, smooth, and those that normalise."""

from . import classes, piecewise, smooth, softmax
from .classes import *  # noqa: F403
from .piecewise import *  # noqa: F403
from .smooth import *  # noqa: F403
from .softmax import *  # noqa: F403

__all__ = []
__all__ += classes.__all__
__all__ += piecewise.__all__
__all__ += smooth.__all__
__all__ += softmax.__all__
