"""The maps of the house name every room: what a page lists is what there is."""

import re
from functools import cache
from pathlib import Path

import pytest

from ext.codegen import table

ROOT = Path(__file__).resolve().parents[2]


def folders(place):
    """The folders with sources; those of Python's own making have names with underscores."""
    rooms = (path for path in (ROOT / place).iterdir() if not path.name.startswith(("_", ".")))
    return {path.name for path in rooms if any(path.glob("*.py*"))}


def test_the_page_of_tests_has_every_folder():
    rows = re.findall(r"^\| `(\w+)` \|", (ROOT / "tests/README.md").read_text(), re.M)
    assert sorted(rows) == sorted(folders("tests"))


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_the_pages_name_every_folder_of_ext(page):
    text = (ROOT / page).read_text()
    rooms = folders("ext")
    assert {"core", "kernels", "engine", "composites"} <= rooms
    assert {room for room in rooms if f"`ext/{room}" not in text} == set()
    named = set(re.findall(r"`ext/(\w+)/?`", text))
    assert named <= rooms, f"{page} names what isn't there: {sorted(named - rooms)}"


def test_the_table_of_folders_has_every_package():
    package = ROOT / "autograd_cy"
    packages = {path.parent.name for path in package.glob("*/__init__.py")}
    text = (ROOT / "docs/architecture.md").read_text().partition("## Folders")[2]
    named = set(re.findall(r"`autograd_cy/(\w+)/", text.partition("\n## ")[0]))
    assert packages == named


def test_the_page_of_benchmarks_has_every_group_and_program():
    page = (ROOT / "benchmarks/README.md").read_text()
    for folder in ("groups", "programs"):
        table = page.partition(f"| file in `{folder}/` |")[2].partition("\n\n")[0]
        named = [
            name
            for row in table.splitlines()
            for name in re.findall(r"`(\w+)\.py`", row.lstrip("| ").partition("|")[0])
        ]
        files = {path.stem for path in (ROOT / "benchmarks" / folder).glob("*.py")}
        assert sorted(named) == sorted(files - {"__init__"})


def test_the_page_of_building_has_every_extra():
    text = (ROOT / "pyproject.toml").read_text()
    extras = re.findall(r"^(\w+) = ", text.partition("[project.optional-dependencies]")[2], re.M)
    extras = extras[: extras.index("dev") + 1]
    rows = (ROOT / "docs/building.md").read_text().partition("| extra |")[2].partition("\n\n")[0]
    firsts = [row.split("|")[1] for row in rows.splitlines()[2:]]
    assert sorted(re.findall(r"`(\w+)`", " ".join(firsts))) == sorted(extras)


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_pictures_that_pages_show_are_there_and_small(page):
    for name in re.findall(r"!\[[^]]*\]\(([^)#]+)\)", page.read_text()):
        picture = page.parent / name
        assert picture.is_file() and picture.stat().st_size < 100_000, name


PAGES = ("docs/architecture.md", "docs/devices.md", "tests/README.md", "CONTRIBUTING.md")
SOURCES = (".py", ".pyx", ".pxi", ".pxd", ".h", ".md", ".txt", ".toml")
# What the generator makes of an operator: the functions that a page follows, by how they begin.
MADE = ("c_", "dunder_", "node_", "tangent_", "run_", "seen_")


@cache
def hand_written():
    """The files of the tree."""
    places = [ROOT / name for name in ("autograd_cy", "ext", "tests", "docs", "benchmarks")]
    files = [path for place in places for path in place.rglob("*") if path.suffix in SOURCES]
    return [*files, *ROOT.glob("*.*")]


@cache
def words():
    """All words of the sources; pages don't count."""
    code = (path for path in hand_written() if path.suffix in SOURCES[:5])
    return set(re.findall(r"\w+", "\n".join(path.read_text() for path in code)))


@cache
def operators():
    return {record.key for family in table.load().values() for record in family}


def spans(page):
    """Return the code spans of a page, without its programs."""
    text = re.sub(r"^```.*?^```", "", (ROOT / page).read_text(), flags=re.M | re.S)
    return sorted(set(re.findall(r"`([^`\n]+)`", text)))


def is_there(path):
    """Return whether a file or folder is where a reader would look for that name."""
    pattern = re.sub(r"<\w+>", "*", path.strip("/"))
    if pattern.endswith((".pyi", "kern.pyx", "cuda_host.pyx", "optable.pxd", "_index.py")):
        return True  # the generator writes it
    if re.match(r"(ops|operators_of)_\*|build/|docs/reference", pattern):
        return True
    places = [ROOT, ROOT / "ext", ROOT / "autograd_cy", *(ROOT / "ext").iterdir(), ROOT / "tests"]
    if "/" in path:
        return any(next(place.glob(pattern), None) for place in places if place.is_dir())
    return any(file.match(pattern) for file in hand_written()) or (ROOT / pattern).exists()


def is_path(span):
    if not re.fullmatch(r"[\w./<>*-]+", span) or re.fullmatch(r"\.\w+", span):
        return False  # an expression, or the ending of a kind of files
    return "/" in span or span.endswith(SOURCES)


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_a_page_names_is_there(page):
    said = [span for span in spans(page) if is_path(span)]
    assert len(said) > 5
    assert [path for path in said if not is_there(path)] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_program_that_a_page_names_is_there(page):
    programs = [m[1] for m in (re.match(r"python (?:-m )?([\w./]+)", s) for s in spans(page)) if m]
    for name in (name for name in programs if name not in ("pytest", "build")):
        path = ROOT / (name if name.endswith(".py") else name.replace(".", "/") + ".py")
        assert path.exists() or path.with_suffix("").is_dir(), name


@pytest.mark.parametrize("page", ["docs/architecture.md", "docs/devices.md"])
def test_every_name_on_the_page_is_in_the_sources(page):
    unknown = []
    for span in spans(page):
        match = re.fullmatch(r"(?:\w+\.)*(\w+)(?:\(.*\))?|# (\w+): .*|(\w+)\*", span)
        if not match or is_path(span):
            continue
        name = next(group for group in match.groups() if group)
        made = [name.removeprefix(start) for start in MADE if name.startswith(start)]
        if name in words() or name in operators() or operators() & {*made}:
            continue
        if not (match[3] and any(word.startswith(name) for word in words())):
            unknown.append(span)
    assert unknown == []


def test_the_page_of_tests_names_every_file_that_stands_alone():
    """By its name, or among others: `test_seldom_*.py`."""
    named = re.findall(r"`([\w*]+\.py)`", (ROOT / "tests/README.md").read_text())
    alone = [path for path in (ROOT / "tests").glob("*.py") if path.name != "conftest.py"]
    assert [path.name for path in alone if not any(path.match(name) for name in named)] == []
