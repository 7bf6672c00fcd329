"""Writes beside, over or between the operands' memory never use half-written operands.

Operands that only touch the output in memory are as good as any others; those that overlap it are
refused, with the output unchanged, or read as if they had been copied before.
"""

import numpy as np
import pytest
from calls import EVALUATOR, Case, make, records, to_array
from grouping import each
from test_op_inplace_and_out import dtype_of, inplace_form, keeps_itself

import autograd_cy as ag


def case_of(record):
    """The first sample in which two tensors of one dtype and shape meet, or None."""
    for number in range(len(record.tests.samples)):
        call = make(Case(record, number), dtype_of(record))
        shapes = {(x.array.shape, x.array.dtype) for x in call.leaves[:2]}
        if len(call.leaves) > 1 and len(shapes) == 1 and call.leaves[0].array.size > 1:
            return call
    return None


def written_in_place(record):
    if not (record.call.inplace and record.tests.samples):
        return False
    call = case_of(record)
    return call is not None and keeps_itself(call)


def window(buffer, start, like):
    return buffer[start : start + like.size].view(like.shape)


def placed(first, second, how):
    """The two arrays as tensors in one memory; the first is not changed by placing the second."""
    n = first.size
    dtype = ag.from_numpy(first.copy()).dtype
    buffer = ag.zeros(4 * n, dtype=dtype)
    if how == "between":
        pairs = buffer[: 2 * n].view(*first.shape, 2)
        x, y = pairs.select(-1, 0), pairs.select(-1, 1)
    else:
        x = window(buffer, n, first)
        start = {"behind": 2 * n, "before": 0, "over": n + 1, "under": n - 1}.get(how)
        y = x.view(-1)[int(how)] if start is None else window(buffer, start, second)
    if y.numel() > 1:
        y.copy_(ag.from_numpy(second.copy()))
    x.copy_(ag.from_numpy(first.copy()))
    return x, y


def attempt(call, how, place):
    """Describe the fault of the in-place form whose operand number `place` shares memory, or return
    None."""
    x, y = placed(call.arrays[0], call.arrays[place], how)
    rest = call.tensors()
    operands = [x, *rest[1:place], y, *rest[place + 1 :]]
    before = to_array(x)
    apart = [t.clone() for t in operands]
    try:
        expected = to_array(call(apart, inplace_form(call.record)))
    except (RuntimeError, TypeError, ValueError):
        return None  # takes no such operand
    try:
        call(operands, inplace_form(call.record))
    except RuntimeError as error:
        if how in ("behind", "before", "between"):
            return f"{how}: refused: {error}"
        if "refer to a single memory location" not in str(error):
            return f"{how}: {error}"
        expected = before
    same = np.array_equal(to_array(x), expected, equal_nan=expected.dtype.kind in "fc")
    return None if same else f"{how}: {to_array(x).tolist()} for {expected.tolist()}"


@each("record", records(written_in_place))
def test_operands_in_the_memory_of_an_inplace_form(record):
    call = case_of(record)
    ways = ("behind", "before", "between", "over", "under", "0", "1", "-1")
    places = [
        i for i, leaf in enumerate(call.leaves)
        if i and (leaf.array.shape, leaf.array.dtype)
        == (call.arrays[0].shape, call.arrays[0].dtype)
    ]  # fmt: skip
    assert places
    wrong = [attempt(call, how, place) for place in places for how in ways]
    assert not any(wrong), [text for text in wrong if text]


def has_out(record):
    if not record.call.out or record.name.startswith("_") or not record.tests.samples:
        return False
    call = make(Case(record, 0), dtype_of(record))
    if not call.leaves:
        return False
    result = call(call.tensors())
    first = call.tensors()[0]
    return result.dtype == first.dtype and first.numel() > 1 and result.numel() > 0


@each("record", records(has_out))
def test_an_output_in_the_memory_of_the_operand(record):
    call = make(Case(record, 0), dtype_of(record))
    expected = call(call.tensors())
    wrong = []
    n, m = call.arrays[0].size, expected.numel()
    for how, start in {"behind": m + n, "before": 0, "over": m + 1, "under": m - 1}.items():
        buffer = ag.zeros(2 * m + 2 * n + 2, dtype=expected.dtype)
        x = window(buffer, m, call.arrays[0])
        x.copy_(ag.from_numpy(call.arrays[0].copy()))
        out = buffer[start : start + m].view(expected.shape)
        args, kwargs = call.arguments([x, *call.tensors()[1:]])
        before = to_array(buffer)
        try:
            result = EVALUATOR.form(record)(*args, **kwargs, out=out)
        except RuntimeError as error:
            if how in ("behind", "before"):
                wrong.append(f"{how}: refused: {error}")
            elif not np.array_equal(to_array(buffer), before):
                wrong.append(f"{how}: refused and changed")
            continue
        if not np.array_equal(to_array(result), to_array(expected), equal_nan=True):
            wrong.append(f"{how}: {to_array(result).tolist()} for {to_array(expected).tolist()}")
    assert not wrong


@pytest.mark.parametrize("dtype", [ag.float32, ag.int64, ag.float16])
def test_bytes_of_neighbours_of_another_size_are_told_apart(dtype):
    memory = ag.zeros(144, dtype=ag.uint8)
    small, large = memory[:16], memory[16 : 16 + 16 * dtype.itemsize].view(dtype)
    small.copy_(ag.arange(16))
    large.copy_(small)
    assert large.tolist() == list(range(16))
    large.add_(small)
    assert large.tolist() == list(range(0, 32, 2))
    small.copy_(large)
    assert small.tolist() == list(range(0, 32, 2))
