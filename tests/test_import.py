"""The modules that the package loads at once; others come when they are first used."""

import json
import subprocess
import sys

import pytest

LOOK = """
import json, sys
import numpy
import inspect  # some of NumPy 2 have loaded it, and all that it loads, and others not
before = set(sys.modules)
import autograd_cy as ag
at_import = sorted(set(sys.modules) - before)
before = set(sys.modules)
import autograd_cy.nn
of_layers = sorted(set(sys.modules) - before)
print(json.dumps([at_import, of_layers]))
"""
# Of Python's own, beyond what NumPy has loaded.
STANDARD = {"__future__", "copy", "cython_runtime", "threading"}
# What NumPy 2 has loaded, and NumPy 1 not.
STANDARD |= {"typing", "typing.io", "typing.re", "contextvars", "_contextvars", "zlib"}
# What Cython before 3.3 calls the module that the others share.
STANDARD |= {"_shared"}


@pytest.fixture(scope="module")
def loaded():
    out = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, timeout=60)
    assert out.returncode == 0, out.stderr
    return [set(names) for names in json.loads(out.stdout)]


def compiled(names):
    return {name.rpartition(".")[2] for name in names if name.startswith("autograd_cy._C.")}


def test_import_loads_little_of_others(loaded):
    others = {name for name in loaded[0] if not name.startswith(("autograd_cy", "_cython"))}
    assert others <= STANDARD, others - STANDARD


def test_import_opens_few_libraries(loaded):
    # Each takes a third of a millisecond. A family that not all programs use says LOADED = "at
    # first use"; kernels and composites of such families are loaded with them.
    assert len(compiled(loaded[0])) <= 97, sorted(compiled(loaded[0]))


def test_layers_load_no_operators_and_nothing_of_others(loaded):
    assert not {name for name in compiled(loaded[1]) if name.startswith("ops_")}
    assert not {name for name in loaded[1] if not name.startswith("autograd_cy.")}
    assert not loaded[1] & {"autograd_cy.linalg", "autograd_cy.func", "autograd_cy.serialization"}


def test_names_that_come_later_are_those_of_their_modules():
    import autograd_cy as ag

    assert ag.save is ag.serialization.save and ag.load is ag.serialization.load
    assert ag.explain_grad is ag.autograd.explain_grad
    assert ag.nn.functional.relu_ is ag.relu_
    for name in ("load", "save", "explain_grad", "serialization"):
        assert name in ag.__all__ and name in dir(ag)
