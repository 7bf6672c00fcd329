"""Which test files reach which slip, and how long each takes: one quiet run of every file."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

PYTEST = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
# Tests of the build, of pages and of this command say nothing of the code.
NOT_ASKED = ("build", "docs", "benchmarks", "mutation", "fuzz")


@dataclass(frozen=True)
class TestFile:
    """A file of tests: seconds it took, and the numbers of the slips that it ran."""

    __test__ = False

    name: str
    seconds: float
    reached: frozenset[int]


def survey(folder: Path) -> list[TestFile]:
    """Run each test file of the changed tree with no slip active."""
    found = []
    for path in sorted((folder / "tests").rglob("test_*.py")):
        name = str(path.relative_to(folder))
        if name.split("/")[1] in NOT_ASKED:
            continue
        notes = folder / "build" / "reached.txt"
        notes.unlink(missing_ok=True)
        start = time.perf_counter()
        status = run(folder, [name], -1, 900, AUTOGRAD_CY_MUTANTS_REACHED=str(notes))
        seconds = time.perf_counter() - start
        if status not in ("survived", "empty"):
            print(f"{name} is left out: it fails without a slip", flush=True)
            continue
        numbers = notes.read_text().split() if notes.exists() else []
        found.append(TestFile(name, seconds, frozenset(map(int, numbers))))
    return found


def run(folder: Path, names: list[str], number: int, limit: float, **variables) -> str:
    """How the test files end with one slip: "survived", "noticed", "crashed", "timed out"."""
    environment = os.environ | {"AUTOGRAD_CY_MUTANT": str(number), **variables}
    process = subprocess.Popen(
        [*PYTEST, *names], cwd=folder, env=environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        status = process.wait(limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
        return "timed out"
    outcomes = {0: "survived", 1: "noticed", 5: "empty"}
    return outcomes.get(status, "crashed" if status < 0 else "noticed")
