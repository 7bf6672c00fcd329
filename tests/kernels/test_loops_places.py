"""An element gets the same bits wherever it stands, in a whole vector or in what is left over.

What is compared with is each element alone. Nothing here depends on the order of sums: these loops
have none.
"""

import numpy as np
import pytest
from grouping import each
from loops import INTS, NUMPY, SPEC, SPECS, TABLES, UNSIGNED, operand_types, sample, types_of

# Around the numbers of elements in vectors of 16, 32 and 64 bytes, and in the blocks of 16.
LENGTHS = (3, 7, 9, 16, 17, 33)
OFFSETS = (0, 1, 5)
MOST = LENGTHS[-1] + OFFSETS[-1]
ODD = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, -3e30)


def operands(name, dtype):
    """Full mantissas of both signs in both parts; each odd value in a vector and near its end."""
    found = []
    for k, kind in enumerate(operand_types(SPEC[name], dtype)[1:]):
        x = sample(kind, MOST, k)
        if kind in INTS:
            x = np.abs(x)
        elif kind not in ("b1", *UNSIGNED):
            parts = x.view(x.real.dtype).reshape(MOST, -1)
            for i, value in enumerate(ODD):
                part = i % parts.shape[1]
                with np.errstate(over="ignore"):
                    parts[(5 * i + k) % MOST, part] = value
                    parts[-1 - (i + k) % 4, part] = value
        found.append(x.astype(NUMPY[kind]))
    return found


def same(got, expected, where):
    """Bits, but NaN is NaN."""
    if got.dtype.kind == "c":
        got, expected = got.view(got.real.dtype), expected.view(got.real.dtype)
    # bfloat16 has kind V
    nan = np.isnan(got) & np.isnan(expected) if got.dtype.kind in "fV" else np.zeros(len(got), bool)
    word = f"u{got.dtype.itemsize}"
    wrong = (got.view(word) != expected.view(word)) & ~nan
    assert not wrong.any(), f"{where}: {got[wrong][:3]} for {expected[wrong][:3]}"


def spaced(x, step):
    room = np.zeros(abs(step) * len(x), x.dtype)
    view = room[:: abs(step)][:: 1 if step > 0 else -1]
    view[:] = x
    return view


@pytest.mark.parametrize("target", TABLES)
@each("name", [spec.name for spec in SPECS], group=lambda name: name[0])
def test_an_element_has_the_same_bits_wherever_it_stands(target, name):
    table = TABLES[target]
    for dtype in types_of(SPEC[name]):
        inputs = operands(name, dtype)
        single = [table.run(name, dtype, *[x[i : i + 1] for x in inputs]) for i in range(MOST)]
        alone = np.concatenate(single)
        for length in LENGTHS:
            for start in OFFSETS:
                place = slice(start, start + length)
                got = table.run(name, dtype, *[x[place] for x in inputs])
                same(got, alone[place], f"{name} {dtype} [{start}:{start + length}]")
        whole = slice(1, MOST - 1)
        for step in (2, 3, -1):
            got = table.run(name, dtype, *[spaced(x[whole], step) for x in inputs])
            same(got, alone[whole], f"{name} {dtype} with step {step}")
            for k, x in enumerate(inputs):
                mixed = [*inputs[:k], spaced(x, step), *inputs[k + 1 :]]
                got = table.run(name, dtype, *mixed)
                same(got, alone, f"{name} {dtype} with step {step} of operand {k}")
        for k, x in enumerate(inputs):
            if x.dtype == alone.dtype:
                copies = [y[whole].copy() for y in inputs]
                table.run(name, dtype, *copies, out=copies[k])
                same(copies[k], alone[whole], f"{name} {dtype} in place of operand {k}")


@pytest.mark.parametrize("target", TABLES)
@each("name", [s.name for s in SPECS if s.nin > 1], group=lambda name: name[0])
def test_a_repeated_operand_changes_no_bits(target, name):
    table = TABLES[target]
    for dtype in types_of(SPEC[name]):
        inputs = operands(name, dtype)
        for place in (3, MOST - 1):
            for k, x in enumerate(inputs):
                repeated, single = list(inputs), list(inputs)
                repeated[k] = np.repeat(x[place], MOST)
                single[k] = x[place : place + 1].reshape(())
                expected = table.run(name, dtype, *repeated)
                same(table.run(name, dtype, *single), expected, f"{name} {dtype} operand {k}")
