"""Calls of `calls/`, by parts of the sources, have the results that are recorded beside them."""

import ast

import numpy
import pytest
from endless import soon
from recorded import (
    FILES,
    agree,
    alike,
    error_type,
    expression,
    find_calls,
    inputs,
    load,
    mistake,
    result,
    results,
)

import autograd_cy
from autograd_cy._C import scratch


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_results_are_those_recorded(path):
    names, calls = load(path, autograd_cy)
    recorded, wrong = results(path), {}
    assert [call.key for call in calls] == list(recorded)
    check(calls, recorded)
    if numpy.lib.NumpyVersion(numpy.__version__) < "2.0.0":
        # NumPy's own results, and the form of its numbers, are those of NumPy 2.
        calls = [call for call in calls if "np." not in call.source]
    # Memory ends after the size that was asked for, which shows who writes beyond it.
    scratch._mark(True)
    autograd_cy.set_allocator_caching(False)
    try:
        for call in calls:
            with soon():
                found = result(autograd_cy, call, names)
            if not alike(found, recorded[call.key]):
                wrong[call.key] = call.source, found, recorded[call.key]
    finally:
        crossed = scratch._mark(False)
        autograd_cy.set_allocator_caching(True)
    if wrong:
        pytest.fail(failure(wrong), pytrace=False)
    assert not crossed, "kernels that wrote beyond their working memory"
    assert not scratch._held(), "working memory that nobody gave back"


def failure(wrong):
    """The calls with another result, a line ``call: key`` for each and its results below."""
    texts = []
    for key, (source, found, recorded) in wrong.items():
        lines = source.splitlines() if source != key else []
        texts += [f"call: {key}", *(f"    {line}" for line in lines)]
        texts += [f"  result    {found}", f"  recorded  {recorded}"]
    return "\n".join(texts)


def check(calls, recorded):
    """Find results that say that a call is wrong, or that most of it isn't made."""
    for call in calls:
        text = recorded[call.key]
        assert not mistake(call, text), call.source
        assert text, call.source
        assert not error_type(text) or text.partition(": ")[2], f"{call.source}: no message"


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_results_are_those_of_torch(path):
    torch = pytest.importorskip("torch")
    calls = [call for call in load(path, autograd_cy)[1] if not call.differs]
    recorded, wrong = results(path), {}
    names = load(path, torch)[0] if calls else {}
    for call in calls:
        if not agree(found := result(torch, call, names), recorded[call.key]):
            wrong[call.source] = found, recorded[call.key]
    assert not wrong


MODULE = '''"""Text."""
with differs("one"):
    f(1)
    f( 2 )
f(3)


def helper(x):
    return x


@differs("two")
def first():
    return helper(4)


def second():
    return 5
'''


def test_reasons_are_of_the_calls_below_them():
    calls = find_calls(MODULE, ast.parse(MODULE).body)
    assert [(call.key, call.differs) for call in calls] == [
        ("f(1)", "one"),
        ("f(2)", "one"),
        ("f(3)", ""),
        ("first", "two"),
        ("second", ""),
    ]
    whole = '"""Text."""\nDIFFERS = "all"\nf(1)\n'
    assert [call.differs for call in find_calls(whole, ast.parse(whole).body)] == ["all"]


@pytest.mark.parametrize(
    "source",
    [
        "unheard_of",
        "error_name(torch.ones, 1, size=2)",
        "torch.unheard_of(1)",
        "[torch.ones(1), torch.ones(2) + torch.ones(3)]",
        "[torch.ones(2) + torch.ones(k) for k in (2, 3)]",
    ],
)
def test_mistakes_are_seen(source):
    call = expression([source.encode()], ast.parse(source).body[0], "")
    assert mistake(call, result(autograd_cy, call, vars(inputs(autograd_cy))))
