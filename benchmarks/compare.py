"""Run cases on two libraries in turn and gather the rows.

One round of a case is: wait for quiet cores, samples of one side, a pause in which its threads fall
asleep, samples of the other. Sides take turns at going first.
"""

from __future__ import annotations

import json
import math
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.case import Case, Command
from benchmarks.digest import disagreement
from benchmarks.quiet import Cores
from benchmarks.side import Side
from benchmarks.summary import Measurement, Row, describe, quiet_rounds

_PAUSE = 0.04
# An installed library comes before a folder of the same name in the checkout.
_PATH = f"import sys; sys.path[:] = [*filter(None, sys.path), {str(Path(__file__).parents[1])!r}]\n"
_ROUNDS = 5


@dataclass(frozen=True)
class Settings:
    """The length of a measurement.

    Parameters
    ----------
    samples : int
        Samples per side and case.
    min_time : float
        Least seconds per sample.
    max_time : float
        About the most seconds per case; slow cases get fewer rounds.

    Examples
    --------
    >>> Settings(samples=15).plan(1e-3)
    (5, 3)
    """

    samples: int = 15
    min_time: float = 0.01
    max_time: float = 10.0

    def plan(self, seconds: float) -> tuple[int, int]:
        """Return the number of rounds and of samples per side in each.

        Parameters
        ----------
        seconds : float
            What one sample of each side takes together.

        Returns
        -------
        tuple of int
            At least two rounds of one sample, or the one sample that was asked for.
        """
        affordable = max(2, int(self.max_time / max(seconds, 1e-9)))
        samples = min(self.samples, affordable)
        rounds = min(_ROUNDS, samples)
        return rounds, math.ceil(samples / rounds)


class Comparison:
    """Run cases on a left and perhaps a right side.

    Parameters
    ----------
    left : Side
        The library under test.
    right : Side or None
        What it is compared with.
    settings : Settings
        How long to measure.
    cores : Cores
        Who tells whether the cores are quiet.

    Examples
    --------
    >>> import sys
    >>> with Side("math", sys.executable, 1, {}) as side:
    ...     comparison = Comparison(side, None, Settings(), Cores(0.0, 0.0, lambda: 0.0))
    ...     comparison.run("startup", Command("nothing", "print(0.5)")).status
    'alone'
    """

    def __init__(self, left: Side, right: Side | None, settings: Settings, cores: Cores) -> None:
        self._sides = [left] if right is None else [left, right]
        self._settings = settings
        self._cores = cores

    def run(self, group: str, case: Case | Command) -> Row:
        """Measure one case.

        Parameters
        ----------
        group : str
            Its group.
        case : Case or Command
            What to run.

        Returns
        -------
        Row
        """
        if isinstance(case, Command):
            return self._run_command(group, case)
        return self._run_case(group, case)

    def _run_case(self, group: str, case: Case) -> Row:
        row = Row(group, case.name, "ok", work=case.work, work_unit=case.unit)
        answers = []
        for side in self._sides:
            least = self._settings.min_time
            answers.append(side.ask(do="prepare", group=group, name=case.name, least=least))
            time.sleep(_PAUSE)
        counts = {n: answers[n]["count"] for n in self._sort_out(row, case, answers)}
        if counts:
            seconds = sum(answers[n]["estimate"] * count for n, count in counts.items())
            rounds, samples = self._settings.plan(seconds)
            self._measure(row, counts, rounds, lambda n: _samples_of(self._sides[n], samples))
        for side in self._sides:
            side.ask(do="drop")
        return row

    def _run_command(self, group: str, case: Command) -> Row:
        row = Row(group, case.name, "ok", unit=case.unit)
        counts = {
            number: 1
            for number, side in enumerate(self._sides)
            if case.only in (None, side.library.partition(".")[0])
        }
        if not counts:
            row.status, row.note = "missing", f"only for {case.only}"
            return row
        if len(counts) == 1:
            row.status = "alone"
        wanted = min(self._settings.samples, case.samples or self._settings.samples)
        rounds = min(_ROUNDS, wanted)
        samples = math.ceil(wanted / rounds)

        def take(number: int) -> list[float]:
            return [_run_code(case.code, self._sides[number]) for _ in range(samples)]

        self._measure(row, counts, rounds, take)
        return row

    def _sort_out(self, row: Row, case: Case, answers: list[dict[str, Any]]) -> list[int]:
        """Set the status of a row from the answers to ``prepare``; return the sides to measure."""
        bad = [number for number, answer in enumerate(answers) if answer["status"] != "ok"]
        if bad:
            library = self._sides[bad[0]].library
            row.status = answers[bad[0]]["status"]
            row.note = f"{library}: {answers[bad[0]]['note']}"
            return [number for number in range(len(answers)) if number not in bad]
        if len(answers) == 1:
            row.status = "alone"
            return [0]
        difference = disagreement(answers[0]["result"], answers[1]["result"], case.rtol)
        if difference:
            row.status, row.note = "WRONG", difference
        return [0, 1]

    def _measure(
        self, row: Row, counts: dict[int, int], rounds: int, take: Callable[[int], list[float]]
    ) -> None:
        """Take samples in turn and enter the statistics of each side into the row.

        ``counts`` gives the calls per sample of each side that takes part, by its number.
        """
        measured = {number: Measurement(count=count) for number, count in counts.items()}
        disturbed = []
        try:
            for turn in range(rounds):
                disturbed.append(not self._cores.wait_until_quiet())
                self._cores.start_round()
                for number in counts if turn % 2 == 0 else reversed(counts):
                    measured[number].samples.append(take(number))
                    time.sleep(_PAUSE)
                disturbed[-1] |= self._cores.was_disturbed()
        except _Failed as failure:
            row.status, row.note = "crash", str(failure)
            return
        row.rounds, row.disturbed = rounds, sum(disturbed)
        used = quiet_rounds(disturbed)
        for number, measurement in measured.items():
            setattr(row, ("left", "right")[number], describe(measurement, used))


class _Failed(Exception):
    """A worker or a command did not deliver its samples."""


def _samples_of(side: Side, samples: int) -> list[float]:
    answer = side.ask(do="sample", samples=samples)
    if answer["status"] != "ok":
        raise _Failed(f"{side.library}: {answer['note']}")
    return answer["samples"]


def _run_code(code: str, side: Side) -> float:
    """Run a command's code in a fresh interpreter and return the number it prints."""
    filled = code.replace("LIBRARY", side.library).replace("START", repr(time.monotonic()))
    done = subprocess.run(
        [side.python, "-c", _PATH + filled],
        check=False,
        env=side.environment,
        capture_output=True,
        text=True,
    )
    try:
        return max(float(json.loads(done.stdout.strip().splitlines()[-1])), 1e-10)
    except (IndexError, ValueError):
        tail = done.stderr.strip().splitlines()[-1:] or ["it printed nothing"]
        raise _Failed(f"{side.library}: {tail[0]}") from None


def run_all(
    comparison: Comparison,
    selected: Iterable[tuple[str, Case | Command]],
    report: Callable[[Row], None],
) -> list[Row]:
    """Run cases one after the other.

    Parameters
    ----------
    comparison : Comparison
        Who runs them.
    selected : iterable of (str, Case or Command)
        Groups and cases.
    report : callable
        Called with each row as it is ready.

    Returns
    -------
    list of Row

    Examples
    --------
    >>> run_all(None, [], print)
    []
    """
    rows = []
    for group, case in selected:
        rows.append(comparison.run(group, case))
        report(rows[-1])
    return rows
