"""Loops without an end: what computes for too long fails, where it would be waited for."""

import contextlib
import math
import os
import resource
import signal
import sys
import time

SLOWER = float(os.environ.get("TESTS_SLOWER", 1))  # of .ci/coverage, which traces each line
LIMIT = 10.0 * SLOWER  # seconds of a processor
PATIENCE = 60 * SLOWER  # seconds for a child, which may wait for what never comes
MORE = 5  # seconds after which what runs no Python any more ends the process


class Endless(BaseException):
    """Not an Exception, which what is tested might catch."""


@contextlib.contextmanager
def soon(seconds=LIMIT):
    """Fail if the main thread is still at it then; compiled loops end the process, a bit later."""

    def late(*_):
        raise Endless(f"still at it after {seconds} seconds")

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    least, most = resource.getrlimit(resource.RLIMIT_CPU)
    last = math.ceil(time.process_time() + seconds) + MORE
    if all(last < limit for limit in (least, most) if limit != resource.RLIM_INFINITY):
        resource.setrlimit(resource.RLIMIT_CPU, (last, most))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        resource.setrlimit(resource.RLIMIT_CPU, (least, most))


def in_child(work, patience=PATIENCE):
    """Run `work` in a forked child, which must end by itself; returns its exit status."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            signal.setitimer(signal.ITIMER_REAL, patience)  # a child that hangs is killed
            work()
            status = 0
        except BaseException as error:
            print(f"in the child: {error!r}", file=sys.stderr, flush=True)
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
