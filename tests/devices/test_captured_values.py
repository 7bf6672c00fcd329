"""Captured programs refuse the values that their operators refuse, and as they do.

A bad index must never become a number, nor touch memory: each program runs where nothing is to be
seen but what its launches declare, between guard bytes.
"""

import re

import numpy as np
import pytest
from grouping import each
from helpers import cases, make, one_dtype, outputs, plain_bytes

import autograd_cy as ag
from autograd_cy._C.launch import capture
from autograd_cy.nn import functional as F

CASES = cases(lambda r: r.tests.samples)
RECORDS = sorted({p.values[0].record.key: p.values[0].record for p in CASES}.items())
REFUSED = re.compile(": can't be captured: ")


def bad_numbers(dtype):
    """Too large, negative, the least and the largest of a dtype of integers; zero."""
    info = np.iinfo(dtype)
    return sorted({info.max, info.min, 0, *(n for n in (-1, 1000) if info.min <= n <= info.max)})


def outcome(run):
    """The bytes of what a call gives, or its error."""
    try:
        return [plain_bytes(t) for t in outputs(run())]
    except (RuntimeError, IndexError, ValueError, NotImplementedError) as error:
        return type(error), str(error)


def replayed(program, kept, tensors):
    try:
        program.replay_elsewhere([t for t in tensors if t is not None], watched=True)
    except (RuntimeError, IndexError, ValueError) as error:
        return type(error), str(error)
    return [plain_bytes(t) for t in kept]


def placed(t, i, value):
    """Change one element, or all for -1, in place."""
    with ag.no_grad():
        (t if i < 0 or not t.ndim else t.view(-1)[i : i + 1]).fill_(value)


def integers_of(call):
    return [
        i
        for i, leaf in enumerate(call.leaves)
        if leaf.array.dtype.kind in "iu" and leaf.array.size and leaf.array.flags.c_contiguous
    ]


@each("record", [pytest.param(r, id=key) for key, r in RECORDS])
def test_bad_integers_are_the_error_of_the_operator_or_refused_at_capture(record):
    names = {one_dtype(record), "int64" if "i" in record.call.dtypes else one_dtype(record)}
    for param in cases(lambda r: r is record):
        for name in names:
            call = make(param.values[0], name)
            for i in integers_of(call):
                check_integers(call, i)


def check_integers(call, i):
    """Capture with good values, replay with bad ones in argument `i`."""
    ins, kept = call.tensors(), []
    try:
        program = capture(lambda: kept.extend(outputs(call(ins))))
    except RuntimeError as error:
        if not REFUSED.search(str(error)):
            raise
        return
    for value in bad_numbers(call.leaves[i].array.dtype):
        for place in {-1, call.leaves[i].array.size - 1}:
            fresh, ins_now = call.tensors(), call.tensors()
            placed(fresh[i], place, value)
            wanted = outcome(lambda fresh=fresh: call(fresh))
            for old, good in zip(ins, ins_now):
                if old is not None:
                    old.copy_(good)
            placed(ins[i], place, value)
            assert replayed(program, kept, ins) == wanted, (call.record.key, i, place, value)


