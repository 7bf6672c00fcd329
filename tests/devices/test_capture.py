"""A captured program: what it says and does by itself, and what it leaves behind."""

import threading

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._C.launch import capture

R, W = 1, 2


def tensors(seed=0):
    """A matrix, a row, numbers of three dtypes, an integer matrix."""
    n = np.random.default_rng(seed)
    return (
        ag.tensor(n.standard_normal((5, 6)), dtype=ag.float32),
        ag.tensor(n.standard_normal(6), dtype=ag.float32),
        ag.tensor(n.standard_normal(), dtype=ag.float32),
        ag.tensor(n.standard_normal(), dtype=ag.float64),
        ag.tensor(n.integers(1, 9, (5, 6))),
    )


# Each with what its launches are called, and what they do with their operands; None is a number.
CALLS = [
    (lambda x, y, s, d, k: x + 2, ["flat"], [[W, R, None]]),
    (lambda x, y, s, d, k: x + s, ["flat"], [[W, R, R]]),
    (lambda x, y, s, d, k: x + x, ["flat"], [[W, R, R]]),
    (lambda x, y, s, d, k: x < s, ["flat"], [[W, R, R]]),
    (lambda x, y, s, d, k: x.exp(), ["flat"], [[W, R]]),
    (lambda x, y, s, d, k: x.isnan(), ["flat"], [[W, R]]),
    (lambda x, y, s, d, k: x.clone(), ["copy"], [[W, R]]),
    (lambda x, y, s, d, k: x.double(), ["flat"], [[W, R]]),
    (lambda x, y, s, d, k: x.t().double().contiguous(), ["loop", "copy"], [[W, R], [W, R]]),
    (lambda x, y, s, d, k: x[:, ::2].double(), ["loop"], [[W, R]]),
    (lambda x, y, s, d, k: x[:, ::2].clone(), ["copy"], [[W, R]]),
    (lambda x, y, s, d, k: x + y, ["loop"], [[W, R, R]]),
    (lambda x, y, s, d, k: x.t() + 3, ["loop"], [[W, R, None]]),
    (lambda x, y, s, d, k: x.t() + s, ["loop"], [[W, R, R]]),
    (lambda x, y, s, d, k: x + d, ["flat", "loop"], [[W, R], [W, R, R]]),
    (lambda x, y, s, d, k: k + s, ["flat", "loop"], [[W, R], [W, R, R]]),
    (lambda x, y, s, d, k: k.sqrt(), ["flat", "loop"], [[W, R], [W, R]]),
    (lambda x, y, s, d, k: ag.where(x > 0, x, y), ["flat", "loop"], [[W, R, None], [W, R, R, R]]),
    (lambda x, y, s, d, k: ag.where(x > 0, x, 0.5), ["flat", "loop"], None),
    (lambda x, y, s, d, k: ag.add(x, y, out=x.clone()), ["copy", "loop"], [[W, R], [W, R, R]]),
    (lambda x, y, s, d, k: x.clone().mul_(s), ["copy", "flat"], [[W, R], [W, R, R]]),
    (lambda x, y, s, d, k: ag.zeros(3, 4) + s, ["fill", "flat"], [[W], [W, R, R]]),
    (lambda x, y, s, d, k: ag.full((3,), 2.5) * s, ["fill", "flat"], [[W], [W, R, R]]),
    (lambda x, y, s, d, k: ag.zeros_like(x).copy_(y), ["fill", "copy"], [[W], [W, R]]),
    (lambda x, y, s, d, k: x.clone().fill_(3), ["copy", "copy"], [[W, R], [W, None]]),
    (lambda x, y, s, d, k: x.clone().fill_(s), ["copy", "copy"], [[W, R], [W, R]]),
    (lambda x, y, s, d, k: x.half() * 0.1, None, None),
    (lambda x, y, s, d, k: (x * 1j * y).conj() + 1, None, None),
    (lambda x, y, s, d, k: (x * 1j * y).conj().imag.exp(), None, None),
    (lambda x, y, s, d, k: x.clone()[:, 1:].copy_(x[:, :-1]), None, None),
    (lambda x, y, s, d, k: (z := x.clone())[:, 1:5:2].copy_(z[:, ::3]), None, None),
    (lambda x, y, s, d, k: ag.add(z := x.clone(), z[:, :1], out=z), None, None),
    (lambda x, y, s, d, k: ag.add((z := y.clone())[1:2], z[:1], out=z[1:2]), None, None),
    (lambda x, y, s, d, k: x[:1, :1].double() + k, None, None),
    (lambda x, y, s, d, k: ag.zeros(0, 3) + s, None, None),
]


def accesses(program):
    return [
        [use.access if use.storage else None for use in program.operands(i)]
        for i in range(len(program))
    ]


@pytest.mark.parametrize(("call", "names", "operands"), CALLS, ids=map(str, range(len(CALLS))))
def test_launches_name_what_they_do_and_do_it_again(call, names, operands):
    inputs, others, kept = tensors(), tensors(1), []
    program = capture(lambda: kept.append(call(*inputs)))
    if names:
        assert program.names() == names
    if operands:
        assert accesses(program) == operands
    expected = call(*others)
    for run in (program.replay_elsewhere, program.replay):
        for mine, other in zip(inputs, others, strict=True):
            mine.copy_(other)
        assert (len(program) == 0) == (program.poison() == 0)
        run()
        assert kept[0].tolist() == expected.tolist()
        inputs[0].fill_(9)


