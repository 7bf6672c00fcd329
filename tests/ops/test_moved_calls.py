"""Calls of compiled records and of the same records moved to the interpreted tier: one result.

No record uses most of what the interpreted tier can do today. `calls_of_tiers.py` has expressions
and programs as in tests/recorded; `f` has the functions of the records, once the compiled ones,
once those that the generator writes of them for the other tier.
"""

import importlib
import types
from dataclasses import replace
from pathlib import Path

import pytest

import autograd_cy as ag
from autograd_cy._C import interpreted_kernels
from ext.codegen import interpreted, table
from tests.recorded.recorded import alike, load, mistake, result

CALLS = Path(__file__).with_name("calls_of_tiers.py")


def written(symbols):
    """The compiled functions of these names, and what is written for the other tier."""
    compiled, moved = types.SimpleNamespace(), types.SimpleNamespace()
    families = table.load()
    by_symbol = table.records_by_symbol(families)
    for family, records in families.items():
        chosen = [replace(r, tier="interpreted") for r in records if r.name in symbols]
        if not chosen:
            continue
        text = interpreted.family_module(family, chosen, by_symbol)
        text = "\n".join(x for x in text.splitlines() if not x.startswith("_register_operator("))
        found = {"__name__": f"moved_{family}"}
        exec(compile(text, f"<interpreted {family}>", "exec"), found)
        module = importlib.import_module(f"autograd_cy._C.ops_{family}")
        for r in chosen:
            for name in {r.name, r.name + "_" * bool(r.call.inplace)}:
                setattr(compiled, name, getattr(module, name))
                setattr(moved, name, found[name])
    return compiled, moved


def test_results_are_those_of_the_compiled_tier():
    (names, calls), (other_names, _) = load(CALLS, ag), load(CALLS, ag)
    names["f"], other_names["f"] = written(names["OPERATORS"])
    wrong = {}
    for call in calls:
        first, second = result(ag, call, names), result(ag, call, other_names)
        if not alike(second, first) or mistake(call, first):
            wrong[call.source] = second, first
    assert not wrong


def test_a_kernel_has_no_more_results_than_there_is_room_for():
    with pytest.raises(ValueError, match="^many: 99 results$"):
        interpreted_kernels.ShapedKernel("many", "int ()", None, (0, None), None, 99, None, False)
