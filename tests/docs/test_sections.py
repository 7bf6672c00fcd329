"""Everything public says what it takes and what it returns, and shows an example.

That the examples run is checked in `test_snippets.py`.
"""

import enum
import inspect

from snippets import public_modules

import autograd_cy

# Where a sentence is enough: what programs of 2017 call, what a library in its place would be asked
# by other libraries, named tuples, whose module has the example, and what GPUs are asked by torch's
# names.
SHORT = (
    "autograd_cy.legacy",
    "autograd_cy.overrides",
    "autograd_cy.return_types",
    "autograd_cy.cuda",
)
# Compiled functions that return nothing, which their signatures can't say.
NOTHING = {
    "empty_cache",
    "reset_peak_memory",
    "set_allocator_caching",
    "set_default_device",
    "set_default_dtype",
    "set_num_threads",
    "set_rng_state",
}


def public():
    """{name: function or class} of what the public modules have in ``__all__``."""
    found, seen = {}, set()
    for module in public_modules(autograd_cy):
        if module.__name__.startswith(SHORT):
            continue
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            own = (getattr(value, "__module__", None) or "").startswith("autograd_cy")
            if own and callable(value) and id(value) not in seen:
                seen.add(id(value))
                found[f"{module.__name__}.{name}"] = value
    return found


PUBLIC = public()
FUNCTIONS = {name: value for name, value in PUBLIC.items() if not inspect.isclass(value)}
CLASSES = {
    name: value
    for name, value in PUBLIC.items()
    if inspect.isclass(value) and not issubclass(value, (BaseException, enum.Enum))
}


def has(value, *titles):
    text = inspect.getdoc(value) or ""
    return any(f"{title}\n{'-' * len(title)}\n" in text for title in titles)


def named(parameters):
    """Those that have a name of their own."""
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p for p in parameters if p.kind not in several]


def test_there_is_something_to_ask():
    assert len(FUNCTIONS) > 700 and len(CLASSES) > 250
    assert {"autograd_cy.exp_", "autograd_cy.stack", "autograd_cy.linalg.norm"} <= {*FUNCTIONS}


def test_all_show_an_example():
    asked = {**FUNCTIONS, **CLASSES}
    assert [name for name, value in asked.items() if ">>> " not in inspect.getdoc(value)] == []


def test_functions_say_what_they_take():
    silent = [name for name, value in FUNCTIONS.items() if not has(value, "Parameters")]
    assert [name for name in silent if inspect.signature(FUNCTIONS[name]).parameters] == []


def test_functions_say_what_they_return():
    silent = [name for name, value in FUNCTIONS.items() if not has(value, "Returns", "Yields")]
    returned = {name: inspect.signature(FUNCTIONS[name]).return_annotation for name in silent}
    assert [
        name
        for name, kind in returned.items()
        if kind not in (None, "None", "NoReturn") and name.rpartition(".")[2] not in NOTHING
    ] == []


def test_classes_say_what_they_are_made_of():
    silent = []
    for name, kind in CLASSES.items():
        made = vars(kind).get("__init__")
        if inspect.isfunction(made) and not has(kind, "Parameters", "Attributes"):
            _, *parameters = inspect.signature(made).parameters.values()
            silent += [name] * bool(named(parameters))
    assert silent == []
