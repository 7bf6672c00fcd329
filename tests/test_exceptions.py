"""Every exception of the package survives pickle, copy and the way from a worker to its parent.

An exception that can't be unpickled hangs `multiprocessing.Pool`: its thread that reads results
ends, and whoever waits for one waits for ever.
"""

import copy
import importlib
import inspect
import pickle
import pkgutil
import traceback
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

import autograd_cy as ag


def exceptions():
    """All classes of exceptions that the package defines, wherever it does."""
    for module in pkgutil.walk_packages(ag.__path__, "autograd_cy."):
        if not module.name.startswith(("autograd_cy.ops", "autograd_cy.__main__")):
            try:
                importlib.import_module(module.name)
            except ImportError:  # an optional part
                continue
    found, waiting = set(), [BaseException]
    while waiting:
        for kind in waiting.pop().__subclasses__():
            waiting.append(kind)
            if kind.__module__.partition(".")[0] == "autograd_cy":
                found.add(kind)
    found = {kind for kind in found if not kind.__module__.startswith("autograd_cy.ops")}
    return sorted(found, key=lambda kind: (kind.__module__, kind.__qualname__))


EXCEPTIONS = exceptions()
VALUES = {"str": "words of mine", "int": 3, "int | None": 4, "Region": "a region"}


def made(kind):
    """One of a class, with a value for each argument that it must have."""
    try:
        parameters = inspect.signature(kind.__init__).parameters.values()
    except ValueError:
        parameters = ()
    needed = [
        VALUES[str(p.annotation)]
        for p in parameters
        if p.name != "self" and p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty
    ]
    error = kind(*(needed or ["words of mine"]))
    error.noted = [1, 2]
    return error


def raised(name):
    """Raise, in a worker, the exception of a name."""
    (kind,) = [k for k in EXCEPTIONS if f"{k.__module__}.{k.__qualname__}" == name]
    try:
        raise KeyError("cause")
    except KeyError as cause:
        raise made(kind) from cause


def same(found, error):
    assert type(found) is type(error)
    assert found.args == error.args and str(found) == str(error) and repr(found) == repr(error)
    hidden = ("__traceback__", "__cause__", "__context__", "__notes__")
    mine, theirs = ({k: v for k, v in vars(e).items() if k not in hidden} for e in (found, error))
    assert mine == theirs


def test_there_are_exceptions():
    names = {kind.__name__ for kind in EXCEPTIONS}
    assert {"GradcheckError", "CheckpointError", "OutOfMemoryError", "LinAlgError"} <= names
    assert {"ProcessRaisedException"} <= names


@pytest.mark.parametrize("kind", EXCEPTIONS, ids=lambda kind: kind.__name__)
def test_an_exception_can_be_pickled_and_copied(kind):
    error = made(kind)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        same(pickle.loads(pickle.dumps(error, protocol)), error)
    same(copy.copy(error), error)
    deep = copy.deepcopy(error)
    same(deep, error)
    assert deep.noted is not error.noted
    assert pickle.loads(pickle.dumps(kind)) is kind is copy.copy(kind)
    assert traceback.format_exception_only(kind, error)


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_exceptions_of_workers_reach_their_parent(method):
    names = [
        f"{kind.__module__}.{kind.__qualname__}"
        for kind in EXCEPTIONS
        if issubclass(kind, Exception)
    ]
    context = get_context(method)
    with context.Pool(1) as pool:
        results = [(name, pool.apply_async(raised, (name,))) for name in names]
        errors = [(name, result.get) for name, result in results]
        for name, get in errors:
            with pytest.raises(Exception) as caught:
                get(timeout=60)
            kind = type(caught.value)
            assert f"{kind.__module__}.{kind.__qualname__}" == name
            same(caught.value, made(kind))
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        for name in names:
            error = pool.submit(raised, name).exception(timeout=60)
            assert f"{type(error).__module__}.{type(error).__qualname__}" == name
