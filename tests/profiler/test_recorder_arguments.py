"""Recorded arguments and frames, and the events that other tools are told of."""

import _thread
import collections
import gc
import operator
import sys
import threading
import time
import weakref

import pytest
from recordings import session

import autograd_cy as ag
from autograd_cy._C import recorder
from autograd_cy._C.recorder import Recording, record_function

ARGUMENTS, STACK = 1, 4
X = ag.ones(2, 3)
W = ag.ones(2, requires_grad=True)


def rows_of(call):
    """(sizes, values, types) of each event with arguments, and how many descriptions there are."""
    made = session(ARGUMENTS)
    call()
    found = made.stop()
    return [found[6][i] for i in found[0]["shape"] if i >= 0], len(found[6])


# Arguments of any kind: a function in Python that is recorded.
taken = recorder._seen("test::taken", lambda *args: None)


def nested(depth):
    found = 5
    for _ in range(depth):
        found = [found]
    return found


NUMBER, LIST, TENSORS = "Scalar", "ScalarList", "TensorList"
KINDS = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64".split()
OBJECTS = [
    (None, [], None, ""),
    (True, [], True, NUMBER),
    (False, [], False, NUMBER),
    (0, [], 0, NUMBER),
    (-5, [], -5, NUMBER),
    (2**63 - 1, [], 2**63 - 1, NUMBER),
    (-(2**63), [], -(2**63), NUMBER),
    (2**63, [], None, ""),
    (-(2**63) - 1, [], None, ""),
    (2.5, [], 2.5, NUMBER),
    (-0.0, [], -0.0, NUMBER),
    (2j, [], None, ""),
    *[("x" * n, [], "x" * n, "") for n in (0, 1, 7, 8, 9, 15, 16, 17)],
    ("\u00e9", [], "\u00e9", ""),
    ("\ud800", [], None, ""),
    (b"x", [], None, ""),
    (object, [], None, ""),
    ([], [], [], LIST),
    ((), [], [], LIST),
    ([1, 2.5, "a", None], [], [1, 2.5, "a", None], LIST),
    ((1, (2, [True])), [], [1, [2, [True]]], LIST),
    ([2**63, object], [], [None, None], LIST),
    (ag.Size([2, 3]), [], None, ""),
    ({"a": 1}, [], None, ""),
    (nested(15), [], nested(15), LIST),
    (X, [2, 3], None, "float"),
    (ag.tensor(2.0), [], None, "float"),
    (ag.ones(0, 4), [0, 4], None, "float"),
    (ag.ones(1, 2, 1, 2, 1, 2, 1, 2), [1, 2] * 4, None, "float"),
    ([X, X[0]], [[2, 3], [3]], None, TENSORS),
    ((X,), [[2, 3]], None, TENSORS),
    ([X, 1], [], [None, 1], LIST),
    ([X, None], [], [None, None], LIST),
    ([[X], [X]], [], [None, None], LIST),
]  # fmt: skip


def test_arguments_of_any_kind():
    """Each alone, and between others."""
    for given, *wanted in OBJECTS:
        (alone, between, twice, again), count = rows_of(
            lambda: (taken(given), taken(7, given, "z"), taken(given, given), taken(given))
        )
        assert [part[0] for part in alone] == wanted, given
        assert list(zip(*between)) == [([], 7, NUMBER), tuple(wanted), ([], "z", "")]
        assert list(zip(*twice)) == [tuple(wanted)] * 2
        assert again == alone and count == 3
    assert rows_of(lambda: (taken(), taken(1), taken())) == ([([], [], []), ([[]], [1], [NUMBER]),
                                                             ([], [], [])], 2)  # fmt: skip


def test_lists_are_written_down_to_some_depth_and_length():
    for depth in (16, 17, 18):
        (found,), _ = rows_of(lambda depth=depth: taken(nested(depth), 3))
        values = found[1][0]
        for _ in range(min(depth, 16)):
            assert type(values) is list and len(values) == 1
            values = values[0]
        assert (values, found[1][1]) == (5 if depth == 16 else None, 3)
    (found,), _ = rows_of(lambda: taken([1] * ((1 << 20) + 1), 3))
    assert found[1] == [None, 3]


