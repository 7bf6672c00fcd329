"""Imports point one way: interop, distributed, optim, nn -> autograd -> ops -> core."""

import ast
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "autograd_cy"
CIMPORT = re.compile(r"^from autograd_cy\._C\.(\w+) cimport|^cimport autograd_cy\._C\.(\w+)", re.M)
INCLUDE = re.compile(r'^include "([^"]+)"', re.M)

# Parts of the package from low to high; a part imports from its own level or lower ones.
LEVELS = (
    {"_C", "_version", "_threads", "_machine"},
    {"autograd"},
    {"nn"},
    {"optim", "linalg", "fft", "special", "legacy"},
    {"interop", "distributed", "testing", "viz"},
)
# What a kernel may not know of: the graph, and the operators made of kernels.
GRAPH = {path.stem for path in (ROOT / "ext" / "engine").glob("*.pyx")} | {"optable"}
GENERATED = "operators_of_"  # includes that the generator writes: the operators that a module calls
BASE = {"checked", "sealed", "storage", "dtypes", "placement", "tensor"}


def cython_sources():
    return sorted((ROOT / "ext").rglob("*.pyx"))


def text_of(path):
    """A Cython source with its includes and its .pxd."""
    text = path.read_text()
    parts = [name for name in INCLUDE.findall(text) if not name.startswith(GENERATED)]
    text += "".join((path.parent / name).read_text() for name in parts)
    pxd = PACKAGE / "_C" / f"{path.stem}.pxd"
    return text + ("\n" + pxd.read_text() if pxd.exists() else "")


def cimports(path):
    found = {first or second for first, second in CIMPORT.findall(text_of(path))}
    return found - {path.stem}


def test_cimports_have_no_cycle():
    try:
        list(TopologicalSorter({p.stem: cimports(p) for p in cython_sources()}).static_order())
    except CycleError as error:
        pytest.fail(f"modules cimport each other: {error.args[1]}")


@pytest.mark.parametrize("path", cython_sources(), ids=lambda path: path.stem)
def test_kernels_and_base_know_nothing_above_them(path):
    if path.parent.name == "kernels":
        assert cimports(path) & GRAPH == set()
        assert GENERATED not in text_of(path), "a kernel calls no operator"
    if path.stem in BASE:
        assert cimports(path) <= BASE


def imported_modules(path):
    """(module, top level of the file) of each import of the package; relative ones resolved."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            name = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield f"{name}.{alias.name}", node in tree.body
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node in tree.body


def level_of(part):
    return next((i for i, names in enumerate(LEVELS) if part in names), None)


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_parts_import_what_is_below_them(path):
    part = path.relative_to(PACKAGE).with_suffix("").parts[0]
    own = level_of(part)
    for name, at_import in imported_modules(path):
        words = name.split(".")
        if words[0] != "autograd_cy" or len(words) < 2:
            continue
        other = level_of(words[1])
        if own is not None and other is not None and at_import:
            assert other <= own, f"{path}: {name}"
        if part == "ops":
            assert words[1] == "ops" and words[2] in ("_schema", "_types"), (
                "records use the table's vocabulary only"
            )
        else:
            assert words[1] != "ops", "the package never loads the table"


HEAVY = (
    "scipy torch matplotlib mpi4py pycuda cython sklearn tqdm ml_dtypes unittest asyncio".split()
)


def modules_after(statement):
    code = f"import sys\n{statement}\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in run.stdout.split()}


def test_importing_the_package_imports_numpy_and_nothing_else_heavy():
    pytest.importorskip("autograd_cy")
    loaded = modules_after("import autograd_cy") - modules_after("import numpy")
    assert loaded & {name.lower() for name in HEAVY} == set()


def test_importing_the_package_does_not_load_the_table():
    code = "import sys, autograd_cy; print([m for m in sys.modules if 'autograd_cy.ops' in m])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
