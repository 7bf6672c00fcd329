"""Many small cases in few tests: pytest needs longer for a test than most cases do."""

import functools
import inspect
from dataclasses import dataclass

import pytest

Param = type(pytest.param())
ROOM = 48  # Groups are put together until a test has so many cases.


@dataclass(frozen=True)
class Cases:
    """What one test runs: names of arguments, and of each case values, name and marks."""

    names: tuple
    params: tuple


def of_first_word(name):
    """The group of ``add-3x4,4-float32`` is ``add``."""
    return name.partition("-")[0]


def each(names, params, group=of_first_word):
    """
    As ``pytest.mark.parametrize``, but one test runs some groups of cases, whatever fails before.

    A failure names all cases that failed, and shows the first. ``pytest --apart`` makes a test of
    each case; ``-k`` finds a test by the names of its cases. Fixtures are shared by the cases of a
    test.

    Parameters
    ----------
    names : str
        Arguments, separated by commas.
    params : iterable
        A value (or a tuple for several arguments), or a ``pytest.param`` of it.
    group : callable
        From the name of a case to that of its test.
    """
    names = tuple(n.strip() for n in names.split(","))
    cases = Cases(names, tuple(as_param(p, len(names)) for p in params))
    ids = [p.id for p in cases.params]
    assert len(set(ids)) == len(ids), "two cases have one name"

    def decorate(test):
        @functools.wraps(test)
        def run(cases, **fixtures):
            run_all(test, cases, fixtures)

        signature = inspect.signature(test)
        rest = [p for p in signature.parameters.values() if p.name not in names]
        first = inspect.Parameter("cases", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        run.__signature__ = signature.replace(parameters=[first, *rest])
        run.each = (cases, group)
        return run

    return decorate


def as_param(value, count):
    if not isinstance(value, Param):
        value = pytest.param(*(value if count > 1 else (value,)))
    name = value.id or "-".join(map(str, value.values))
    return pytest.param(*value.values, id=name, marks=value.marks)


def tests(cases, group, room):
    """A `pytest.param` for each test; cases with marks make tests of their own."""
    found = {}
    for p in cases.params:
        key = "-".join([group(p.id), *(mark.name for mark in p.marks)])
        found.setdefault(key, []).append(p)
    for keys, many in together(found, room):
        name = keys[0] if len(keys) == 1 else f"{keys[0]}..{keys[-1]}"
        yield pytest.param(Cases(cases.names, tuple(many)), id=name, marks=many[0].marks)


def together(groups, room):
    """(names, cases) of neighbours in a dictionary of groups that have room in one test."""
    names, many = [], []
    for name, cases in groups.items():
        if names and (cases[0].marks or many[0].marks or len(many) + len(cases) > room):
            yield names, many
            names, many = [], []
        names, many = [*names, name], [*many, *cases]
    if names:
        yield names, many


def run_all(test, cases, fixtures):
    """Run the cases; raises for all that failed, and skips if all were skipped."""
    failures, skipped = [], []
    for p in cases.params:
        try:
            test(**dict(zip(cases.names, p.values)), **fixtures)
        except pytest.skip.Exception as error:
            skipped.append(error)
        except (Exception, pytest.fail.Exception) as error:
            failures.append((p.id, error))
    if failures:
        lines = [f"{len(failures)} of {len(cases.params)} cases failed; above is the first:"]
        lines += [f"{name}: {type(e).__name__}: {first_line(e)}" for name, e in failures]
        raise AssertionError("\n".join(lines)) from failures[0][1]
    if len(skipped) == len(cases.params) > 0:
        raise skipped[0]


def first_line(error):
    return next((line for line in str(error).splitlines() if line.strip()), "")
