"""Imports point one way: in Cython by the folders of ext/, in Python by parts of the package."""

import ast
import functools
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import programs
import pytest
from grouping import each

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "autograd_cy"
CIMPORT = re.compile(r"^from autograd_cy\._C\.(\w+) cimport|^cimport autograd_cy\._C\.(\w+)", re.M)
INCLUDE = re.compile(r'^include "([^"]+)"', re.M)

# Parts of the package from low to high; a part imports from its own level or lower ones. Names of
# the top level itself count as "__init__". A module that stands higher than its folder, as it
# gathers what others define, is a part of its own.
LEVELS = (
    {"_C", "_version"},
    {"_environment", "_lazy", "random", "storage"},
    {"_tensors"},
    {
        "_interpreted",
        "_tensors.eigen",
        "_tensors.foreach",
        "_tensors.gamma",
        "_tensors.namespace",
    },
    {"_vmap", "_vmap_internals", "amp", "autograd", "profiler"},
    {"__init__"},
    {
        "__config__",
        "__future__",
        "_utils",
        "accelerator",
        "backends",
        "compiler",
        "cpu",
        "cuda",
        "distributed",
        "distributions",
        "fft",
        "func",
        "futures",
        "fx",
        "hub",
        "jit",
        "linalg",
        "mps",
        "multiprocessing",
        "nn",
        "onnx",
        "overrides",
        "return_types",
        "serialization",
        "sparse",
        "special",
        "testing",
        "torch_version",
        "types",
        "utils",
        "version",
        "viz",
        "xpu",
    },
    {"__main__", "_as_torch", "optim"},
    {"distributed.optim", "legacy"},
)
# What PyTorch's programs import by a private name is private at the top, and nothing else.
PRIVATE_AT_THE_TOP = {"__config__", "__future__", "_utils", "_version", "_vmap_internals"}
# The layers of ext/, from low to high: a module knows its own layer and lower ones.
LAYERS = ("core", "shape_rules", "kernels", "engine", "composites", "cuda", "distributed")
# Where a module knows a higher layer after all, and why.
UPWARD: dict[tuple[str, str], str] = {}
# Where a part, or a module of ext/, imports a higher part after all, and why. In Python only
# functions do: what the import of a module imports is below it without exception. "*": any part.
UPWARD_IMPORTS = {
    ("__init__", "*"): "modules of the top level are loaded when a program names them",
    ("_lazy", "*"): "modules are loaded when a program names them",
    ("arguments", "_tensors"): "calls with numbers first, as torch once took, are read in Python",
    ("forms", "_environment"): "texts of forms in place are put together when they are read",
    ("forms", "_tensors"): "as in arguments",
    ("interpreted_kernels", "_interpreted"): "the class of its errors is linalg's, as in torch",
    ("linalg_composites", "_interpreted"): "phases are looked at where vectors are complex",
    ("linking", "_interpreted"): "formulas of compiled records may call interpreted operators",
    (
        "storage",
        "_environment",
    ): "the cgroup is looked up when the first large block is made",
    ("placement", "cuda"): "the device that this package brings is started by its first use",
    ("streams", "cuda"): "handles of the driver's are known there",
    ("parallel", "_environment"): "how many threads there are is read before OpenMP is loaded",
    ("recorder", "profiler"): "names of events are made when a recording is read",
    ("reduction_composites", "linalg"): "a norm of matrices is interpreted, and seldom asked for",
}
OPERATORS = re.compile(r'^include "operators_of_', re.M)
# Includes that the generator writes: the operators that a module calls, kinds of arguments, names,
# kernels of optimizer steps, those of CUDA devices, the table of dtypes.
GENERATED = (
    *("operators_of_", "argument_kinds", "operator_names", "dispatched_operators", "optimizer_"),
    *("cuda_entries", "dtype_table", "cuda_types"),
)
# .pxd without a module
HEADERS = {
    "frames",
    "checked",
    "gemm_product",
    "halves",
    "index_values",
    "out_places",
    "sizes",
    "sort_keys",
    "tiles",
}
BASE = {"checked", "sealed", "storage", "dtypes", "placement", "tensor"}


@functools.cache
def cython_sources():
    return sorted((ROOT / "ext").rglob("*.pyx"))


def text_of(path):
    """A Cython source with its includes and its .pxd."""
    text = path.read_text()
    parts = [name for name in INCLUDE.findall(text) if not name.startswith(GENERATED)]
    text += "".join((path.parent / name).read_text() for name in parts)
    pxd = PACKAGE / "_C" / f"{path.stem}.pxd"
    return text + ("\n" + pxd.read_text() if pxd.exists() else "")


