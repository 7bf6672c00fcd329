"""The recorder gives back what it took, and reads nothing that it gave back or never wrote."""

import gc
import os
import subprocess
import sys

import lifetimes
import pytest
from lifetimes import ACTIONS, BLOCK, PER_BLOCK, PROGRAMS, X, heap, session


def taken():
    """Bytes of malloc(), objects of Python, references to None."""
    gc.collect()
    return heap(), sys.getallocatedblocks(), sys.getrefcount(None)


@pytest.mark.parametrize("action", ACTIONS, ids=lambda f: f.__name__)
def test_sessions_give_back(action):
    """Lists of what is kept for the next session are full after some rounds; a leak goes on."""
    # Other memory comes and goes; a thread may end a moment after it was joined.
    most = 2500, 60, 20
    times = 30 if action.__name__ in ("new_names", "changes", "arguments") else 5
    lost = []
    while len(lost) < 8 and (len(lost) < 2 or any(a > b for a, b in zip(lost[-1], most))):
        before = taken()
        for _ in range(times):
            action()
        lost.append([abs(b - a) for a, b in zip(before, taken())])
    assert all(a <= b for a, b in zip(lost[-1], most)), lost


def test_sessions_that_overlap_keep_no_old_blocks():
    before = session(0)
    least = None
    for _ in range(12):
        following = session(0)
        for _ in range(3 * PER_BLOCK):
            X.neg()
        before.drop()
        before = following
        least = heap() if least is None else least
    assert heap() - least < 6 * BLOCK
    before.drop()


def test_nothing_is_read_that_is_not_there():
    """The memory that malloc() gives and takes back is filled with other bytes."""
    tunables = "glibc.malloc.tcache_count=0:glibc.malloc.perturb=165"
    env = os.environ | {"GLIBC_TUNABLES": tunables, "PYTHONMALLOC": "malloc"}
    env["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))  # of a tree that isn't installed
    command = [sys.executable, lifetimes.__file__]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    wanted = [f.__name__ for f in PROGRAMS]
    assert (done.returncode, done.stdout.split()) == (0, wanted), done.stderr
