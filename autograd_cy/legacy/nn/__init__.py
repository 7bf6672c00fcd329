"""Modules of the era: they take and return Variables, and losses have ``size_average``."""

from __future__ import annotations

from typing import Any

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


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"module 'autograd_cy.legacy.nn' has no attribute {name!r}: this module of the era isn't "
        "offered; docs/variable-era.md lists those that are"
    )
