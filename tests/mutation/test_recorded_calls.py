"""The comparison of recorded calls with all other tests, with a runner that says how they end."""

import json
import re
import types

import pytest

from tests.mutation import recorded
from tests.mutation.mutants import Mutant
from tests.mutation.recorded import Comparison
from tests.mutation.survey import Test

VIEWS = f"{recorded.RECORDED}::test_results_are_those_recorded[core-views]"
OUT = f"{recorded.RECORDED}::test_results_are_those_recorded[core-out]"
OTHER = "tests/tensor/test_views.py::test_view"
MUTANT = Mutant("ext/core/views.pyx", 3, "if a < b:", "if a <= b:", "condition", "< to <=", "view")


class Scripted:
    """A runner whose tests fail with a text, or pass if they have none."""

    imported = frozenset()

    def __init__(self, failures):
        self.failures, self.place, self.ran = failures, {VIEWS: 0, OUT: 1, OTHER: 2}, []

    def ask(self, tests, number, notes):
        names = [name for name, place in self.place.items() if place in tests]
        self.ran += names
        rows = [(name, self.failures.get(name, "")) for name in names]
        return {"rows": [[0, 0.1, "failed" if f else "passed", [], f] for _, f in rows]}

    def run(self, tests, number, patience=25):
        self.ran += [test.name for test in tests]
        failed = [test.name in self.failures and number >= 0 for test in tests]
        return ("failed", failed.index(True)) if any(failed) else ("passed", len(tests))


def compare(failures, reached=(VIEWS, OUT, OTHER)):
    runner = Scripted(failures)
    tests = [Test(n, 0.1, frozenset([5] if n in reached else [])) for n in (VIEWS, OUT, OTHER)]
    return recorded.compare(runner, tests, MUTANT, 5, 100), runner.ran


FAILURE = "call: a.view(1)\n  result    2\n  recorded  3\ncall: b\n    def b():\n  result    1"


def test_a_mutant_that_only_recorded_calls_kill():
    seen, _ = compare({VIEWS: FAILURE})
    assert seen == Comparison({"core/views": ["a.view(1)", "b"]}, "survived")
    assert seen.recorded and seen.only_recorded


def test_a_mutant_that_other_tests_kill_too():
    seen, _ = compare({VIEWS: FAILURE, OUT: "assert crossed", OTHER: "assert 1"})
    assert seen.calls == {"core/views": ["a.view(1)", "b"], "core/out": ["failed"]}
    assert (seen.others, seen.where) == ("killed", OTHER)
    assert seen.recorded and not seen.only_recorded


def test_other_tests_do_not_run_where_no_recorded_call_fails():
    seen, ran = compare({OTHER: "assert 1"})
    assert (seen.recorded, seen.others) == (False, "not tried")
    assert OTHER not in ran
    seen, ran = compare({OTHER: "assert 1"}, reached=[OTHER])
    assert (seen.others, ran) == ("not reached", [])


def test_sections_are_the_comments_above_calls(monkeypatch, tmp_path):
    monkeypatch.setattr(recorded, "CALLS", tmp_path)
    (tmp_path / "some.py").write_text(
        '"""Text."""\nf(1)\n\n# one: more\n# of it\nf(2)\n# two\nf(3)\n'
    )
    assert recorded.sections("some") == {"f(1)": "", "f(2)": "one: more", "f(3)": "two"}


def test_the_command_goes_on_from_its_notes(monkeypatch, tmp_path, capsys):
    notes, tried = tmp_path / "notes.json", []
    options = types.SimpleNamespace(
        folder=tmp_path, json=notes, first=0, last=None, limit=9, seed=[3], count=2
    )
    mutants = {n: Mutant("ext/core/a.pyx", n, "", "", "", "op", "f", n) for n in (0, 1)}

    class Open(Scripted):
        def __init__(self, *_):
            super().__init__({})

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    def compare_once(runner, tests, mutant, number, limit):
        tried.append(number)
        return Comparison({"core/views": ["a"]}, "killed" if number else "survived")

    monkeypatch.setattr(recorded, "chosen", lambda options: mutants)
    monkeypatch.setattr(recorded.tree, "make", lambda folder, mutants: mutants)
    monkeypatch.setattr(recorded, "Runner", Open)
    monkeypatch.setattr(recorded, "survey", lambda *_: [])
    monkeypatch.setattr(recorded, "compare", compare_once)
    monkeypatch.setattr(recorded, "report_formulas", lambda *_: None)
    for _ in range(2):
        assert recorded.main(options) == 0
        printed = capsys.readouterr().out
        assert "| all | 2 | 2 | 1 | 1 |" in printed
        assert re.search(r"\| core/views \| \d+ \| 2 \| 1 \| 1 \|", printed)
    assert tried == [0, 1]
    assert [row["others"] for row in json.loads(notes.read_text()).values()] == [
        "survived",
        "killed",
    ]


@pytest.mark.slow
def test_no_mutant_is_of_a_part_that_recorded_calls_leave_out():
    names = [str(path.relative_to(recorded.tree.ROOT)) for path in recorded.sources()]
    assert any(name.startswith("ext/kernels/") for name in names)
    assert not any(name.startswith("ext/cuda/") for name in names)