def test_windows_keep_their_place_when_their_memory_moves():
    whole, kept = ag.zeros(10), []
    part = whole[3:7]
    program = capture(lambda: kept.append(part * 2))
    other = ag.arange(12.0)
    program.move(whole, other)
    program.replay()
    assert kept[0].tolist() == [6.0, 8.0, 10.0, 12.0]
    with pytest.raises(ValueError, match="36 bytes can't stand for 48"):
        program.move(other, ag.zeros(9))
    program.move(whole, ag.zeros(10))  # no operand any more
    program.replay()
    assert kept[0].tolist() == [6.0, 8.0, 10.0, 12.0]
    assert whole.tolist() == [0.0] * 10


def test_a_thread_captures_once_at_a_time():
    x = ag.ones(3)
    with pytest.raises(RuntimeError, match="captures already"):
        capture(lambda: capture(lambda: x + 1))
    assert capture(lambda: x + 1).names() == ["flat"]


def test_numbers_have_places_of_their_own():
    """Each of several numbers in a launch has a place."""
    x, kept = ag.zeros(6), []
    for call in (
        lambda: ag.where(x > 0, 2.5, -3.0),
        lambda: x.clamp(-1.5, 0.75),
        lambda: ag.addcmul(x, x, x, value=3.5).mul_(1.25),
        lambda: ag.nn.functional.hardtanh(x, -0.5, 1.5),
        lambda: ag.nn.functional.threshold(x, 0.5, 7.5),
        lambda: x.nan_to_num(5.0, 6.0, 7.0),
    ):
        kept.clear()
        x.zero_()
        program = capture(lambda call=call: kept.append(call()))
        x.copy_(ag.tensor([-2.0, -1.0, 0.0, 0.7, ag.inf, ag.nan]))
        wanted = str(call().tolist())
        for run in (program.replay, program.replay_elsewhere):
            program.poison()
            run()
            assert str(kept[0].tolist()) == wanted


def test_launches_are_counted_from_zero():
    x = ag.ones(3)
    program = capture(lambda: (x + 1).exp())
    assert len(program) == 2 and len(program.operands(1)) == 2
    for i in (-1, 2):
        with pytest.raises(IndexError, match="there are 2 launches"):
            program.operands(i)
    assert len(capture(lambda: None)) == 0 and capture(lambda: None).names() == []


def test_what_is_read_first_is_not_poisoned():
    x = ag.ones(3)
    program = capture(lambda: x.mul_(2) + 1)
    assert program.poison() == 1  # x is read before it is written
    assert x.tolist() == [2.0, 2.0, 2.0]
    y = ag.ones(3)

    def step():
        y.fill_(5)
        return y * y

    assert capture(step).poison() == 2
    assert np.isnan(y.numpy()).all()


def test_many_launches_and_storages_are_captured():
    for count in (63, 64, 65, 200, 300):
        x, kept = ag.zeros(2), []

        def step(x=x, kept=kept, count=count):
            y = x
            for _ in range(count):
                y = y + 1
            kept.append(y)

        program = capture(step)
        assert len(program) == count
        x.fill_(3)
        assert program.poison() == count
        program.replay_elsewhere()
        assert kept[0].tolist() == [3.0 + count] * 2


def test_memory_lives_as_long_as_the_launches():
    def live():
        return ag.memory_summary()["live_blocks"]

    x = ag.ones(1000)
    before = live()
    program = capture(lambda: (x + 1).exp() + 2)
    assert live() == before + 3
    program.replay()
    program.replay_elsewhere()
    assert live() == before + 3
    y = ag.ones(1000)
    program.move(x, y)
    del y
    assert live() == before + 4
    program.move(x, x)
    del program
    assert live() == before


def test_only_the_thread_that_captures_is_captured():
    x, got = ag.ones(3), []

    def elsewhere():
        got.append((x * 5).sum().item())  # values may be read there

    def step():
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        return x + 1

    program = capture(step)
    assert program.names() == ["flat"] and got == [15.0]
    ag.ones(2)  # nothing is captured any more
    assert len(program) == 1


READERS = {
    "item": lambda x: x.sum().item(),
    "bool": lambda x: bool(x[0]),
    "tolist": lambda x: x.tolist(),
    "numpy": lambda x: x.numpy(),
    "buffer": lambda x: memoryview(x),
    "int": lambda x: int(x[0]),
    "float": lambda x: float(x[0]),
    "complex": lambda x: complex(x[0]),
    "index": lambda x: x.long()[0].__index__(),
}


@pytest.mark.parametrize("name", READERS)
def test_values_are_not_read_meanwhile(name):
    x = ag.ones(3)
    with pytest.raises(RuntimeError, match=r"can't be captured: .* would not decide anew"):
        capture(lambda: READERS[name](x))
    READERS[name](x)  # nor is anything left of that
    with pytest.raises(RuntimeError, match=r"shape \[3\] and dtype float32"):
        capture(lambda: x.tolist())


def test_an_error_ends_the_capture():
    x = ag.ones(3)

    def step():
        x.add_(1)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        capture(step)
    assert capture(lambda: x + 1).names() == ["flat"]
    assert x.tolist() == [2.0, 2.0, 2.0]


def test_memory_that_no_launch_has_filled_is_refused():
    x = ag.ones(3)

    with pytest.raises(RuntimeError, match=r"\(launch 0\) reads memory that no launch has written"):
        capture(lambda: ag.empty(3) + x)
    with pytest.raises(RuntimeError, match=r"\(launch 1\) reads memory that no launch"):
        capture(lambda: (x + 1, ag.empty(3).exp()))
    assert capture(lambda: ag.empty(3).fill_(2).exp()).names() == ["copy", "flat"]
    assert capture(lambda: ag.empty(0).exp()) is not None
