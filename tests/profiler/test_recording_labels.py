"""Labels in recordings."""

import asyncio
import contextlib
import inspect
import threading

import pytest
from recordings import names_of, recorded, tree_of

import autograd_cy as ag
from autograd_cy.profiler._labels import record_function
from autograd_cy.profiler._session import Session

# --- labels ---------------------------------------------------------------------------------------


def test_labels_as_context_and_decorator():
    @record_function("squared")
    def square(x):
        """Its square."""
        return x * x

    assert (square.__name__, square.__doc__) == ("square", "Its square.")

    two = ag.ones(2)

    def run():
        with record_function("label") as label:
            square(two)
            assert label.name == "label"
        with label:
            pass

    assert tree_of(recorded(run)) == [(0, "label"), (1, "squared"), (2, "aten::mul"), (0, "label")]
    square(two)
    with pytest.raises(TypeError):
        record_function(3)


def test_a_recursive_label_has_a_span_for_each_entry():
    label, two = record_function("again"), ag.ones(2)

    def run():
        with label:
            with label:
                two.neg()
        with label:
            pass

    columns = recorded(run)
    assert tree_of(columns) == [(0, "again"), (1, "again"), (2, "aten::neg"), (0, "again")]
    assert not columns.unfinished.any()


def test_a_label_entered_again_where_no_more_events_are_kept_ends_where_it_ends():
    label, session = record_function("again"), Session(max_events=1)
    session.start()
    with label:
        with label, label:
            pass
        assert label.__exit__ is not None
    with label:
        pass
    columns = session.stop()
    assert tree_of(columns) == [(0, "again")] and columns.dropped == 3
    assert not columns.unfinished.any()
    with label:
        pass
    assert names_of(recorded(lambda: label.__enter__().__exit__(None, None, None))) == ["again"]


def test_the_signature_of_labels_is_known():
    assert str(inspect.signature(record_function)) == "(name, args=None)"
    assert inspect.getdoc(record_function).startswith("Label what a program does")


def test_labels_may_be_left_in_another_order():
    def steps(name):
        with record_function(name):
            yield
            ag.ones(2).neg()
            yield

    def run():
        a, b = steps("a"), steps("b")
        next(a)
        next(b)
        a.close()  # leaves "a" while "b" is open
        next(b)
        b.close()
        ag.ones(2).exp()

    columns = recorded(run)
    names = names_of(columns)
    assert not columns.unfinished.any()
    a, b = names.index("a"), names.index("b")
    assert columns.start[a] <= columns.start[b] <= columns.end[a] <= columns.end[b]
    assert columns.parent[names.index("aten::neg")] == b
    assert columns.parent[names.index("aten::exp")] == -1


def test_labels_of_coroutines_last_as_long_as_these():
    @record_function("coroutine")
    async def work():
        await asyncio.sleep(0)
        ag.ones(2).neg()

    async def both():
        await asyncio.gather(work(), work())

    columns = recorded(lambda: asyncio.run(both()))
    names = names_of(columns)
    assert names.count("coroutine") == 2 and not columns.unfinished.any()
    assert (columns.scope[[i for i, n in enumerate(names) if n == "coroutine"]] == 7).all()


def test_a_label_may_be_left_by_another_thread():
    label = record_function("handed over")

    def run():
        label.__enter__()
        thread = threading.Thread(target=label.__exit__, args=(None, None, None))
        thread.start()
        thread.join()
        ag.ones(2).neg()

    columns = recorded(run)
    names = names_of(columns)
    assert not columns.unfinished.any() and columns.parent[names.index("aten::neg")] == -1


def test_a_label_that_is_dropped_ends():
    two = ag.ones(2)

    def run():
        label = record_function("dropped")
        label.__enter__()
        del label
        two.neg()

    columns = recorded(run)
    assert not columns.unfinished.any() and (columns.parent == -1).all()


# --- off, when they are to cost nothing -----------------------------------------------------------


