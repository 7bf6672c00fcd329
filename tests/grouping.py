"""Many small cases in few tests: pytest needs longer for a test than most cases do."""

import functools
import inspect
import itertools
from dataclasses import dataclass

import pytest

Param = type(pytest.param())
ROOM = 48  # Groups are put together until a test has so many cases.


@dataclass(frozen=True)
class Cases:
    """The cases of one test: names of arguments, and of each case values, name and marks."""

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
    names = words(names)
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


def words(names):
    """The arguments that a string or list names."""
    return tuple(n.strip() for n in (names.split(",") if isinstance(names, str) else names))


def as_param(value, count):
    if not isinstance(value, Param):
        value = pytest.param(*(value if count > 1 else (value,)))
    elif value.id is not None:
        return value
    name = value.id or "-".join(map(str, value.values))
    return pytest.param(*value.values, id=name, marks=value.marks)


def tests(cases, group, room):
    """A `pytest.param` for each test; cases with marks make tests of their own."""
    found = {}
    for p in cases.params:
        key = "-".join([group(p.id), *(mark.name for mark in p.marks)])
        found.setdefault(key, []).append(p)
    # Marked ones last, so that slow ones are neighbours.
    found = dict(sorted(found.items(), key=lambda item: bool(item[1][0].marks)))
    for keys, many in together(found, room):
        name = keys[0] if len(keys) == 1 else f"{keys[0]}..{keys[-1]}"
        yield pytest.param(Cases(cases.names, tuple(many)), id=name, marks=many[0].marks)


def together(groups, room):
    """(names, cases) of neighbours in a dictionary of groups that have room in one test."""
    names, many = [], []
    for name, cases in groups.items():
        if names and (not mix(many[0], cases[0]) or len(many) + len(cases) > room):
            yield names, many
            names, many = [], []
        names, many = [*names, name], [*many, *cases]
    if names:
        yield names, many


def mix(a, b):
    """Return whether two cases may stand in one test: both have no mark, or both are slow alone."""
    marks = [[mark.name for mark in p.marks] for p in (a, b)]
    return marks in ([[], []], [["slow"], ["slow"]])


def neighbours(items):
    """
    The collected tests; neighbours of one parametrised function are put together.

    Those that have a fixture or a mark of their own stay apart, as does what is asked for alone.
    """
    kept = []
    for function, found in itertools.groupby(items, shared):
        found = list(found)
        if function is None:
            kept += found
            continue
        for start in range(0, len(found), ROOM):
            some = found[start : start + ROOM]
            kept += some if len(some) == 1 else [as_one(some)]
    return kept


def shared(item):
    """Return the properties that two neighbours must share to be one test; None if they must stay
    apart."""
    spec = getattr(item, "callspec", None)
    if spec is None or item.cls is not None or spec.marks:
        return None
    names = set()
    for mark in item.iter_markers("parametrize"):
        if len(mark.args) > 2 or mark.kwargs.get("indirect"):
            return None
        names |= set(words(mark.args[0]))
    if set(spec.params) != names:  # a fixture has parameters, or it's a test of `each`
        return None
    defined = item._fixtureinfo.name2fixturedefs
    for name in set(item.fixturenames) - names:
        if name not in defined or defined[name][-1].scope == "function":
            return None
    return item.parent, item.function


def as_one(items):
    """A test that runs what several tests do."""
    test, names = items[0].function, tuple(items[0].callspec.params)
    params = [pytest.param(*map(i.callspec.params.get, names), id=i.callspec.id) for i in items]
    cases = Cases(names, tuple(params))

    @functools.wraps(test)
    def run(**fixtures):
        run_all(test, cases, fixtures)

    signature = inspect.signature(test)
    rest = [p for p in signature.parameters.values() if p.name not in names]
    run.__signature__ = signature.replace(parameters=rest)
    name = f"{items[0].originalname}[{params[0].id}..{params[-1].id}]"
    one = pytest.Function.from_parent(items[0].parent, name=name, callobj=run)
    one.extra_keyword_matches.update(p.id for p in params)
    one.cases = cases
    return one


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
