"""Faults put in on purpose, by which the tests of the fuzzer see that it finds them."""

import ctypes
import time


def apply(lib, what):
    """`what` is empty, or names one of the faults below."""
    if what:
        FAULTS[what](lib)


def wrong_sum(lib):
    """`add` forgets a thousandth."""
    true = lib.add
    lib.add = lambda *args, **kwargs: true(*args, **kwargs) * 0.999


def crash(lib):
    """`cumsum` reads address zero."""
    lib.cumsum = lambda *args, **kwargs: ctypes.string_at(0)


def hang(lib):
    """`flip` never returns."""

    def forever(*args, **kwargs):
        while True:
            time.sleep(1)

    lib.flip = forever


FAULTS = {"wrong": wrong_sum, "crash": crash, "hang": hang}
