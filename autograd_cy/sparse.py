"""
The module ``torch.sparse``, of which there is nothing: tensors are dense.

Each name of it says what to use instead.

Examples
--------
>>> import autograd_cy as ag
>>> hasattr(ag.sparse, "mm")
False
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograd_cy._lazy import attach as _attach

__all__: list[str] = []


if not TYPE_CHECKING:  # type checkers name what isn't there themselves
    __getattr__, __dir__ = _attach(__name__)
