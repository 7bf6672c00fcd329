"""The records of the recorder: all that a session has, with overlaps, limits, threads, forks."""

import contextlib
import gc
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from recordings import session

import autograd_cy as ag
from autograd_cy._C import recorder
from autograd_cy._C.recorder import Recording, record_function
from autograd_cy.profiler._session import Session

ARGUMENTS, MEMORY, STACK, MODULES = 1, 2, 4, 8
MOST = 1 << 40
X = ag.ones(3)
HERE = ("columns threads names backward ordered flops shapes stacks modules dropped wall").split()


def given(recording, thread=None):
    return dict(zip(HERE, recording.stop(thread), strict=True))


def seen(call, wanted=0, most=MOST):
    made = session(wanted, most)
    call()
    return given(made)


def names(found):
    return [found["names"][i] for i in found["columns"]["name"]]


def column(found, key):
    return found["columns"][key].tolist()


def elsewhere(*calls):
    """Calls in a thread of their own, which ends."""
    thread = threading.Thread(target=lambda: [call() for call in calls])
    thread.start()
    thread.join()


EVENTS = ["name", "start", "end", "thread", "seq", "scope", "parent", "failed", "unfinished",
          "team", "saved"]  # fmt: skip
CHANGES = ["mem_time", "mem_bytes", "mem_total", "mem_address", "mem_thread", "mem_event"]
CHANGES.append("mem_device")
WITH = {ARGUMENTS: ["shape", "bytes_moved"], STACK: ["stack"], MODULES: ["module"], MEMORY: CHANGES}


@pytest.mark.parametrize("wanted", range(16))
def test_a_session_has_what_it_wanted_and_no_more(wanted):
    found = seen(lambda: ag.einsum("i,i", X, X), wanted)
    asked = [key for bit, keys in WITH.items() if wanted & bit for key in keys]
    assert list(found["columns"]) == EVENTS + asked
    assert bool(found["shapes"]) == bool(wanted & ARGUMENTS)
    assert bool(found["stacks"]) == bool(wanted & STACK)
    assert found["modules"] == [] and found["dropped"] == 0
    assert (found["backward"], found["ordered"]) == (False, True)
    assert len(found["threads"]) == 1


def test_values_of_what_is_not_known():
    """The second time in memory that the first one has used."""
    w = ag.ones(3, requires_grad=True)

    def full():
        token = recorder._enter_module("m")
        with contextlib.suppress(RuntimeError):
            ag.mm(w, w)
        w.exp().sin().sum().backward()
        with contextlib.suppress(ValueError), record_function("fails"):
            raise ValueError
        recorder._leave_module(token)

    def plain():
        for _ in range(20):
            with record_function("a"):
                pass

    for _ in range(2):
        first = seen(full, 15)
        assert first["backward"] and any(first["columns"]["failed"])
        found = seen(plain, 15)
        assert names(found) == ["a"] * 20 and found["names"] == ["a"]
        values = {"thread": 1, "seq": -1, "scope": 7, "parent": -1, "failed": False, "stack": 0,
                  "unfinished": False, "team": 1, "saved": 0, "shape": -1, "bytes_moved": 0,
                  "module": -1}  # fmt: skip
        assert {key: column(found, key) for key in values} == {
            key: [value] * 20 for key, value in values.items()
        }
        assert (found["shapes"], found["modules"], len(found["stacks"])) == ([], [], 1)
        assert found["backward"] is False and found["dropped"] == 0


def test_a_session_begins_and_ends_once():
    made = Recording(ARGUMENTS | STACK, 1)
    assert (made.wanted, made.most, made.running, made.holding) == (5, 1, False, False)
    made.drop()
    with pytest.raises(RuntimeError, match="isn't running"):
        made.stop()
    made.start()
    assert (made.running, made.holding) == (True, False) and recorder._enabled()
    with pytest.raises(RuntimeError, match="started already"):
        made.start()
    made.drop()
    assert (made.running, made.holding) == (False, False) and not recorder._enabled()
    made.drop()
    with pytest.raises(RuntimeError, match="isn't running"):
        made.stop()
    made.start()
    X.neg()
    assert len(made.stop()[0]["name"]) == 1 and not (made.running or made.holding)
    for most in (0, -1):
        with pytest.raises(ValueError, match="max_events"):
            Recording(0, most)


