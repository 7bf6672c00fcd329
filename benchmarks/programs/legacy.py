"""
The cost of recording in ``autograd_cy.legacy``: ``python -m benchmarks.programs.legacy``.

Each operation of Variables of four elements is timed beside the same one of plain core tensors,
which is its kernel; the difference is what the old interface takes for itself. CPU time of one
thread, the best of several rounds, so that a busy machine changes little. Backward is timed per
operation of a chain.
"""

from __future__ import annotations

import argparse
import timeit
from time import process_time

ROUNDS, CALLS, CHAIN = 9, 20_000, 1_000

# (operation of Variables, the same of core tensors): x, w vectors, m a matrix; X, W, M plain.
OPERATIONS = (
    ("x + w", "X + W"),
    ("x + 2", "X + 2"),
    ("x * w", "X * W"),
    ("x * 2", "X * 2"),
    ("x.exp()", "X.exp()"),
    ("x.sum()", "X.sum()"),
    ("x.view(2, 2)", "X.view(2, 2)"),
    ("x[0:2]", "X[0:2]"),
    ("m.mm(m)", "M.mm(M)"),
    ("m.addmm(m, m)", "M.addmm(M, M)"),
    ("m.max(1)", "M.max(1, keepdim=True)"),
    ("volatile * w", "X * W"),
)
CHAINS = ("y + w", "y * w", "y.tanh()")


def names():
    """Return the operands of the operations."""
    import autograd_cy as ag
    import autograd_cy.legacy as torch
    from autograd_cy.legacy.autograd import Variable

    return {
        "x": Variable(torch.zeros(4), requires_grad=True),
        "w": Variable(torch.ones(4)),
        "m": Variable(torch.ones(2, 2), requires_grad=True),
        "volatile": Variable(torch.ones(4), volatile=True),
        "X": ag.ones(4),
        "W": ag.ones(4),
        "M": ag.ones(2, 2),
    }


def microseconds(statement, known, calls=CALLS):
    """The least time of a call."""
    rounds = timeit.repeat(
        statement, globals=known, number=calls, repeat=ROUNDS, timer=process_time
    )
    return min(rounds) / calls * 1e6


def backward_of(step, known, length=CHAIN):
    """The time of backward for each operation of a chain, its kernels included."""
    import autograd_cy.legacy as torch

    y = known["x"] * 0
    for _ in range(length):
        y = eval(step, {**known, "y": y})
    known = {"y": y, "one": torch.ones(4)}
    return microseconds("y.backward(one, retain_variables=True)", known, 20) / length


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=CALLS, help="calls in a round")
    calls = parser.parse_args().calls
    known = names()
    print(f"{'operation':<16}{'Variable':>10}{'kernel':>10}{'over it':>10}   microseconds")
    for variable, plain in OPERATIONS:
        whole, kernel = (microseconds(text, known, calls) for text in (variable, plain))
        print(f"{variable:<16}{whole:>10.2f}{kernel:>10.2f}{whole - kernel:>10.2f}")
    for step in CHAINS:
        print(f"{'backward ' + step:<16}{backward_of(step, known):>10.2f}")


if __name__ == "__main__":
    main()
