"""
The cost of the profiler, off and on, beside torch's: ``python -m benchmarks.programs.profiler``.

CPU time of one thread, the least of several rounds and sessions, so that a busy machine changes
little. What is recorded is an addition of four elements; "more" is the time of it under the
profiler less that without. Leaving is what the end of a session costs for each event. The first
session of a process finds memory, which later ones have: "in the first session" is its cost.
"""

from __future__ import annotations

import argparse
import timeit
from contextlib import nullcontext
from time import process_time_ns

ROUNDS, CALLS, CHAIN, SESSIONS = 15, 2_000, 500, 4
OPTIONS = {
    "events": {},
    "with shapes": {"record_shapes": True},
    "with memory": {"profile_memory": True},
    "with frames": {"with_stack": True},
    "with all": {
        "record_shapes": True,
        "profile_memory": True,
        "with_stack": True,
        "with_flops": True,
        "with_modules": True,
    },
}


def least(statement, known, calls=CALLS, rounds=ROUNDS):
    """Nanoseconds of a call, at best."""
    times = timeit.repeat(
        statement, globals=known, number=calls, repeat=rounds, timer=process_time_ns
    )
    return min(times) / calls


class Ours:
    """This package, and what it is profiled by."""

    name = "autograd_cy"

    def __init__(self):
        import autograd_cy
        from autograd_cy.profiler._labels import record_function
        from autograd_cy.profiler._session import Session

        self.library, self.session, self.label = autograd_cy, Session, record_function

    def start(self, **options):
        session = self.session(**options)
        session.start()
        return session

    def stop(self, session):
        return len(session.stop())


class Theirs:
    """PyTorch."""

    name = "torch"

    def __init__(self):
        import torch

        torch.set_num_threads(1)
        self.library, self.label = torch, torch.autograd.profiler.record_function

    def start(self, **options):
        profile = self.library.autograd.profiler.profile(use_kineto=True, **options)
        profile.__enter__()
        return profile

    def stop(self, profile):
        profile.__exit__(None, None, None)
        return len(profile.function_events)


def chain(library):
    """The end of a chain of multiplications, to go back from."""
    x = y = library.ones(4, requires_grad=True)
    for _ in range(CHAIN):
        y = y * x
    return y.sum()


def backward(side, rounds=ROUNDS):
    """Nanoseconds for each node."""
    best = None
    for _ in range(rounds):
        end = chain(side.library)
        start = process_time_ns()
        end.backward()
        passed = (process_time_ns() - start) / CHAIN
        best = passed if best is None else min(best, passed)
    return best


def measured(side):
    """Rows (what, nanoseconds) of one side."""
    known = {"x": side.library.ones(4), "label": side.label, "nullcontext": nullcontext}
    off = least("x + x", known)
    label = "with label('name'): pass"
    rows = [("addition, off", off), ("record_function, off", least(label, known))]
    rows.append(("backward of a node, off", backward(side)))
    session = side.start()
    rows.append(("addition, in the first session: more", least("x + x", known, rounds=1) - off))
    side.stop(session)
    for name, options in OPTIONS.items():
        more, leaving = [], []
        for _ in range(SESSIONS):
            session = side.start(**options)
            more.append(least("x + x", known, rounds=ROUNDS // SESSIONS) - off)
            start = process_time_ns()
            count = side.stop(session)
            leaving.append((process_time_ns() - start) / count)
        rows.append((f"addition, {name}: more", min(more)))
        rows.append((f"leaving, {name}, per event", min(leaving)))
    on = []
    for _ in range(SESSIONS):
        session = side.start()
        on.append((least(label, known, rounds=1), backward(side, ROUNDS // SESSIONS)))
        side.stop(session)
    labels, steps = zip(*on, strict=True)
    rows.append(("record_function, on", min(labels)))
    rows.append(("backward of a node, on: more", min(steps) - rows[2][1]))
    times = []
    for _ in range(ROUNDS):
        start = process_time_ns()
        session = side.start()
        times.append(process_time_ns() - start)
        known["x"] + known["x"]
        side.stop(session)
    rows.append(("entering", min(times)))
    return rows


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alone", action="store_true", help="without torch")
    sides = []
    if not parser.parse_args().alone:
        try:
            # First: its import forks, after which memory that is ready has to be fetched again.
            sides.append(Theirs())
        except ImportError:
            print("torch is not installed: times of autograd_cy alone")
    sides.insert(0, Ours())
    columns = [measured(side) for side in sides]
    print(f"{'nanoseconds':<36}" + "".join(f"{side.name:>14}" for side in sides))
    for row in zip(*columns, strict=True):
        print(f"{row[0][0]:<36}" + "".join(f"{time:>14,.0f}" for _, time in row))


if __name__ == "__main__":
    main()
