"""`soon` ends what doesn't end by itself, and nothing else."""

import contextlib
import signal

import pytest
from endless import Endless, soon


def test_a_loop_without_an_end_fails_though_it_catches_errors():
    def work():
        while True:
            with contextlib.suppress(Exception):
                raise ValueError

    with pytest.raises(Endless, match=r"still at it after 0\.01 seconds"), soon(0.01):
        work()


def test_nothing_is_left_behind():
    before = signal.getsignal(signal.SIGVTALRM)
    with soon():
        value = 1
    with pytest.raises(KeyError), soon():
        raise KeyError(value)
    assert signal.getsignal(signal.SIGVTALRM) is before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