X = ag.arange(12.0).reshape(4, 3)
AT = [[0, 1, 3], [2, 2, 0]]
# Calls of an index, with good values of it, and what a bad one is refused with.
CALLS = {
    "embedding": (lambda k: F.embedding(k, X), AT, IndexError, "in a table of 4 rows"),
    "embedding_bag": (lambda k: F.embedding_bag(k, X), AT, RuntimeError, "takes value 9 which"),
    "index": (lambda k: X[k], AT, IndexError, "index 9 is out of bounds for dimension 0"),
    "two indices": (lambda k: X[k, k - k], AT, IndexError, "index 9 is out of bounds"),
    "index under vmap": (
        lambda k: ag.vmap(lambda row: X[row])(k),
        AT,
        IndexError,
        "out of bounds",
    ),
    "index_put": (lambda k: X.index_put((k[0],), X[:3] * 0), AT, IndexError, "out of bounds"),
    "setitem": (lambda k: X.clone().__setitem__(k, 7.0), AT, IndexError, "out of bounds"),
    "index_select": (lambda k: X.index_select(0, k[0]), AT, IndexError, "out of bounds"),
    "index_add": (lambda k: X.index_add(0, k[0], X[:3]), AT, RuntimeError, "out of bounds"),
    "index_copy": (lambda k: X.index_copy(0, k[0], X[:3]), AT, IndexError, "out of bounds"),
    "index_fill": (lambda k: X.index_fill(0, k[0], 1.0), AT, IndexError, "out of bounds"),
    "index_reduce": (
        lambda k: X.index_reduce(0, k[0], X[:3], "amax"),
        AT,
        IndexError,
        "index out of range in self",
    ),
    "gather": (lambda k: X.gather(0, k), AT, RuntimeError, "out of bounds"),
    "scatter": (lambda k: X.scatter(0, k, 1.0), AT, RuntimeError, "out of bounds"),
    "scatter_add": (lambda k: X.scatter_add(0, k, X), AT, RuntimeError, "out of bounds"),
    "scatter_reduce": (
        lambda k: X.scatter_reduce(0, k, X, "prod"),
        AT,
        RuntimeError,
        "out of bounds",
    ),
    "take": (lambda k: X.take(k), AT, IndexError, "index 90 is out of bounds"),
    "nll_loss": (lambda k: F.nll_loss(X, k), [0, 1, 2, 1], IndexError, "Target 90 is out of"),
    "nll_loss, apart": (
        lambda k: F.nll_loss(X, k, reduction="none"),
        [0, 1, 2, 1],
        IndexError,
        "Target 90 is out of bounds",
    ),
    "cross_entropy": (lambda k: F.cross_entropy(X, k), [0, 1, 2, 1], IndexError, "Target 90 is"),
    "multi_margin_loss": (
        lambda k: F.multi_margin_loss(X, k),
        [0, 1, 2, 1],
        RuntimeError,
        "multi_margin_loss: target out of range",
    ),
    "multilabel_margin_loss": (
        lambda k: F.multilabel_margin_loss(X[:2], k),
        [[0, 2, -1], [1, 0, -1]],
        RuntimeError,
        "argument #2 'target' is out of range",
    ),
    "ctc_loss": (
        lambda k: F.ctc_loss(X.reshape(4, 1, 3).log_softmax(2), k, (4,), (2,)),
        [[1, 2]],
        RuntimeError,
        "out of bounds",
    ),
    "one_hot": (lambda k: F.one_hot(k, 6), AT, RuntimeError, "smaller than num_classes, but"),
    "searchsorted": (
        lambda k: ag.searchsorted(X[0], X, sorter=k),
        [0, 1, 2],
        RuntimeError,
        "sorter index out of range",
    ),
    "max_unpool": (
        lambda k: F.max_unpool1d(X[None, :1], k, 2),
        [[[0, 3, 4]]],
        RuntimeError,
        "out of bounds",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_index_is_checked_at_each_run(name):
    call, good, kind, text = CALLS[name]
    index, kept = ag.tensor(good), []
    before = X.clone()
    program = capture(lambda: kept.append(call(index)))
    assert "CHECK" in program.kinds() or "REDUCE" in program.kinds()
    program.replay()
    kept[0] = None if kept[0] is None else kept[0].clone()
    for bad in (9 if "90" not in text else 90, 1 << 62, -(1 << 63)):
        index.copy_(ag.tensor(good))
        placed(index, 1, bad)
        with pytest.raises(kind) as eager:
            call(index)
        for run in (program.replay, program.replay_elsewhere):
            with pytest.raises(kind) as found:
                run()
            assert str(found.value) == str(eager.value)
        if 0 < bad < 100:
            assert re.search(text, str(eager.value))
    assert X.tolist() == before.tolist()
    index.copy_(ag.tensor(good))
    program.replay()  # after good values it goes on


def test_an_error_that_is_caught_while_capturing_is_a_decision_by_values():
    index = ag.tensor([0, 9])

    def step():
        try:
            return X[index]
        except IndexError:
            return X[:1] * 2

    with pytest.raises(RuntimeError, match="can't be captured: an error was caught .index 9 is"):
        capture(step)
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        capture(lambda: X[index])
    index[1] = 1
    assert len(capture(step)) > 0


def test_nothing_is_written_before_the_check():
    x, index, losses = ag.zeros(4, 3), ag.tensor([0, 1]), ag.zeros(4)
    target = ag.tensor([0, 1, 2, 1])
    programs = [
        capture(lambda: x.index_add_(0, index, ag.ones(2, 3))),
        capture(lambda: x.__setitem__(index, 1.0)),
        capture(lambda: x.index_put_((index,), ag.ones(3), accumulate=True)),
        capture(lambda: x.scatter_(0, index.reshape(2, 1).expand(2, 3), 1.0)),
        capture(lambda: x.index_fill_(0, index, 2.0)),
        capture(lambda: losses.copy_(F.nll_loss(X, target, reduction="none"))),
    ]
    for bad in (4, -5, 1 << 40):
        index[1] = target[3] = bad
        x.zero_()
        losses.zero_()
        for program in programs:
            with pytest.raises((IndexError, RuntimeError), match="out of bounds"):
                program.replay()
            assert not x.any() and not losses.any()


def test_offsets_of_bags_are_checked_at_each_run():
    index, offsets, kept = ag.tensor([0, 1, 3, 2]), ag.tensor([0, 2, 3]), []
    program = capture(lambda: kept.append(F.embedding_bag(index, X, offsets, mode="sum")))
    for bad, text in (
        ([1, 2, 3], r"offsets\[0\] has to be 0"),
        ([0, 3, 2], r"offsets must not decrease, but offsets\[2\] is 2 after 3"),
        ([0, 2, 5], r"offsets\[-1\] can not be greater than input's length 4"),
        ([0, -(1 << 63), 3], "offsets must not decrease"),
    ):
        offsets.copy_(ag.tensor(bad))
        for run in (program.replay, lambda: F.embedding_bag(index, X, offsets, mode="sum")):
            with pytest.raises(RuntimeError, match=text):
                run()
    offsets.copy_(ag.tensor([0, 0, 4]))
    program.replay()
    assert kept[0].tolist() == F.embedding_bag(index, X, offsets, mode="sum").tolist()


DIVISIONS = {
    "floor_divide": lambda a, b: a // b,
    "remainder": lambda a, b: a % b,
    "fmod": ag.fmod,
    "in place": lambda a, b: a.clone().remainder_(b),
    "rounded": lambda a, b: ag.div(a, b, rounding_mode="trunc"),
    "turned": lambda a, b: a // b.t(),
    "a window": lambda a, b: a[:, :1] // b[:, 1:2],
    "one for all": lambda a, b: a // b[1, 1],
}


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("dtype", [ag.uint8, ag.int16, ag.int32, ag.int64])
def test_a_division_of_integers_by_zero_is_found_at_each_run(name, dtype):
    call, kept = DIVISIONS[name], []
    a, b = (ag.arange(1, 10).reshape(3, 3).to(dtype) for _ in range(2))
    program = capture(lambda: kept.append(call(a, b)))
    b.fill_(3)
    program.replay_elsewhere([a, b], watched=True)
    assert kept[0].tolist() == call(a, b).tolist()
    b[1, 1] = 0
    for run in (program.replay, lambda: call(a, b)):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            run()


def test_the_lowest_bits_of_a_number_are_what_divides():
    a, b = ag.ones(2, dtype=ag.uint8), ag.tensor(256)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        a // b
    assert (a // ag.tensor(257)).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        ag.ones(2, dtype=ag.int64) // ag.tensor([256, 0])


PROBABILITIES = {
    "mean": lambda p, t: F.binary_cross_entropy(p, t),
    "apart": lambda p, t: F.binary_cross_entropy(p, t, reduction="none"),
}


@pytest.mark.parametrize("name", PROBABILITIES)
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64, ag.bfloat16])
def test_probabilities_are_checked_at_each_run(name, dtype):
    call, kept = PROBABILITIES[name], []
    p, t = (ag.full((40_000,), 0.5, dtype=dtype) for _ in range(2))
    program = capture(lambda: kept.append(call(p, t)))
    good = kept[0].tolist()
    for tensor, who in ((p, "input"), (t, "target")):
        for bad in (-0.25, 1.5, ag.nan):
            tensor[39_000] = bad
            kept[0].fill_(7)
            for run in (program.replay, lambda: call(p, t)):
                with pytest.raises(RuntimeError, match=f"all elements of {who} should be between"):
                    run()
            assert (kept[0] == 7).all()
            tensor[39_000] = 0.5
    program.replay()
    assert kept[0].tolist() == good


@pytest.mark.parametrize("dtype", [ag.float16, ag.bfloat16])
def test_a_number_in_a_tensor_may_be_one_of_the_half_type_or_not(dtype):
    """The value decides in an eager run."""
    x, s, kept = ag.arange(1, 500).to(dtype), ag.tensor(0.5), []
    program = capture(lambda: kept.append(x * s))
    for value in (0.5, 0.1, 3.0, 1e-3):
        s.fill_(value)
        program.replay()
        assert plain_bytes(kept[0]) == plain_bytes(x * s)


def test_variances_are_checked_at_each_run():
    x, var = ag.ones(3), ag.ones(3)
    program = capture(lambda: F.gaussian_nll_loss(x, x, var))
    var[2] = -1
    for run in (program.replay, lambda: F.gaussian_nll_loss(x, x, var)):
        with pytest.raises(ValueError, match="var has negative entry/entries"):
            run()


def test_a_tensor_of_numbers_begins_with_them_at_each_run():
    kept = []

    def step():
        for y in (ag.tensor([1.0, 2.0]), ag.tensor(3.0), ag.tensor([1, 2])):
            kept.append(y.add_(1))

    program = capture(step)
    for run in (program.replay, program.replay, program.replay_elsewhere):
        run()
        assert [y.tolist() for y in kept] == [[2.0, 3.0], 4.0, [2, 3]]
