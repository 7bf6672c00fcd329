"""Values that an operator refuses, on a device that runs later: the CPU's error, when it is told.

The bad element is skipped, the work after it runs, and the next synchronisation raises the CPU's
exception for the first bad launch, once.
"""

import pytest
from grouping import each
from helpers import make, one_dtype
from proof import NAME, current
from test_captured_values import CALLS, DIVISIONS, RECORDS, bad_numbers, cases, integers_of, placed

import autograd_cy as ag
from autograd_cy._C.streams import _stream_on
from autograd_cy.nn import functional as F
from autograd_cy.ops import _schema as schema


def error_of(run):
    """Return what a call raises at once, or None."""
    try:
        run()
    except Exception as error:
        return type(error), str(error)
    return None


def told_late(run):
    """Return what a call raises, at once or at the next synchronisation, which then is through."""
    at_once = error_of(run)
    late = error_of(current().synchronize)
    assert error_of(current().synchronize) is None
    return at_once or late


def agrees(here, there, what):
    """The call there is refused as here, if it is at all."""
    found, wanted = told_late(there), error_of(here)
    if found is not None:
        found = found[0], found[1].replace(f"{NAME}:0", "cpu")
    assert found == wanted, what


def host_computes(record):
    return isinstance(record.kernel, schema.host)


@each("record", [pytest.param(r, id=key) for key, r in RECORDS if not host_computes(r)])
def test_bad_integers_are_the_error_of_the_cpu(late, record):
    names = {one_dtype(record), "int64" if "i" in record.call.dtypes else one_dtype(record)}
    for param in cases(lambda r: r is record):
        for name in names:
            call = make(param.values[0], name)
            for i in integers_of(call):
                check_integers(call, i)


def check_integers(call, i):
    for value in bad_numbers(call.leaves[i].array.dtype):
        for place in {-1, call.leaves[i].array.size - 1}:
            ins, moved = call.tensors(), call.tensors()
            for tensors in (ins, moved):
                placed(tensors[i], place, value)
            moved = [t if t is None else t.to(NAME) for t in moved]
            agrees(lambda: call(ins), lambda: call(moved), (call.record.key, i, place, value))


def spoilt(values, bad):
    """A tensor of good values whose second one is bad."""
    t = ag.tensor(values)
    placed(t, min(1, t.numel() - 1), bad)
    return t


def by_index(name):
    call, good, _, text = CALLS[name]
    return call, spoilt(good, 90 if "90" in text else 9)


X = ag.arange(12.0).reshape(4, 3)
VALUES = {
    **{name: by_index(name) for name in CALLS},
    **{
        f"division, {name}": (
            lambda b, call=call: call(ag.arange(1, 10, device=b.device).reshape(3, 3), b),
            ag.tensor([[1, 2, 3], [4, 0, 6], [7, 8, 9]]),
        )
        for name, call in DIVISIONS.items()
    },
    "bernoulli": (ag.bernoulli, ag.tensor([0.5, 1.5])),
    "bernoulli_": (lambda p: ag.empty(2, device=p.device).bernoulli_(p), ag.tensor([0.5, -1.0])),
    "multinomial": (lambda p: ag.multinomial(p, 1), ag.tensor([0.5, -1.0])),
    "multinomial of NaN": (lambda p: ag.multinomial(p, 1), ag.tensor([0.5, ag.nan])),
    "multinomial of zeros": (lambda p: ag.multinomial(p, 1), ag.zeros(2)),
    "binary_cross_entropy": (
        lambda p: F.binary_cross_entropy(p, ag.zeros_like(p)),
        ag.tensor([0.5, 1.5]),
    ),
    "gaussian_nll_loss": (lambda v: F.gaussian_nll_loss(v * 2, v, v), ag.tensor([0.5, -1.0])),
    "clusters": (
        lambda k: clusters().to(k.device)(ag.ones(3, 4, device=k.device), k).output,
        ag.tensor([7, 3, -2]),
    ),
    **{
        f"lengths of {part} {n}": (
            lambda n, part=part: paths(n, part),
            ag.tensor([2, n]),
        )
        for part in ("inputs", "targets")
        for n in (-1, 9)
    },
    "masked_scatter": (
        lambda m: ag.zeros(4, device=m.device).masked_scatter(m, ag.ones(2, device=m.device)),
        ag.tensor([True, False, True, True]),
    ),
    "one_hot, negative": (lambda k: F.one_hot(k, 6), ag.tensor([0, -2, -3])),
    "offsets, first": (lambda k: bags(k), ag.tensor([1, 2, 3])),
    "offsets, order": (lambda k: bags(k), ag.tensor([0, 3, 2])),
    "offsets, last": (lambda k: bags(k), ag.tensor([0, 2, 5])),
    "offsets, end": (lambda k: bags(k, include_last_offset=True), ag.tensor([0, 2, 5])),
    "bincount": (ag.bincount, ag.tensor([1, -1])),
    "repeat_interleave": (
        lambda n: ag.repeat_interleave(ag.zeros(2, device=n.device), n),
        ag.tensor([1, -1]),
    ),
    "normal": (lambda s: ag.normal(0.0, s), ag.tensor([1.0, -1.0])),
    "poisson": (lambda s: ag.poisson(s), ag.tensor([1.0, -1.0])),
}


