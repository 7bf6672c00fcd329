"""The fixtures of the tests of threads and processes."""

import sys
import threading

import pytest


@pytest.fixture
def eager_switching():
    """Python switches threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def in_threads(eager_switching):
    """A function that runs `work(i)` in n threads, which start together; returns the exceptions."""

    def run(n, work, timeout=20):
        errors = []
        together = threading.Barrier(n)

        def one(i):
            try:
                together.wait(timeout)
                work(i)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=one, args=(i,), daemon=True) for i in range(n)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout)
        assert not any(thread.is_alive() for thread in threads), "a thread hangs"
        return errors

    return run