def test_labels_of_texts_that_are_no_plain_strings():
    class Text(str):
        pass

    class Label(record_function):
        pass

    columns = recorded(
        lambda: [
            made.__exit__(None, None, None)
            for made in (
                record_function(Text("a"), None).__enter__(),
                record_function(name="b", args=Text("more")).__enter__(),
                record_function("c", "more").__enter__(),
                Label("d", args="more").__enter__(),
            )
        ]
    )
    assert names_of(columns) == ["a", "b", "c", "d"]
    assert type(record_function(Text("a")).name) is str
    assert record_function("c", "more").args == record_function("c", args="more").args == "more"
    assert type(Label("d")) is Label
    for wrong in ((), (3,), (b"a",), ("a", 3), ("a", None, 3), (None,)):
        with pytest.raises(TypeError):
            record_function(*wrong)
    with pytest.raises(TypeError):
        record_function("a", more=1)


def test_a_label_is_left_however_its_exit_is_reached():
    one = ag.ones(1)

    class Label(record_function):
        def __exit__(self, *error):
            left.append(self.name)
            return super().__exit__(*error)

    def run():
        with contextlib.ExitStack() as stack:
            stack.enter_context(record_function("stack"))
            stack.enter_context(Label("subclass"))
            one.neg()
        label = record_function("by hand")
        label.__enter__()
        record_function.__exit__(label, None, None, None)
        with pytest.raises(ZeroDivisionError), record_function("fails"):
            1 / 0

    left = []
    run()  # without a profiler, first
    assert left == ["subclass"]
    columns = recorded(run)
    assert tree_of(columns) == [
        (0, "stack"),
        (1, "subclass"),
        (2, "aten::neg"),
        (0, "by hand"),
        (0, "fails"),
    ]
    assert columns.failed.tolist() == [False, False, False, False, True]
    assert not columns.unfinished.any()


def test_an_exit_that_was_bound_before_the_profiler_started_ends_the_label():
    label = record_function("bound")
    enter, leave = label.__enter__, label.__exit__
    assert "__exit__" in repr(leave) and "bound" in repr(leave)
    leave(None, None, None)

    def run():
        assert enter() is label
        ag.ones(2)
        leave(None, None, None)
        ag.ones(3)
        enter()
        leave(kind=ValueError, error=None, traceback=None)

    columns = recorded(run)
    assert [entry for entry in tree_of(columns) if "empty" not in entry[1]] == [
        (0, "bound"),
        (1, "aten::ones"),
        (0, "aten::ones"),
        (0, "bound"),
    ]
    assert columns.failed.tolist()[-1] and columns.failed.sum() == 1
    assert not columns.unfinished.any()
    with pytest.raises(TypeError, match="argument"):
        enter(1)
    with pytest.raises(TypeError, match="argument"):
        leave(None)
    with pytest.raises(TypeError, match="argument"):
        leave(None, None, None, more=1)
    with pytest.raises(TypeError):
        type(leave)()(None, None, None)


def test_a_label_that_was_entered_off_is_no_event_and_one_entered_on_ends_off():
    early, late = record_function("early"), record_function("late")
    session = Session()
    with early:
        session.start()
        late.__enter__()
        with early:
            pass
    columns = session.stop()
    assert tree_of(columns) == [(0, "late"), (1, "early")]
    assert columns.unfinished.tolist() == [True, False]
    late.__exit__(None, None, None)  # of a session that is over
    assert names_of(recorded(lambda: late.__exit__(None, None, None))) == []
    with pytest.raises(TypeError):
        record_function.__exit__(None, None, None, None)


def test_the_end_of_a_label_is_asked_of_labels_only():
    exit_of = vars(record_function)["__exit__"]
    for thing in (3, object(), "label", exit_of):
        with pytest.raises(TypeError):
            exit_of.__get__(thing, type(thing))


def test_a_label_that_starts_its_own_profiler_ends():
    class Profiled(record_function):
        def __enter__(self):
            self.session = ag.autograd.profiler.profile()
            self.session.__enter__()
            return super().__enter__()

    with Profiled("outer") as label:
        ag.ones(2) + 1
    with record_function("after"):
        ag.ones(2) * 2
    label.session.__exit__(None, None, None)
    parents = {e.name: e.cpu_parent and e.cpu_parent.name for e in label.session.function_events}
    assert parents["after"] is None
    assert parents["aten::add"] == "outer"
