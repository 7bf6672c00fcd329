"""Loops without an end: what computes for too long fails, where it would be waited for."""

import contextlib
import signal

LIMIT = 10.0  # seconds of a processor


class Endless(BaseException):
    """Not an Exception, which what is tested might catch."""


@contextlib.contextmanager
def soon(seconds=LIMIT):
    """Fail if the main thread is still at it then."""

    def late(*_):
        raise Endless(f"still at it after {seconds} seconds")

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
