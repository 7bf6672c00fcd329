"""Reductions and softmax as launches: they run again, and results go where they belong."""

import numpy as np
import pytest
from grouping import each
from helpers import claimed, family, launched_again, others_memory, out_memory

import autograd_cy as ag
from autograd_cy._C.launch import capture

CASES = family("reduction", "statistics", keep=lambda r: r.kernel.shape is not None) + family(
    "softmax"
)


@each("case,dtype", claimed(CASES, "float32", "float64", "complex64", "int64", "float16", "bool"))
def test_reductions_run_again(case, dtype):
    launched_again(case, dtype)


LARGE = {
    "sum of all": (lambda x: x.sum(), (300_000,)),
    "sums of rows": (lambda x: x.sum(1), (7, 90_000)),
    "sums of columns": (lambda x: x.sum(0), (90_000, 3)),
    "sums of a strided one": (lambda x: x[:, ::3].sum((0, 2)), (70, 60, 50)),
    "product": (lambda x: (1 + x / 1e6).prod(0), (5000, 40)),
    "mean of halves": (lambda x: x.half().mean(1), (30, 3000)),
    "mean of integers": (lambda x: x.mean(dtype=ag.float64), (200_000,)),
    "sum of truth values": (lambda x: (x > 0).sum(), (200_000,)),
    "extremes": (lambda x: x.amax((0, 1)), (60, 50, 40)),
    "place in a long row": (lambda x: x.argmax(1), (3, 100_000)),
    "place of all": (lambda x: x.argmin(), (300, 400)),
    "place in columns": (lambda x: x.max(0).indices, (500, 300)),
    "values in a long row": (lambda x: x.min(1).values, (3, 100_000)),
    "truth": (lambda x: (x > -4).all(1), (40, 3000)),
    "logsumexp": (lambda x: x.logsumexp((0, 2)), (30, 40, 50)),
    "logsumexp of columns": (lambda x: x.logsumexp(0), (300, 400)),
    "variance": (lambda x: x.var(1), (3, 100_000)),
    "deviation of halves": (lambda x: x.bfloat16().std(0), (1000, 5)),
    "running sums": (lambda x: x.cumsum(0), (300, 40)),
    "running sums of halves": (lambda x: x.half().cumsum(1), (30, 400)),
    "softmax": (lambda x: x.softmax(1), (300, 200)),
    "softmax of columns": (lambda x: x.t().log_softmax(0), (300, 200)),
    "softmax of halves": (lambda x: x.half().softmax(0), (300, 20)),
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("threads", [1, 2])
def test_every_way_to_reduce_runs_again(name, threads):
    run, shape = LARGE[name]
    before = ag.get_num_threads()
    ag.set_num_threads(threads)
    try:
        x, new, kept = ag.randn(shape), ag.randn(shape), []
        program = capture(lambda: kept.append(run(x)))
        x.copy_(new)
        assert program.poison() > 0
        with others_memory():
            program.replay_elsewhere([x])
        assert kept[0].numpy().tobytes() == run(new).numpy().tobytes()
    finally:
        ag.set_num_threads(before)


def test_a_deviation_whose_squares_overflow_runs_again():
    # In float32 first; what overflows there is computed in double, whichever run it is in.
    small, huge = ag.randn(3, 70_000), ag.randn(3, 70_000) * 1e25
    for first, second in ((small, huge), (huge, small)):
        x, kept = first.clone(), []
        program = capture(lambda x=x, kept=kept: kept.append(x.std(1)))
        x.copy_(second)
        program.poison()
        program.replay_elsewhere([x])
        assert kept[0].numpy().tobytes() == second.std(1).numpy().tobytes()
        np.testing.assert_allclose(kept[0].numpy(), second.double().std(1).numpy(), rtol=1e-5)


def test_gradients_that_were_broadcast_run_again():
    a, b = ag.randn(40, 1), ag.randn(30)

    def gradients(a, b):
        a, b = a.detach().requires_grad_(), b.detach().requires_grad_()
        return ag.autograd.grad((a * b + a).softmax(1).square().mean(), (a, b))

    kept = []
    program = capture(lambda: kept.extend(gradients(a, b)))
    new = ag.randn(40, 1), ag.randn(30)
    a.copy_(new[0])
    b.copy_(new[1])
    program.poison()
    program.replay_elsewhere([a, b])
    for got, want in zip(kept, gradients(*new), strict=True):
        assert got.numpy().tobytes() == want.numpy().tobytes()


SIZE = 500 * 4


def test_out_and_in_place_take_no_second_result():
    x, r = ag.randn(500, 60), ag.empty(500)
    where, square = ag.empty(500, dtype=ag.int64), ag.randn(500, 500)
    for run in (ag.sum, ag.mean, ag.amax, ag.prod, ag.logsumexp):
        assert out_memory(lambda run=run: run(x, 1, out=r)) < SIZE, run
    assert out_memory(lambda: ag.max(x, 1, out=(r, where))) < SIZE
    assert out_memory(lambda: ag.cumsum(square, 0, out=ag.empty(0))) < 1.5 * 500 * 500 * 4
    assert out_memory(lambda: square.cumsum_(1)) < SIZE


def given(kind):
    """An out= of 4 numbers that an operator can't fill as it is, or as well as any."""
    if kind == "strided":
        return ag.zeros(4, 2)[:, 1]
    if kind == "other dtype":
        return ag.zeros(4, dtype=ag.float64)
    if kind == "other shape":
        return ag.zeros(0)
    return ag.zeros(4)


REDUCED = (ag.sum, ag.mean, ag.prod, ag.logsumexp, ag.var, ag.std)


@pytest.mark.parametrize("kind", ["strided", "other dtype", "other shape", "plain"])
@pytest.mark.parametrize("function", REDUCED, ids=lambda f: f.__name__)
def test_out_of_all_kinds(kind, function):
    x, out = ag.randn(4, 5), given(kind)
    version = out._version
    assert function(x, 1, out=out) is out
    assert out._version == version + 1
    np.testing.assert_allclose(out.numpy(), function(x, 1).numpy(), rtol=1e-6)


def test_out_that_shares_memory_with_what_is_read():
    x = ag.randn(4, 4)
    want = x.sum(1), x.max(0), x.cumsum(0)
    memory = x.clone()
    ag.sum(memory, 1, out=memory[0])
    assert memory[0].tolist() == want[0].tolist()
    memory = x.clone()
    ag.max(memory, 0, out=(memory[3], ag.empty(0, dtype=ag.int64)))
    assert memory[3].tolist() == want[1].values.tolist()
    memory = x.clone()
    ag.cumsum(memory, 0, out=memory)
    assert memory.tolist() == want[2].tolist()


def test_two_results_into_one_memory_are_both_computed_first():
    x = ag.tensor([[3, 5, 4], [9, 7, 8]])
    both = ag.zeros(2, dtype=ag.int64)
    ag.max(x, 1, out=(both, both))
    assert both.tolist() == [1, 0]  # the indices were written last


def test_wrong_dtypes_of_several_results_change_nothing():
    values, where = ag.ones(3), ag.ones(3)
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype long int"):
        ag.max(ag.randn(2, 5), 1, out=(values, where))
    assert values.tolist() == [1, 1, 1]


@pytest.mark.parametrize("dtype", [ag.float32, ag.float16, ag.int64, ag.complex64])
@pytest.mark.parametrize("dim", [0, 1])
def test_cumsum_in_place(dtype, dim):
    x = (ag.randn(5, 6) * 4).to(dtype)
    for y in (x.clone(), x.t().clone().t(), ag.zeros(5, 12, dtype=dtype)[:, ::2].copy_(x)):
        want = x.cumsum(dim)
        assert y.cumsum_(dim) is y
        assert y.tolist() == want.tolist()
