"""Captured launches, replayed on other memory, give the bits of a fresh run."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._C import scratch
from autograd_cy._C.launch import capture

READS, WRITES = 1, 2


def same_bits(a, b):
    return a.numpy().tobytes() == b.numpy().tobytes()


def fresh(program, result, inputs, new):
    """The bits of `result` after a run of the program on new values of the inputs."""
    for old, value in zip(inputs, new):
        old.copy_(value)
    assert program.poison() > 0
    program.replay_elsewhere()
    return result


def test_elementwise_chain_runs_again():
    x, y = ag.randn(33, 5), ag.randn(5)
    kept = {}

    def step():
        kept["r"] = ((x * y + 1.5).tanh() / (x.exp() + 2)).flip(0)

    program = capture(step)
    assert len(program) >= 6
    new = [ag.randn(33, 5), ag.randn(5)]
    got = fresh(program, kept["r"], (x, y), new)
    expected = ((new[0] * new[1] + 1.5).tanh() / (new[0].exp() + 2)).flip(0)
    assert same_bits(got, expected)


def test_launches_move_to_other_memory():
    x = ag.randn(4, 3)
    kept = {}

    def step():
        kept["r"] = x.double() * 2 + x

    program = capture(step)
    other = ag.randn(4, 3)
    program.move(x, other)
    program.replay()
    assert same_bits(kept["r"], other.double() * 2 + other)


def test_operands_say_what_is_read_and_written():
    x = ag.ones(3)
    program = capture(lambda: x + 2)
    written, read, number = program.operands(0)
    assert (written.access, read.access) == (WRITES, READS)
    assert written.storage != read.storage
    assert number.storage is None  # the 2 is a number of the launch
    assert {(use.dtype, use.count) for use in (written, read)} == {(ag.float32, 3)}
    assert (number.dtype, number.count) == (ag.float32, 1)


def test_a_generator_that_starts_anew_is_refused():
    g = ag.Generator()
    state = g.get_state()
    for call in (
        lambda: g.manual_seed(1),
        lambda: ag.manual_seed(1),
        lambda: g.seed(),
        lambda: g.set_state(state),
        lambda: g.get_state(),
    ):
        with pytest.raises(RuntimeError, match=r"can't be captured: .*do it before"):
            capture(call)
    assert ag.equal(g.get_state(), state)
    with pytest.raises(RuntimeError, match="no launch has written"):
        capture(lambda: ag.rand(3, generator=ag.Generator()))


def test_capturing_twice_is_refused():
    with pytest.raises(RuntimeError, match="captures already"):
        capture(lambda: capture(lambda: None))
    assert len(capture(lambda: ag.ones(2) + 1)) >= 1


def test_constants_are_captured_with_their_values():
    x = ag.ones(3)
    kept = {}

    def step():
        kept["r"] = x * ag.tensor([1.0, 2.0, 3.0]) + ag.arange(3)

    program = capture(step)
    x.fill_(2)
    program.replay()
    assert kept["r"].tolist() == [2.0, 5.0, 8.0]


def test_an_error_of_a_launch_that_runs_again_is_passed_on():
    a, b = ag.ones(200, 300, dtype=ag.int32), ag.ones(300, 200, dtype=ag.int32)
    program = capture(lambda: a @ b)
    before = ag.get_num_threads()
    ag.set_num_threads(1)
    scratch._fail_after(0)
    try:
        with pytest.raises(MemoryError):
            program.replay()
    finally:
        scratch._fail_after(-1)
        ag.set_num_threads(before)
    program.replay()


def test_memory_that_is_no_operand_is_watched():
    array = np.zeros(4)
    x, other = ag.from_numpy(array), ag.from_numpy(array)  # two storages on the same memory
    program = capture(lambda: other.add_(1))
    with pytest.raises(RuntimeError, match="writes memory that is none of its operands"):
        program.replay_elsewhere([x])


def test_what_a_program_is_asked_for_in_vain():
    x = ag.ones(3)
    program = capture(lambda: x + 2)
    for place in (-1, len(program)):
        with pytest.raises(IndexError, match=f"there are {len(program)} launches"):
            program.operands(place)
    with pytest.raises(ValueError, match="4 bytes can't stand for 12"):
        program.move(x, ag.ones(1))
    assert program.operands(len(program) - 1)
