"""Labels in recordings."""

import asyncio
import threading

import pytest
from recordings import names_of, recorded, tree_of

import autograd_cy as ag
from autograd_cy.profiler._labels import record_function

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
