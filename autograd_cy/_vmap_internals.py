"""``torch._vmap_internals``: the vmap that programs of before ``torch.vmap`` use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_cy._vmap.mapping import _vmap as _make
from autograd_cy._vmap.mapping import vmap

__all__ = ["vmap"]


def _vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    allow_none_pass_through: bool = False,
) -> Callable[..., Any]:
    """:func:`autograd_cy.vmap`; with `allow_none_pass_through` results may be None."""
    return _make(func, in_dims, out_dims, "error", None, none_passes=allow_none_pass_through)
