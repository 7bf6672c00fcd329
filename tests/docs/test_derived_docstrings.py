"""Docstrings that are made of another one's."""

import subprocess
import sys

import pytest

from autograd_cy._environment.docstrings import described_like


def original():
    """Return one, of two."""


def test_words_are_replaced_in_order():
    @described_like(original, {"one": "two", "two": "three"})
    def made():
        pass

    assert made.__doc__ == "Return three, of three."
    assert original.__doc__ == "Return one, of two."


def test_a_word_that_is_missing_is_an_error():
    with pytest.raises(ValueError, match="the docstring of original has no 'four'"):
        described_like(original, {"four": "five"})(lambda: None)


def test_without_docstrings():
    program = (
        "import autograd_cy as ag\n"
        "import autograd_cy.backends.cuda, autograd_cy.cuda.monitoring\n"
        "for described in (ag.nn.Conv1d, ag.nn.LazyConv3d, ag.kaiser_window):\n"
        "    if described.__doc__ is not None:\n"
        "        raise SystemExit(described.__doc__)\n"
    )
    subprocess.run([sys.executable, "-OO", "-c", program], check=True)
