"""`soon` ends what doesn't end by itself, and nothing else."""

import contextlib
import os
import resource
import signal

import endless
import pytest
from endless import Endless, soon


def test_a_loop_without_an_end_fails_though_it_catches_errors():
    def work():
        while True:
            with contextlib.suppress(Exception):
                raise ValueError

    with pytest.raises(Endless, match=r"still at it after 0\.01 seconds"), soon(0.01):
        work()


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_loop_that_runs_no_python_ends_its_process(monkeypatch):
    monkeypatch.setattr(endless, "MORE", 0)
    pid = os.fork()
    if pid == 0:
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            with soon(0.5):
                sum(range(10**12))
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGXCPU


def test_nothing_is_left_behind():
    before = signal.getsignal(signal.SIGVTALRM)
    limits = resource.getrlimit(resource.RLIMIT_CPU)
    with soon():
        value = 1
    with pytest.raises(KeyError), soon():
        raise KeyError(value)
    assert signal.getsignal(signal.SIGVTALRM) is before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    assert resource.getrlimit(resource.RLIMIT_CPU) == limits
