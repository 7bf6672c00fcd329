"""Indexing, joining and sorting as launches: run again they give the bits of a fresh run."""

import numpy as np
import pytest
from grouping import each
from helpers import family, launched_again, out_memory

import autograd_cy as ag
from autograd_cy._C.launch import launches_of

CASES = family("indexing", "joining", "sorting", keep=lambda r: r.kernel.shape is not None)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int64", "float16", "uint8"])
@each("case", CASES)
def test_calls_run_again(case, dtype):
    letters = {"float32": "f", "float64": "f", "complex64": "c", "float16": "h"}
    if letters.get(dtype, "i") not in case.record.dtypes:
        pytest.skip("the operator doesn't take this dtype")
    launched_again(case, dtype)


def index(high, *shape):
    return ag.randint(0, high, shape)


LARGE = {
    "rows": (lambda a, k: a.index_select(0, k), (300, 70), (300, 400)),
    "rows of a transposed one": (lambda a, k: a.t().index_select(1, k), (300, 70), (300, 40)),
    "columns": (lambda a, k: a.index_select(1, k), (70, 300), (300, 400)),
    "rows added": (lambda a, k: a.index_add(0, k, a[:40]), (300, 70), (300, 40)),
    "rows added to a transposed one": (
        lambda a, k: a.t().index_add(1, k, a.t()[:, :40]),
        (300, 70),
        (300, 40),
    ),
    "half rows added": (lambda a, k: a.half().index_add(0, k, a.half()), (30, 7), (30, 30)),
    "elements": (lambda a, k: a.gather(0, k), (300, 70), (300, 200, 70)),
    "elements of a row": (lambda a, k: a.gather(1, k), (300, 70), (70, 300, 20)),
    "elements written": (lambda a, k: a.scatter(0, k[:1], a[:1] + 1), (300, 70), (300, 1, 70)),
    "elements added": (lambda a, k: a.scatter_add(0, k, a[:200]), (300, 70), (300, 200, 70)),
    "half elements added": (
        lambda a, k: a.half().scatter_add(0, k, a.half()),
        (30, 7),
        (30, 30, 7),
    ),
    "an int32 index": (lambda a, k: a.gather(0, k.int()), (30, 7), (30, 20, 7)),
    "a short cat": (lambda a, k: ag.cat([a, a[:2], a]), (30, 7), (1, 1)),
    "a long cat": (lambda a, k: ag.cat([a, a[:2].double(), a]), (300, 100), (1, 1)),
    "a cat of many": (lambda a, k: ag.cat(a.unbind(0) + a.unbind(0)), (30, 7), (1, 1)),
    "a cat of rows": (lambda a, k: ag.cat([a, a[:, :3].t().t(), a + 1], 1), (30, 7), (1, 1)),
    "a cat of many rows": (lambda a, k: ag.cat([x * 2 for x in a], 1), (30, 5, 3), (1, 1)),
    "a stack": (lambda a, k: ag.stack([a, a + 1, a.t().t()]), (30, 7), (1, 1)),
    "a stack between": (lambda a, k: ag.stack([a, a * 2, a[:, :]], 1), (30, 7, 2), (1, 1)),
    "a stack of many": (lambda a, k: ag.stack(a.unbind(0), -1), (30, 7), (1, 1)),
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("threads", [1, 2])
def test_every_way_runs_again(name, threads):
    run, shape, place = LARGE[name]
    before = ag.get_num_threads()
    ag.set_num_threads(threads)
    try:
        a, k, kept = ag.randn(shape), index(*place), []
        program = launches_of(lambda: kept.append(run(a, k)))
        new = ag.randn(shape), index(*place)
        a.copy_(new[0])
        k.copy_(new[1])
        assert program.poison() > 0
        program.run()
        assert kept[0].numpy().tobytes() == run(*new).numpy().tobytes()
    finally:
        ag.set_num_threads(before)


SIZE = 400 * 100 * 4


def test_out_and_in_place_take_no_second_result():
    a, k, rows = ag.randn(400, 100), index(400, 400, 100), index(400, 400)
    result, twice = ag.empty(400, 100), ag.empty(800, 100)
    assert out_memory(lambda: ag.index_select(a, 0, rows, out=result)) < SIZE
    assert out_memory(lambda: ag.gather(a, 0, k, out=result)) < SIZE
    assert out_memory(lambda: ag.cat([a, a], out=twice)) < SIZE
    assert out_memory(lambda: ag.stack([a, a], out=ag.empty(0))) < 3 * SIZE
    assert out_memory(lambda: result.scatter_(0, k, a)) < SIZE
    assert out_memory(lambda: result.scatter_add_(0, k, a)) < SIZE
    assert out_memory(lambda: result.index_add_(0, rows, a)) < SIZE


def turned(x):
    return x.t().clone().t()


def spread(x):
    return ag.empty(x.shape[0], 2 * x.shape[1], dtype=x.dtype).fill_(7)[:, ::2].copy_(x)


@pytest.mark.parametrize("laid", [turned, spread])
def test_in_place_forms_keep_to_their_window(laid):
    x, k, src = ag.randn(5, 4), index(5, 5, 4), ag.randn(5, 4)
    unique = ag.stack([ag.randperm(5) for _ in range(4)], 1)
    for run in (
        lambda t: t.scatter_(0, unique, src),
        lambda t: t.scatter_add_(0, k, src),
        lambda t: t.index_add_(0, k[:, 0], src),
        lambda t: t.scatter_(0, k[:1], src),
    ):
        t = laid(x)
        memory = t._base if t._base is not None else t
        around = memory.clone()
        assert run(t) is t
        np.testing.assert_array_equal(t.numpy(), run(x.clone()).numpy())
        if laid is spread:
            np.testing.assert_array_equal(memory[:, 1::2].numpy(), around[:, 1::2].numpy())


def test_results_are_right_wherever_they_go():
    k = ag.tensor([2, 0, 1])
    x = ag.arange(12.0).reshape(3, 4)
    for run, out in (
        (lambda t, out: ag.index_select(t, 0, k, out=out), lambda t: t),
        (lambda t, out: ag.gather(t, 0, k[:, None].expand(3, 4), out=out), lambda t: t),
        (lambda t, out: ag.cat([t[:1], t[1:]], out=out), lambda t: t.flip(0)),
        (lambda t, out: ag.stack([t[2], t[0], t[1]], out=out), lambda t: t),
        (lambda t, out: ag.index_select(t, 1, k, out=out), lambda t: spread(t[:, :3])),
        (lambda t, out: ag.cat([t, t], out=out), lambda t: ag.empty(4, 6).t()),
    ):
        t = x.clone()
        expected = run(x.clone(), None).clone()
        to = out(t)
        assert run(t, to) is to
        np.testing.assert_array_equal(to.numpy(), expected.numpy())


def test_a_bad_index_changes_nothing():
    x, bad = ag.zeros(3, 4), ag.tensor([0, 3, 1])
    for run in (
        lambda: x.index_add_(0, bad, ag.ones(3, 4)),
        lambda: x.scatter_(0, bad[:, None], ag.ones(3, 4)),
        lambda: x.scatter_add_(0, bad[:, None], ag.ones(3, 4)),
        lambda: ag.index_select(x + 1, 0, bad, out=x),
        lambda: ag.gather(x + 1, 0, bad[:, None].expand(3, 4), out=x),
    ):
        with pytest.raises((IndexError, RuntimeError), match="out of bounds"):
            run()
        assert x.count_nonzero().item() == 0


def test_memory_shared_with_what_is_read_is_refused():
    memory = ag.zeros(6)
    x, k = memory[:4], ag.tensor([0, 1])
    for run in (
        lambda: x.scatter_(0, k, memory[3:5]),
        lambda: x.scatter_add_(0, k, memory[3:5]),
        lambda: x.index_add_(0, k, memory[3:5]),
    ):
        with pytest.raises(RuntimeError, match="single memory location"):
            run()
    x.scatter_(0, k, memory[4:])
