"""Programs of docs/gpu.md that need a GPU, with what they say that they print."""

import contextlib
import io
import re
import sys
from pathlib import Path

import pytest
from borrowed import generators  # noqa: F401

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "docs"))
from snippets import blocks  # noqa: E402

PROGRAMS = [b for b in blocks((ROOT / "docs/gpu.md").read_text()) if "test_page.py" in b.info]


def test_there_are_programs():
    assert len(PROGRAMS) >= 2


@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_a_program_prints_what_the_page_says(program):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(program.text, "docs/gpu.md", "exec"), {"__name__": "page"})
    told = re.findall(r"print\(.*\)  # (.*)", program.text)
    assert said.getvalue().splitlines() == told
