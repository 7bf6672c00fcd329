"""Loops without an end: what computes for too long fails, where it would be waited for."""

import contextlib
import math
import resource
import signal
import time

LIMIT = 10.0  # seconds of a processor
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
