"""The texts of records: examples run, and documents explain each parameter."""

import doctest
import inspect
import re

import pytest
from calls import RECORDS, method_name, public_function, records
from grouping import each

import autograd_cy as ag
from autograd_cy.ops._schema import RecordError, composite, op, shapes

FIRST = {}
for _r in RECORDS:
    FIRST.setdefault(_r.symbol, _r)


def is_first(record):
    return record.public and FIRST[record.symbol] is record


@each("record", records(lambda r: r.presentation.example))
def test_examples_print_what_they_say(record):
    test = doctest.DocTestParser().get_doctest(
        record.presentation.example, {"ag": ag}, record.key, None, 0
    )
    found = []
    doctest.DocTestRunner(verbose=False).run(test, out=found.append)
    assert test.examples and test.examples[-1].want, "an example shows a result"
    assert not found, "".join(found)


@each("record", records(is_first))
def test_examples_are_of_the_operator_and_short(record):
    names = "|".join([record.name, *record.call.aliases])
    assert re.search(rf"\.({names})_?\(|\[", record.presentation.example), (
        record.presentation.example
    )
    assert len(re.findall(r"^>>>", record.presentation.example, re.M)) <= 3


@each("record", records(lambda r: r.public))
def test_documents_say_what_each_parameter_means(record):
    function = public_function(record) if record.call.function else None
    text = inspect.getdoc(function or getattr(ag.Tensor, method_name(record)))
    text = " ".join(text.split())
    for a in record.args:
        assert record.presentation.params[a.name].strip(), a.name
        name = "input" if a.name == "self" else a.name
        assert f"{name} : " in text, name
    if is_first(record):
        for a in record.args:
            # What the table calls self has another name in signatures.
            said = re.sub(r"\bself\b", "input", record.presentation.params[a.name])
            assert said in text, a.name
        for error, when in record.presentation.raises:
            assert re.sub(r"\bself\b", "input", f"{error} {when}") in text
        assert (
            "Examples" in text
            and " ".join(record.presentation.example.split("\n")[0].split()) in text
        )


def made(**changes):
    """A record of a sum with a number, with changes."""
    fields = {
        "kernel": composite("add(self, other)"),
        "doc": "A sum.",
        "reference": "self + other",
        "samples": shapes(((3,), (3,))),
        "example": ">>> 1\n1",
    }
    return op("cube(self, other)", **(fields | changes))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"example": None}, "no example"),
        ({"params": {"others": "a number"}}, "names 'others', which is no argument"),
        ({"flops": "2 * self[-1]"}, "from the front"),
        ({"flops": "elements(self[: -1])"}, "from the front"),
    ],
)
def test_records_with_faults_are_refused(changes, text):
    with pytest.raises(RecordError, match=text):
        made(**changes)


def test_parameters_without_a_known_meaning_need_a_text():
    with pytest.raises(RecordError, match="no text for 'unheard'"):
        op(
            "cube(self, unheard)",
            kernel=composite("add(self, unheard)"),
            doc="A sum.",
            reference="self + unheard",
            samples=shapes(((3,), (3,))),
            example=">>> 1\n1",
        )


def test_options_without_a_known_meaning_need_a_text():
    with pytest.raises(RecordError, match="no text for 'unheard'"):
        made(options={"unheard: bool = False": "_cubed"})
