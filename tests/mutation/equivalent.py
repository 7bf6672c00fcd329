"""The mutants that no test can kill, each with a reason: equivalent.csv.

A row names mutants of one operator in one function by their places there: `1 3` are the first and
the third. So a line that moves or is rewritten changes no row. A mutant that is added before
others moves their places: `python -m tests.mutation --equivalent` tries all of the list, and
`--check-list` finds the places that are gone.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from tests.mutation import tree
from tests.mutation.mutants import Mutant, find

LIST = Path(__file__).with_name("equivalent.csv")
#: Reason -> its meaning. `other` needs a note.
REASONS = {
    "speed only": "more or less work, or shared among threads otherwise, for the same result",
    "rounding only": "the same sums in another order",
    "allocation size": "more memory than is used, or elsewhere",
    "read as a sign or truth value": "the reader only compares it with zero",
    "equal values": "both sides are equal where they are exchanged",
    "nothing left to do": "there is no element left, or a single one",
    "same result by another path": "a general path does the work of a special one",
    "value not read": "nothing reads the value in this case",
    "unreachable": "a check before refuses the case, or no machine has it",
    "time or random numbers": "the value is drawn or measured",
    "other": "as the note says",
}


def rows() -> Iterator[dict[str, str]]:
    with LIST.open(newline="") as file:
        yield from csv.DictReader(file)


def reasons() -> dict[str, str]:
    """{key of a mutant: why no test can kill it}."""
    known = {}
    for row in rows():
        reason = f"{row['reason']}: {row['note']}" if row["note"] else row["reason"]
        for place in row["places"].split():
            mutant = Mutant(
                row["file"], 0, "", "", "", row["operator"], row["function"], int(place)
            )
            known[mutant.key] = reason
    return known


def mutants() -> list[Mutant]:
    """The mutants of the list that the sources have, in their order."""
    keys, files = reasons().keys(), {row["file"] for row in rows()}
    sources = [(str(path.relative_to(tree.ROOT)), path) for path in sorted(tree.sources())]
    return [
        mutant
        for name, path in sources
        if name in files
        for mutant in find(name, path.read_text())
        if mutant.key in keys
    ]


def faults() -> list[str]:
    """List the faults of the list: places that are gone, twice in it, or without a reason."""
    missing = reasons().keys() - {mutant.key for mutant in mutants()}
    wrong = [f"not in the sources: {key}" for key in sorted(missing)]
    count = 0
    for row in rows():
        count += len(row["places"].split())
        if row["reason"] not in REASONS or (row["reason"] == "other" and not row["note"]):
            wrong.append(f"no reason: {row['file']}: {row['function']}: {row['operator']}")
    if count != len(reasons()):
        wrong.append(f"{count - len(reasons())} places are in the list twice")
    return wrong
