"""Load the operator table without importing the package (which is not built yet)."""

from __future__ import annotations

import contextlib
import importlib
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from ext.codegen.check_table import check

ROOT = Path(__file__).resolve().parents[2]


def families() -> list[str]:
    """A family is a file of records."""
    return sorted(
        p.stem for p in (ROOT / "autograd_cy" / "ops").glob("*.py") if not p.stem.startswith("_")
    )


AT_FIRST_USE = "at first use"


def loaded_later(module, error: type[Exception]) -> bool:
    """Return whether a family is loaded when one of its names is first used, and not with the
    package."""
    word = getattr(module, "LOADED", None)
    if word not in (None, AT_FIRST_USE):
        raise error(f"{module.__name__}: LOADED is {AT_FIRST_USE!r} or left out, not {word!r}")
    return word is not None


@contextlib.contextmanager
def importable() -> Iterator[None]:
    """Let the tables be imported: before the package is built, without its ``__init__``."""
    placed = "autograd_cy" not in sys.modules
    if placed:
        # A bare package object: `import autograd_cy.ops.x` then skips autograd_cy/__init__.py.
        package = types.ModuleType("autograd_cy")
        package.__path__ = [str(ROOT / "autograd_cy")]
        sys.modules["autograd_cy"] = package
    try:
        yield
    finally:
        if placed:
            for name in [
                n for n in sys.modules if n == "autograd_cy" or n.startswith("autograd_cy.")
            ]:
                del sys.modules[name]


def records_by_name(records: Iterable[Any]) -> dict[str, list]:
    """The records of each name: its overloads."""
    groups: dict[str, list] = {}
    for record in records:
        groups.setdefault(record.name, []).append(record)
    return groups


def records_by_symbol(families: Mapping[str, list]) -> dict[str, list]:
    """The records of each name in formulas, of all families."""
    groups: dict[str, list] = {}
    for record in chain.from_iterable(families.values()):
        groups.setdefault(record.symbol, []).append(record)
    return groups


def load():
    """Records of each family, as {family: [Record]}."""
    with importable():
        schema = importlib.import_module("autograd_cy.ops._schema")
        result = {}
        for family in families():
            module = importlib.import_module(f"autograd_cy.ops.{family}")
            later = loaded_later(module, schema.RecordError)
            for record in schema.TABLE:
                if not record.file:
                    object.__setattr__(record, "file", family)
                    object.__setattr__(record, "later", later or record.tier == "interpreted")
                    if later and record.call.dunder:
                        raise schema.RecordError(
                            f"{record.key}: Python operators are loaded with the package; {family} "
                            f"is loaded {AT_FIRST_USE}"
                        )
            result[family] = [record for record in schema.TABLE if record.file == family]
        check(result, schema.RecordError)
        return result