@functools.cache
def cimports(path):
    found = {first or second for first, second in CIMPORT.findall(text_of(path))}
    return found - {path.stem}


def test_cimports_have_no_cycle():
    try:
        list(TopologicalSorter({p.stem: cimports(p) for p in cython_sources()}).static_order())
    except CycleError as error:
        pytest.fail(f"modules cimport each other: {error.args[1]}")


def test_every_source_is_in_a_layer():
    assert {path.parent.relative_to(ROOT / "ext").as_posix() for path in cython_sources()} == {
        *LAYERS
    }


@pytest.mark.parametrize("path", cython_sources(), ids=lambda path: path.stem)
def test_a_layer_knows_lower_layers_only(path):
    layer = {source.stem: LAYERS.index(source.parent.name) for source in cython_sources()}
    own = layer[path.stem]
    higher = {name for name in cimports(path) if layer.get(name, 0) > own}
    assert higher == {name for module, name in UPWARD if module == path.stem}
    generated = cimports(path) - layer.keys() - HEADERS
    assert generated <= ({"optable"} if own >= LAYERS.index("engine") else set()), generated
    if own < LAYERS.index("engine"):
        assert not OPERATORS.search(path.read_text()), "only what knows the graph calls operators"
    if path.stem in BASE:
        assert cimports(path) <= BASE


