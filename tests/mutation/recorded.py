"""Compare the recorded calls with all other tests: mutants that only recorded calls kill.

    python -m tests.mutation --recorded --count 500 --seed 1 --limit 30 --json build/recorded.json

For each mutant, files of recorded calls that reach it run, first those near it. If a call fails,
the other tests run until one of them fails, too; if none does, the remaining recorded calls run.
The JSON file has what was seen of each mutant, and a command that was ended continues there. At the
end mutants of formulas of the operator table are sampled: those are tried on the samples of their
records, as the test of all formulas does.
"""

from __future__ import annotations

import ast
import json
import random
import re
import sys
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.mutation import equivalent, tree
from tests.mutation.mutants import Mutant, choose
from tests.mutation.survey import Runner, Test, survey
from tests.mutation.trial import KILLED, in_turns, try_mutant, within
from tests.recorded.recorded import find_calls

RECORDED = "tests/recorded/test_recorded.py"
CALLS = tree.ROOT / "tests" / "recorded" / "calls"
# What they compute is no subject of recorded calls.
LEFT_OUT = ("cuda", "codegen", "build")
FIRST = 1.0  # seconds of recorded calls after which a kill is enough
FORMULAS = 0.2  # mutants of formulas for each mutant of code


@dataclass
class Comparison:
    """The recorded calls that kill a mutant, by file, and how it went with the other tests."""

    calls: dict[str, list[str]] = field(default_factory=dict)
    others: str = "not tried"
    where: str = ""

    @property
    def recorded(self) -> bool:
        """Tell if a recorded call kills the mutant."""
        return bool(self.calls)

    @property
    def only_recorded(self) -> bool:
        return self.recorded and self.others not in KILLED


def sources() -> list[Path]:
    """The sources whose mutants recorded calls can kill."""
    parts = [path.relative_to(tree.ROOT).parts for path in tree.sources()]
    return [tree.ROOT.joinpath(*names) for names in parts if names[1] not in LEFT_OUT]


def compare(runner: Runner, tests: list[Test], mutant: Mutant, number: int, limit: float):
    """Run the recorded calls that reach a mutant; where one fails, the other tests, too."""
    reaching = [test for test in tests if number in test.reached]
    recorded = [test for test in reaching if test.file == RECORDED]
    others = [test for test in reaching if test.file != RECORDED]
    recorded = within(in_turns(recorded, mutant.path), limit)
    first = within(recorded, FIRST)
    rest = recorded[len(first) :]
    calls = failing_calls(runner, first, number)
    if not calls:
        calls, rest = failing_calls(runner, rest, number), []
    comparison = Comparison(calls)
    if comparison.recorded:
        seen = try_mutant(runner, others, number, limit, path=mutant.path)
        comparison.others, comparison.where = seen.name, seen.where
        if comparison.only_recorded:  # then all of them count
            comparison.calls |= failing_calls(runner, rest, number)
    elif number in runner.imported:
        comparison.others = "reached by the import"  # which may have hidden it
    elif not recorded:
        comparison.others = "not reached"
    return comparison


def failing_calls(runner: Runner, tests: list[Test], number: int) -> dict[str, list[str]]:
    """{file: keys of its calls that fail with a mutant}; all of a file whose process ends."""
    if not tests:
        return {}
    places = [runner.place[test.name] for test in tests]
    rows = runner.ask(tests=places, number=number, notes=True)["rows"]
    found = {}
    for test, (_, _, outcome, _, failure) in zip(tests, rows, strict=True):
        if outcome in ("failed", "crashed"):
            file = re.search(r"\[(\w+)-(\w+)\]", test.name)
            calls = re.findall(r"^call: (.*)$", failure, re.M)
            found["/".join(file.groups())] = calls or [outcome]
    return found


def sections(file: str) -> dict[str, str]:
    """{key of a call: the comment above it} of a file such as "core/views"."""
    text = (CALLS / f"{file}.py").read_text()
    lines, title, titles = text.splitlines(), "", []
    for above, line in zip(["", *lines], lines, strict=False):
        if line.startswith("#") and not above.startswith("#"):
            title = line.strip("# ")
        titles.append(title)
    return {call.key: titles[call.line - 1] for call in find_calls(text, ast.parse(text).body)}


