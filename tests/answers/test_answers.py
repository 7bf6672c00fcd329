"""Calls of `calls/`, by parts of the sources, have the answers that stand there."""

import pytest
from answers import FILES, agrees, answer, like, names, read, refused

import autograd_cy


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_answers(path):
    known = names(autograd_cy)
    calls = read(path)
    assert calls
    wrong = {
        call: (found, wanted)
        for call, _, wanted in calls
        if not like(found := answer(autograd_cy, call, known), wanted)
    }
    assert not wrong


@pytest.mark.slow
def test_these_are_the_answers_of_torch():
    torch = pytest.importorskip("torch")
    known, wrong = names(torch), {}
    for path in FILES:
        for call, theirs, wanted in read(path):
            if theirs and not agrees(found := answer(torch, call, known), wanted):
                wrong[call] = found, wanted
    assert not wrong


def test_what_is_refused_has_words():
    for path in FILES:
        for call, _, wanted in read(path):
            found = refused(wanted)
            assert wanted and not (found and wanted == found[0].strip()), call
