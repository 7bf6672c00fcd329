"""Wrong calls raise the exceptions of PyTorch, and leave their arguments unchanged."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
for folder in (HERE, HERE.parent):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from differences import DIFFERENT, different  # noqa: E402
from grouping import each  # noqa: E402
from wrong_calls import (  # noqa: E402
    CRASHED,
    NAMES_OF,
    NO_SUCH_CALL,
    copied,
    lines,
    outcome,
    public_records,
    read,
    tensors,
)

import autograd_cy as ag  # noqa: E402

RECORDED = read()


def compared(record, forms):
    """(line, value, PyTorch's letter, ours, what changed) of each call that was recorded."""
    changed = []

    def seen(line, value, args, kwargs, before, error):
        if before != [copied(t) for t in tensors(args, kwargs)]:
            changed.append(f"{line.key}={value}: {error!r}")

    for line in lines(record):
        wanted = RECORDED.get(line.key)
        if wanted is None or line.form not in forms:
            continue
        for value in line.values:
            theirs = wanted.get(value, NO_SUCH_CALL)
            if theirs in (NO_SUCH_CALL, CRASHED):
                continue
            ours = outcome(ag, line, value, seen)
            yield line, value, theirs, ours, [changed.pop() for _ in changed]


def check(record, *forms):
    wrong, spoiled = [], []
    for line, value, theirs, ours, changed in compared(record, forms):
        spoiled += changed
        if ours != theirs and not different(line, value, theirs, ours):
            wrong.append(f"{line.key}={value}: {NAMES_OF[ours]}, PyTorch: {NAMES_OF[theirs]}")
    assert not wrong, "\n".join(wrong)
    assert not spoiled, "changed by a call that was refused:\n" + "\n".join(spoiled)


EACH = [pytest.param(r, id=r.key) for r in public_records()]


@each("record", EACH)
def test_functions_raise_what_pytorch_raises(record):
    check(record, "function", "out")


@pytest.mark.slow
@each("record", EACH)
def test_other_forms_raise_what_pytorch_raises(record):
    check(record, "method", "in-place", "functional")
