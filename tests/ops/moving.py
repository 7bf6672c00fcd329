"""A pytest plugin that moves compiled records to the interpreted tier, for this process only.

``MOVED`` in the environment names the records; ``python -m pytest -p moving tests/ops`` then runs
the generated tests of these, with the same table but for one word. See test_tiers.py.
"""

import importlib
import os
import sys
import types
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
for folder in (ROOT, ROOT / "tests"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

import grouping  # noqa: E402

import autograd_cy as ag  # noqa: E402
from autograd_cy._C.tensor import Tensor, _install  # noqa: E402
from ext.codegen import interpreted, table  # noqa: E402

MOVED = tuple(os.environ["MOVED"].split(","))


def moved_table():
    """The table, in which the records named by `MOVED` are interpreted."""
    return {
        family: [replace(r, tier="interpreted") if r.key in MOVED else r for r in records]
        for family, records in ORIGINAL().items()
    }


def write_module(family, records, by_symbol):
    """Write the module of a family, as the build does."""
    name = f"autograd_cy._interpreted.{family}"
    module = sys.modules[name] = types.ModuleType(name)
    setattr(importlib.import_module("autograd_cy._interpreted"), family, module)
    text = interpreted.family_module(family, records, by_symbol)
    exec(compile(text, f"<interpreted {family}>", "exec"), module.__dict__)
    return module


def put(record, module):
    """The functions and methods of a record in the place of the compiled ones."""
    compiled = importlib.import_module(f"autograd_cy._C.ops_{record.file}")
    for form in ("", "_"):
        function = getattr(module, record.name + form, None)
        if function is None:
            continue
        names = [record.name + form, *(alias + form for alias in record.call.aliases)]
        for name in names:
            for where in (ag, compiled):
                if hasattr(where, name):
                    setattr(where, name, function)
            if record.call.method and name in Tensor.__dict__:
                _install(name, function)


ORIGINAL = table.load
TABLE = moved_table()
table.load = lambda: TABLE
_by_symbol = table.records_by_symbol(TABLE)
for _family, _records in TABLE.items():
    if any(r.key in MOVED for r in _records):
        _module = write_module(_family, _records, _by_symbol)
        for _r in _records:
            if _r.key in MOVED:
                put(_r, _module)


def keys_of(value):
    """Records that the parameter of a test is, or is about."""
    if isinstance(value, grouping.Cases):
        return {key for p in value.params for x in p.values for key in keys_of(x)}
    return {getattr(getattr(value, "record", value), "key", None)}


def of_moved(cases, group, room):
    """Choose the cases of the records from those of a few tests."""
    kept = tuple(p for p in cases.params if set().union(*map(keys_of, p.values)) & {*MOVED})
    return GROUPED(grouping.Cases(cases.names, kept), group, room)


GROUPED = grouping.tests
grouping.tests = of_moved


def pytest_collection_modifyitems(config, items):
    """Only tests that take one of the records."""
    kept, others = [], []
    for item in items:
        given = getattr(item, "callspec", None)
        found = set().union(*map(keys_of, given.params.values())) if given else set()
        (kept if found & {*MOVED} else others).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=others)
    config.moved = sum(number_of_cases(item) for item in kept)


def number_of_cases(item):
    cases = item.callspec.params.get("cases")
    return len(cases.params) if isinstance(cases, grouping.Cases) else 1


def pytest_report_collectionfinish(config):
    """Print the number of cases that were chosen, read by test_tiers.py."""
    return f"{config.moved} cases of moved records"