def clusters():
    return ag.nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2, 4])


def paths(lengths, part):
    x = ag.zeros(4, 2, 3, device=lengths.device).log_softmax(2)
    good = ag.tensor([1, 2], device=lengths.device)
    given = (lengths, good) if part == "inputs" else (good, lengths)
    return F.ctc_loss(x, ag.ones(2, 3, dtype=ag.int64, device=x.device), *given)


def bags(offsets, **options):
    index = ag.tensor([0, 1, 3, 2]).to(offsets.device)
    return F.embedding_bag(index, X.to(offsets.device), offsets, mode="sum", **options)


@pytest.fixture
def x_there(late, monkeypatch):
    """The calls of the other file read their table on the device."""
    import test_captured_values

    return lambda place: monkeypatch.setattr(test_captured_values, "X", X.to(place))


@pytest.mark.parametrize("name", VALUES)
def test_a_bad_value_is_the_error_of_the_cpu(late, x_there, name):
    call, bad = VALUES[name]
    x_there("cpu")
    wanted = error_of(lambda: call(bad))
    assert wanted is not None
    x_there(NAME)
    moved = bad.to(NAME)
    assert told_late(lambda: call(moved)) == wanted


# --- a kernel of a device that skips what is bad ------------------------------------------------

SKIPPING = {
    "embedding": lambda x, k: F.embedding(k, x),
    "index_select": lambda x, k: x.index_select(0, k),
    "index_select of columns": lambda x, k: x.t().index_select(1, k).t(),
    "gather": lambda x, k: x.gather(0, k.reshape(-1, 1)),
}


@pytest.mark.parametrize("name", SKIPPING)
@pytest.mark.parametrize("bad", [4, -1, 1 << 40, -(1 << 63)])
def test_a_bad_element_is_skipped_and_later_work_runs(plain, name, bad):
    call, index = SKIPPING[name], ag.tensor([3, bad, 0, 5])
    x, k = X.to("hostdevice"), index.to("hostdevice")
    wanted = error_of(lambda: call(X, index))
    good = call(X, ag.tensor([3, 0, 0, 0])).tolist()
    plain.forget()
    found = call(x, k)
    later = x * 2
    assert "reads" not in plain.state()["calls"]
    assert error_of(_stream_on("hostdevice:0").synchronize) == wanted
    assert error_of(_stream_on("hostdevice:0").synchronize) is None
    rows = found.tolist()
    assert rows[0] == good[0] and rows[2] == good[2]
    assert rows[1] != rows[1] or all(n != n for n in rows[1])  # poison: nothing was written
    assert later.tolist() == (X * 2).tolist()


def test_errors_are_kept_for_each_device_and_the_first_is_told(late):
    x = X.to(NAME), X.to(f"{NAME}:1")
    bad = ag.tensor([0, 9])
    x[1].index_select(0, bad.to(f"{NAME}:1") - 2)
    x[0].gather(0, (bad + 1).reshape(2, 1).to(NAME))
    x[0].index_select(0, bad.to(NAME))
    later = x[0] + 1
    assert error_of(current().synchronize)[1].startswith("index 10 is out of bounds")
    assert error_of(current().synchronize) is None
    assert error_of(current(1).synchronize)[1].startswith("index -2 is out of bounds")
    assert error_of(current(1).synchronize) is None
    assert later.tolist() == (X + 1).tolist()
