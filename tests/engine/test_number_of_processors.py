"""The number of processors that this process may use."""

import os

from autograd_cy._environment import threads


def test_processors_are_those_of_this_process(monkeypatch):
    if hasattr(os, "sched_setaffinity"):
        allowed = os.sched_getaffinity(0)
        assert threads.affinity() == len(allowed)
        try:
            os.sched_setaffinity(0, {min(allowed)})
            assert threads.affinity() == 1
        finally:
            os.sched_setaffinity(0, allowed)
    # Where a process has no processors of its own, all count.
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert threads.affinity() == (os.cpu_count() or 1)
