"""The files that the generator writes without a compiler: stubs and reference pages."""

import ast
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from programs import run

import autograd_cy

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))

from ext.build.extensions import MODULES  # noqa: E402
from ext.codegen import reference, stubs, table  # noqa: E402
from ext.codegen.declarations import Function, Parameter, read_parameters, read_source  # noqa: E402
from ext.codegen.python_forms import docstring, python_name  # noqa: E402
from ext.codegen.stub_namespace import source_of, write_namespace  # noqa: E402


@pytest.fixture(scope="module")
def families():
    return table.load()


@pytest.fixture(scope="module")
def written(families, tmp_path_factory):
    """The folder of the stubs, as the build lays it out."""
    package = tmp_path_factory.mktemp("tree") / "autograd_cy"
    folder = package / "_C"
    folder.mkdir(parents=True)
    for path in (ROOT / "autograd_cy").rglob("*.py"):
        copy = package / path.relative_to(ROOT / "autograd_cy")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(path.read_text())
    (folder / "gone.pyi").write_text("")
    stubs.write_stubs(families, folder)
    return folder


def test_each_module_has_a_stub_that_parses(written, families):
    expected = {m.name for m in MODULES if m.kind != "simd"} | {
        f"ops_{f}" for f, records in families.items() if any(r.tier == "compiled" for r in records)
    }
    assert {path.stem for path in written.glob("*.pyi")} == expected
    for path in [*written.glob("*.pyi"), *written.parent.glob("*.pyi")]:
        ast.parse(path.read_text())


def test_stubs_have_every_operator_and_method(written, families):
    tensor = (written / "tensor.pyi").read_text()
    for family, records in families.items():
        for r in records:
            compiled = r.tier == "compiled"
            path = written / f"ops_{family}.pyi"
            text = (path if compiled else written.parent / f"_interpreted/{family}.pyi").read_text()
            assert f"def {r.name}(" in text
            if r.call.inplace:
                assert f"def {r.name}_(" in text
            if r.call.method and not r.name.startswith("_"):
                name = r.call.aliases[0] if r.namespace else r.name
                assert f"    def {name}({python_name(r.args[0], 0)}" in tensor


def named_by(path):
    """`__all__` of a stub, and the names that it imports."""
    body = ast.parse(path.read_text()).body
    (listed,) = (ast.literal_eval(node.value) for node in body if isinstance(node, ast.Assign))
    imported = [a.asname for node in body if isinstance(node, ast.ImportFrom) for a in node.names]
    return listed, imported


@pytest.mark.parametrize("module", ["fft", "linalg", "nn.functional", "special"])
def test_stubs_of_namespaces_name_what_the_modules_have(written, module):
    path = source_of(written.parent, f"autograd_cy.{module}").with_suffix(".pyi")
    listed, imported = named_by(path)
    loaded = pytest.importorskip(f"autograd_cy.{module}")
    assert listed == sorted(imported) == sorted(loaded.__all__)


@pytest.mark.parametrize("said", [{"namespace": "linalg"}, {"also": ("linalg",)}])
def test_a_record_reaches_the_stub_of_its_namespace(written, tmp_path, said):
    (tmp_path / "linalg.py").write_text('__all__ = ["own"]\nfrom autograd_cy.own import own\n')
    added = {"name": "added", "public": True, "file": "x", "namespace": "", "also": (), **said}
    added["call"] = SimpleNamespace(function=True, also=added.pop("also"))
    record = SimpleNamespace(**added)
    inner = SimpleNamespace(**{**vars(record), "name": "hidden", "public": False})
    write_namespace(
        tmp_path, "linalg", {"x": [record, inner]}, lambda r: f"autograd_cy._C.{r.file}"
    )
    text = (tmp_path / "linalg.pyi").read_text()
    assert "from autograd_cy._C.x import added as added\n" in text
    assert "from autograd_cy.own import own as own\n" in text
    assert "__all__ = ['added', 'own']" in text and "hidden" not in text


