"""Moving a record to the other tier is one word: its generated tests pass there, too."""

import os
import re
from dataclasses import replace
from pathlib import Path

import programs
import pytest
from calls import RECORDS, TABLE
from grouping import each

from ext.codegen import interpreted
from ext.codegen.formula import FormulaError
from ext.codegen.operations import Family, Operation
from ext.codegen.table import records_by_symbol

KINDS = {
    "sin": "elementwise",
    "xlogy": "numbers as operands, without edges",
    "where": "a condition that keeps its dtype",
    "lerp": "in place, exact out",
    "round": "an option that calls another record",
    "cumsum": "a compiled kernel with dimensions and a dtype",
    "flip": "a kernel that fills what a shape rule described",
    "sum": "several signatures",
    "sum_dim": "several signatures",
    "sort": "several outputs, one without derivative",
    "transpose": "a view",
    "unbind": "several views",
    "cat": "a list of tensors",
    "outer": "a composite by formula",
    "diag": "a composite by function",
    "gather": "a vmap rule for each set of batched arguments",
    "mean_dim": "out= of a wider dtype",
    "masked_fill": "a check of the arguments",
    "clamp": "optional operands, and names of nodes that depend on them",
    "_dropout_mask": "random",
    "std": "words of its own for dtypes that it refuses",
}
# What only compiled code can do.
ONLY = ("a list of indices", "alpha=", "dunder=", "sized=", "refuse_tangents=")
ONLY += ("a real result of a fixed dtype", "out='truth' of no shape rule")
COMPILED = [f"{what} is for compiled records" for what in ONLY]


def moved(record):
    return replace(record, tier="interpreted")


def refusal(record):
    """Why a record can't be interpreted, or None."""
    try:
        Operation(record, Family(record.file, ALL_BY_SYMBOL)).text()
    except FormulaError as error:
        return str(error)
    return None


ALL_BY_SYMBOL = records_by_symbol(TABLE)


@pytest.mark.slow
def test_generated_tests_pass_in_the_other_tier():
    keys = [r.key for r in RECORDS if r.key in KINDS and r.tier == "compiled"]
    assert sorted(keys) == sorted(KINDS), "another record can stand for one that was moved for good"
    here = Path(__file__).parent
    generated = sorted(path.name for path in here.glob("test_op_*.py"))
    # What needs another library, whose import takes seconds, says nothing of a tier, nor do a
    # changed formula and what kernels alone decide; some have no case of these records.
    left_out = ("against_torch", "mutations", "half_range", "special", "special_grid", "ties")
    left_out += ("native_memory", "shared_memory", "long_inputs", "options", "formulas")
    left_out = tuple(f"_{name}.py" for name in left_out)
    generated = [name for name in generated if not name.endswith(left_out)]
    found = programs.run(
        *("-m", "pytest", "-p", "moving", "-p", "no:cacheprovider", "--assert=plain"),
        *("-k", "not of_torch_are and not listed_difference", *generated),
        cwd=here,
        env=os.environ | {"MOVED": ",".join(keys)},
        timeout=600,
    )
    assert found.returncode == 0, found.stdout[-4000:]
    (line,) = re.findall(r"^(\d+) cases of moved records$", found.stdout, re.M)
    assert int(line) > 15 * len(keys), found.stdout


@each("family", TABLE)
def test_every_record_can_be_moved_or_says_why_not(family):
    records = [moved(r) for r in TABLE[family]]
    refusals = [refusal(r) for r in records]
    kept = [r for r, said in zip(records, refusals) if said is None]
    for r, said in zip(records, refusals):
        assert said is None or said.removeprefix(f"{r.key}: ") in COMPILED
    text = interpreted.family_module(family, kept, ALL_BY_SYMBOL)
    compile(text, family, "exec")
