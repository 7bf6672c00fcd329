"""The promises of pyproject.toml hold: extras, bounds, files, classifiers."""

import importlib.util
import re

import pytest
from building import ROOT

from autograd_cy._environment import info
from autograd_cy._version import FOLLOWED, __version__

tomllib = pytest.importorskip("tomllib", reason="part of Python from 3.11 on")

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
# Extras of people who change or build the package; those of users must be used by it.
FOR_DEVELOPERS = {"test", "lint", "dev", "nvcc", "packaging"}

PLACE = importlib.util.spec_from_file_location("fill", ROOT / "packaging" / "fill.py")
fill = importlib.util.module_from_spec(PLACE)
PLACE.loader.exec_module(fill)


def sources():
    for folder in ("autograd_cy", "ext", "examples", "docs"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".pyx", ".pxi", ".md") and "reference" not in path.parts:
                yield path, path.read_text()


def test_every_extra_that_a_message_names_exists():
    named = {
        extra.strip()
        for _, text in sources()
        for extras in re.findall(r"autograd_cy\[([a-z0-9, ]+)\]", text)
        for extra in extras.split(",")
    }
    assert named
    assert named <= set(EXTRAS)


def test_every_extra_of_users_installs_what_some_code_imports():
    imports = "\n".join(text for path, text in sources() if path.suffix != ".md")
    modules = {"scikit-learn": "sklearn"}
    for extra in set(EXTRAS) - FOR_DEVELOPERS:
        for requirement in EXTRAS[extra]:
            name = re.split(r"[<>=~!\[ ]", requirement)[0]
            module = modules.get(name, name)
            # By name too: the digits are read from scikit-learn's files without importing it.
            assert re.search(rf"(import |from |\"){module}\b", imports), (extra, name)


def test_info_shows_what_the_extras_of_users_install():
    users = set().union(*(EXTRAS[extra] for extra in set(EXTRAS) - FOR_DEVELOPERS))
    assert {re.split(r"[<>=~!\[ ]", requirement)[0] for requirement in users} <= set(info.OPTIONAL)


def test_threads_without_a_lock_are_promised_where_modules_know_of_them():
    promised = "Free Threading" in " ".join(PROJECT["project"]["classifiers"])
    sources = (path.read_text() for path in (ROOT / "ext").rglob("*.pyx"))
    assert promised == any("freethreading_compatible" in text for text in sources)


def test_what_builds_and_what_runs_have_the_same_lower_bounds():
    def bounds(requirements):
        return dict(re.split(">=", one) for one in requirements if ">=" in one)

    build = bounds(PROJECT["build-system"]["requires"])
    assert set(build) == {"setuptools", "cython", "numpy", "scipy"}
    assert bounds(PROJECT["project"]["dependencies"]) == {
        name: build[name] for name in ("numpy", "scipy")
    }
    dev = bounds(EXTRAS["dev"])
    assert dev["cython"] == build["cython"]
    assert dev["setuptools"] == build["setuptools"]


def test_files_that_the_readme_links_to_are_in_the_sdist():
    manifest = (ROOT / "MANIFEST.in").read_text()
    included = re.search(r"^include (.*)$", manifest, re.M).group(1).split()
    grafted = re.findall(r"^graft (\w+)$", manifest, re.M)
    links = re.findall(r"\]\(([^)#:]+)\)", (ROOT / "README.md").read_text())
    assert links
    for link in links:
        assert link in included or link.split("/")[0] in grafted, link


def test_the_version_is_the_same_wherever_it_stands():
    texts = {
        "CHANGELOG.md": rf"^## \[{re.escape(__version__)}\] - \d{{4}}-\d\d-\d\d$",
        "CITATION.cff": rf'^version: "{re.escape(__version__)}"$',
        "docs/install.md": rf"\bautograd_cy-{re.escape(__version__)}\.tar\.gz",
        "docs/coming-from-pytorch.md": rf"autograd\.cy\.{re.escape(__version__)}\b",
        "autograd_cy/_as_torch/switch.py": rf"autograd\.cy\.{re.escape(__version__)}\b",
    }
    assert set(fill.MENTIONS) == set(texts) - {"CHANGELOG.md"}  # what packaging/fill.py changes
    for name, pattern in texts.items():
        assert re.search(pattern, (ROOT / name).read_text(), re.M), name


def test_the_citation_has_the_date_of_the_changelog():
    heads = dict(re.findall(r"^## \[(.*?)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.M))
    cited = re.search(r'^date-released: "(.*)"$', (ROOT / "CITATION.cff").read_text(), re.M)[1]
    assert cited == heads[__version__]


def test_recipes_name_the_version_and_no_other():
    for path in fill.recipes():
        text = path.read_text()
        assert __version__ in text or __version__ in path.name, path
        assert {*re.findall(r"\bautograd_cy-(\d+\.\d+\.\d+)", text)} <= {__version__}, path


def test_the_page_of_versions_has_the_requirements():
    text = (ROOT / "docs/versions.md").read_text()
    rows = dict(re.findall(r"^\| ([\w, ]+) \| (\d[\d.]*) ", text, re.M))
    bounds = dict(one.split(">=") for one in PROJECT["build-system"]["requires"])
    assert rows == {
        "Python": PROJECT["project"]["requires-python"].removeprefix(">="),
        "NumPy": bounds["numpy"],
        "SciPy": bounds["scipy"],
        "Cython, to build": bounds["cython"],
        "setuptools, to build": bounds["setuptools"],
    }
    classifiers = " ".join(PROJECT["project"]["classifiers"])
    last = max(int(minor) for minor in re.findall(r"Python :: 3\.(\d+)", classifiers))
    assert f"to 3.{last} (CPython)" in text
    assert f"PyTorch {FOLLOWED.rpartition('.')[0]} " in text


def test_the_changelog_begins_with_what_is_not_released():
    heads = re.findall(r"^## \[(.*?)\]", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert heads[:2] == ["Unreleased", __version__]
