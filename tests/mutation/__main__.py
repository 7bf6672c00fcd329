"""The command: `python -m tests.mutation --count 150 --seed 1`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

from tests.mutation import slips as places
from tests.mutation import survey as tests
from tests.mutation import tree

# Survivors that are no fault, each with its reason: `key | reason`.
EXCUSED = Path(__file__).with_name("harmless.txt")


def arguments(words=None):
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--count", type=int, default=150, help="slips to try")
    parser.add_argument("--seed", type=int, default=None, help="which; the time by default")
    parser.add_argument("--folder", type=Path, default=tree.ROOT / "build" / "mutants")
    parser.add_argument("--limit", type=float, default=300, help="seconds of tests for one slip")
    parser.add_argument("--json", type=Path, help="write all outcomes here")
    return parser.parse_args(words)


def harmless() -> dict[str, str]:
    """{key of a slip: why nobody can notice it}."""
    lines = EXCUSED.read_text().splitlines() if EXCUSED.exists() else []
    pairs = (line.rpartition(" | ") for line in lines if line and not line.startswith("#"))
    return {key: reason for key, _, reason in pairs}


def try_slip(folder, number, files, limit) -> tuple[str, str]:
    """(outcome, where) of one slip: files that reach it, the quickest first, until one fails."""
    reaching = sorted((f for f in files if number in f.reached), key=lambda f: f.seconds)
    if not reaching:
        return "not reached", ""
    left = limit
    # Quick files share a process; each of the slow ones has its own.
    quick = [f for f in reaching if f.seconds < 4][:25]
    for batch in [quick, *([f] for f in reaching if f not in quick)]:
        if not batch or left <= 0:
            continue
        start = time.perf_counter()
        patience = 20 + 4 * sum(f.seconds for f in batch)
        outcome = tests.run(folder, [f.name for f in batch], number, patience)
        left -= time.perf_counter() - start
        if outcome != "survived":
            return outcome, batch[0].name if len(batch) == 1 else "quick files"
    return "survived", "" if left > 0 else "time was up"


def main() -> int:
    options = arguments()
    seed = int(time.time()) if options.seed is None else options.seed
    chosen = places.choose(tree.sources(), tree.ROOT, options.count, seed)
    print(f"seed {seed}: {len(chosen)} slips", flush=True)
    slips = tree.make(options.folder, dict(enumerate(chosen)))
    files = tests.survey(options.folder)
    excused, outcomes = harmless(), {}
    for number, slip in slips.items():
        if slip.key in excused:
            outcomes[number] = ("harmless", excused[slip.key])
            continue
        outcomes[number] = try_slip(options.folder, number, files, options.limit)
        print(f"{number:4d} {outcomes[number][0]:11s} {slip.key}", flush=True)
    if options.json:
        rows = {slips[n].key: [slips[n].line + 1, *outcomes[n]] for n in slips}
        options.json.write_text(json.dumps(rows, indent=1))
    return report(slips, outcomes)


def report(slips, outcomes) -> int:
    """Print what nobody noticed, and the counts; 1 if anything was unnoticed."""
    counts = Counter(outcome for outcome, _ in outcomes.values())
    unnoticed = [
        n for n, (outcome, _) in outcomes.items() if outcome in ("survived", "not reached")
    ]
    print("\nNot noticed:" if unnoticed else "\nAll were noticed.")
    for number in unnoticed:
        slip = slips[number]
        print(f"  {slip.path}:{slip.line + 1} ({outcomes[number][0]})")
        print(f"    {slip.before}\n    {slip.after or 'pass'}")
    total = sum(counts.values()) - counts["harmless"]
    print(", ".join(f"{count} {name}" for name, count in counts.most_common()))
    print(f"{total - len(unnoticed)} of {total} noticed")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
