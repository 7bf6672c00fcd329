"""Names that will be removed: they warn once, and none stays beyond the version of its removal."""

import re
import warnings
from pathlib import Path

import pytest

import autograd_cy as ag
from autograd_cy._environment import deprecation
from autograd_cy._environment.deprecation import DEPRECATED, Deprecation, warn_deprecated
from autograd_cy._version import __version__

ROOT = Path(__file__).resolve().parents[1]
CALL = re.compile(r"\bwarn_deprecated\(\s*(.*?)\s*\)", re.S)


def number(version):
    """The parts of a version as numbers; a pre-release counts as its release."""
    return tuple(int(part) for part in re.match(r"\d+(?:\.\d+)*", version)[0].split("."))


def overdue(table, version):
    """Names whose removal is due in a version, or before."""
    return [name for name, entry in table.items() if number(version) >= number(entry.removal)]


def too_short(table):
    """Names that would stay for less than two minor versions (docs/versions.md)."""
    short = []
    for name, entry in table.items():
        (major, minor, *_), removal = number(entry.since), number(entry.removal)
        if removal < (major, minor + 2) and removal[0] == major:
            short.append(name)
    return short


@pytest.fixture
def table(monkeypatch):
    """A table with one name, which nobody has used yet."""
    entry = Deprecation("0.3.0", "0.5.0", "`nn.new`")
    monkeypatch.setattr(deprecation, "DEPRECATED", {"nn.old": entry})
    monkeypatch.setattr(deprecation, "_warned", set())
    return deprecation.DEPRECATED


def use_twice():
    warn_deprecated("nn.old")
    warn_deprecated("nn.old")


def test_no_name_stays_beyond_its_removal():
    assert overdue(DEPRECATED, __version__) == [], "remove these names, and their rows"


def test_names_stay_for_two_minor_versions():
    assert too_short(DEPRECATED) == []


def test_what_is_overdue_and_what_is_too_short(table):
    assert [overdue(table, v) for v in ("0.4.9", "0.5.0", "0.5.0rc1", "0.10.0", "1.0.0")] == [
        [],
        ["nn.old"],
        ["nn.old"],
        ["nn.old"],
        ["nn.old"],
    ]
    assert too_short(table) == []
    for removal, short in (("0.4.0", True), ("0.4.7", True), ("1.0.0", False)):
        assert too_short({"x": Deprecation("0.3.0", removal, "`y`")}) == ["x"] * short


def test_a_name_warns_once_with_the_line_of_the_program(table):
    with pytest.warns(FutureWarning) as caught:
        use_twice()
    (warning,) = caught
    assert str(warning.message) == (
        "nn.old is deprecated since autograd_cy 0.3.0, and will be removed in 0.5.0. "
        "Use `nn.new` instead."
    )
    assert warning.filename == __file__


def test_a_name_warns_each_time_if_all_warnings_do(table):
    ag.set_warn_always(True)
    try:
        with pytest.warns(FutureWarning) as caught:
            use_twice()
    finally:
        ag.set_warn_always(False)
    assert len(caught) == 2


def test_a_name_that_is_not_in_the_table_is_refused(table):
    with pytest.raises(KeyError), warnings.catch_warnings():
        warn_deprecated("nn.new")


def test_every_row_is_used_and_every_use_has_a_row():
    texts = [path.read_text() for path in (ROOT / "autograd_cy").rglob("*.py")]
    names = {name.strip("\"'") for text in texts for name in CALL.findall(text)} - {"name: str"}
    assert names == set(DEPRECATED)