def test_a_session_that_could_not_be_read_waits_for_another_try(monkeypatch):
    """The label that was left meanwhile was open at its end."""
    inside = []

    def empty(*args):
        inside.append((made.running, made.holding, recorder._enabled()))
        made.drop()  # it is being read
        with pytest.raises(RuntimeError, match="isn't running"):
            made.stop()
        with pytest.raises(RuntimeError, match="started already"):
            made.start()
        raise MemoryError

    made, label = session(MEMORY), record_function("open")
    label.__enter__()
    with monkeypatch.context() as patch:
        patch.setattr(np, "empty", empty)
        for _ in range(2):
            with pytest.raises(MemoryError):
                made.stop()
    assert inside == [(False, True, False)] * 2
    assert (made.running, made.holding) == (False, True) and not recorder._enabled()
    with pytest.raises(RuntimeError, match="started already"):
        made.start()
    label.__exit__(None, None, None)
    found = given(made)
    assert (names(found), column(found, "unfinished")) == (["open"], [True])
    assert column(found, "end") == [found["wall"]]
    with monkeypatch.context() as patch:
        made.start()
        patch.setattr(np, "empty", empty)
        with pytest.raises(MemoryError):
            made.stop()
    made.drop()
    assert not made.holding
    made.start()
    assert names(given(made)) == []


def test_limits():
    small, large = session(0, 3), session()
    elsewhere(X.neg, X.neg)
    for _ in range(4):
        X.sin()
    found = given(small)
    assert (names(found), found["dropped"]) == (["aten::neg"] * 2 + ["aten::sin"], 3)
    assert column(found, "thread") == [1, 1, 2]
    later = session(0, 2)
    found = given(large)
    assert (len(names(found)), found["dropped"]) == (6, 0)
    for _ in range(5):  # the limit of what runs counts from where it began
        X.sin()
    found = given(later)
    assert (names(found), found["dropped"]) == (["aten::sin"] * 2, 3)
    assert seen(X.neg)["dropped"] == 0
    found = seen(lambda: [ag.einsum("i,i", X, X) for _ in range(3)], ARGUMENTS, 1)
    assert names(found) == ["aten::einsum"] and found["dropped"] > 2


@pytest.mark.parametrize("most", [1, 2, 5])
def test_as_many_changes_of_memory_as_events(most):
    kept = [ag.empty(8 + i) for i in range(9)]
    found = seen(kept.clear, MEMORY, most)
    assert (len(column(found, "mem_bytes")), found["dropped"]) == (most, 9 - most)
    kept = [ag.empty(8 + i) for i in range(9)]
    assert seen(kept.clear, 0, most)["dropped"] == 0  # nobody wants them any more
    kept = [ag.empty(8) for _ in range(3)]
    large, small = session(MEMORY), session(MEMORY, 2)
    kept[:] = [ag.empty(4) for _ in range(3)]
    found = given(small)
    owners = sorted(column(found, "mem_event"))
    assert (len(names(found)), owners) == (2, [-1, -1, -1, -1, 0, 1])
    large.drop()


def test_sessions_overlap():
    """Also where a block of events ends, and whatever was begun and left between them."""
    for count in (0, 1, 1022, 1023, 1024, 2046, 2500):
        a = session(MEMORY)
        outer = record_function("outer")
        outer.__enter__()
        for _ in range(count - 1):
            X.neg()
        before = ag.empty(5)
        b = session(MEMORY)
        with record_function("inner"):
            made = ag.empty(6)
        del before
        a.drop()
        del made
        c = session(MEMORY)
        X.sin()
        outer.__exit__(None, None, None)
        found = given(b)
        assert names(found) == ["inner", "aten::empty", "aten::sin"], count
        assert column(found, "parent") == [-1, 0, -1]
        assert column(found, "mem_bytes") == [24, -20, -24, 12, -12]
        assert column(found, "mem_event") == [1, -1, -1, 2, -1]
        found = given(c)
        assert (names(found), column(found, "parent")) == (["aten::sin"], [-1])
        assert (column(found, "mem_bytes"), column(found, "mem_event")) == ([12, -12], [0, -1])


def test_changes_after_those_that_were_given_back():
    x = ag.empty(7)
    a = session(MEMORY)
    del x
    b = session(MEMORY)
    a.drop()
    x = ag.empty(9)
    del x
    assert column(given(b), "mem_bytes") == [36, -36]


