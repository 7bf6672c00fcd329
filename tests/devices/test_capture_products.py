"""Products as launches: run again they give the same bits, and results go where they belong."""

import signal
from pathlib import Path

import numpy as np
import programs
import pytest
from grouping import each
from helpers import family, launched_again, others_memory, out_memory

import autograd_cy as ag
from autograd_cy._C.launch import capture

CASES = family("products") + family("linear", keep=lambda r: r.key == "linear")


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int64", "float16"])
@each("case", CASES)
def test_products_run_again(case, dtype):
    launched_again(case, dtype)


def random(*shape, dtype=ag.float32):
    return ag.randn(*shape, dtype=dtype)


LARGE = {
    "turned": (lambda a, b: a.t() @ b, (300, 70), (300, 90)),
    "no unit stride": (lambda a, b: a[:, ::2] @ b[::2, ::2], (40, 80), (80, 60)),
    "long sums": (lambda a, b: a @ b, (8, 20000), (20000, 8)),
    "narrow": (lambda a, b: a @ b, (2, 500), (500, 300)),
    "batch": (lambda a, b: a @ b, (6, 40, 50), (6, 50, 30)),
    "one matrix for all": (lambda a, b: a @ b, (6, 40, 50), (50, 30)),
    "vectors": (lambda a, b: a[::2] @ b[::2], (5000,), (5000,)),
    "turned weight": (lambda a, b: ag.nn.functional.linear(a, b.t()), (3, 5, 40), (40, 30)),
    "bias of a column": (lambda a, b: ag.nn.functional.linear(a, b, b[:, 1]), (50, 40), (30, 40)),
    "factors": (lambda a, b: ag.addmm(a, a, b, beta=0.5, alpha=-2), (64, 64), (64, 64)),
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("threads", [1, 2])
def test_every_way_to_multiply_runs_again(name, threads):
    run, *shapes = LARGE[name]
    before = ag.get_num_threads()
    ag.set_num_threads(threads)
    try:
        ins, kept = [random(*shape) for shape in shapes], []
        program = capture(lambda: kept.append(run(*ins)))
        new = [random(*shape) for shape in shapes]
        for old, value in zip(ins, new):
            old.copy_(value)
        assert program.poison() > 0
        with others_memory():
            program.replay_elsewhere(ins)
        assert kept[0].numpy().tobytes() == run(*new).numpy().tobytes()
    finally:
        ag.set_num_threads(before)


def test_addmm_in_place_runs_again():
    a, b, c = random(6, 5), random(5, 7), random(6, 7)
    program = capture(lambda: c.addmm_(a, b, beta=0.5, alpha=3))
    once = c.clone()
    program.replay()
    np.testing.assert_array_equal(c.numpy(), once.addmm_(a, b, beta=0.5, alpha=3).numpy())


def test_baddbmm_gives_the_bits_of_products_one_by_one():
    c, a, b = random(4, 6, 7), random(4, 6, 5), random(4, 5, 7)
    together = ag.baddbmm(c, a, b, beta=0.5, alpha=3)
    for i in range(4):
        alone = ag.addmm(c[i], a[i], b[i], beta=0.5, alpha=3)
        np.testing.assert_array_equal(together[i].numpy(), alone.numpy())
    c[0, 0, 0] = float("nan")
    assert not ag.baddbmm(c, a, b, beta=0).isnan().any()
    assert c.baddbmm_(a, b, beta=0) is c
    assert not c.isnan().any()


def test_baddbmm_refuses_what_does_not_fit():
    c, a, b = random(4, 6, 7), random(4, 6, 5), random(4, 5, 7)
    with pytest.raises(IndexError, match="expected batch2 to be 3-D"):
        ag.baddbmm(c, a, b[0])
    with pytest.raises(RuntimeError, match="baddbmm: Expected size for first two dimensions"):
        ag.baddbmm(c, a, b[:2])
    with pytest.raises(RuntimeError, match="must have the same dtype"):
        ag.baddbmm(c.double(), a, b)
    with pytest.raises(RuntimeError, match="non-singleton dimension"):
        ag.baddbmm(random(2, 6, 7), a, b)


def test_batched_sums_of_products_ignore_what_counts_zero_times():
    c = ag.full((3, 2, 2), float("nan"))
    a = random(3, 2, 2)
    assert not ag.vmap(lambda c, a: ag.addmm(c, a, a, beta=0))(c, a).isnan().any()
    c, a = c.expand(5, 3, 2, 2), random(5, 3, 2, 2)
    assert not ag.vmap(lambda c, a: ag.baddbmm(c, a, a, beta=0))(c, a).isnan().any()


SIZE = 64 * 64 * 4


def test_out_and_in_place_take_no_second_result():
    a, b, c, v = random(64, 64), random(64, 64), random(64, 64), random(64)
    batch, result = random(4, 64, 64), random(4, 64, 64)
    assert out_memory(lambda: ag.mm(a, b, out=c)) < SIZE
    assert out_memory(lambda: ag.bmm(batch, batch, out=result)) < SIZE
    assert out_memory(lambda: ag.addmm(v, a, b, out=c)) < SIZE
    assert out_memory(lambda: ag.addmm(v, a, b, beta=0, out=c)) < SIZE
    assert out_memory(lambda: c.addmm_(a, b, beta=0.5, alpha=2)) < SIZE
    assert out_memory(lambda: ag.baddbmm(v, batch, batch, beta=2, out=result)) < SIZE
    assert out_memory(lambda: result.baddbmm_(batch, batch, alpha=1e-3)) < SIZE
    assert out_memory(lambda: ag.matmul(a, b, out=c)) < SIZE
    assert out_memory(lambda: ag.mv(a, v, out=ag.empty(64))) < SIZE


def overlapping(shape):
    """A square matrix, and one that shares its memory."""
    memory = random(*shape)
    return memory, memory


def strided(shape):
    memory = random(shape[0], 2 * shape[1])
    return memory[:, ::2], random(*shape)


def turned(shape):
    return random(*reversed(shape)).t(), random(*shape)


def shifted(shape):
    memory = random(shape[0] * shape[1] + 3)
    return memory[3:].reshape(shape), memory[: shape[0] * shape[1]].reshape(shape)


OUTS = [overlapping, strided, turned, shifted]


@pytest.mark.parametrize("make", OUTS)
@pytest.mark.parametrize("beta", [0, 0.5])
def test_results_are_right_wherever_they_go(make, beta):
    b = random(5, 5)
    for call in (
        lambda out, a: ag.mm(a, b, out=out),
        lambda out, a: ag.mm(b, a, out=out),
        lambda out, a: ag.addmm(b, a, b, beta=beta, out=out),
        lambda out, a: ag.addmm(a, b, b, beta=beta, out=out),
        lambda out, a: out.addmm_(a, b, beta=beta),
        lambda out, a: out.addmm_(b, a, beta=beta),
    ):
        out, a = make((5, 5))
        away = call(out.clone(), a.clone()).clone()
        result = call(out, a)
        assert result is out
        np.testing.assert_array_equal(out.numpy(), away.numpy())


def test_out_of_another_shape_or_dtype():
    a, b = random(3, 4), random(4, 2)
    expected = (a @ b).numpy()
    with pytest.warns(UserWarning, match="resized"):
        result = ag.mm(a, b, out=ag.empty(5, 5))
    np.testing.assert_array_equal(result.numpy(), expected)
    empty = ag.empty(0)
    assert ag.mm(a, b, out=empty) is empty
    np.testing.assert_array_equal(empty.numpy(), expected)
    with pytest.raises(RuntimeError, match="dtype float,"):
        ag.mm(a, b, out=ag.empty(3, 2, dtype=ag.float64))
    with pytest.raises(RuntimeError, match="single memory location"):
        ag.mm(a, b, out=ag.empty(1).expand(3, 2))


def test_whole_numbers_add_products_in_place():
    c = ag.arange(6).reshape(2, 3)
    a, b = ag.arange(8).reshape(2, 4), ag.arange(12).reshape(4, 3)
    expected = 3 * c.numpy() - 2 * (a.numpy() @ b.numpy())
    assert c.addmm_(a, b, beta=3, alpha=-2) is c
    np.testing.assert_array_equal(c.numpy(), expected)


INTERRUPTED = """
import signal
import autograd_cy as ag
from autograd_cy._C.launch import capture

def handler(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, handler)
a, b = ag.ones(1500, 1500, dtype=ag.float64), ag.ones(1500, 1500, dtype=ag.float64)
kept = []
program = capture(lambda: kept.append(a @ b))
signal.setitimer(signal.ITIMER_REAL, 0.02)
try:
    for _ in range(100):
        program.replay()
except KeyboardInterrupt:
    print("served")
a.fill_(2)
program.replay()
assert kept[0].eq(3000).all()
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs signals by a timer")
def test_ctrl_c_in_a_second_run_is_raised():
    done = programs.run("-c", INTERRUPTED, cwd=Path(ag.__file__).parents[1])
    assert done.returncode == 0, done.stderr[-800:]
    assert "served" in done.stdout
