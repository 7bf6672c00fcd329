"""Timing of one case inside a worker: compiled loops, their length, samples.

The cost of the loop itself (and, for a callable, of an empty Python call) is measured once and
subtracted, so that a 30 ns operation is not reported as 60 ns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from itertools import repeat
from typing import Any

Loop = Callable[[int], float]

_TEMPLATE = """\
def loop(count, *, {names}):
    start = _clock()
    for _ in _repeat(None, count):
        {statement}
    return _clock() - start
"""

_LONGEST_LOOP = 50_000_000


#: Clocks by name. Processor time ignores what other processes do to a single-threaded run.
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def compile_loop(statement: str, names: Mapping[str, Any], clock: str = "wall") -> Loop:
    """Compile a statement into ``loop(count)``, which runs it and returns the seconds taken.

    Parameters
    ----------
    statement : str
        One line of Python.
    names : mapping
        What the statement refers to. The names become fast local variables.
    clock : {"wall", "cpu"}, optional
        Which time to take: elapsed, or that of the processor over all threads of the process.

    Returns
    -------
    callable

    Examples
    --------
    >>> loop = compile_loop("a + b", {"a": 1, "b": 2})
    >>> loop(10) >= 0.0
    True
    """
    scope = {"_repeat": repeat, "_clock": CLOCKS[clock], **names}
    defaults = ", ".join(f"{name}={name}" for name in ("_clock", *names))
    source = _TEMPLATE.format(names=defaults, statement=statement)
    exec(compile(source, f"<benchmark {statement!r}>", "exec"), scope)
    return scope["loop"]


def nothing() -> None:
    """Do nothing; the yardstick for the cost of a call.

    Examples
    --------
    >>> nothing()
    """


def loop_cost(statement: str, names: Mapping[str, Any], count: int = 100_000) -> float:
    """Return the seconds that one pass of an idle loop takes, the best of seven.

    Parameters
    ----------
    statement : str
        ``"pass"`` for the loop alone, ``"function()"`` with ``nothing`` for a loop with a call.
    names : mapping
        What the statement refers to.
    count : int, optional
        Length of the loop.

    Returns
    -------
    float

    Examples
    --------
    >>> 0.0 < loop_cost("pass", {}, 1000) < 1e-3
    True
    """
    loop = compile_loop(statement, names)
    return min(loop(count) for _ in range(7)) / count


def autorange(loop: Loop, least: float) -> int:
    """Find a loop length that takes at least ``least`` seconds.

    Parameters
    ----------
    loop : callable
        ``loop(count)`` returns seconds.
    least : float
        Seconds wanted.

    Returns
    -------
    int

    Examples
    --------
    >>> autorange(lambda count: count * 1e-3, 0.0105)
    12
    """
    count = 1
    while count < _LONGEST_LOOP:
        taken = loop(count)
        if taken >= least:
            return count
        wanted = count * 1.1 * least / max(taken, 1e-9)
        count = min(max(int(wanted) + 1, count + 1), 10 * count if count > 1 else 100)
    return count


def take_samples(loop: Loop, count: int, samples: int, cost: float) -> list[float]:
    """Run a loop several times and return the seconds per pass, without the loop's own cost.

    Parameters
    ----------
    loop : callable
        ``loop(count)`` returns seconds.
    count : int
        Length of the loop.
    samples : int
        How many samples to take.
    cost : float
        Seconds per pass to subtract.

    Returns
    -------
    list of float
        Never below a tenth of a nanosecond, so that ratios exist.

    Examples
    --------
    >>> take_samples(lambda count: count * 2.0, 10, 2, 0.5)
    [1.5, 1.5]
    """
    return [max(loop(count) / count - cost, 1e-10) for _ in range(samples)]
