"""One program in several hands: one thread runs or changes it at a time, and no capture does."""

import threading

import pytest

import autograd_cy as ag
from autograd_cy._C.launch import capture

REFUSED = {
    "replay": lambda program, x: program.replay(),
    "replay_elsewhere": lambda program, x: program.replay_elsewhere([x]),
    "poison": lambda program, x: program.poison(),
    "move": lambda program, x: program.move(x, ag.zeros_like(x)),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_capture_cannot_use_a_program(what):
    """Its launches would run once, and not each time."""
    x = ag.zeros(2)
    program = capture(lambda: x.add_(1))
    with pytest.raises(RuntimeError, match=f"{what}: can't be captured"):
        capture(lambda: REFUSED[what](program, x))
    program.replay()
    assert x.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("what", REFUSED)
def test_a_program_that_runs_is_neither_moved_nor_run(what):
    """While a launch waits, in this test for a term, others are refused."""
    x = ag.zeros(2)
    within, go_on = threading.Event(), threading.Event()

    def watch(owner, made):
        def term():
            within.set()
            assert go_on.wait(60)

        return term

    def operations():
        from autograd_cy._C.launch import _note_term

        _note_term(x, watch)
        x.add_(1)

    program = capture(operations)
    thread = threading.Thread(target=program.replay)
    thread.start()
    assert within.wait(60)
    try:
        with pytest.raises(RuntimeError, match=f"{what}: another thread replays this program"):
            REFUSED[what](program, x)
    finally:
        go_on.set()
        thread.join()
    assert x.tolist() == [2.0, 2.0]
    program.replay()
    assert x.tolist() == [3.0, 3.0]


def test_a_term_that_fails_leaves_the_program_usable():
    from autograd_cy._C.launch import _note_term

    x, reasons = ag.zeros(2), ["it changed", None]

    def operations():
        _note_term(x, lambda owner, made: lambda: reasons.pop(0))
        x.add_(1)

    program = capture(operations)
    version = x._version
    with pytest.raises(RuntimeError, match="replay: it changed; capture it anew"):
        program.replay()
    assert (x.tolist(), x._version) == ([1.0, 1.0], version)
    program.replay()
    assert x.tolist() == [2.0, 2.0]
