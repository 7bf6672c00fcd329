"""Whether the tests notice one slip: those that reach it, until one fails because of it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.survey import Runner, Test

NOTICED = ("noticed", "crashed")
# A test that waits for ever ends a try; after so many the slip counts as "timed out".
PATIENCE = 3


@dataclass
class Outcome:
    """How a slip fared: "noticed", "crashed", "survived", "time was up", ..., and what saw it."""

    name: str
    where: str = ""

    def __post_init__(self):
        self.noticed = self.name in NOTICED


def in_turns(tests: list[Test]) -> list[Test]:
    """The quick ones first, and every file in its turn: each gets the same share of time."""
    spent: dict[str, float] = defaultdict(float)
    marks = {}
    for test in sorted(tests, key=lambda test: test.seconds):
        spent[test.file] += test.seconds
        marks[test.name] = spent[test.file]
    return sorted(tests, key=lambda test: marks[test.name])


def within(tests: list[Test], limit: float) -> list[Test]:
    """As many of the tests as the seconds allow."""
    for count, test in enumerate(tests):
        limit -= test.seconds
        if limit < 0:
            return tests[:count]
    return tests


def try_slip(
    runner: Runner, tests: list[Test], number: int, limit: float, patience: float = 25
) -> Outcome:
    """Run what reaches the slip, until a test fails; each has `patience` and more for its end."""
    reaching = in_turns([test for test in tests if number in test.reached])
    asked = within(reaching, limit)
    if not reaching:
        return Outcome("not reached")
    found = search(runner, runner, asked, number, patience)
    return found or unnoticed(asked, reaching)


def unnoticed(asked: list[Test], all_: list[Test]) -> Outcome:
    if len(asked) < len(all_):
        return Outcome("time was up", f"{len(asked)} of {len(all_)} tests")
    return Outcome("survived")


def try_import(
    folder: Path, runner: Runner, tests: list[Test], number: int, limit: float, environment=None
) -> Outcome:
    """A slip that is reached while the package is imported needs a process of its own."""
    reaching = [test for test in tests if number in test.reached]
    others = [test for test in tests if number not in test.reached]
    with Runner(folder, "imports", number, environment) as changed:
        if not changed.place:
            return Outcome("noticed", "import")
        wanted = [*in_turns(reaching), *in_turns(others)]
        asked = within([test for test in wanted if test.name in changed.place], limit)
        found = search(changed, runner, asked, number)
    return found or unnoticed(asked, wanted)


def search(
    changed: Runner, plain: Runner, tests: list[Test], number: int, patience: float = 25
) -> Outcome | None:
    """The test that notices; None if all pass. `plain` runs tests with no slip."""
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
            return Outcome("crashed" if outcome == "crashed" else "noticed", tests[at].name)
        tests = tests[at + 1 :]
    return Outcome("timed out", hung[0]) if hung else None


def is_its_fault(changed: Runner, plain: Runner, tests: list[Test], number: int) -> bool:
    """Whether the last test fails because of the slip, and not by chance or of those before it."""
    last = tests[-1]
    # Those of its file make what it may need; all would take as long as the search itself.
    for asked in ([last], [test for test in tests if test.file == last.file]):
        if changed.run(asked, number)[0] != "passed":
            return plain.run(asked, -1)[0] == "passed"
    return False
