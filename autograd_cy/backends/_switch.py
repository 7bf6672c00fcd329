"""Modules whose attributes are switches: kept as they are set, checked, and without effect."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, ClassVar

__all__ = ["Switches", "become", "check", "items"]


class Switches(ModuleType):
    """A module that lets its switches be set to values of their kind, and to no others."""

    _kinds: ClassVar[dict[str, tuple[type, ...]]]

    def __setattr__(self, name: str, value: Any) -> None:
        check(self, name, value)
        super().__setattr__(name, value)


def check(module: Switches, name: str, value: Any) -> None:
    """Refuse a value that isn't of the switch's kind."""
    kinds = module._kinds.get(name)
    if kinds is not None and not isinstance(value, kinds):
        raise RuntimeError(
            f"{module.__name__}.{name} is {' or '.join(kind.__name__ for kind in kinds)}, but "
            f"got {type(value).__name__}"
        )


def become(name: str, **kinds: tuple[type, ...]) -> None:
    """Make a module that is being imported one of switches, each with the types of its values."""
    sys.modules[name].__class__ = type("Switches", (Switches,), {"_kinds": kinds})


def items(name: str, wanted: dict[str, Any]) -> list[tuple[dict[str, Any], str, Any]]:
    """The switches of a module as items of its dictionary, for a context; all are checked."""
    module: Any = sys.modules[name]
    for switch, value in wanted.items():
        check(module, switch, value)
    return [(module.__dict__, switch, value) for switch, value in wanted.items()]