def known(path: Path | None) -> dict[str, Comparison]:
    """Return what an earlier command with the same --json wrote."""
    if path is None or not path.exists():
        return {}
    return {key: Comparison(**row) for key, row in json.loads(path.read_text()).items()}


def main(options) -> int:
    mutants = chosen(options)
    mutants = tree.make(options.folder, mutants)
    before, seen = known(options.json), {}
    wanted = range(10**6)[options.first : options.last]
    with Runner(options.folder, "tests") as runner:
        tests = survey(options.folder, runner)
        for number in sorted(set(mutants) & set(wanted)):
            mutant = mutants[number]
            comparison = before.get(mutant.key)
            if comparison is None:
                comparison = compare(runner, tests, mutant, number, options.limit)
                print(f"{number:4d} {line_of(comparison)}  {mutant.key}", flush=True)
            seen[mutant.key] = comparison
            if options.json:
                rows = {key: asdict(row) for key, row in (before | seen).items()}
                options.json.write_text(json.dumps(rows, indent=1))
    report(seen)
    report_formulas(int(FORMULAS * len(seen)), (options.seed or [0])[0])
    return 0


def chosen(options) -> dict[int, Mutant]:
    """The mutants of all seeds by number, without those that no test can kill."""
    found: list[Mutant] = []
    for seed in options.seed or [0]:
        found += choose(sources(), tree.ROOT, options.count, seed, found)
    reasons = equivalent.reasons()
    return {n: mutant for n, mutant in enumerate(found) if mutant.key not in reasons}


def line_of(comparison: Comparison) -> str:
    count = sum(map(len, comparison.calls.values()))
    return f"{count:4d} calls, others: {comparison.others} {comparison.where}"


# --- figures ----------------------------------------------------------------------------------


def report(seen: dict[str, Comparison]) -> None:
    """Print the figures by parts of the sources and by files of calls."""
    print("\n| part | mutants | killed by recorded calls | by other tests, too | by no other |")
    print("| --- | --- | --- | --- | --- |")
    rows: dict[str, Counter[str]] = {}
    for key, comparison in seen.items():
        part = key.split("/")[1] if key.startswith("ext/") else "python"
        for name in (part, "all"):
            row = rows.setdefault(name, Counter())
            row["mutants"] += 1
            row["recorded"] += comparison.recorded
            row["only"] += comparison.only_recorded
    for name in sorted(rows, key=lambda name: (name == "all", name)):
        row = rows[name]
        shared = row["recorded"] - row["only"]
        print(f"| {name} | {row['mutants']} | {row['recorded']} | {shared} | {row['only']} |")
    report_files(seen)


def report_files(seen: dict[str, Comparison]) -> None:
    """Print for each file of calls how many mutants it kills, and those that only it kills."""
    killed: Counter[str] = Counter()
    only: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    for comparison in seen.values():
        killed.update(list(comparison.calls))
        if comparison.only_recorded:
            only.update(list(comparison.calls))
            alone.update(list(comparison.calls) if len(comparison.calls) == 1 else [])
    print("\n| file | calls | mutants killed | by recorded calls only | by this file only |")
    print("| --- | --- | --- | --- | --- |")
    for path in sorted(CALLS.rglob("*.py")):
        file = path.relative_to(CALLS).with_suffix("").as_posix()
        count = len(sections(file))
        print(f"| {file} | {count} | {killed[file]} | {only[file]} | {alone[file]} |")
    print("\nKilled by recorded calls only:")
    for key, comparison in seen.items():
        if comparison.only_recorded:
            print(f"  {key} (others: {comparison.others} {comparison.where})")
            for file, calls in comparison.calls.items():
                title = sections(file).get(calls[0], "")
                print(f"    {file}, {title!r}: {len(calls)} calls, {calls[0]}")


def report_formulas(count: int, seed: int) -> None:
    """Print how many mutants of formulas the samples of their records show."""
    sys.path.append(str(tree.ROOT / "tests" / "ops"))
    import mutations

    every = [(site, text) for site in mutations.sites() for _, text in mutations.mutants(site)]
    some = random.Random(seed).sample(every, min(count, len(every)))
    survivors = [(site.id, text) for site, text in some if not mutations.noticed(site, text)]
    print(
        f"\n{len(some)} of {len(every)} mutants of formulas: {len(some) - len(survivors)} noticed"
    )
    for name, text in survivors:
        print(f"  {name}: {text}")
