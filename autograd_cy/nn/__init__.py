"""Modules: parameters with names, layers, losses. Plain Python over the operators.

``module.py`` holds the base class, ``functional`` the same operations without state, ``modules``
lists the classes.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from autograd_cy._absent.names import no_attribute
from autograd_cy._environment.moved_modules import moved as _moved

from . import functional, init, modules, utils
from .modules import *  # noqa: F403
from .parameter import Buffer, Parameter

if TYPE_CHECKING:
    from . import parallel
    from .parallel import DataParallel

__all__ = ["Buffer", "DataParallel", "Parameter", "functional", "init", "modules", "parallel"]
__all__ += ["utils"]

if not TYPE_CHECKING:  # type checkers name what isn't there themselves
    __all__ += modules.__all__

    def __getattr__(name: str) -> Any:
        if name in ("DataParallel", "parallel"):  # loaded when they are first used
            parallel = import_module("autograd_cy.nn.parallel")
            return parallel if name == "parallel" else parallel.DataParallel
        found = _moved(__name__, name)
        if found is not None:
            return found
        raise no_attribute(__name__, name)