def test_bytes_in_all_go_on_from_what_is_alive():
    kept = [ag.empty(100), ag.empty(1000)]
    alive = ag.memory_summary()["live_bytes"]
    a = session(MEMORY)
    kept.append(ag.empty(10))
    b = session(MEMORY)  # which begins nothing anew
    kept.append(ag.empty(1, dtype=ag.uint8))
    kept.append(ag.empty(0))
    found = given(a)
    assert column(found, "mem_bytes") == [40, 1]
    assert column(found, "mem_total") == [alive + 40, alive + 41]
    assert column(given(b), "mem_total") == [alive + 41]
    alive = ag.memory_summary()["live_bytes"]
    assert seen(lambda: kept.pop(0), MEMORY)["columns"]["mem_total"].tolist() == [alive - 400]
    found = seen(lambda: [kept.append(ag.empty(i + 1)) for i in range(600)], MEMORY)
    assert column(found, "mem_bytes") == [4 * i + 4 for i in range(600)]
    assert column(found, "mem_event") == list(range(600))
    assert found["columns"]["mem_address"].tolist() == [t.data_ptr() for t in kept[-600:]]


# --- threads ----------------------------------------------------------------------------------


def test_each_thread_has_its_place():
    kept = [ag.empty(i + 1) for i in range(6)]
    natives = []

    def work():
        natives.append((threading.get_native_id(), threading.get_ident()))
        del kept[0]
        with record_function("there"):
            X.neg()

    made = session(MEMORY | MODULES)
    del kept[0]
    elsewhere(work)
    X.sin()
    del kept[0]
    elsewhere(X.cos)
    found = given(made)
    here = threading.get_native_id(), threading.get_ident()
    assert found["threads"][:2] == [here, *natives] and len(found["threads"]) == 3
    assert names(found) == ["aten::sin", "there", "aten::neg", "aten::cos"]
    assert column(found, "thread") == [1, 2, 2, 3]
    assert column(found, "parent") == [-1, -1, 1, -1]
    assert column(found, "module") == [-1] * 4
    assert column(found, "mem_thread") == [1] * 4 + [2] * 3 + [3] * 2
    assert column(found, "mem_bytes") == [-4, 12, -12, -12, -8, 12, -12, 12, -12]
    assert column(found, "mem_event") == [-1, 0, -1, -1, -1, 2, 1, 3, -1]
    assert found["ordered"] is False


def test_changes_of_memory_of_all_threads_stand_by_time():
    kept = [ag.empty(i + 1) for i in range(3)]
    made = Session(profile_memory=True)
    made.start()
    del kept[0]
    elsewhere(lambda: kept.pop(0))
    del kept[0]
    found = made.stop()
    assert (found.mem_bytes.tolist(), found.mem_thread.tolist()) == ([-4, -8, -12], [1, 2, 1])
    assert found.mem_time.tolist() == sorted(found.mem_time.tolist())
    assert found.mem_event.tolist() == [-1] * 3
    assert np.diff(found.mem_total).tolist() == [-8, -12] and len(set(found.mem_address)) == 3


def test_a_thread_is_there_if_it_did_anything():
    a, b, kept = session(MEMORY), session(), [ag.empty(2), ag.empty(3)]
    elsewhere(kept.pop)
    elsewhere(X.neg)
    elsewhere(dict)
    found = given(b)
    assert (names(found), len(found["threads"])) == (["aten::empty"] * 2 + ["aten::neg"], 2)
    assert len(given(a)["threads"]) == 3
    made = session()
    elsewhere(X.neg)
    assert len(given(made)["threads"]) == 1
    for thread, count in ((threading.get_native_id(), 1), (1, 0)):
        made = session()
        X.sin()
        elsewhere(X.neg)
        found = given(made, thread)
        assert names(found) == ["aten::sin"] * count and len(found["threads"]) == count


def test_what_ended_threads_did_stays_for_the_sessions_that_run():
    """One event or one change of memory, and nothing of the other."""
    kept = [ag.empty(2), ag.empty(3)]
    a, b = session(MEMORY), session(MEMORY)
    elsewhere(X.sin)
    elsewhere(kept.pop)
    a.drop()
    elsewhere(kept.pop)
    c = session(MEMORY)
    found = given(b)
    assert names(found) == ["aten::sin"] and len(found["threads"]) == 3
    assert column(found, "mem_bytes") == [12, -12, -12, -8]
    assert names(given(c)) == []


