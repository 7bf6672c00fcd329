"""Calls of `calls/`, by parts of the sources, have the answers that stand there."""

import numpy
import pytest
from recorded import FILES, agrees, answer, like, mistake, names, read, reasons, refused
from endless import soon

import autograd_cy
from autograd_cy._C import scratch


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_recorded(path):
    known = names(autograd_cy)
    calls, wrong = read(path), {}
    assert calls
    if numpy.lib.NumpyVersion(numpy.__version__) < "2.0.0":
        # What NumPy itself answers, and how its numbers show, is that of NumPy 2.
        calls = [call for call in calls if "np." not in call[0]]
    # Memory ends where it was asked to, so that it shows who writes beyond it.
    scratch._mark(True)
    autograd_cy.set_allocator_caching(False)
    try:
        for call, _, wanted in calls:
            with soon():
                found = answer(autograd_cy, call, known)
            if not like(found, wanted):
                wrong[call] = found, wanted
    finally:
        crossed = scratch._mark(False)
        autograd_cy.set_allocator_caching(True)
    assert not wrong
    assert not crossed, "kernels that wrote beyond their working memory"
    assert not scratch._held(), "working memory that nobody gave back"


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


def test_what_torch_answers_otherwise_has_a_reason():
    missing = [f"{p.name}: {call}" for p in FILES for call, why in reasons(p) if not why]
    assert not missing


def test_reasons_are_of_the_calls_below_them(tmp_path):
    path = tmp_path / "calls.txt"
    lines = ["one", "# ~ one", "> x = 1", "~ x", "    1", "~ y", "two", "~ z", "# ~ two", "", "~ v"]
    path.write_text("\n".join([*lines, "~ op('f')(1)", "~ autograd_cy.f"]))
    told = [(call, bool(why), why == "one") for call, why in reasons(path)]
    assert told[:2] == [("x = 1\nx", True, True), ("y", True, True)]
    assert told[2:4] == [("z", False, False), ("v", False, False)]
    assert [why for _, why, _ in told[4:]] == [True, True]
    path.write_text("# ~ all\n# Heading.\n~ x\nx\n~ y")
    assert reasons(path) == [("x", "all"), ("y", "all")]


def test_calls_are_no_mistakes():
    """Answers that say that the call is wrong, or that most of it isn't asked."""
    calls = [(path, call, wanted) for path in FILES for call, _, wanted in read(path)]
    wrong = {
        f"{path.name}: {call}": found
        for path, call, wanted in calls
        if (found := mistake(call, wanted))
    }
    assert not wrong


@pytest.mark.parametrize(
    "call",
    [
        "unheard_of",
        "raised(ones, 1, size=2)",
        "torch.unheard_of(1)",
        "[ones(1), ones(2) + ones(3)]",
        "[ones(2) + ones(k) for k in (2, 3)]",
        "ones(1) ones(1)",
    ],
)
def test_mistakes_are_seen(call):
    assert mistake(call, answer(autograd_cy, call, names(autograd_cy)))
