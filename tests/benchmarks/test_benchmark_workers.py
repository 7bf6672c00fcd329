"""Worker processes and command line of the benchmark harness, with libraries made for it."""

import json
import os
import sys
from pathlib import Path

import pytest

from benchmarks.case import Case, Command
from benchmarks.cli import main
from benchmarks.compare import Comparison, Settings
from benchmarks.quiet import Cores
from benchmarks.side import Side

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

LIBRARY = """
__version__ = "1.0"
print("noise on standard output")
def double(x):
    return {factor} * x
"""

CASES = """
import os, signal, time
from benchmarks.case import Case
CASES = [
    Case("double", lambda torch: lambda: torch.double(3.0)),
    Case("statement", lambda torch: {"a": 1.0, "b": 2.0}, statement="a + b"),
    Case("block", lambda torch: {}, statement="for _ in (): pass"),
    Case("missing", lambda torch: torch.no_such_name),
    Case("failing", lambda torch: lambda: 1 / 0),
    Case("dying", lambda torch: lambda: os.kill(os.getpid(), signal.SIGKILL)),
    Case("hanging", lambda torch: lambda: time.sleep(60)),
]
"""


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """Two libraries that agree (one, same), one that is wrong, and the cases in made.cases."""
    folder = tmp_path_factory.mktemp("libraries")
    for name, factor in (("one", 2), ("same", 2), ("wrong", 3)):
        (folder / f"{name}.py").write_text(LIBRARY.format(factor=factor))
    (folder / "made").mkdir()
    (folder / "made" / "cases.py").write_text(CASES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(folder), str(ROOT)]))
        patch.syspath_prepend(folder)
        yield
    for name in ("made", "made.cases"):
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def compare(libraries):
    """Run one case of made.cases on two of the libraries, in the workers of earlier cases."""
    opened = {}

    def run(left, right, case):
        sides = []
        for name in filter(None, (left, right)):
            if name not in opened:
                opened[name] = Side(name, sys.executable, 1, {}, limit=60.0)
            sides.append(opened[name])
        settings = Settings(samples=2, min_time=1e-5)
        cores = Cores(0.0, 0.0, lambda: 0.0)
        comparison = Comparison(sides[0], sides[1] if len(sides) > 1 else None, settings, cores)
        if isinstance(case, str):
            case = Case(case, lambda torch: None)
        return comparison.run("made.cases", case)

    yield run
    for side in opened.values():
        side.stop()


@pytest.mark.parametrize("case", ["double", "statement", "block"])
def test_equal_results_give_a_ratio(compare, case):
    row = compare("one", "same", case)
    assert row.status == "ok"
    assert row.ratio("median") > 0.0
    assert row.left["count"] >= 1
    assert len(row.left["samples"]) == row.rounds == 2


def test_different_results_are_marked_wrong(compare):
    row = compare("wrong", "one", "double")
    assert row.status == "WRONG"
    assert "differ by 3" in row.note


def test_without_a_right_side_there_is_a_time_but_no_ratio(compare):
    row = compare("one", None, "double")
    assert row.status == "alone"
    assert row.left["median"] > 0.0
    assert row.ratio("median") is None


def test_name_that_a_library_lacks_is_missing_and_not_an_error(compare):
    row = compare("one", "same", "missing")
    assert row.status == "missing"
    assert "no_such_name" in row.note


def test_failing_case_is_an_error_with_its_reason(compare):
    row = compare("one", "same", "failing")
    assert row.status == "error"
    assert "ZeroDivisionError" in row.note


def test_killed_worker_is_a_crash_and_the_next_case_runs(libraries):
    with Side("one", sys.executable, 1, {}) as side:
        answer = side.ask(do="prepare", group="made.cases", name="dying", least=1e-5)
        assert answer["status"] == "crash"
        assert "SIGKILL" in answer["note"]
        answer = side.ask(do="prepare", group="made.cases", name="double", least=1e-5)
        assert answer["status"] == "ok"


def test_hanging_case_ends_at_the_time_limit(libraries):
    with Side("one", sys.executable, 1, {}, limit=1.5) as side:
        answer = side.ask(do="prepare", group="made.cases", name="hanging", least=1e-5)
    assert answer["status"] == "crash"
    assert "no answer" in answer["note"]


def test_worker_reports_its_processor_time(libraries):
    with Side("one", sys.executable, 1, {}) as side:
        assert side.cpu_time() == 0.0
        side.ask(do="hello")
        assert side.cpu_time() > 0.0 or not Path("/proc/self/stat").exists()


def test_command_reads_the_number_that_its_code_prints(compare):
    row = compare("one", "same", Command("number", "import LIBRARY; print(0.25)"))
    assert row.left["median"] == row.right["median"] == 0.25
    row = compare("one", "same", Command("number", "print(0.5)", only="one"))
    assert (row.status, row.left["median"], row.right) == ("alone", 0.5, None)
    row = compare("one", "same", Command("nothing", "pass"))
    assert (row.status, row.note) == ("crash", "one: it printed nothing")


def test_command_line_writes_json_and_markdown(libraries, tmp_path, capsys):
    status = main(
        [
            *("--left", "one", "--right", "same", "--groups", "made.cases"),
            *("--cases", "double,statement,missing", "--samples", "2", "--min-time", "1e-5"),
            *("--quiet-wait", "0", "--json", str(tmp_path / "run.json")),
            *("--markdown", str(tmp_path / "run.md")),
        ]
    )
    assert status == 0
    run = json.loads((tmp_path / "run.json").read_text())
    assert [row["status"] for row in run["rows"]] == ["ok", "ok", "missing"]
    assert run["groups"][0]["compared"] == 2
    assert "noise" not in capsys.readouterr().out
    assert "| double |" in (tmp_path / "run.md").read_text()
    assert str(ROOT) not in (tmp_path / "run.json").read_text()


def test_command_line_fails_for_a_wrong_result(libraries):
    options = ["--left", "wrong", "--right", "one", "--groups", "made.cases", "--cases", "double"]
    assert main([*options, "--samples", "1", "--min-time", "1e-5", "--quiet-wait", "0"]) == 1


def test_command_line_goes_on_without_the_right_library(libraries, capsys):
    options = ["--left", "one", "--right", "not_there", "--groups", "made.cases"]
    options += ["--cases", "double", "--samples", "1", "--min-time", "1e-5", "--quiet-wait", "0"]
    assert main(options) == 0
    assert "absolute times only" in capsys.readouterr().out


def test_command_line_says_what_it_cannot_do(libraries, capsys):
    assert main(["--left", "not_there", "--groups", "made.cases"]) == 2
    assert main(["--groups", "nonsense"]) == 2
    assert main(["--groups", "dispatch", "--cases", "nonsense"]) == 2
    messages = capsys.readouterr().err
    for words in ("cannot import not_there", "nonsense", "no case matches"):
        assert words in messages
