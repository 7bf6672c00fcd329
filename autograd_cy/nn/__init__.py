"""Modules: parameters with names, layers, losses. Plain Python over the operators.

``module.py`` holds the base class, ``functional`` the same operations without state, ``modules``
lists the classes.
"""

from typing import TYPE_CHECKING

from autograd_cy._lazy import attach as _attach

from . import functional, init, modules, utils
from .modules import *  # noqa: F403
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

if TYPE_CHECKING:
    from . import parallel
    from .parallel import DataParallel

__all__ = ["Buffer", "DataParallel", "Parameter", "UninitializedBuffer", "UninitializedParameter"]
__all__ += ["functional", "init", "modules", "parallel", "utils"]

if not TYPE_CHECKING:  # type checkers name what isn't there themselves
    __all__ += modules.__all__

    __getattr__, __dir__ = _attach(
        __name__,
        ["_reduction", "common_types", "grad", "parallel"],
        {"nn.parallel": "DataParallel"},
    )
