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

from typing import TYPE_CHECKING, NoReturn

from autograd_cy._absent.names import no_attribute

__all__: list[str] = []


if not TYPE_CHECKING:  # type checkers name what isn't there themselves

    def __getattr__(name: str) -> NoReturn:
        raise no_attribute(__name__, name)
