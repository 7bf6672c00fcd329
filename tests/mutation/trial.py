"""Try one mutant: run the tests that reach it, until one fails because of it."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.survey import Runner, Test

KILLED = ("killed", "crashed")
# A test that waits for ever ends a try; after so many the mutant counts as "timed out".
PATIENCE = 3
LEAST = 0.002  # seconds that pytest takes for a test
NEAR = 3  # how many times likelier a test is to kill for each word that its path has in common
NO_NAMES = {"", "autograd", "cy", "ext", "tests", "test", "py", "pyx", "pxi"}


@dataclass
class Outcome:
    """The outcome of a mutant: "killed", "crashed", "survived", "time was up", ..., and the test
    that saw it."""

    name: str
    where: str = ""

    def __post_init__(self):
        self.killed = self.name in KILLED


def in_turns(tests: list[Test], path: str = "") -> list[Test]:
    """
    Sort tests: first those that are likely to kill a mutant of `path` for the time they take.

    These are the quick ones, those that reach few mutants, as they look at little else, and those
    whose folder and file have words of the path in their names. Every file has its turn: what is
    spent on one counts against the rest of it.
    """
    near = words(path)
    spent: dict[str, float] = defaultdict(float)
    marks = {}
    for test in sorted(tests, key=cost):
        spent[test.file] += cost(test)
        marks[test.name] = spent[test.file] / NEAR ** len(near & words(test.file))
    return sorted(tests, key=lambda test: marks[test.name])


def cost(test: Test) -> float:
    return (test.seconds + LEAST) * (1 + len(test.reached))


def words(path: str) -> set[str]:
    """The beginnings of the words in a path: `pool_loops` and `test_pooling` have one in common."""
    return {word[:4] for word in re.split(r"[/_.]", path) if word not in NO_NAMES}


def within(tests: list[Test], limit: float) -> list[Test]:
    """Choose as many of the tests as the seconds allow."""
    for count, test in enumerate(tests):
        limit -= test.seconds
        if limit < 0:
            return tests[:count]
    return tests


def try_mutant(
    runner: Runner,
    tests: list[Test],
    number: int,
    limit: float,
    patience: float = 25,
    path: str = "",
) -> Outcome:
    """Run what reaches the mutant, until a test fails; each has `patience` and more for its end."""
    reaching = in_turns([test for test in tests if number in test.reached], path)
    asked = within(reaching, limit)
    if not reaching:
        return Outcome("not reached")
    found = search(runner, runner, asked, number, patience)
    return found or survivors(asked, reaching)


def survivors(asked: list[Test], all_: list[Test]) -> Outcome:
    if len(asked) < len(all_):
        return Outcome("time was up", f"{len(asked)} of {len(all_)} tests")
    return Outcome("survived")


def try_import(
    folder: Path,
    runner: Runner,
    tests: list[Test],
    number: int,
    limit: float,
    environment=None,
    path: str = "",
) -> Outcome:
    """A mutant that is reached while the package is imported needs a process of its own."""
    reaching = [test for test in tests if number in test.reached]
    others = [test for test in tests if number not in test.reached]
    with Runner(folder, "imports", number, environment) as changed:
        if not changed.place:
            return Outcome("killed", "import")
        wanted = [*in_turns(reaching, path), *in_turns(others, path)]
        asked = within([test for test in wanted if test.name in changed.place], limit)
        found = search(changed, runner, asked, number)
    return found or survivors(asked, wanted)


def search(
    changed: Runner, plain: Runner, tests: list[Test], number: int, patience: float = 25
) -> Outcome | None:
    """Find the test that kills; None if all pass. `plain` runs tests with no mutant."""
    hung = []
    while tests:
        outcome, at = changed.run(tests, number, patience)
        if outcome == "passed":
            break
        if outcome == "hung":
            hung.append(tests[at].name)
            if len(hung) == PATIENCE:
                break
        elif is_its_fault(changed, plain, tests[: at + 1], number):
            return Outcome("crashed" if outcome == "crashed" else "killed", tests[at].name)
        tests = tests[at + 1 :]
    return Outcome("timed out", hung[0]) if hung else None


def is_its_fault(changed: Runner, plain: Runner, tests: list[Test], number: int) -> bool:
    """Tell if the last test fails because of the mutant, not by chance or those before it."""
    last = tests[-1]
    # Those of its file make what it may need; all would take as long as the search itself.
    for asked in ([last], [test for test in tests if test.file == last.file]):
        if changed.run(asked, number)[0] != "passed":
            return plain.run(asked, -1)[0] == "passed"
    return False