def test_threads_that_go_on_from_session_to_session():
    def count(n):
        for _ in range(n):
            X.neg()

    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        workers = [one, other]
        a = session()
        for worker, n in zip(workers, (3, 5)):
            worker.submit(count, n).result()
        b = session()
        label = record_function("open")
        one.submit(label.__enter__).result()
        c = session()
        one.submit(X.sin).result()
        X.cos()
        other.submit(X.tan).result()
        assert len(names(given(a))) == 12
        found = given(b)
        assert names(found) == ["open", "aten::sin", "aten::cos", "aten::tan"]
        assert column(found, "parent") == [-1, 0, -1, -1]
        found = given(c)
        assert names(found) == ["aten::sin", "aten::cos", "aten::tan"]
        assert column(found, "parent") == [-1] * 3
        one.submit(label.__exit__, None, None, None).result()
        assert names(seen(lambda: one.submit(X.exp).result())) == ["aten::exp"]


def test_teams_of_threads():
    """The team is that of a kernel, and of an event the largest in it; not those before it."""
    large, small = ag.ones(1 << 18), ag.ones(3)
    out = ag.empty(1 << 18)
    before = recorder_threads(2)
    try:
        ag.add(large, large, out=out)
        if seen_team(lambda: ag.add(large, large, out=out)) != [2]:
            pytest.skip("a build without threads")

        def run():
            with record_function("A"):
                ag.add(large, large, out=out)
                small.neg()
            with record_function("B"):
                small.neg()
            with record_function("C"):
                small.neg()
                with record_function("D"):
                    ag.add(large, large, out=out)
                small.neg()
            ag.add(large, large, out=out)
            open_.__enter__()
            small.neg()

        open_ = record_function("open")
        assert seen_team(run) == [2, 2, 1, 1, 1, 2, 1, 2, 2, 1, 2, 1, 1]
        open_.__exit__(None, None, None)
    finally:
        recorder_threads(before)


def recorder_threads(n):
    before = ag.get_num_threads()
    ag.set_num_threads(n)
    return before


def seen_team(call):
    return column(seen(call), "team")


# --- labels -----------------------------------------------------------------------------------


class Model:
    """A model of the spans of labels: a stack of open ones for each thread, a list for each
    label."""

    def __init__(self, most):
        self.most, self.parents, self.thread_of = most, [], []
        self.open = {0: [], 1: []}
        self.dropped = 0

    def begin(self, thread):
        if len(self.parents) == self.most:
            self.dropped += 1
            return None
        above = [e for e in self.open[thread] if e is not None]
        number = len(self.parents)
        self.parents.append(above[-1] if above else -1)
        self.thread_of.append(thread)
        self.open[thread].append(number)
        return number

    def leave(self, entries, thread):
        if entries:
            mine = [k for k, e in enumerate(entries) if e is None or self.thread_of[e] == thread]
            event = entries.pop(mine[-1] if mine else -1)
            if event is not None:
                self.open[self.thread_of[event]].remove(event)


@pytest.mark.parametrize("most", [1 << 30, 25])
def test_labels_entered_and_left_in_any_order(most):
    """The spans are those of the model; a label's entries beyond the limit are left as well."""
    random = np.random.default_rng(most)
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        pools = [one, other]
        for _ in range(12):
            labels = [record_function(str(k)) for k in range(3)]
            entries, model = [[], [], []], Model(most)
            made = session(0, most)
            for step in range(60):
                k, thread = random.integers(3), int(random.integers(2)) * (step > 15)
                if random.random() < 0.55:
                    pools[thread].submit(labels[k].__enter__).result()
                    entries[k].append(model.begin(thread))
                else:
                    pools[thread].submit(labels[k].__exit__, None, None, None).result()
                    model.leave(entries[k], thread)
            if random.random() < 0.5:
                left = labels.pop()
                del left
                entries[2], gone = [], entries[2]
                for event in gone:
                    if event is not None:
                        model.open[model.thread_of[event]].remove(event)
                for thread in (0, 1):
                    pools[thread].submit(X.neg).result()
                    if (event := model.begin(thread)) is not None:
                        model.open[thread].remove(event)
            found = given(made)
            ours = [[], []]
            for thread, parent in zip(model.thread_of, model.parents):
                ours[thread].append(parent if parent < 0 else place(model, parent))
            theirs = {}
            for thread, parent in zip(column(found, "thread"), column(found, "parent")):
                theirs.setdefault(thread, []).append(parent)
            firsts = [column(found, "thread").index(thread) for thread in theirs]
            shifted = [
                [p if p < 0 else p - first for p in parents]
                for first, parents in zip(firsts, theirs.values())
            ]
            assert sorted(shifted) == sorted(part for part in ours if part)
            still = sum(len(part) for part in model.open.values())
            assert sum(column(found, "unfinished")) == still
            assert found["dropped"] == model.dropped