@functools.cache
def imported_modules(path):
    """
    [(module, top level of the file)] of each import; relative ones resolved.

    What import_module gets counts as far as it is known: of ``f"autograd_cy.{name}"``, that is
    ``autograd_cy.*``.
    """
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    tree, found = ast.parse(path.read_text()), []
    at_the_top = set(tree.body)
    at_the_top.update(*(node.body for node in tree.body if isinstance(node, ast.With)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called.lstrip("_") in ("import_module", "import__"):
                found.append((written(node.args[0], ".".join(package)), False))
            elif called.lstrip("_") == "attach":
                found += [(name, False) for name in attached(node, tree, ".".join(package))]
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            name = ".".join([*base, *([node.module] if node.module else [])])
            found += [(f"{name}.{alias.name}", node in at_the_top) for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [(alias.name, node in at_the_top) for alias in node.names]
    return found


def attached(call, tree, package):
    """Modules that the attributes come from which `attach` gives a module, and those below it."""
    constants = {
        name.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for name in node.targets
        if isinstance(name, ast.Name)
    }
    if len(call.args) > 1:
        yield f"{package}.*"
    for given in (*call.args[2:3], *(k.value for k in call.keywords if k.arg == "attributes")):
        for node in ast.walk(given):
            value = constants.get(node.id) if isinstance(node, ast.Name) else node
            if isinstance(value, ast.Dict):
                yield from (f"autograd_cy.{key.value}" for key in value.keys)


def written(text, package):
    """A string of the source, with a star for each part that isn't known before it runs."""
    parts = text.values if isinstance(text, ast.JoinedStr) else [text]
    found = ""
    for part in parts:
        name = getattr(getattr(part, "value", None), "id", "")
        known = package if name == "__name__" else "*"
        found += part.value if isinstance(part, ast.Constant) else known
    return found


# Of Cython, with the words that follow `import`.
IMPORT = re.compile(
    r"^[ ]*(?:from (autograd_cy[\w.]*) import \(?([\w, ]*)|import (autograd_cy[\w.]*))", re.M
)
BY_NAME = re.compile(r"""import_module\(\s*f?"(autograd_cy[^"]*)""")


def imported_by_cython(path):
    """The modules of the package that a Cython source imports as Python does."""
    text = "".join([path.read_text(), *(p.read_text() for p in path.with_suffix("").glob("*.pxi"))])
    for base, names, alone in IMPORT.findall(text):
        yield from [f"{base}.{name.split()[0]}" for name in names.split(",") if name.strip()] or [
            alone or base
        ]
    for name in BY_NAME.findall(text):
        yield re.sub(r"\{[^}]*\}", "*", name)


def higher_parts(part, modules):
    """Those of the parts that modules belong to which lie above `part`."""
    for name in modules:
        words = name.split(".")
        if words[0] == "autograd_cy" and len(words) > 1:
            other = "*" if words[1] == "*" else part_of(words[1:])
            if other == "*" or level_of(other) > level_of(part):
                yield other


def level_of(part):
    (level,) = (i for i, names in enumerate(LEVELS) if part in names)
    return level


@functools.cache
def own_parts():
    """Modules that are a part of their own."""
    return {name for names in LEVELS for name in names if "." in name}


def part_of(words):
    """The part that a dotted name without the package's belongs to."""
    whole = ".".join(words[:2])
    if whole in own_parts():
        return whole
    return words[0] if words and words[0] in parts() else "__init__"


@functools.cache
def parts():
    """List the parts of the package's folder, without the table, which the package never loads."""
    own = {path.stem for path in PACKAGE.glob("*.py")}
    own |= {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    for name in own_parts():
        path = PACKAGE.joinpath(*name.split("."))
        if path.with_suffix(".py").exists() or path.joinpath("__init__.py").exists():
            own.add(name)
    return own - {"ops"}


def test_every_part_has_a_level():
    assert sorted(name for names in LEVELS for name in names) == sorted(parts())


def test_a_private_module_is_in_a_layer():
    at_the_top = {path.stem for path in PACKAGE.glob("_*.py")} - {"__init__", "__main__"}
    assert at_the_top == PRIVATE_AT_THE_TOP, "move them to the folder of what they are about"


def named(paths, folder):
    return [pytest.param(path, id=str(path.relative_to(folder))) for path in paths]


@each("path", named(sorted(PACKAGE.rglob("*.py")), PACKAGE))
def test_parts_import_what_is_below_them(path):
    part = part_of(path.relative_to(PACKAGE).with_suffix("").parts)
    for name, at_import in imported_modules(path):
        words = name.split(".")
        if words[0] != "autograd_cy" or len(words) < 2:
            continue
        if name == "autograd_cy._lazy.operators_by_name" and path == PACKAGE / "ops/__init__.py":
            continue  # as a module of programs the table's package is torch.ops
        if "ops" in path.relative_to(PACKAGE).parts[:-1]:
            assert words[1] == "ops" and any(word.startswith("_") for word in words[2:]), (
                "records use the table's vocabulary only"
            )
            continue
        assert words[1] != "ops", "the package never loads the table"
        if not at_import and {(part, words[1]), (part, "*")} & UPWARD_IMPORTS.keys():
            continue
        assert not list(higher_parts(part, [name])), f"{path}: {name}"


@each("path", named(cython_sources(), ROOT / "ext"))
def test_cython_imports_no_higher_part(path):
    for other in higher_parts("_C", imported_by_cython(path)):
        assert (path.stem, other) in UPWARD_IMPORTS


def test_stated_exceptions_are_there():
    found = set()
    for path in cython_sources():
        found |= {(path.stem, other) for other in higher_parts("_C", imported_by_cython(path))}
    for path in PACKAGE.rglob("*.py"):
        if path.parent.name != "ops":
            part = part_of(path.relative_to(PACKAGE).with_suffix("").parts)
            imported = [name for name, _ in imported_modules(path)]
            found |= {(part, other) for other in higher_parts(part, imported)}
    whole = {(part, "*") for part, other in found if other == "*"}
    assert {pair for pair in found if (pair[0], "*") not in whole} | whole == UPWARD_IMPORTS.keys()


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("import autograd_cy.nn", "nn"),
        ("from autograd_cy.nn.parameter import Parameter", "nn"),
        ("from autograd_cy import zeros", "__init__"),
        ('import_module("autograd_cy.nn.parameter")', "nn"),
        ('importlib.import_module(f"autograd_cy.optim.{name}")', "optim"),
        ('importlib.import_module(f"autograd_cy.{name}")', "*"),
        ('_import_module(f"autograd_cy.nn.{name}")', "nn"),
    ],
)
def test_imports_within_functions_are_seen(line, other, tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    for suffix in (".py", ".pyx"):
        path = tmp_path / f"source{suffix}"
        path.write_text(f"def f(name):\n    {line}\n")
        found = (
            [name for name, _ in imported_modules(path)]
            if suffix == ".py"
            else imported_by_cython(path)
        )
        assert list(higher_parts("_tensors", found)) == [other]


def test_lazy_attributes_are_seen(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    path = tmp_path / "source.py"
    for arguments in ('(), {"nn.parameter": "Parameter"}', "(), _LATER", "attributes=_LATER"):
        path.write_text(f'_LATER = {{"nn": "Module"}}\nattach(__name__, {arguments})\n')
        assert list(higher_parts("_tensors", [name for name, _ in imported_modules(path)])) == [
            "nn"
        ]


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
    assert programs.run("-c", code).stdout.strip() == "[]"