def test_numbers_have_their_dtype():
    """Numbers have no size; equal ones are one description, whatever was written before them."""
    for number in (True, False, 3, -(2**40), 2.5, 1e300, 2 - 3j):
        t = ag.ones(2, dtype=ag.complex128 if isinstance(number, complex) else ag.float64)
        call = lambda: t * number  # noqa: E731
        one = list(range(1, 30))
        (a, _, b, _, c), count = rows_of(
            lambda: (call(), taken(one), call(), taken([-1] * 9), call())
        )
        assert a == b == c and count == 3
        assert a[1][1] == number and type(a[1][1]) is type(number)
        assert (a[0], a[2][1]) == ([[2], []], NUMBER)


def test_words_of_types():
    words = "bool;unsigned char;signed char;short int;int;long int;c10::Half;c10::BFloat16;float"
    words = [*words.split(";"), "double", "c10::complex<float>", "c10::complex<double>"]
    kinds = [getattr(ag, name) for name in [*KINDS, "complex128"]]
    ones = [ag.ones(1, dtype=kind) for kind in kinds]
    rows, _ = rows_of(lambda: [taken(one) for one in ones])
    assert [row[2] for row in rows] == [[word] for word in words]
    rows, _ = rows_of(lambda: [X.sum(dtype=kind) for kind in kinds])
    assert [row[1][-1] for row in rows] == words


def test_arguments_of_operators():
    F = ag.nn.functional
    x, two, none = X.double(), ag.tensor(2.0), ([], None, "")
    double = ([2, 3], None, "double")
    for call, wanted in [
        (lambda: F.leaky_relu(x, 0.3), [double, ([], 0.3, NUMBER)]),
        (lambda: F.gelu(x, approximate="tanh"), [double, ([], "tanh", "")]),
        (lambda: x.sum(), [double, none]),
        (lambda: x.sum((0, 1), True),
         [double, ([], [0, 1], LIST), ([], True, NUMBER), none]),
        (lambda: x.clamp(min=-1), [double, ([], -1, NUMBER), none]),
        (lambda: ag.cat([x, x], 1), [([[2, 3]] * 2, None, TENSORS), ([], 1, NUMBER)]),
        (lambda: x * two, [double, ([], None, "float")]),
        (lambda: x.flip(0, 1), [double, ([], [0, 1], LIST)]),
    ]:  # fmt: skip
        rows, _ = rows_of(call)
        assert list(zip(*rows[0])) == wanted


def test_descriptions_are_kept_once():
    """Thousands of them, in another order the second time."""
    made = session(ARGUMENTS)
    for order in (range(3000), reversed(range(3000))):
        for k in order:
            taken(k, k % 7)
    found = made.stop()
    shape = found[0]["shape"].tolist()
    assert len(found[6]) == 3000 and shape[:3000] == shape[:2999:-1] == list(range(3000))
    assert [row[1] for row in found[6]] == [[k, k % 7] for k in range(3000)]


def test_bytes_of_operands_and_results():
    x = X.double()
    for call, name, wanted in [
        (lambda: x.exp(), "aten::exp", 96),
        (lambda: x * 2, "aten::mul", 96),
        (lambda: x.sum(1), "aten::sum", 48 + 16),
        (lambda: x.max(1), "aten::max", 48 + 16 + 16),
        (lambda: ag.cat([x, x, x]), "aten::cat", 2 * 144),
        (lambda: x.half().exp(), "aten::exp", 24),
        (lambda: taken(x, [x, x[0]], 3), "test::taken", 48 + 48 + 24),
        (lambda: x.transpose(0, 1), "aten::transpose", 0),
        (lambda: x[0:0].exp(), "aten::exp", 0),
    ]:
        made = session(ARGUMENTS)
        call()
        found = made.stop()
        seen = [found[2][i] for i in found[0]["name"]]
        assert found[0]["bytes_moved"][seen.index(name)] == wanted, name