def place(model, event):
    """The number of an event among those of its thread."""
    return sum(thread == model.thread_of[event] for thread in model.thread_of[:event])


def test_an_entry_that_found_no_room_is_left_before_those_around_it():
    label, made = record_function("a"), session(0, 1)
    for _ in range(3):
        label.__enter__()
    label.__exit__(None, None, None)
    label.__exit__(None, None, None)
    found = given(made)
    assert column(found, "unfinished") == [True] and found["dropped"] == 2
    label.__exit__(None, None, None)


def test_what_was_left_is_left_once():
    """Its place has another event by then."""
    label = record_function("before")
    seen(lambda: label.__enter__().__exit__(None, None, None))

    def run():
        with record_function("later"):
            label.__exit__(None, None, None)
            label.__exit__(None, None, None)
            X.neg()
            gone = [record_function("gone")]
            gone[0].__enter__()
            gone[0].__exit__(None, None, None)
            X.sin()
            gone.clear()
            X.cos()

    found = seen(run)
    assert names(found) == ["later", "aten::neg", "gone", "aten::sin", "aten::cos"]
    assert column(found, "parent") == [-1, 0, 0, 0, 0]

    def again():
        with record_function("first"):
            entered = record_function("gone")
            entered.__enter__()
        del entered
        X.neg()

    assert column(seen(again), "parent") == [-1, 0, -1]


def test_a_label_that_goes_leaves_all_its_entries():
    def run():
        label = record_function("a")
        for _ in range(3):
            label.__enter__()
        X.neg()
        label.__exit__(None, None, None)
        X.neg()
        del label
        X.neg()

    assert column(seen(run), "parent") == [-1, 0, 1, 2, 1, -1]

    def full():
        label = record_function("a")
        for _ in range(5):
            label.__enter__()
        del label

    found = seen(full, 0, 2)
    assert (column(found, "unfinished"), found["dropped"]) == ([False, False], 3)


def test_labels_that_are_open_in_a_hundred_others():
    def run():
        with contextlib.ExitStack() as stack:
            for k in range(200):
                stack.enter_context(record_function(f"label {k}"))
                X.neg()
        X.sin()

    found = seen(run, MEMORY)
    above = [parent for k in range(200) for parent in (max(2 * k - 2, -1), 2 * k)]
    assert column(found, "parent") == [*above, -1]
    assert names(found)[0:400:2] == [f"label {k}" for k in range(200)]


def test_open_labels_around_one_that_is_left_too_early():
    def run():
        a, b, c, d = [record_function(name).__enter__() for name in "abcd"]
        b.__exit__(None, None, None)
        c.__exit__(None, None, None)
        X.neg()
        d.__exit__(None, None, None)
        X.sin()
        a.__exit__(None, None, None)
        X.cos()

    assert column(seen(run), "parent") == [-1, 0, 1, 2, 3, 0, -1]


def test_how_labels_may_be_called():
    label = record_function("a")
    exit_of = vars(record_function)["__exit__"]
    assert callable(label.__enter__) and callable(label.__exit__)
    with pytest.raises(TypeError):
        label.__enter__(more=1)
    with pytest.raises(TypeError):
        label.__enter__(1)
    assert label.__exit__(None, None, None) is None
    assert repr(label) == "record_function('a')"
    assert repr(label.__enter__) == "<method __enter__ of record_function('a')>"
    with pytest.raises(TypeError):
        type(exit_of)().__get__(label, record_function)
    named = record_function(args="more", name="a")
    assert (named.name, named.args) == ("a", "more")
    for wrong, what in (((3,), "name"), (("a", 3), "args"), ((None,), "name")):
        with pytest.raises(TypeError, match=f"{what} is a string, not"):
            record_function(*wrong)

    def run():
        label.__enter__()
        label.__exit__(error=1, traceback=2, kind=None)
        label.__enter__()
        label.__exit__(error=None, traceback=None, kind=KeyError)
        record_function.__enter__(label)
        record_function.__exit__(label, KeyError, None, None)

    assert column(seen(run), "failed") == [False, True, True]


