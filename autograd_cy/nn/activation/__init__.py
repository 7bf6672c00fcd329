"""Activations: made of pieces, smooth, and those that normalise."""

from typing import TYPE_CHECKING

from . import classes, piecewise, smooth, softmax
from .classes import *  # noqa: F403
from .piecewise import *  # noqa: F403
from .smooth import *  # noqa: F403
from .softmax import *  # noqa: F403

if not TYPE_CHECKING:  # type checkers take all names that are imported
    __all__ = [*classes.__all__, *piecewise.__all__, *smooth.__all__, *softmax.__all__]