def test_stubs_are_the_same_each_time(written, families):
    before = {path: path.stat().st_mtime_ns for path in written.glob("*.pyi")}
    stubs.write_stubs(families, written)
    assert {path: path.stat().st_mtime_ns for path in written.glob("*.pyi")} == before


def test_cython_parameters_become_python_ones():
    text = "Tensor self not None, Py_ssize_t n, *, dtype=None, double x=0.5, size=(1, 2), **rest"
    assert read_parameters(text) == (
        Parameter("self", "Tensor"),
        Parameter("n", "int"),
        Parameter("", mark="*"),
        Parameter("dtype", default="None"),
        Parameter("x", "float", "0.5"),
        Parameter("size", default="(1, 2)"),
        Parameter("rest", mark="**"),
    )


SOURCE = '''
include "more.pxi"
cdef int hidden = 1
LIMIT = 3

cdef class Counter:
    """Counts."""
    cdef public int n

    def __cinit__(self):
        pass

    @property
    def value(self):
        return self.n

    def add(self, int by=1, *,
            twice=False):
        """Add."""

_install("count", count)
for _f in (first, second):
    _install(_f.__name__, _f)
'''


def test_declarations_of_a_source_are_found(tmp_path):
    (tmp_path / "more.pxi").write_text("def count(Tensor x not None):\n    return x\n")
    path = tmp_path / "counter.pyx"
    path.write_text(SOURCE)
    source = read_source(path)
    assert source.constants == {"LIMIT": "3"}
    assert source.functions == {"count": Function("count", (Parameter("x", "Tensor"),))}
    assert source.installed == {"count": "count", "first": "first", "second": "second"}
    counter = source.classes["Counter"]
    assert counter.fields == {"n": "int"}
    assert [member.name for member in counter.members] == ["__cinit__", "value", "add"]
    assert counter.members[2].parameters[1:] == (
        Parameter("by", "int", "1"),
        Parameter("", mark="*"),
        Parameter("twice", default="False"),
    )


def test_reference_has_a_section_for_each_operator(families, tmp_path):
    reference.main(tmp_path)
    index = (tmp_path / "README.md").read_text()
    for family, records in families.items():
        page = (tmp_path / f"{family}.md").read_text()
        for r in records:
            if not r.name.startswith("_"):
                assert f"\n## {reference.title(r)}\n" in page
                assert f"{family}.md#{reference.anchor(r)}" in index
    mul = (tmp_path / "arithmetic.md").read_text().split("\n## mul\n")[1].split("\n## ")[0]
    assert "| Saves | `other` for `self`; `self` for `other` |" in mul


def test_reference_has_what_options_mean(families, tmp_path):
    reference.main(tmp_path)
    div = (tmp_path / "arithmetic.md").read_text().split("\n## div\n")[1].split("\n## ")[0]
    assert "div(input: operand, other: operand, *, rounding_mode: str? = None, out=None)" in div
    assert '| `rounding_mode` | None for the true quotient, "trunc" to round towards zero' in div


def test_texts_name_arguments_as_users_do(families):
    by_name = {r.key: r for records in families.values() for r in records}
    text = "\n".join(docstring(by_name["sub"]))
    assert "Difference ``input - alpha * other``." in text
    for records in families.values():
        for record in reference.public(records):
            said = "\n".join(docstring(record))
            assert re.search(r"\bself\b", said) is None, said


def test_reference_names_what_there_is(families):
    for record in (r for records in families.values() for r in reference.public(records)):
        for name in re.findall(
            r"`((?:ag|Tensor)\.[\w.]+)`", dict(reference.forms(record))["Forms"]
        ):
            eval(name, {"ag": autograd_cy, "Tensor": autograd_cy.Tensor})


def test_reference_writes_nothing_when_asked_for_help(tmp_path):
    done = run(ROOT / "ext/codegen/reference.py", "--help", cwd=tmp_path)
    assert done.returncode == 0 and "folder" in done.stdout
    assert list(tmp_path.iterdir()) == []
