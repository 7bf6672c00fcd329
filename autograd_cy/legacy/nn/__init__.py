"""Modules of the era: they take and return Variables, and losses have ``size_average``."""

from __future__ import annotations

from autograd_cy._lazy import attach as _attach

from . import functional, init, modules, parallel, utils
from .modules import *  # noqa: F403
from .parallel import DataParallel
from .parameter import Parameter

__all__ = [
    "DataParallel",
    "Parameter",
    "functional",
    "init",
    "modules",
    "parallel",
    "utils",
    *modules.__all__,
]


_HINT = ": this module of the era isn't offered; docs/variable-era.md lists those that are"
__getattr__, __dir__ = _attach(__name__, hint=_HINT)
