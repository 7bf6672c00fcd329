"""
Settings of the library of GPU kernels, which programs set at their start; nothing reads them here.

Examples
--------
>>> import autograd_cy.legacy.backends.cudnn as cudnn
>>> cudnn.benchmark = True
>>> cudnn.version() is None
True
"""

from __future__ import annotations

from typing import Any

__all__ = ["benchmark", "enabled", "fastest", "is_acceptable", "verbose", "version"]

enabled = True
benchmark = fastest = verbose = False


def version() -> None:
    """None: there is no such library."""


def is_acceptable(tensor: Any) -> bool:
    """False: tensors are on the CPU."""
    return False
