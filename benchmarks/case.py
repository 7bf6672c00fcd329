"""The definition of a benchmark case, and the search for the cases of a group.

A case says what to run and nothing about how it is timed: ``timing.py`` does that. The same code
serves every library, because the library comes in as the argument ``torch`` of ``setup``.
"""

from __future__ import annotations

import fnmatch
import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any


@dataclass(frozen=True)
class Case:
    """Something to run inside a library's worker process.

    Parameters
    ----------
    name : str
        Unique within its group.
    setup : callable
        ``setup(torch)`` returns the callable to time, or, for a case with a statement, the names
        that the statement uses.
    statement : str, optional
        Python code to time in place of a callable. It saves the cost of a Python call, which
        matters below a microsecond.
    work : float, optional
        Floating-point operations or bytes of one call, for the rate column.
    unit : {"flop", "B"}, optional
        What ``work`` counts.
    rtol : float, optional
        How far results may differ, relative to the largest value; by default it follows the dtype.

    Examples
    --------
    >>> case = Case("add", lambda torch: {"a": 1, "b": 2}, statement="a + b")
    >>> case.name
    'add'
    """

    name: str
    setup: Callable[[Any], Any]
    statement: str | None = None
    work: float = 0.0
    unit: str = ""
    rtol: float | None = None


@dataclass(frozen=True)
class Command:
    """Something that needs an interpreter of its own, such as the import of a library.

    Parameters
    ----------
    name : str
        Unique within its group.
    code : str
        Python code that prints one number. ``LIBRARY`` in it stands for the library's name, and
        ``START`` for the reading of ``time.monotonic()`` when the interpreter was started.
    unit : {"s", "B"}, optional
        What the number is.
    only : str, optional
        The one library that the command makes sense for.
    samples : int, optional
        Most samples to take; for commands that take minutes.

    Examples
    --------
    >>> Command("nothing", "print(0.0)").unit
    's'
    """

    name: str
    code: str
    unit: str = "s"
    only: str | None = None
    samples: int | None = None


def group_names() -> list[str]:
    """Return the names of the groups in ``benchmarks.groups``.

    Returns
    -------
    list of str
        Sorted by name.

    Examples
    --------
    >>> "dispatch" in group_names()
    True
    """
    package = importlib.import_module("benchmarks.groups")
    return sorted(module.name for module in pkgutil.iter_modules(package.__path__))


def load_group(name: str) -> ModuleType:
    """Import a group: a file of ``benchmarks/groups``, or any module given by its dotted name.

    Parameters
    ----------
    name : str
        Group or module. The module has ``CASES``, a list of cases with distinct names.

    Returns
    -------
    module

    Raises
    ------
    ValueError
        If there is no such group or two of its cases share a name.

    Examples
    --------
    >>> len(load_group("dispatch").CASES) > 10
    True
    """
    known = group_names()
    if name not in known and "." not in name:
        raise ValueError(f"group {name!r} does not exist; the groups are {', '.join(known)}.")
    module = importlib.import_module(f"benchmarks.groups.{name}" if name in known else name)
    names = [case.name for case in module.CASES]
    twice = sorted({case for case in names if names.count(case) > 1})
    if twice:
        raise ValueError(f"group {name!r} has several cases named {', '.join(twice)}.")
    return module


def select(cases: Sequence[Case | Command], patterns: Sequence[str]) -> list[Case | Command]:
    """Return the cases whose name matches one of the patterns.

    Parameters
    ----------
    cases : sequence of Case or Command
        Where to look.
    patterns : sequence of str
        Shell patterns, such as ``"add *"``. A pattern without wildcards matches a part of the name.
        No pattern selects everything.

    Returns
    -------
    list of Case or Command

    Examples
    --------
    >>> cases = [Command("add 1e3", ""), Command("mul 1e3", "")]
    >>> [case.name for case in select(cases, ["add"])]
    ['add 1e3']
    """
    if not patterns:
        return list(cases)
    return [case for case in cases if any(_matches(case.name, text) for text in patterns)]


def _matches(name: str, pattern: str) -> bool:
    if any(mark in pattern for mark in "*?["):
        return fnmatch.fnmatchcase(name, pattern)
    return pattern in name