# --- modules, names ---------------------------------------------------------------------------


def test_modules_that_are_entered_and_left():
    enter, leave, path = recorder._enter_module, recorder._leave_module, recorder._module_path
    assert path() is None and recorder._wants_modules() is False
    plain = session()
    assert recorder._wants_modules() is False
    made = session(MODULES)
    assert recorder._wants_modules() is True
    a = enter("a")
    X.neg()
    b = enter("b")
    again = enter("a")
    assert path() == "a"
    X.sin()
    leave(again)
    assert path() == "b"
    elsewhere(X.cos)
    leave(b)
    assert path() == "a"
    found = given(made)
    assert (found["modules"], column(found, "module")) == (["a", "b"], [0, 0, -1])
    assert path() == "a"
    plain.drop()
    assert path() is None  # numbers begin anew
    made = session(MODULES)
    X.neg()
    b = enter("b")
    X.sin()
    leave(b)
    assert path() is None
    leave(a)
    X.cos()
    assert path() is None
    found = given(made)
    assert (found["modules"], column(found, "module")) == (["b"], [-1, 0, -1])
    made = session(MODULES)
    for k in range(32767):
        enter(str(k))
    assert path() == "32766"
    enter("one more")
    assert path() == "32766"
    made.drop()


def test_names_of_classes_that_come_and_go():
    """The next one often lies where the last one was."""
    x = ag.ones(2, requires_grad=True)

    def run(names):
        for name in names:
            made = type(name, (ag.autograd.Function,), {
                "forward": staticmethod(lambda ctx, x: x * 1),
                "backward": staticmethod(lambda ctx, grad: grad * 1),
            })  # fmt: skip
            made.apply(x).sum().backward()
            del made
            gc.collect()

    for part in "ABC":
        wanted = [f"{part}{k}" for k in range(12)]
        found = [name for name in names(seen(lambda: run(wanted))) if name.startswith(part)]
        assert found == [name + more for name in wanted for more in ("", "Backward")]


def test_numbers_tie_a_thread_to_another():
    def first():
        ag.ones(2, requires_grad=True).exp().sum().backward()

    def leaf():
        ag.ones(2, requires_grad=True).backward(ag.ones(2))

    assert seen(lambda: elsewhere(first))["backward"] is True
    assert seen(leaf)["backward"] is False
    assert seen(lambda: ag.ones(2, requires_grad=True).exp())["backward"] is False
    w = ag.ones(2, requires_grad=True)
    found = seen(lambda: w.exp().sum().backward(), STACK)
    ends = [i for i, name in enumerate(names(found)) if "Backward" in name or "Accumulate" in name]
    assert {column(found, "stack")[i] for i in ends} == {-1}


# --- processes --------------------------------------------------------------------------------


def alone(check):
    """Return the errors that a forked child finds."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:  # pragma: no cover
        try:
            text = repr(check())
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(write, text.encode())
        os._exit(0)
    os.close(write)
    with open(read) as file:
        text = file.read()
    os.waitpid(pid, 0)
    return text


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_of_fork_begins_anew():
    runs = [session(15) for _ in range(4)]
    with record_function("of the parent"):
        recorder._enter_module("m")
        ag.ones(7)

    def check():
        found = [recorder._enabled(), runs[0].stop(), runs[0].running, runs[0].holding]
        with pytest.raises(RuntimeError, match="isn't running"):
            runs[0].stop()
        runs[1].drop()
        found += [runs[1].running, recorder._enabled()]
        own = seen(lambda: ag.zeros(2), 15)
        found += [names(own), own["shapes"], own["modules"], column(own, "module")]
        found += [recorder._enabled(), len(own["stacks"])]
        again = session(ARGUMENTS)
        found += [runs[2].stop(), runs[2].running, recorder._enabled()]
        runs[3].drop()
        found += [runs[3].running, recorder._enabled(), names(given(again))]
        return found

    zeros = [([[]], [2], ["Scalar"])]
    found = alone(check)
    wanted = [False, None, False, False, False, False]
    wanted += [["aten::zeros", "aten::empty"], zeros, [], [-1, -1], False, 1]
    wanted += [None, False, True, False, True, []]
    assert found == repr(wanted)
    assert [made.running for made in runs] == [True] * 4
    for made in runs:
        assert "of the parent" in names(given(made))
    assert not recorder._enabled()
