"""Tests that kill mutants, and how they do it, in a small tree of their own."""

import contextlib
import json
import os
import select
import shutil

import pytest

from tests.mutation import __main__ as command
from tests.mutation import runtime, survey, tree, trial, worker
from tests.mutation.mutants import Mutant
from tests.mutation.survey import Runner, Test

pytestmark = pytest.mark.slow

CODE = """
import os
import time
from mutants import _mutant

def double(x):
    if _mutant(0):
        return x * 3
    return x * 2

def unseen(x):
    return x if _mutant(1) else +x

def endless():
    while _mutant(2):
        time.sleep(1)

def crash():
    if _mutant(3):
        os.abort()

def never():
    return _mutant(4)

SIZE = 2 if _mutant(5) else 1
while _mutant(6):
    time.sleep(1)
STATE = []
"""

TESTS = """
import code_
import subprocess
import sys
import warnings
import pytest

def test_unseen():
    assert code_.unseen(1) == 1

def test_endless():
    code_.endless()

def test_crash():
    code_.crash()

def test_size():
    assert code_.SIZE == 1

def test_leaves_something_behind():
    code_.STATE.append(code_.unseen(1))

def test_disturbed_by_the_last():
    code_.unseen(1)
    assert code_.STATE != [] or code_.double

def test_double():
    code_.unseen(1)
    code_.endless()
    assert code_.double(2) == 4

def test_in_a_process():
    words = [sys.executable, "-c", "import code_; assert code_.double(2) == 4"]
    assert subprocess.run(words).returncode == 0

@pytest.mark.filterwarnings("ignore")
def test_that_warns():
    warnings.warn("as marked", UserWarning, stacklevel=1)
    assert code_.unseen(1) == 1

@pytest.mark.skip
def test_skipped():
    code_.never()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tree")
    (folder / "tests").mkdir()
    shutil.copytree(tree.ROOT / "tests" / "mutation", folder / "tests" / "mutation")
    for name in ("conftest.py", "grouping.py", "comparing.py"):
        shutil.copy(tree.ROOT / "tests" / name, folder / "tests" / name)
    (folder / "mutants.py").write_text(runtime.PYTHON)
    (folder / "code_.py").write_text(CODE)
    (folder / "tests" / "test_code.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    return folder


@pytest.fixture(scope="module")
def runner(folder):
    with Runner(folder, "tests", environment={"PYTHONPATH": str(folder)}) as runner:
        yield runner


@pytest.fixture(scope="module")
def found(folder, runner):
    return survey.survey(folder, runner)


def test_the_survey_says_who_reaches_what(found, runner):
    reached = {test.name.partition("::")[2]: set(test.reached) for test in found}
    assert reached["test_unseen"] == {1}
    assert reached["test_double"] == {0, 1, 2}
    assert reached["test_in_a_process"] == {0, 5, 6}
    assert reached["test_size"] == set()
    assert reached["test_that_warns"] == {1}
    assert "test_skipped" not in reached
    assert runner.imported == {5, 6}
    assert all(test.seconds > 0 for test in found)


def test_the_survey_is_kept_until_a_file_changes(folder, runner, found):
    asked = []
    recorded = type("Recorded", (), {"place": runner.place, "ask": lambda *_, **k: asked.append(k)})
    assert survey.survey(folder, recorded) == found
    assert asked == []
    before = survey.digest(folder)
    (folder / "ext").mkdir(exist_ok=True)
    (folder / "ext" / "more.pyx").write_text("")
    assert survey.digest(folder) != before
    (folder / "ext" / "more.pyx").unlink()
    assert survey.digest(folder) == before


@pytest.mark.parametrize(
    ("number", "outcome", "test"),
    [(0, "killed", "test_double"), (1, "survived", ""), (3, "crashed", "test_crash"),
     (4, "not reached", "")],
)  # fmt: skip
def test_a_mutant_is_killed_by_the_test_that_fails(runner, found, number, outcome, test):
    seen = trial.try_mutant(runner, found, number, 100)
    assert seen.name == outcome
    assert seen.where.partition("::")[2] == test
    assert seen.killed == (outcome in ("killed", "crashed"))


def test_a_mutant_reached_by_an_import_has_a_process_of_its_own(folder, runner, found):
    seen = trial.try_import(folder, runner, found, 5, 100, environment={"PYTHONPATH": str(folder)})
    assert (seen.name, seen.where.partition("::")[2]) == ("killed", "test_size")


def test_an_import_that_hangs_is_killed(folder, runner, found, monkeypatch):
    def is_over(watch, patience):
        return 6 in runtime.Page(folder / "build" / "imports.page").reached()

    monkeypatch.setattr(survey, "LOOK", 0.02)
    monkeypatch.setattr(survey.Watch, "is_over", is_over)
    seen = trial.try_import(folder, runner, found, 6, 100, environment={"PYTHONPATH": str(folder)})
    assert (seen.name, seen.where) == ("killed", "import")


def test_a_time_out_is_not_killed(runner, found):
    seen = trial.try_mutant(runner, found, 2, 100, patience=0.3)
    assert seen.name == "timed out"
    assert not seen.killed


def test_an_end_by_the_limit_is_said(runner, found):
    quick = [Test(test.name, 1.0, test.reached) for test in found]
    seen = trial.try_mutant(runner, quick, 1, 2.5)
    assert (seen.name, seen.where) == ("time was up", "2 of 5 tests")


def test_files_take_turns():
    rows = [("a::1", 1), ("a::2", 2), ("a::3", 4), ("b::1", 2), ("c::1", 9)]
    tests = [Test(name, seconds, frozenset()) for name, seconds in rows]
    order = [test.name for test in trial.in_turns(tests)]
    assert order == ["a::1", "b::1", "a::2", "a::3", "c::1"]


def test_what_is_about_the_source_and_reaches_little_comes_first():
    rows = [
        ("tests/ops/test_all.py::1", 1.0, 90),
        ("tests/ops/test_all.py::2", 1.0, 2),
        ("tests/kernels/test_pooling.py::1", 1.0, 8),
        ("tests/nn/test_layers.py::1", 1.0, 3),
    ]
    tests = [Test(name, seconds, frozenset(range(count))) for name, seconds, count in rows]

    def order(path):
        return [tests.index(test) for test in trial.in_turns(tests, path)]

    assert order("") == [1, 3, 2, 0]
    assert order("ext/kernels/pool_loops.pyx") == [2, 1, 3, 0]
    assert order("autograd_cy/nn/linear.py") == [3, 1, 2, 0]


def test_patience_is_time_of_processors_or_a_wait_in_which_nothing_happens(monkeypatch):
    clock = {"wall": 0.0, "spent": 0.0}
    monkeypatch.setattr(worker.time, "monotonic", lambda: clock["wall"])
    monkeypatch.setattr(worker, "seconds_of", lambda session: clock["spent"])
    for wall, spent, over in [
        (24, 24, False),
        (26, 26, True),
        (100, 20, False),  # on a busy machine
        (26, 0.1, True),  # at a lock
    ]:
        clock.update(wall=5.0, spent=7.0)
        watch = worker.Watch(1)
        clock.update(wall=5.0 + wall, spent=7.0 + spent)
        assert watch.is_over(25) == over, (wall, spent)


def test_time_of_a_session_is_that_of_all_its_processes():
    here = os.getsid(0)
    before = worker.seconds_of(here)
    assert before > 0
    assert worker.seconds_of(10**9) == 0
    busy = sum(range(10**6))
    assert busy and worker.seconds_of(here) >= before


@pytest.mark.parametrize("hangs", [True, False])
def test_a_test_that_hangs_does_not_hang_the_survey(monkeypatch, hangs):
    monkeypatch.setattr(worker, "LOOK", 0.01)
    monkeypatch.setattr(worker.Watch, "is_over", lambda *_: hangs)
    incoming, outgoing = os.pipe()
    until, never = os.pipe()
    pid = os.fork()
    if not pid:
        os.setsid()
        os.write(outgoing, b'[3, 0.1, "passed", []]\n[4, 0')
        if hangs:
            os.read(until, 1)
        os._exit(0)
    os.close(outgoing)
    select.select([incoming], [], [])  # until it has written
    found, hung = worker.Worker.read_rows(worker.Worker.__new__(worker.Worker), pid, incoming)
    assert found == [[3, 0.1, "passed", []]]
    assert hung == hangs
    os.close(until)
    os.close(never)


def test_the_command_tries_each_mutant_and_goes_on_from_its_notes(
    folder, runner, monkeypatch, tmp_path, capsys
):
    mutants = {
        number: Mutant(
            "code_.py",
            number,
            f"if x == {number}:",
            f"if x != {number}:",
            "condition",
            "== to !=",
            "code",
            number,
        )
        for number in (0, 1, 3, 4)
    }
    notes = tmp_path / "notes.json"
    words = ["--count", "9", "--seed", "1", "--folder", str(folder), "--json", str(notes)]
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setattr(command.places, "choose", lambda *_: [])
    monkeypatch.setattr(command.tree, "make", lambda folder, chosen: mutants)
    monkeypatch.setattr(command, "Runner", lambda *_: contextlib.nullcontext(runner))
    monkeypatch.setattr(command.equivalent, "reasons", lambda: {mutants[4].key: "value not read"})
    assert command.main(words) == 1
    said = capsys.readouterr().out
    assert "1 killed, 1 survived, 1 crashed, 1 equivalent" in said
    assert "2 of 3 killed" in said
    found = json.loads(notes.read_text())
    assert [found[mutants[n].key][0] for n in mutants] == [
        "killed", "survived", "crashed", "equivalent"
    ]  # fmt: skip
    monkeypatch.setattr(command, "try_mutant", lambda *_, **__: pytest.fail("is known already"))
    assert command.main(words) == 1
    monkeypatch.setattr(command, "try_mutant", lambda *_, **__: trial.Outcome("killed"))
    assert command.main([*words, "--again"]) == 0
    assert command.main([*words, "--again", "--first", "3", "--last", "4"]) == 0
    assert capsys.readouterr().out.endswith("1 of 1 killed\n")


class Scripted:
    """A runner whose tests end as a function of (names, number) says."""

    def __init__(self, outcome):
        self.outcome = outcome

    def run(self, tests, number, patience=None):
        names = [test.name for test in tests]
        for at in range(len(names)):
            if not self.outcome(names[: at + 1], number):
                return "failed", at
        return "passed", len(names)


def test_a_failure_that_comes_of_the_order_is_not_counted():
    tests = [Test(name, 0.1, frozenset([1])) for name in "abc"]
    disturbed = Scripted(lambda names, number: names != ["a", "b"])
    assert trial.search(disturbed, disturbed, tests, 1) is None
    flaky = Scripted(lambda names, number: names[-1] != "b")
    assert trial.search(flaky, flaky, tests, 1) is None
    real = Scripted(lambda names, number: number == -1 or "c" not in names)
    assert trial.search(real, real, tests, 1).where == "c"


def test_no_mutant_is_active_without_the_variable(monkeypatch):
    monkeypatch.delenv(runtime.VARIABLE, raising=False)
    names = {}
    exec(runtime.PYTHON, names)
    assert not any(names["_mutant"](number) for number in range(10))


def test_the_number_is_read_at_every_place(monkeypatch, tmp_path):
    page = runtime.Page(tmp_path / "page", make=True)
    monkeypatch.setenv(runtime.VARIABLE, str(tmp_path / "page"))
    names = {}
    exec(runtime.PYTHON, names)
    assert not names["_mutant"](3)
    page.number = 3
    assert names["_mutant"](3)
    assert not names["_mutant"](4)
    assert page.reached() == [3, 4]
    page.forget()
    assert page.reached() == []
    assert os.path.getsize(tmp_path / "page") == runtime.HEAD + runtime.PLACES
