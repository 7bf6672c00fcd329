"""Cases, stored results, tables and plots of docs/performance.md, on made-up numbers."""

import re

import pytest

from benchmarks import page, page_tables
from benchmarks.case import load_group, select
from benchmarks.summary import Row


def side(seconds):
    return {"median": seconds, "minimum": float(f"{seconds / 2:.4g}")}


def made_up(threads, parts):
    """A row for each case of some parts, the ratios of which go from 0.1 to 3."""
    cases = page.chosen(parts)
    rows = [
        Row(part.group, case.name, "ok", rounds=3, left=side(round(0.1 + 2.9 * n / len(cases), 3)),
            right=side(1.0))
        for n, (part, case) in enumerate(cases)
    ]  # fmt: skip
    return {"threads": threads, "rows": rows}


def results():
    return {
        "date": "2026-01-02",
        "machine": {"processor": "a processor", "simd": "AVX2", "cores": 2},
        "libraries": {
            "left": {"name": "autograd_cy", "version": "1", "python": "3.11"},
            "right": {"name": "torch", "version": "2", "python": "3.11"},
        },
        "runs": [made_up(1, page.ONE_THREAD), made_up(2, page.ALL_THREADS)],
    }


def checkout(folder):
    """A folder with the marked files of a checkout."""
    (folder / "docs").mkdir()
    for name in ("README.md", "docs/performance.md"):
        (folder / name).write_text((page.ROOT / name).read_text())
    return folder


@pytest.mark.parametrize("part", [*page.ONE_THREAD, *page.ALL_THREADS], ids=lambda part: part.group)
def test_every_pattern_of_the_page_selects_a_case(part):
    cases = load_group(part.group).CASES
    assert all(select(cases, [pattern]) for pattern in part.patterns)


def test_results_keep_medians_minima_and_what_went_wrong():
    made = results()
    made["runs"][1]["rows"] = [
        Row("g", "a", "WRONG", note="values differ", rounds=3, disturbed=1, left=side(1.0)),
    ]
    assert page.from_json(page.to_json(made)) == made


def test_results_of_another_format_are_refused():
    with pytest.raises(ValueError, match="another format"):
        page.from_json('{"format": 99, "runs": []}')


def test_pages_are_filled_and_filled_again_alike(tmp_path):
    pytest.importorskip("matplotlib")
    folder = checkout(tmp_path)
    page.draw(results(), folder)
    files = [file for file in folder.rglob("*") if file.is_file()]
    first = {file: file.read_bytes() for file in files}
    assert len(first) == 6
    page.draw(results(), folder)
    assert {file: file.read_bytes() for file in files} == first
    assert max(len(text) for text in first.values()) < 100_000


def test_the_page_has_plots_tables_and_the_slow_cases(tmp_path):
    pytest.importorskip("matplotlib")
    folder = checkout(tmp_path)
    page.draw(results(), folder)
    text = (folder / "docs/performance.md").read_text()
    assert len(text.splitlines()) <= 300
    pictures = re.findall(r"!\[[^]]+\]\((.*?)\)", text)
    assert len(pictures) == 4 and all((folder / "docs" / name).is_file() for name in pictures)
    assert "| date | 2026-01-02 |" in text
    slow = text.partition("## Cases where PyTorch is faster")[2]
    ratios = [float(line.split("|")[6]) for line in slow.splitlines() if " s | " in line]
    assert len(ratios) == 60 and ratios == sorted(ratios, reverse=True)
    assert "more are below" in slow
    assert "| step of LeNet, batch 32 |" in (folder / "README.md").read_text()


def test_a_mark_without_a_block_is_an_error():
    with pytest.raises(ValueError, match="no block 'x'"):
        page_tables.fill("<!-- begin: x --><!-- end: x -->", {"a": ""})


def test_stored_results_are_those_that_the_page_shows():
    blocks = page_tables.blocks(page.load(page.ROOT / page.RESULTS))
    for name in ("README.md", "docs/performance.md"):
        text = (page.ROOT / name).read_text()
        assert page_tables.fill(text, blocks) == text
