"""The tests that reach each mutant, and their times: one quiet run, kept between commands.

A test file is run again once it, a helper of the tests or the changed tree differs.
"""

from __future__ import annotations

import hashlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.runtime import VARIABLE, Page
from tests.mutation.worker import LOOK, PIPES, Watch

PYTEST = [
    sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist",
    "-p", "tests.mutation.worker", "--apart",
]  # fmt: skip
# Tests of the build and of commands say nothing of the code.
NOT_ASKED = ("build", "benchmarks", "codegen", "mutation", "fuzz", "typing")

SECONDS_KEPT = 30  # what a survey that is ended loses
COLLECTING = 150.0  # seconds of a processor: what takes longer hangs at its import


@dataclass(frozen=True)
class Test:
    """One test: seconds of a processor it took, and the numbers of the mutants that it reached."""

    __test__ = False

    name: str
    seconds: float
    reached: frozenset[int]

    @property
    def file(self) -> str:
        return self.name.partition("::")[0]


class Runner:
    """A pytest process that has collected the tests of the changed tree and runs those asked."""

    def __init__(self, folder: Path, name: str, number: int = -1, environment=None):
        path = folder / "build" / f"{name}.page"
        path.parent.mkdir(exist_ok=True)
        self.page = Page(path, make=True)
        self.page.number = number
        theirs, ours = os.pipe(), os.pipe()
        with (folder / "build" / f"{name}.log").open("w") as log:
            self.process = subprocess.Popen(
                [*PYTEST, *files(folder)], cwd=folder, pass_fds=(theirs[0], ours[1]),
                # A build for baseline machines leaves products to SciPy, if it is let.
                env={"AUTOGRAD_CY_BLAS": "own"} | os.environ | (environment or {})
                | {VARIABLE: str(path), PIPES: f"{theirs[0]},{ours[1]}"},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        os.close(theirs[0])
        os.close(ours[1])
        self.requests, self.answers = os.fdopen(theirs[1], "w"), os.fdopen(ours[0])
        hello = self.hello() or {"tests": [], "imported": []}
        self.place = {name: place for place, name in enumerate(hello["tests"])}
        self.imported = frozenset(hello["imported"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.requests.close()
        self.answers.close()
        self.process.wait()

    def hello(self) -> dict | None:
        """Return the first message of the process; None if it has ended, or was ended as it took
        too long."""
        watch = Watch(self.process.pid)
        while not select.select([self.answers], [], [], LOOK)[0]:
            if watch.is_over(COLLECTING):
                os.killpg(self.process.pid, signal.SIGKILL)
                break
        return self.read()

    def read(self) -> dict | None:
        """The next answer; None if the process has ended."""
        line = self.answers.readline()
        return json.loads(line) if line else None

    def ask(self, **request) -> dict:
        self.requests.write(json.dumps(request) + "\n")
        self.requests.flush()
        answer = self.read()
        if answer is None:
            raise SystemExit("the process of the tests has ended; see its log in build/")
        return answer

    def run(self, tests: list[Test], number: int, patience: float = 25) -> tuple[str, int]:
        """Run tests until one fails; how that ended, and where in the list."""
        answer = self.ask(
            tests=[self.place[test.name] for test in tests],
            number=number,
            patience=[patience + 20 * test.seconds for test in tests],
        )
        return answer["outcome"], answer["at"]


def files(folder: Path) -> list[str]:
    """The test files that are asked."""
    found = sorted((folder / "tests").rglob("test_*.py"))
    names = [path.relative_to(folder) for path in found]
    return [str(name) for name in names if name.parts[1] not in NOT_ASKED]


def survey(folder: Path, runner: Runner) -> list[Test]:
    """Run each test of the changed tree with no mutant active, unless that is known."""
    store = folder / "build" / "survey.json"
    known = json.loads(store.read_text()) if store.exists() else {}
    tree, found, kept = digest(folder), [], {}
    by_file: dict[str, list[int]] = {}
    for name, place in runner.place.items():
        by_file.setdefault(name.partition("::")[0], []).append(place)
    names, written = list(runner.place), time.monotonic()
    for file, places in by_file.items():
        key = hashlib.sha1(tree + (folder / file).read_bytes()).hexdigest()
        rows = known.get(key)
        if rows is None:
            answer = runner.ask(tests=places, number=-1, notes=True)
            rows = [[names[place], *row] for place, *row in answer["rows"]]
            for name, _, outcome, *_ in rows:
                if outcome in ("failed", "crashed", "hung"):
                    print(f"{name} is left out: it {outcome} without a mutant", flush=True)
            rows = [[name, seconds, reached] for name, seconds, end, reached, _ in rows
                    if end == "passed"]  # fmt: skip
            kept[key] = rows
            if time.monotonic() > written + SECONDS_KEPT:  # all of it, which is long
                store.write_text(json.dumps(known | kept))
                written = time.monotonic()
        kept[key] = rows
        found += [Test(name, seconds, frozenset(reached)) for name, seconds, reached in rows]
    store.write_text(json.dumps(kept))
    return found


def digest(folder: Path) -> bytes:
    """Name the changed tree, with what helps its tests and without the tests themselves."""
    found = hashlib.sha1()
    for part in ("autograd_cy", "ext", "tests"):
        for path in sorted((folder / part).rglob("*.p*")):
            inside = path.suffix in (".py", ".pyx", ".pxi", ".pxd") and path.name[:5] != "test_"
            if inside and "mutation" not in path.relative_to(folder).parts:
                found.update(str(path).encode() + path.read_bytes())
    return found.digest()
