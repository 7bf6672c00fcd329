"""Indexing, joining and sorting as launches: run again they give the bits of a fresh run."""

import numpy as np
import pytest
from grouping import each
from helpers import family, launched_again, others_memory, out_memory

import autograd_cy as ag
from autograd_cy._C.launch import capture

CASES = family(
    "indexing",
    "joining",
    "sorting",
    "statistics",
    "shape",
    keep=lambda r: (
        r.kernel.target.startswith("indexing.")
        and r.kernel.shape is not None
        and r.kernel.sized is None
    ),
)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int64", "float16", "uint8"])
@each("case", CASES)
def test_calls_run_again(case, dtype):
    letters = {"float32": "f", "float64": "f", "complex64": "c", "float16": "h"}
    if letters.get(dtype, "i") not in case.record.call.dtypes:
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
    "places": (lambda a, k: a[k], (300, 7), (300, 40)),
    "few places": (lambda a, k: a[k, :3], (300, 7), (300, 4)),
    "places in two dimensions": (lambda a, k: a[k, -k[:1] % 7], (300, 7), (300, 5, 40)),
    "places around others": (lambda a, k: a.reshape(6, 50, 7)[k, :, k[0]], (300, 7), (6, 2, 90)),
    "negative places": (lambda a, k: a[k - 300], (300, 7), (300, 40)),
    "places written": (lambda a, k: a.index_put((k[:1],), a[0]), (300, 7), (300, 40)),
    "places added": (lambda a, k: a.index_put((k,), a[:40], True), (300, 7), (300, 40)),
    "half places added": (
        lambda a, k: a.half().index_put((k,), a[:40].half(), True),
        (300, 7),
        (300, 40),
    ),
    "rows reduced": (
        lambda a, k: a.index_reduce(1, k, a[:, :40], "mean", include_self=False),
        (30, 70),
        (70, 40),
    ),
    "half elements reduced": (
        lambda a, k: a.half().scatter_reduce(0, k, a.half(), "mean"),
        (30, 7),
        (30, 20, 7),
    ),
    "columns in order": (lambda a, k: ag.sort(a, 0)[1], (700, 5), (1, 1)),
    "rows in order": (lambda a, k: ag.sort(a, descending=True)[0], (5, 100), (1, 1)),
    "the largest": (lambda a, k: ag.topk(a, 3)[1], (5, 1000), (1, 1)),
    "a median": (lambda a, k: ag.median(a), (50, 100), (1, 1)),
    "medians": (lambda a, k: ag.median(a, 0)[1], (50, 100), (1, 1)),
    "members": (lambda a, k: ag.isin(ag.arange(300), k), (1, 1), (300, 1000)),
    "places by a sorter": (
        lambda a, k: ag.searchsorted(a, a[:, :9].contiguous(), sorter=ag.sort(a)[1]),
        (5, 100),
        (1, 1),
    ),
    "a lower triangle": (lambda a, k: ag.tril(a.t(), 3), (300, 200), (1, 1)),
    "an upper triangle": (lambda a, k: (a + 1).triu_(-3), (300, 200), (1, 1)),
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
        program = capture(lambda: kept.append(run(a, k)))
        new = ag.randn(shape), index(*place)
        a.copy_(new[0])
        k.copy_(new[1])
        assert program.poison() > 0
        with others_memory():
            program.replay_elsewhere([a, k])
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
    assert out_memory(lambda: result.scatter_reduce_(0, k, a, "amax")) < SIZE
    assert out_memory(lambda: result.index_put_((rows[:20],), a[0])) < SIZE
    assert out_memory(lambda: result.t().index_put_((rows[:20] % 100,), a[:, 0])) < SIZE
    assert out_memory(lambda: result.tril_()) < SIZE
    assert out_memory(lambda: ag.tril(a, out=result)) < SIZE
    assert out_memory(lambda: ag.isin(rows, rows[:5], out=ag.empty(400, dtype=ag.bool))) < SIZE
    places = ag.empty(400, 100, dtype=ag.int64)
    assert out_memory(lambda: ag.sort(a, 0, out=(result, places))) < SIZE
    assert out_memory(lambda: ag.topk(a, 100, out=(result, places))) < SIZE
    assert out_memory(lambda: ag.searchsorted(a[0], a, out=places)) < SIZE


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
        lambda t: t.scatter_reduce_(0, k, src, "mean"),
        lambda t: t.scatter_reduce_(0, k, src, "amin", include_self=False),
        lambda t: t.index_reduce_(0, k[:, 0], src, "prod"),
        lambda t: t.index_put_((k[:, 0],), src, True),
        lambda t: t.index_put_((k[:3, 0], k[:3, 1] % 4), src[0, 0]),
        lambda t: t.index_put_((t > 0,), src[0, 0]),
        lambda t: t.triu_(1),
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
        lambda: x.scatter_reduce_(0, bad[:, None], ag.ones(3, 4), "sum"),
        lambda: x.index_put_((bad,), ag.ones(3, 4)),
        lambda: x.index_put_((bad, bad), ag.ones(3), True),
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


