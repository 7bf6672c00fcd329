"""Every loop on every layout a driver may hand it: strides, repeated elements, in place, any n."""

import numpy as np
from grouping import each
from loops import NUMPY, SIZE, SPEC, SPECS, TABLES, each_table, operand_types, sample, types_of

CASES = [(spec.name, dtype) for spec in SPECS for dtype in types_of(spec)]


def operands(name, dtype, n):
    kinds = operand_types(SPEC[name], dtype)[1:]
    return [np.abs(sample(k, n, i)).astype(NUMPY[k]) for i, k in enumerate(kinds)]


def bits(x):
    return np.ascontiguousarray(x).view(np.uint8)


def same(a, b):
    np.testing.assert_array_equal(bits(a), bits(b))


def spread(x, step):
    """Return the elements `step` apart (backwards where negative)."""
    gaps = np.zeros(abs(step) * len(x), x.dtype)
    view = gaps[:: abs(step)]
    if step < 0:
        view = view[::-1]
    view[:] = x
    return view


@each_table
@each("name, dtype", CASES)
def test_layouts_give_the_same_bits(table, name, dtype):
    n = 700
    inputs = operands(name, dtype, n)
    dense = table.run(name, dtype, *inputs)
    out_type = NUMPY[operand_types(SPEC[name], dtype)[0]]
    # strided operands, one at a time and together
    for k in range(len(inputs) + 1):
        out = np.zeros(n, out_type)
        mixed = list(inputs)
        if k < len(inputs):
            mixed[k] = spread(inputs[k], 3)
        else:
            mixed = [spread(x, -2) for x in inputs]
            out = np.zeros(2 * n, out_type)[::2]
        same(table.run(name, dtype, *mixed, out=out), dense)
    # one element repeated
    for k in range(len(inputs)):
        repeated, single = list(inputs), list(inputs)
        repeated[k] = np.repeat(inputs[k][5], n)
        single[k] = np.array(inputs[k][5])
        if len(inputs) > 1:
            same(table.run(name, dtype, *single), table.run(name, dtype, *repeated))
    # in place on each input of the right type
    for k, x in enumerate(inputs):
        if x.dtype == out_type:
            copies = [x.copy() for x in inputs]
            table.run(name, dtype, *copies, out=copies[k])
            same(copies[k], dense)


@each("name", [spec.name for spec in SPECS], group=lambda name: name[0])
def test_length_changes_no_element_and_nothing_else(name):
    table = list(TABLES.values())[-1]
    for dtype in types_of(SPEC[name]):
        inputs = operands(name, dtype, 48)
        out_type = NUMPY[operand_types(SPEC[name], dtype)[0]]
        dense = table.run(name, dtype, *inputs)
        for n in (0, 1, 2, 3, 7, 15, 16, 17, 31, 33, 47):
            out = np.zeros(50, out_type)
            table.run(name, dtype, *[x[:n] for x in inputs], out=out[:n])
            same(out[:n], dense[:n])
            assert not bits(out[n:]).any()


def test_tables_agree_on_what_they_claim():
    for spec in SPECS:
        for dtype in NUMPY:
            claimed = dtype in types_of(spec)
            for table in TABLES.values():
                assert bool(table.pointer(spec.name, dtype)) == claimed
                assert table.module.KERNELS.index(spec.name) == SPECS.index(spec)
                assert table.costs[SPECS.index(spec)] == spec.cost
    assert all(all(table.casts) for table in TABLES.values())
    assert SIZE["c128"] == 16