def test_operations_of_windows():
    from autograd_cy.profiler._session import Session

    for image, weight, wanted in [
        ((2, 4, 5, 6), (8, 4, 2, 3), 2 * 2 * 8 * 16 * 24),
        ((2, 4, 5), (8, 4, 2), 2 * 2 * 8 * 4 * 8),
        ((2, 3, 4, 5, 6), (5, 3, 2, 2, 2), 2 * 2 * 5 * 60 * 24),
    ]:
        given = ag.ones(image), ag.ones(weight)
        made = Session(with_flops=True)
        made.start()
        getattr(ag.nn.functional, f"conv{len(image) - 2}d")(*given)
        assert made.stop().flops[0] == wanted, image


# --- frames -----------------------------------------------------------------------------------


@pytest.fixture(params=[True, False])
def inside(request):
    """Both ways to read frames."""
    before = recorder._read_inside(request.param)
    yield
    recorder._read_inside(before)


@pytest.mark.usefixtures("inside")
def test_frames_are_let_go():
    class Thing:
        pass

    def run():
        thing = Thing()
        things.append(weakref.ref(thing))
        X.neg()

    things, spaces = [], {"X": X}
    exec("def f():\n    X.neg()", spaces)
    code = spaces["f"].__code__
    counts = sys.getrefcount(run.__code__), sys.getrefcount(code)
    made = session(STACK)
    for _ in range(30):
        run()
        spaces["f"]()
    stacks = made.stop()[7]
    gone = weakref.ref(code)
    assert {row[0][2] for row in stacks} == {"run", "f"}
    assert (sys.getrefcount(run.__code__), sys.getrefcount(code)) == counts
    del code, spaces
    gc.collect()
    assert gone() is None and [ref() for ref in things] == [None] * 30


@pytest.mark.usefixtures("inside")
def test_a_thread_without_frames():
    made, done = session(STACK), threading.Lock()
    done.acquire()
    if not hasattr(operator, "call"):
        pytest.skip("operator.call is of Python 3.11")
    calls = map(operator.call, [X.neg, done.release])
    _thread.start_new_thread(collections.deque, (calls, 0))
    done.acquire()
    X.sin()
    found = made.stop()
    assert [found[7][i] == () for i in found[0]["stack"]] == [True, False]


@pytest.mark.usefixtures("inside")
def test_frames_are_those_outside_of_the_package():
    """At most 32, the innermost first; those of nodes are their operators'."""

    def deep(n):
        return deep(n - 1) if n else ag.einsum("ij,ij", X, X)

    for n in (0, 5, 60):
        made = session(STACK)
        deep(n)
        found = made.stop()
        for i in set(found[0]["stack"].tolist()):
            names = [row[2] for row in found[7][i]]
            assert names[: n + 1] == (["deep"] * (n + 1))[:32] and len(names) <= 32
            assert not [row for row in found[7][i] if "autograd_cy/profiler" in row[0]]
        assert len(found[7]) == 1


# --- clocks -----------------------------------------------------------------------------------


def test_times_lie_within_those_that_the_system_s_clock_told_around_them():
    def now():
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC)

    before = recorder._use_counter(False)
    try:
        assert recorder._use_counter(True) is False
        assert recorder._use_counter(False) is before or before is False
        for counter in (True, False, True):
            recorder._use_counter(counter)
            made, before_start = Recording(0, 100), now()
            made.start()
            started = now()
            while (called := now()) - started < 3_000_000:
                pass
            X.neg()
            returned = now()
            found = made.stop()
            stopped = now()
            start, end, whole = found[0]["start"][0], found[0]["end"][0], found[10]
            assert 0 < start <= end <= whole
            # Without the counter it is the same clock; of the counter the unit is told by it.
            slack = 2 if counter else 1
            assert called - started <= slack * start
            assert end <= slack * (returned - before_start)
            assert returned - started <= slack * whole
            assert whole <= slack * (stopped - before_start)
    finally:
        recorder._use_counter(before)


# --- other tools ------------------------------------------------------------------------------


@pytest.fixture
def told():
    calls = []
    recorder._watch(lambda *given: calls.append(given), lambda: calls.append("end"))
    yield calls
    recorder._watch(None, None)


