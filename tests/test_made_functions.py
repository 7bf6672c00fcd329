"""Functions and methods that are made in loops have their own names and descriptions."""

import importlib
import inspect
import pkgutil
import types

import autograd_cy

# Owner and name, where the function has another name and that one isn't there.
RENAMED = {("Pointwise", "cmul"), ("Pointwise", "cdiv")}


def owners():
    """All modules of the package, and their classes."""
    for found in pkgutil.walk_packages(autograd_cy.__path__, "autograd_cy."):
        if "__main__" in found.name or "._C" in found.name:
            continue
        module = importlib.import_module(found.name)
        yield module
        for value in list(vars(module).values()):
            if isinstance(value, type) and value.__module__ == module.__name__:
                yield value


def made(value):
    """The function, if it stands inside of another one in the source."""
    value = getattr(value, "__func__", value)
    inside = isinstance(value, types.FunctionType) and value.__code__.co_flags & inspect.CO_NESTED
    return value if inside and value.__module__.startswith("autograd_cy.") else None


def test_functions_made_in_loops_have_names_and_descriptions():
    count = 0
    for owner in owners():
        for name, value in list(vars(owner).items()):
            function = made(value)
            if name.startswith("_") or function is None:
                continue
            count += 1
            where = owner.__name__, name
            other = vars(owner).get(function.__name__)
            assert function.__name__ == name or other is value or where in RENAMED, where
            assert function.__doc__ or name in ("forward", "backward"), where
    assert count > 300
