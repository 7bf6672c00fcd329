"""Every operator is launches that run again on other values, or refuses by its name to be captured.

So does whatever reads values: a branch on them would not be taken anew.
"""

import re

import numpy as np
import pytest
from grouping import each
from helpers import cases, launched_again, one_dtype

import autograd_cy as ag
from autograd_cy._C.launch import capture
from autograd_cy.ops import _schema as schema

REFUSAL = re.compile(r"^(?P<who>.+?)(\(\))?: can't be captured: ")
CASES = cases(lambda r: r.tests.samples)
RECORDS = sorted({p.values[0].record.key: p.values[0].record for p in CASES}.items())
# What refuses in the place of an operator that is made of it.
PARTS = {"masked_select": "indexing by a mask", "pinverse": "linalg.pinv"}


@each("record", [pytest.param(r, id=key) for key, r in RECORDS])
def test_an_operator_runs_again_or_says_that_it_cannot(record):
    for param in cases(lambda r: r is record):
        case = param.values[0]
        names = {record.shown, record.symbol, PARTS.get(record.key)}
        try:
            launched_again(case, one_dtype(record))
        except RuntimeError as error:
            found = REFUSAL.match(str(error))
            if found is None:
                raise
            assert found["who"] in names
        else:
            assert not isinstance(record.kernel, schema.host)


X = ag.tensor([3.0, 1.0, 2.0])
ONE, INTEGER, YES = ag.tensor(2.0), ag.tensor(1), ag.tensor(True)
READS = {
    "item()": lambda: X.sum().item(),
    "tolist()": lambda: X.tolist(),
    "bool()": lambda: 1 if X.sum() > 0 else 2,
    "int()": lambda: int(ONE),
    "float()": lambda: float(ONE),
    "complex()": lambda: complex(ONE),
    "an index": lambda: range(INTEGER),
    "numpy()": lambda: X.numpy(),
    "numpy() ": lambda: np.asarray(X),
    "numpy()  ": lambda: X.numpy(force=True),
    "__dlpack__()": lambda: X.__dlpack__(),
    "the buffer protocol": lambda: memoryview(X),
    "indexing by a mask": lambda: X[X > 1],
    "indexing by a mask ": lambda: X[YES],
    "nonzero": lambda: X.nonzero(),
    "where": lambda: ag.where(X > 1),
    "unique": lambda: X.unique(),
    "unique_consecutive": lambda: ag.unique_consecutive(X),
    "a number of a tensor": lambda: ag.repeat_interleave(X, INTEGER),
    "a number of a tensor ": lambda: X.masked_scatter(X > 1, X),
}


@pytest.mark.parametrize("what", READS)
def test_reading_values_is_refused_by_name(what):
    READS[what]()
    with pytest.raises(RuntimeError) as error:
        capture(READS[what])
    assert REFUSAL.match(str(error.value))["who"] == what.strip().removesuffix("()")
    READS[what]()


def test_the_error_says_what_was_read_and_what_to_do():
    with pytest.raises(RuntimeError, match=r"shape \[2, 3\] and dtype float64.*where\(\)"):
        capture(lambda: ag.ones(2, 3, dtype=ag.float64).tolist())


def test_printing_and_numbers_may_be_looked_at():
    def step():
        y = X * ag.tensor(2.0) + 1
        assert "tensor" in repr(y)
        assert f"{y.sum():.1f}" == "15.0"

    assert len(capture(step)) >= 3


@pytest.mark.parametrize("dims", [9, 12, 40])
def test_any_number_of_index_tensors_can_be_captured(dims):
    shape = (2,) * 5 + (1,) * (dims - 5)

    def inputs(seed):
        ag.manual_seed(seed)
        return ag.randn(shape), [ag.randint(0, n, (7,)) for n in shape]

    (x, places), (other, elsewhere) = inputs(1), inputs(2)
    kept = []

    def step():
        kept.append(x[tuple(places)])
        kept.append(ag.zeros(shape).index_put(tuple(places), kept[0], accumulate=True))

    program = capture(step)
    x.copy_(other)
    for old, new in zip(places, elsewhere):
        old.copy_(new)
    program.poison()
    program.replay_elsewhere([x, *places])
    expected = other[tuple(elsewhere)]
    assert kept[0].tolist() == expected.tolist()
    whole = ag.zeros(shape).index_put(tuple(elsewhere), expected, accumulate=True)
    assert kept[1].tolist() == whole.tolist()
