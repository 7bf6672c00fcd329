"""The command: `python -m tests.mutation --count 150 --seed 1`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

from tests.mutation import equivalent, recorded, tree
from tests.mutation import mutants as places
from tests.mutation.survey import Runner, survey
from tests.mutation.trial import Outcome, try_import, try_mutant


def arguments(words=None):
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--count", type=int, default=150, help="mutants of each seed")
    parser.add_argument(
        "--seed",
        type=int,
        nargs="+",
        default=None,
        help="which; several are built at once; the time by default",
    )
    parser.add_argument("--first", type=int, default=0, help="the first to try")
    parser.add_argument("--last", type=int, default=None, help="the first not to try any more")
    parser.add_argument("--folder", type=Path, default=tree.ROOT / "build" / "mutants")
    parser.add_argument(
        "--limit", type=float, default=300, help="processor seconds of tests for one mutant"
    )
    parser.add_argument(
        "--json", type=Path, help="write all outcomes here, and go on from those noted already"
    )
    parser.add_argument(
        "--again", action="store_true", help="try the survivors of --json once more"
    )
    parser.add_argument(
        "--equivalent",
        action="store_true",
        help="try those of equivalent.csv instead, of which a test is to kill none",
    )
    parser.add_argument(
        "--check-list", action="store_true", help="say what is wrong with equivalent.csv, and end"
    )
    parser.add_argument(
        "--recorded",
        action="store_true",
        help="try each mutant on the recorded calls and on the other tests",
    )
    options = parser.parse_args(words)
    options.folder = options.folder.resolve()  # the tests run in it
    return options


def known(path: Path | None, again: bool) -> dict[str, Outcome]:
    """Return the outcomes that an earlier command with the same --json wrote."""
    if path is None or not path.exists():
        return {}
    found = {key: Outcome(*row) for key, row in json.loads(path.read_text()).items()}
    settled = {key: o for key, o in found.items() if o.name != "to be imported"}
    return {key: outcome for key, outcome in settled.items() if outcome.killed or not again}


def main(words=None) -> int:
    options = arguments(words)
    if options.check_list:
        return check_list()
    if options.recorded:
        return recorded.main(options)
    chosen: list[places.Mutant] = equivalent.mutants() if options.equivalent else []
    for seed in [] if options.equivalent else options.seed or [int(time.time())]:
        start = len(chosen)
        chosen += places.choose(tree.sources(), tree.ROOT, options.count, seed, chosen)
        print(f"seed {seed}: mutants {start} to {len(chosen) - 1}", flush=True)
    mutants = tree.make(options.folder, dict(enumerate(chosen)))
    asked = slice(options.first, options.last)
    mutants = {
        number: mutants[number] for number in sorted(mutants) if number in range(10**6)[asked]
    }
    reasons = {} if options.equivalent else equivalent.reasons()
    before = known(options.json, options.again)
    outcomes = {}
    with Runner(options.folder, "tests") as runner:
        tests = survey(options.folder, runner)
        if not tests:
            raise SystemExit(
                f"no test passes without a mutant: see {options.folder}/build/tests.log"
            )
        print(f"{len(tests)} tests, {sum(test.seconds for test in tests):.0f} s", flush=True)

        def note(number, outcome):
            outcomes[number] = outcome
            print(f"{number:4d} {outcome.name:11s} {mutants[number].key}", flush=True)
            if options.json:
                found = {mutants[n].key: [o.name, o.where] for n, o in outcomes.items()}
                rows = {key: [o.name, o.where] for key, o in before.items()} | found
                options.json.write_text(json.dumps(rows, indent=1))

        hidden = []  # what modules made before the mutant was there may have hidden it
        for number, mutant in mutants.items():
            if mutant.key in reasons:
                note(number, Outcome("equivalent", reasons[mutant.key]))
            elif mutant.key in before:
                outcomes[number] = before[mutant.key]
            else:
                outcome = try_mutant(runner, tests, number, options.limit, path=mutant.path)
                if number in runner.imported and not outcome.killed:
                    hidden.append(number)
                    outcome = Outcome("to be imported", outcome.where)
                note(number, outcome)
        for number in hidden:  # last, as each collects all tests anew
            path = mutants[number].path
            seen = try_import(options.folder, runner, tests, number, options.limit, path=path)
            note(number, seen)
    return report_equivalent(mutants, outcomes) if options.equivalent else report(mutants, outcomes)


def check_list() -> int:
    """Print what is wrong with equivalent.csv; 1 if anything is."""
    faults = equivalent.faults()
    print("\n".join([*faults, f"{len(faults)} faults, {len(equivalent.reasons())} mutants"]))
    return 1 if faults else 0


def report_equivalent(mutants, outcomes) -> int:
    """Print the mutants of equivalent.csv that a test kills; 1 if there are any."""
    killed = [number for number in outcomes if outcomes[number].killed]
    print("\nKilled, so not equivalent:" if killed else "\nNone was killed.")
    for number in killed:
        print(f"  {mutants[number].key}\n    {outcomes[number].where}")
    print(f"{len(killed)} of {len(outcomes)} killed")
    return 1 if killed else 0


def report(mutants, outcomes) -> int:
    """Print the survivors, and the counts; 1 if there are survivors."""
    counts = Counter(outcome.name for outcome in outcomes.values())
    survivors = [
        number
        for number, outcome in outcomes.items()
        if not outcome.killed and outcome.name != "equivalent"
    ]
    print("\nSurvivors:" if survivors else "\nAll were killed.")
    for number in survivors:
        mutant, outcome = mutants[number], outcomes[number]
        where = f"; {outcome.where}" if outcome.where else ""
        print(f"  {mutant.path}:{mutant.line + 1} ({outcome.name}{where})")
        print(f"    {mutant.function}: {mutant.operator}, {mutant.ordinal}")
        print(f"    {mutant.before}\n    {mutant.after or 'pass'}")
    total = sum(counts.values()) - counts["equivalent"]
    print(", ".join(f"{count} {name}" for name, count in counts.most_common()))
    print(f"{total - len(survivors)} of {total} killed")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
