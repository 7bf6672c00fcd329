"""Modules whose attributes are switches: kept as they are set, checked, and without effect."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, ClassVar

__all__ = ["Switches", "become", "set_for_a_while"]


class Switches(ModuleType):
    """A module that lets its switches be set to values of their kind, and to no others."""

    _kinds: ClassVar[dict[str, tuple[type, ...]]]

    def __setattr__(self, name: str, value: Any) -> None:
        kinds = self._kinds.get(name)
        if kinds is not None and not isinstance(value, kinds):
            raise RuntimeError(
                f"{self.__name__}.{name} is {' or '.join(kind.__name__ for kind in kinds)}, but "
                f"got {type(value).__name__}"
            )
        super().__setattr__(name, value)


def become(name: str, **kinds: tuple[type, ...]) -> None:
    """Make a module that is being imported one of switches, each with the types of its values."""
    sys.modules[name].__class__ = type("Switches", (Switches,), {"_kinds": kinds})


@contextmanager
def set_for_a_while(module: ModuleType, wanted: dict[str, Any]) -> Iterator[None]:
    """Set attributes for the length of a block; all of them or, after an error, none."""
    before = {name: getattr(module, name) for name in wanted}
    try:
        for name, value in wanted.items():
            setattr(module, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)