class Doubled(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Refuses(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        raise KeyError("in forward")


def test_a_tool_is_told_when_events_begin_and_end(told):
    made = session(0)
    with record_function("label"):
        y = Doubled.apply(W.exp())
    y.sum().backward()
    made.drop()
    exp, doubled = (n._sequence_nr() for n in (y.grad_fn.next_functions[0][0], y.grad_fn))
    assert doubled > exp
    begun = [call for call in told if call != "end"]
    assert told.count("end") == len(begun) and told[-1] == "end"
    outer = "autograd::engine::evaluate_function: "
    nodes = [(call[0].removeprefix(outer), call[1]) for call in begun if call[2] == 1]
    accumulate = "torch::autograd::AccumulateGrad"
    wanted = ["SumBackward0", "DoubledBackward", "ExpBackward0", accumulate]
    assert [name for name, _ in nodes] == [name for name in wanted for _ in range(2)]
    assert [nr for _, nr in nodes[2:]] == [doubled] * 2 + [exp] * 2 + [-1] * 2
    assert begun[0] == ("label", -1, 7, None) and begun[1] == ("aten::exp", -1, 0, None)
    assert {call[1] for call in begun if call[2] != 1} == {-1}
    assert {call[3] for call in begun} == {None}
    assert [call == "end" for call in told[:4]] == [False, False, True, False]


def test_a_tool_is_told_of_sizes(told):
    made = session(ARGUMENTS)
    with record_function("label"):
        X * 2
        taken(X, 3, [X])
    X.sum(1)
    made.drop()
    new = session(ARGUMENTS)
    ag.ones(2)
    new.drop()
    sizes = [[[2, 3], []], [[2, 3], [], [[2, 3]]], [[2, 3], [], [], []]]
    assert told == [
        ("label", -1, 7, None),
        *[("aten::mul", -1, 0, sizes[0]), "end", ("test::taken", -1, 0, sizes[1]), "end", "end"],
        *[("aten::sum", -1, 0, sizes[2]), "end"],
        *[("aten::ones", -1, 0, [[]]), ("aten::empty", -1, 0, None), "end", "end"],
    ]


@pytest.mark.parametrize("wanted", [0, ARGUMENTS])
def test_a_tool_is_told_before_the_event_does_anything(told, wanted):
    counts = []
    inner = recorder._seen("test::inner", lambda *args: counts.append(len(told)))
    made = session(wanted)
    inner(X)
    with record_function("label"):
        counts.append(len(told))
    made.drop()
    assert counts == [1, 3] and len(told) == 4


@pytest.mark.parametrize("wanted", [0, ARGUMENTS])
def test_errors_pass_by_a_tool(told, wanted):
    made = session(wanted)
    with pytest.raises(KeyError, match="in forward"):
        Refuses.apply(X)
    with pytest.raises(RuntimeError, match="mm"):
        ag.mm(X, X)
    with pytest.raises(ValueError), record_function("label"):
        raise ValueError
    made.drop()
    assert [call if call == "end" else call[0] for call in told] == [
        *("Refuses", "end", "aten::mm", "end", "label", "end")
    ]


def test_faults_of_a_tool_are_dropped():
    ends = []

    def begin(*given):
        raise KeyError

    def end():
        ends.append(1)
        raise KeyError

    recorder._watch(begin, end)
    with pytest.raises(RuntimeError, match="another tool already"):
        recorder._watch(print, print)
    made = session(0)
    X.neg()
    with pytest.raises(RuntimeError, match="mm"):
        ag.mm(X, X)
    assert ends == []  # of what a tool wasn't told it is not told the end
    recorder._watch(None, None)
    recorder._watch(lambda *given: ends.append(given[0]), end)
    X.neg()
    with pytest.raises(RuntimeError, match="mm"):
        ag.mm(X, X)
    label = record_function("open").__enter__()
    recorder._watch(None, None)
    recorder._watch(None, None)
    X.sin()
    label.__exit__(None, None, None)
    made.drop()
    assert ends == ["aten::neg", 1, "aten::mm", 1, "open"]
