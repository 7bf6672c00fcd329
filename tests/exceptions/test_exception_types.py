"""Wrong calls raise the exceptions of PyTorch, and leave their arguments unchanged."""

import re
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
for folder in (HERE, HERE.parent):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

import messages  # noqa: E402
from differences import DIFFERENT, different  # noqa: E402
from grouping import each  # noqa: E402
from wrong_calls import (  # noqa: E402
    CRASHED,
    FORMS,
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


@pytest.mark.slow
def test_rows_of_the_table_are_needed():
    """Each class of differences has a call, among those of the records that it names."""
    unused = list(DIFFERENT)
    for record in public_records():
        rows = [row for row in unused if re.fullmatch(row.operators, record.key)]
        forms = {form for row in rows for form in FORMS if re.fullmatch(row.forms, form)}
        for line, value, theirs, ours, _ in compared(record, forms) if rows else ():
            found = different(line, value, theirs, ours) if theirs != ours else None
            if found in unused:
                unused.remove(found)
        if not unused:
            break
    assert not unused, unused


EACH = [pytest.param(r, id=r.key) for r in public_records()]


WORDS = messages.read()


@each("record", EACH)
def test_messages_have_the_key_words_of_pytorch(record):
    """Compare messages of exceptions of one type; other tests say why others differ."""
    by_key = {line.key: line for line in lines(record)}
    wrong = []
    for key, value, words in WORDS:
        if key in by_key and not messages.says_otherwise(record.key, words):
            found = []
            letter = outcome(ag, by_key[key], value, lambda *rest: found.append(str(rest[-1])))
            if letter == RECORDED[key][value] and words not in found[0]:
                wrong.append(f"{key}={value}: {words!r} is not in {found[0]!r}")
    assert not wrong, "\n".join(wrong)


@each("record", EACH)
def test_functions_raise_what_pytorch_raises(record):
    check(record, "function", "out")


@pytest.mark.slow
@each("record", EACH)
def test_other_forms_raise_what_pytorch_raises(record):
    check(record, "method", "in-place", "functional")
