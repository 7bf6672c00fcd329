"""Checks of the Variables that functions get."""

from __future__ import annotations

from typing import Any

from ...autograd import Variable

__all__ = ["batch_of", "variable"]


def variable(x: Any, name: str) -> Any:
    """An argument that has to be a Variable."""
    if not isinstance(x, Variable):
        raise RuntimeError(f"{name}: expected a Variable argument, but got {type(x).__name__}")
    return x


def batch_of(x: Any, dims: tuple[int, ...], name: str) -> Any:
    """A Variable of (batch, channels, ...) with one of these numbers of dimensions."""
    if variable(x, name).dim() not in dims:
        wanted = " or ".join(map(str, dims))
        raise RuntimeError(
            f"{name}: expected {wanted} dimensions (batch, channels, ...), got size "
            f"{tuple(x.size())}"
        )
    return x