def test_what_a_mask_selects_is_not_captured():
    x = ag.randn(20)
    with pytest.raises(RuntimeError, match="can't be captured"):
        capture(lambda: x[x > 0])


ORDERED = ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "bfloat16"]
LENGTHS = [0, 1, 2, 31, 33, 100, 255, 256, 1000, 5000]


def numbers(name, n, seed):
    """Numbers with many equals, zeros of both signs, infinities and NaN, in a dtype."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-20, 20, n) if seed % 2 else rng.standard_normal(n) * 1e3
    t = ag.tensor(x)
    if "float" in name:
        t = t.double()
        for i, value in enumerate([np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf]):
            t[rng.random(n) < 0.05] = value * (1 if i % 2 == 0 else -1)
    return t.to(getattr(ag, name))


def keys(t):
    """The order of sort() as NumPy's: NaN last."""
    return t.double().numpy() if t.dtype.is_floating_point else t.numpy()


@pytest.mark.parametrize("name", ORDERED)
def test_order_is_stable_with_nan_last(name):
    for n in LENGTHS:
        for seed in (0, 1):
            t = numbers(name, n, seed)
            up = np.argsort(keys(t), kind="stable")
            values, places = ag.sort(t)
            np.testing.assert_array_equal(places.numpy(), up)
            assert values.float().numpy().tobytes() == t[places].float().numpy().tobytes()
            # Backwards NaN comes first, and equal elements keep their order.
            down = n - 1 - np.argsort(keys(t)[::-1], kind="stable")[::-1]
            np.testing.assert_array_equal(ag.sort(t, descending=True)[1].numpy(), down)
            for k in {0, min(n, 1), min(n, 3), n // 9, n // 2}:
                np.testing.assert_array_equal(ag.topk(t, k)[1].numpy(), down[:k])
                np.testing.assert_array_equal(ag.topk(t, k, largest=False)[1].numpy(), up[:k])


@pytest.mark.parametrize("name", ORDERED)
def test_medians_are_where_the_order_says(name):
    for n in LENGTHS[1:]:
        for seed in (0, 1):
            t = numbers(name, n, seed)
            x = keys(t)
            up = np.argsort(x, kind="stable")
            missing = int((x != x).sum())
            at = up[n - missing if missing else (n - 1) // 2]
            assert ag.median(t, 0)[1].item() == at
            np.testing.assert_array_equal(keys(ag.median(t)), x[at])
            at = up[max(n - missing - 1, 0) // 2]
            assert ag.nanmedian(t, 0)[1].item() == at
            np.testing.assert_array_equal(keys(ag.nanmedian(t)), x[at])


@pytest.mark.parametrize("name", ORDERED)
def test_members(name):
    for n, m in ((0, 3), (3, 0), (7, 1), (1000, 40), (300, 5000)):
        t, tests = numbers(name, n, 1), numbers(name, m, 1)
        expected = np.isin(keys(t), keys(tests))
        np.testing.assert_array_equal(ag.isin(t, tests).numpy(), expected)
        np.testing.assert_array_equal(ag.isin(t, tests, invert=True).numpy(), ~expected)
