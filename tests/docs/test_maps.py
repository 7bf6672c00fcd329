"""The maps of the house name every room: what a page lists is what there is."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def folders(place):
    """The folders with sources; those of Python's own making have names with underscores."""
    rooms = (path for path in (ROOT / place).iterdir() if not path.name.startswith(("_", ".")))
    return {path.name for path in rooms if any(path.glob("*.py*"))}


def test_the_page_of_tests_has_every_folder():
    rows = re.findall(r"^\| `(\w+)` \|", (ROOT / "tests/README.md").read_text(), re.M)
    assert sorted(rows) == sorted(folders("tests"))


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_the_pages_of_the_house_have_every_room(page):
    text = (ROOT / page).read_text()
    rooms = folders("ext")
    assert {"core", "kernels", "engine", "composites"} <= rooms
    assert {room for room in rooms if f"`ext/{room}" not in text} == set()
    named = set(re.findall(r"`ext/(\w+)/?`", text))
    assert named <= rooms, f"{page} names what isn't there: {sorted(named - rooms)}"


def test_the_table_of_the_house_has_every_package():
    package = ROOT / "autograd_cy"
    packages = {path.parent.name for path in package.glob("*/__init__.py")}
    text = (ROOT / "docs/architecture.md").read_text().partition("## The house")[2]
    named = set(re.findall(r"`autograd_cy/(\w+)/", text.partition("\n## ")[0]))
    assert packages == named


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_pictures_that_pages_show_are_there_and_small(page):
    for name in re.findall(r"!\[[^]]*\]\(([^)#]+)\)", page.read_text()):
        picture = page.parent / name
        assert picture.is_file() and picture.stat().st_size < 100_000, name
