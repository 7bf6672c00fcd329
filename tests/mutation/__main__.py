"""The command: `python -m tests.mutation --count 150 --seed 1`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

from tests.mutation import slips as places
from tests.mutation import tree
from tests.mutation.survey import Runner, survey
from tests.mutation.trial import Outcome, try_import, try_slip

# Survivors that are no fault, each with its reason: `key | reason`.
EXCUSED = Path(__file__).with_name("harmless.txt")


def arguments(words=None):
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--count", type=int, default=150, help="slips of each seed")
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
        "--limit", type=float, default=300, help="processor seconds of tests for one slip"
    )
    parser.add_argument(
        "--json", type=Path, help="write all outcomes here, and go on from those noted already"
    )
    parser.add_argument(
        "--again", action="store_true", help="try those once more that --json has as unnoticed"
    )
    parser.add_argument(
        "--excused",
        action="store_true",
        help="try those of harmless.txt instead, of which a test is to notice none",
    )
    options = parser.parse_args(words)
    options.folder = options.folder.resolve()  # the tests run in it
    return options


def harmless() -> dict[str, str]:
    """{key of a slip: why nobody can notice it}."""
    lines = EXCUSED.read_text().splitlines() if EXCUSED.exists() else []
    pairs = (line.rpartition(" | ") for line in lines if line and not line.startswith("#"))
    return {key: reason for key, _, reason in pairs}


def all_excused() -> list[places.Slip]:
    """The slips that harmless.txt excuses, in the order of the sources."""
    keys = set(harmless())
    names = {key.partition(": ")[0] for key in keys}
    found: dict[str, places.Slip] = {}
    for path in sorted(tree.sources()):
        name = str(path.relative_to(tree.ROOT))
        if name in names:
            for slip in places.find(name, path.read_text()):
                if slip.key in keys:
                    found.setdefault(slip.key, slip)
    return list(found.values())


def known(path: Path | None, again: bool) -> dict[str, Outcome]:
    """What an earlier command with the same --json found."""
    if path is None or not path.exists():
        return {}
    found = {key: Outcome(*row) for key, row in json.loads(path.read_text()).items()}
    settled = {key: o for key, o in found.items() if o.name != "to be imported"}
    return {key: outcome for key, outcome in settled.items() if outcome.noticed or not again}


def main(words=None) -> int:
    options = arguments(words)
    chosen: list[places.Slip] = all_excused() if options.excused else []
    for seed in [] if options.excused else options.seed or [int(time.time())]:
        start = len(chosen)
        chosen += places.choose(tree.sources(), tree.ROOT, options.count, seed, chosen)
        print(f"seed {seed}: slips {start} to {len(chosen) - 1}", flush=True)
    slips = tree.make(options.folder, dict(enumerate(chosen)))
    asked = slice(options.first, options.last)
    slips = {number: slips[number] for number in sorted(slips) if number in range(10**6)[asked]}
    excused = {} if options.excused else harmless()
    before = known(options.json, options.again)
    outcomes = {}
    with Runner(options.folder, "tests") as runner:
        tests = survey(options.folder, runner)
        if not tests:
            raise SystemExit(f"no test passes without a slip: see {options.folder}/build/tests.log")
        print(f"{len(tests)} tests, {sum(test.seconds for test in tests):.0f} s", flush=True)

        def note(number, outcome):
            outcomes[number] = outcome
            print(f"{number:4d} {outcome.name:11s} {slips[number].key}", flush=True)
            if options.json:
                found = {slips[n].key: [o.name, o.where] for n, o in outcomes.items()}
                rows = {key: [o.name, o.where] for key, o in before.items()} | found
                options.json.write_text(json.dumps(rows, indent=1))

        hidden = []  # what modules made before the slip was there may have hidden it
        for number, slip in slips.items():
            if slip.key in excused:
                note(number, Outcome("harmless", excused[slip.key]))
            elif slip.key in before:
                outcomes[number] = before[slip.key]
            else:
                outcome = try_slip(runner, tests, number, options.limit, path=slip.path)
                if number in runner.imported and not outcome.noticed:
                    hidden.append(number)
                    outcome = Outcome("to be imported", outcome.where)
                note(number, outcome)
        for number in hidden:  # last, as each collects all tests anew
            path = slips[number].path
            seen = try_import(options.folder, runner, tests, number, options.limit, path=path)
            note(number, seen)
    return wrongly(slips, outcomes) if options.excused else report(slips, outcomes)


def wrongly(slips, outcomes) -> int:
    """Print the lines of harmless.txt that a test contradicts; 1 if there are any."""
    noticed = [number for number in outcomes if outcomes[number].noticed]
    print("\nNoticed, so not harmless:" if noticed else "\nNone was noticed.")
    for number in noticed:
        print(f"  {slips[number].key}\n    {outcomes[number].where}")
    print(f"{len(noticed)} of {len(outcomes)} noticed")
    return 1 if noticed else 0


def report(slips, outcomes) -> int:
    """Print what nobody noticed, and the counts; 1 if anything was unnoticed."""
    counts = Counter(outcome.name for outcome in outcomes.values())
    unnoticed = [
        number
        for number, outcome in outcomes.items()
        if not outcome.noticed and outcome.name != "harmless"
    ]
    print("\nNot noticed:" if unnoticed else "\nAll were noticed.")
    for number in unnoticed:
        slip, outcome = slips[number], outcomes[number]
        where = f"; {outcome.where}" if outcome.where else ""
        print(f"  {slip.path}:{slip.line + 1}, {slip.place} ({outcome.name}{where})")
        print(f"    {slip.before}\n    {slip.after or 'pass'}")
    total = sum(counts.values()) - counts["harmless"]
    print(", ".join(f"{count} {name}" for name, count in counts.most_common()))
    print(f"{total - len(unnoticed)} of {total} noticed")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
