"""Each example in README.md, docs/ and the docstrings runs and prints what it says."""

import sys
from pathlib import Path

import pytest
from grouping import each
from snippets import blocks, docstrings, run_file, run_session

import autograd_cy

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
DOCSTRINGS = docstrings(autograd_cy)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_page(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_file(path)


# What takes an optional package, which may be missing: name of the module -> package.
OPTIONAL = {"autograd_cy.utils.safetensors": "safetensors"}


@each("name", sorted(DOCSTRINGS))
def test_docstring(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    owner = max((m for m in sys.modules if f"{name}.".startswith(f"{m}.")), key=len)
    if owner in OPTIONAL:
        pytest.importorskip(OPTIONAL[owner])
    # No names but its own: a reader pastes it as it is.
    run_session(DOCSTRINGS[name], {"__name__": "__main__"}, name, name, 0)


PAGE = """\
Text.
```python
x = 2
```
```bash
exit 1
```
  - in a list
    ```python
    >>> x + 1
    3
    ```
```python not-run: needs two nodes
raise SystemExit
```
"""


def write_page(folder, text):
    path = folder / "page.md"
    path.write_text(text)
    return path


def test_blocks_are_found_with_their_lines():
    found = [(block.info, block.line, block.is_run) for block in blocks(PAGE)]
    assert found == [
        ("python", 3, True),
        ("bash", 6, False),
        ("python", 10, True),
        ("python not-run: needs two nodes", 14, False),
    ]


def test_blocks_of_a_page_share_names(tmp_path):
    assert run_file(write_page(tmp_path, PAGE)) == 2


def test_wrong_output_is_reported(tmp_path):
    path = write_page(tmp_path, PAGE.replace("3", "4"))
    with pytest.raises(AssertionError, match=r"Expected:\s+4\s+Got:\s+3"):
        run_file(path)


def test_spaces_of_an_output_count(tmp_path):
    path = write_page(tmp_path, '```python\n>>> print("a  b")\na b\n```\n')
    with pytest.raises(AssertionError, match="Got:\n    a  b"):
        run_file(path)


def test_error_names_the_line_of_the_page(tmp_path):
    with pytest.raises(ZeroDivisionError) as caught:
        run_file(write_page(tmp_path, "a\n\n```python\n1 / 0\n```\n"))
    assert caught.traceback[-1].lineno + 1 == 4


def test_leaving_a_block_out_takes_a_reason(tmp_path):
    with pytest.raises(ValueError, match="not-run needs a reason"):
        run_file(write_page(tmp_path, "```python not-run:\n1\n```\n"))
