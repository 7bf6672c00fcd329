"""Launches are values: kept, and run again on other memory, they give the bits of a fresh run."""

import pytest

import autograd_cy as ag
from autograd_cy._C import scratch
from autograd_cy._C.launch import launches_of

READS, WRITES = 1, 2


def same_bits(a, b):
    return a.numpy().tobytes() == b.numpy().tobytes()


def fresh(program, result, inputs, new):
    """The bits of `result` after a run of the program on new values of the inputs."""
    for old, value in zip(inputs, new):
        old.copy_(value)
    assert program.poison() > 0
    program.run_elsewhere()
    return result


def test_elementwise_chain_runs_again():
    x, y = ag.randn(33, 5), ag.randn(5)
    kept = {}

    def step():
        kept["r"] = ((x * y + 1.5).tanh() / (x.exp() + 2)).flip(0)

    program = launches_of(step)
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

    program = launches_of(step)
    other = ag.randn(4, 3)
    program.move(x, other)
    program.run()
    assert same_bits(kept["r"], other.double() * 2 + other)


def test_operands_say_what_is_read_and_written():
    x = ag.ones(3)
    program = launches_of(lambda: x + 2)
    (written, w), (read, r), (number, _) = program.operands(0)
    assert (w, r) == (WRITES, READS)
    assert written != read
    assert number is None  # the 2 is a number of the launch


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
        with pytest.raises(RuntimeError, match=r"launches can't be kept: .*do it before"):
            launches_of(call)
    assert ag.equal(g.get_state(), state)
    with pytest.raises(RuntimeError, match="no launch has written"):
        launches_of(lambda: ag.rand(3, generator=ag.Generator()))


def test_keeping_twice_is_refused():
    with pytest.raises(RuntimeError, match="kept already"):
        launches_of(lambda: launches_of(lambda: None))
    assert len(launches_of(lambda: ag.ones(2) + 1)) >= 1


def test_constants_are_kept_with_their_values():
    x = ag.ones(3)
    kept = {}

    def step():
        kept["r"] = x * ag.tensor([1.0, 2.0, 3.0]) + ag.arange(3)

    program = launches_of(step)
    x.fill_(2)
    program.run()
    assert kept["r"].tolist() == [2.0, 5.0, 8.0]


def test_an_error_of_a_launch_that_runs_again_is_passed_on():
    a, b = ag.ones(200, 300, dtype=ag.int32), ag.ones(300, 200, dtype=ag.int32)
    program = launches_of(lambda: a @ b)
    before = ag.get_num_threads()
    ag.set_num_threads(1)
    scratch._fail_after(0)
    try:
        with pytest.raises(MemoryError):
            program.run()
    finally:
        scratch._fail_after(-1)
        ag.set_num_threads(before)
    program.run()


def test_memory_that_is_no_operand_is_watched():
    x = ag.zeros(4)
    (other,) = ag.unsafe_split(x, 4)  # a storage of its own on the same memory
    program = launches_of(lambda: other.add_(1))
    with pytest.raises(RuntimeError, match="writes memory that is none of its operands"):
        program.run_elsewhere([x])


def test_what_a_program_is_asked_for_in_vain():
    x = ag.ones(3)
    program = launches_of(lambda: x + 2)
    for place in (-1, len(program)):
        with pytest.raises(IndexError, match=f"there are {len(program)} launches"):
            program.operands(place)
    with pytest.raises(ValueError, match="4 bytes can't stand for 12"):
        program.move(x, ag.ones(1))
    assert program.operands(len(program) - 1)
