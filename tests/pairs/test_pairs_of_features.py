"""Every pair of features over every record: values and gradients are those without the features.

`features.py` has the features, `writes.py` programs that write through views. `REFUSED` lists the
pairs that PyTorch refuses as well; each must be refused in these words, never computed wrongly.
`python -m pytest -m slow tests/pairs` asks all pairs of every record and program, the quick tests
a few pairs of each, other ones of its neighbours.
"""

import itertools
import re
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "ops"), str(HERE)]

from calls import CLASS_OF, cases, make, tensor, to_array  # noqa: E402
from derivatives import differentiable_outputs, smooth  # noqa: E402
from features import features_of, look  # noqa: E402
from grouping import each  # noqa: E402
from writes import ORDERS, SHAPE, VIEWS, WRITES, program, without_aliasing  # noqa: E402

import autograd_cy as ag  # noqa: E402
from autograd_cy.ops import _schema as schema  # noqa: E402

FEATURES, TOTAL = features_of(ag)
PAIRS = list(itertools.product(FEATURES.values(), repeat=2))
# Pairs that each record is asked in the quick suite.
FEW = 4

REENTRANT = "reentrant checkpoint"
NO_JVP = "You must implement the jvp function for custom autograd.Function"
# (outer, inner): words of the error.
REFUSED = {
    ("vmap", REENTRANT): "can't be called under vmap",
    ("vmap twice", REENTRANT): "can't be called under vmap",
    ("jvp", REENTRANT): NO_JVP,
    ("forward mode", REENTRANT): NO_JVP,
    ("create_graph", REENTRANT): r"incompatible with \.grad\(\)",
    ("func.grad", REENTRANT): r"incompatible with \.grad\(\)",
    ("forward mode", "forward mode"): "Nested forward mode AD is not supported",
}
# Forward mode is off inside the forward of a Function, which a reentrant checkpoint is: there are
# no tangents, in torch as here.
OTHER_VALUES = {(REENTRANT, "forward mode")}
SAVED = "Inference tensors cannot be saved for backward"
NOTHING_TO_DO = "none of output has requires_grad=True, this checkpoint"


FIRST = [p for p in cases(smooth) if p.values[0].number == 0]


def batches(record):
    return not isinstance(record.batching.vmap, (schema.refuse, schema.randomly))


def subjects(case):
    """(function of the differentiable arguments, these) in each dtype with something to do."""
    for name in ("float64", "complex128"):
        if CLASS_OF[name] not in case.record.call.dtypes:
            continue
        call = make(case, name)
        if not call.moving or not differentiable_outputs(call, call(call.tensors())):
            continue

        def function(*moving, call=call):
            tensors = call.tensors()
            for place, t in zip(call.moving, moving):
                tensors[place] = t
            return tuple(differentiable_outputs(call, call(tensors)))

        yield function, [tensor(call.arrays[i]) for i in call.moving]


def seeded(function):
    """The function with the same random numbers at every call."""

    def g(*xs):
        ag.manual_seed(7)
        return function(*xs)

    return g


def refusal(outer, inner, error):
    """True if this is an error that the pair may end in."""
    words = REFUSED.get((outer.name, inner.name))
    return (
        (words is not None and re.search(words, str(error)) is not None)
        or ("inference tensors" in (outer.name, inner.name) and SAVED in str(error))
        or (REENTRANT in (outer.name, inner.name) and NOTHING_TO_DO in str(error))
    )


def check(function, xs, outer, inner, reference=None):
    """Compare `outer(inner(function))` with the same without what changes no value.

    `reference` is another function of the same values.
    """
    function = seeded(function)
    reference = seeded(reference) if reference else function
    expected = look(ag, TOTAL, outer.reference(inner.reference(reference)), xs)
    try:
        found = look(ag, TOTAL, outer.apply(inner.apply(function)), xs, outer.around)
    except (RuntimeError, NotImplementedError) as error:
        if refusal(outer, inner, error):
            return
        raise
    for what, some, others in zip(("value", "gradient"), found, expected):
        assert len(some) == len(others)
        for a, b in zip(some, others):
            a, b = to_array(a), to_array(b)
            scale = np.abs(b).max(initial=1.0, where=np.isfinite(b))
            np.testing.assert_allclose(a, b, 1e-8, 1e-9 * scale, err_msg=what, strict=True)


def allowed(record, outer, inner):
    """Some pairs say nothing of a record."""
    if (outer.levels or inner.levels) and not batches(record):
        return False
    return (outer.name, inner.name) not in OTHER_VALUES


def some(start):
    """A few pairs; neighbours of `start` give others."""
    return [PAIRS[(start + 37 * i) % len(PAIRS)] for i in range(FEW)]


def check_pairs(case, pairs):
    tried = 0
    for function, xs in subjects(case):
        for outer, inner in pairs:
            if not allowed(case.record, outer, inner):
                continue
            tried += 1
            try:
                check(function, xs, outer, inner)
            except Exception as error:
                what = f"{outer.name} of {inner.name} of {case.id} ({xs[0].dtype})"
                raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error
    if not tried:
        pytest.skip("nothing to differentiate in this sample")


@each("case", FIRST)
def test_some_pairs_over_every_record(case):
    start = zlib.crc32(case.id.encode())
    check_pairs(case, some(start))


@pytest.mark.slow
@each("case", FIRST)
def test_all_pairs_over_every_record(case):
    check_pairs(case, PAIRS)


PROGRAMS = [
    pytest.param(VIEWS[v], WRITES[w], order, id=f"{v}-{w}, {order}")
    for v, w, order in itertools.product(VIEWS, WRITES, ORDERS)
]


def check_program(view, write, order, pairs):
    xs = [ag.linspace(0.3, 1.2, 6, dtype=ag.float64).reshape(SHAPE), ag.tensor([0.4, 0.3]).double()]
    for outer, inner in pairs:
        if (outer.name, inner.name) in OTHER_VALUES:
            continue
        try:
            check(
                program(view, write, order),
                xs,
                outer,
                inner,
                without_aliasing(view, write, order),
            )
        except Exception as error:
            what = f"{outer.name} of {inner.name}"
            raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error


@each("view,write,order", PROGRAMS)
def test_some_pairs_over_writes_and_views(view, write, order):
    start = next(i for i, p in enumerate(PROGRAMS) if p.values == (view, write, order))
    check_program(
        view, write, order, [PAIRS[(11 * start + 37 * i) % len(PAIRS)] for i in range(FEW)]
    )


@pytest.mark.slow
@each("view,write,order", PROGRAMS)
def test_all_pairs_over_writes_and_views(view, write, order):
    check_program(view, write, order, PAIRS)


def product(x, y):
    return (x.sin() * y,)


@pytest.mark.parametrize(("outer", "inner"), REFUSED)
def test_what_torch_refuses_is_refused(outer, inner):
    xs = [ag.linspace(0.3, 1.2, 4, dtype=ag.float64), ag.linspace(1.1, -0.4, 4, dtype=ag.float64)]
    transformed = FEATURES[outer].apply(FEATURES[inner].apply(product))
    with pytest.raises((RuntimeError, NotImplementedError), match=REFUSED[outer, inner]):
        look(ag, TOTAL, transformed, xs, FEATURES[outer].around)
    # The next pass knows nothing of it.
    check(product, xs, FEATURES["checkpoint"], FEATURES["anomaly mode"])
