"""Nested containers of tensors: tuples, named tuples, lists and dicts, taken apart and rebuilt."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from autograd_cy._C.tensor import Tensor


class Structure:
    """The nesting of a container; leaves are anything that is no container."""

    __slots__ = ("children", "flat", "keys", "kind", "size")

    def __init__(self, kind=None, keys=None, children=()):
        self.kind, self.keys, self.children = kind, keys, children
        self.size, self.flat = 1, True
        if kind is not None:
            self.size = 0
            for c in children:
                self.size += c.size
                self.flat = self.flat and c.kind is None

    def __eq__(self, other):
        return (
            isinstance(other, Structure)
            and self.kind is other.kind
            and self.keys == other.keys
            and self.children == other.children
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self):
        if self.kind is None:
            return "*"
        if self.kind in (dict, OrderedDict):
            inside = ", ".join(f"{k!r}: {c!r}" for k, c in zip(self.keys, self.children))
            return "{" + inside + "}"
        inside = ", ".join(map(repr, self.children))
        if self.kind is list:
            return f"[{inside}]"
        name = "" if self.kind is tuple else self.kind.__name__
        return f"{name}({inside}{',' if self.kind is tuple and len(self.children) == 1 else ''})"

    def build(self, leaves: list) -> Any:
        """The container with these leaves."""
        if self.kind is None:
            return leaves[0]
        if self.flat:
            parts = leaves  # the usual case
        else:
            parts, start = [], 0
            for child in self.children:
                parts.append(child.build(leaves[start : start + child.size]))
                start += child.size
        if self.kind is tuple or self.kind is list:
            return self.kind(parts)
        if self.keys is not None:
            return self.kind(zip(self.keys, parts))
        if hasattr(self.kind, "_fields"):
            return self.kind(*parts)
        return self.kind(parts)


LEAF = Structure()


def flatten(x: Any) -> tuple[list, Structure]:
    """The leaves of `x`, in order, and its structure."""
    if isinstance(x, Tensor):
        return [x], LEAF
    leaves: list = []
    return leaves, _collect(x, leaves)


def _collect(x, leaves):
    if isinstance(x, Tensor):
        leaves.append(x)
        return LEAF
    kind = type(x)
    if kind is tuple or kind is list or (isinstance(x, tuple) and hasattr(kind, "_fields")):
        return Structure(kind, None, tuple([_collect(y, leaves) for y in x]))
    if kind is dict or kind is OrderedDict:
        return Structure(kind, list(x), tuple([_collect(y, leaves) for y in x.values()]))
    leaves.append(x)
    return LEAF


def spread(values: Any, structure: Structure) -> list | None:
    """
    One value per leaf of `structure`: `values` is one for all, or follows its containers down to
    some depth. None if it doesn't fit.
    """
    kind = type(values)
    if not isinstance(values, (tuple, list, dict)):
        return [values] * structure.size
    if structure.kind is None or len(values) != len(structure.children):
        return None
    if issubclass(kind, dict):
        if structure.keys is None or set(values) != set(structure.keys):
            return None
        values = [values[k] for k in structure.keys]
    elif structure.keys is not None or issubclass(kind, list) != (structure.kind is list):
        return None
    out: list = []
    for one, child in zip(values, structure.children):
        part = spread(one, child)
        if part is None:
            return None
        out += part
    return out
