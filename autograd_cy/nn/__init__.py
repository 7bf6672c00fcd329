"""Modules: parameters with names, layers, losses. Plain Python over the operators.

``module.py`` holds the base class, ``functional`` the same operations without state, ``modules``
lists the classes.
"""

from . import functional, init, modules, utils
from .modules import *  # noqa: F403
from .parameter import Buffer, Parameter

__all__ = ["Buffer", "Parameter", "functional", "init", "modules", "utils"]
__all__ += modules.__all__
