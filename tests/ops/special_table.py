"""``python -m tests.ops.special_table`` asks torch for its answers at special values.

They are written to special_values.json, which the tests read. A question mark stands where torch's
own loops over vectors and over single elements disagree.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import special_points as points


def answers(torch, form, dtype):
    """Classes of torch's answers, by what they are; None where torch doesn't know the operator."""
    arrays = points.grid(form, dtype)
    try:
        whole = points.results(torch, form, arrays)
        single = points.results(torch, form, [np.repeat(a, 2)[::2] for a in arrays])
    except (RuntimeError, TypeError):
        return None
    found = {}
    for key, array in whole.items():
        if not key.endswith("'"):  # tangents follow the gradients
            letters, others = points.classes(array, key), points.classes(single[key], key)
            found[key] = points.packed(np.where(letters == others, letters, "?"))
    return found


def table(torch):
    """{form: {dtype: {answer: letters}}}; a dtype with the answers of another names it instead."""
    found = {}
    for form in points.forms():
        rows = {}
        for dtype in form.dtypes:
            row = answers(torch, form, dtype)
            same = next((name for name, other in rows.items() if other == row), None)
            rows[dtype] = row if same is None else same
        found[form.id] = rows
    return found


def main():
    import torch

    warnings.simplefilter("ignore")
    lines = [f"{json.dumps(name)}: {json.dumps(rows)}" for name, rows in table(torch).items()]
    points.TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
