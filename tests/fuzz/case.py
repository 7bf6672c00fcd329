"""The protocol of parts and workers: a case is made from a seed and a number, run, and written
down.

A part is a module of parts/ with three functions:

``make(rng)``
    A case from random numbers, without running anything of the library. It has `title`, a few
    words that findings of one kind share, and `source()`, a program that does the same.
``run(case, lib)``
    Runs it on `lib` (autograd_cy, or torch as a second opinion) and returns a Result; raises Wrong.
``compare(ours, theirs)``
    Optional: what is wrong with the values of one library, given those of the other, or None.
"""

import zlib
from dataclasses import dataclass, field

import numpy as np

PRELUDE = """\
import numpy as np
import autograd_cy as torch
nan, inf = float("nan"), float("inf")
nanj, infj = complex(0, nan), complex(0, inf)
"""

# How a library may refuse arguments. (NotImplementedError is a RuntimeError.)
REFUSALS = (TypeError, ValueError, RuntimeError, IndexError)


class Wrong(Exception):
    """A fault that a case has shown. `kind` is the column of the table that it counts in."""

    def __init__(self, text, kind="wrong"):
        super().__init__(text)
        self.kind = kind


@dataclass(frozen=True)
class Result:
    """The end of a case: "ok" or "refused" (with the error), and values for `compare`."""

    status: str = "ok"
    text: str = ""
    values: object = None


@dataclass(frozen=True)
class Finding:
    """One case that went wrong, with everything that is needed to see it again."""

    part: str
    number: int
    kind: str  # wrong, crash or hang
    title: str
    text: str
    source: str = ""
    after: tuple = field(default=())  # cases that must run before, in the same process


def random_numbers(seed, part, number):
    """The generator of one case: the same for the same seed, whatever ran before."""
    return np.random.default_rng([seed, zlib.crc32(part.encode()), number])


def choice(rng, items):
    """One of `items`, as it is."""
    return items[int(rng.integers(len(items)))]


def chance(rng, probability):
    return float(rng.random()) < probability
