"""The machinery decides by records, not by names: it names no operator.

Whatever is true of one operator stands in its record. The machinery may hand names on, as text of
an error or to call an operator, but compares none and lists none.
"""

import ast
import functools
import re
from pathlib import Path

import pytest
from grouping import each

from autograd_cy.ops import _schema as schema
from ext.codegen import table

ROOT = Path(__file__).resolve().parents[2]
NOT_MACHINERY = re.compile(
    # Operators themselves: those without a record, of the interpreted tier, rules by hand.
    r"random_operators|_composites\.py|_kernels\.py|_index\.py|_functions\.py|/_host\.py"
    r"|(convolution|loss)_batching\.pyx|kernel_specs\.py"
)
# What reads like a name of an operator and is none, or is a word of the formulas' own language:
# in which files, which words, and why.
ALLOWED = {
    "ext/codegen/": (
        "real complex view linear",
        "words of records: how dtypes are chosen, kinds of kernels and rules",
    ),
    "ext/codegen/cuda_gathers.py": (
        "gather take pad",
        "an image and kernels, by the names of their bodies",
    ),
    "ext/codegen/cuda_scatters.py": ("scatter", "an image"),
    "ext/codegen/cuda_random.py": ("random", "an image of kernels"),
    "ext/codegen/cuda_steps.py": ("pow fmax", "functions of C that loops call"),
    "ext/codegen/cuda_reductions.py": ("sum logsumexp", "kernels, by the names of their bodies"),
    "ext/codegen/cuda_rows.py": (
        "softmax log_softmax softmax_backward log_softmax_backward",
        "the same; a slot of the device's column calls each",
    ),
    "ext/codegen/formula.py": ("conj", "what formulas write for any conjugation"),
    "ext/codegen/operations.py": ("conj", "as in formula.py"),
    "ext/codegen/tangents.py": ("conj mul", "formulas of tangents, taken apart and put together"),
    "ext/codegen/node_text.py": ("sum", "Python's function in an expression"),
    "ext/codegen/python_forms.py": (
        "add sub mul div pow matmul lt le gt ge eq ne neg abs",
        "Python's operators, which a record names by dunder=",
    ),
    "ext/codegen/stubs.py": ("random", "a module"),
    "ext/core/tensor/modes.pxi": ("normal", "mode of a tensor or of inference"),
    "ext/engine/interpreted.pyx": ("linear random", "words of records, as in ext/codegen"),
    "ext/core/exchange.pyx": ("conj neg negative", "bits of a tensor, named in an error"),
    "ext/core/exchange/dlpack.pxi": ("conj neg negative", "the same"),
    "ext/core/tensor/buffer.pxi": ("conj neg negative", "the same"),
}


def names():
    """All by which records are known."""
    records = [record for family in table.load().values() for record in family]
    found = {n for r in records for n in (r.key, r.name, r.symbol, r.shown, *r.call.aliases)}
    return found | {n + "_" for n in found}


NAMES = names()


def machinery():
    ext = ROOT / "ext"
    package = ROOT / "autograd_cy"
    files = [path for room in ("core", "engine", "codegen") for path in (ext / room).rglob("*")]
    files += [*(package / "_vmap").glob("*.py"), *(package / "_interpreted").glob("_*.py")]
    files = [path for path in files if path.suffix in (".py", ".pyx", ".pxi")]
    return sorted(p for p in files if not NOT_MACHINERY.search(p.as_posix()))


LITERAL = re.compile(r"""(?<![\w"'])[rf]?("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')""")
SEVERAL = re.compile(r"""(?<![\w\)\]])[\(\[\{]\s*((?:"\w+",\s*)+"\w+",?\s*)[\)\]\}]""")
# Before and after a literal of Cython that is compared, or is one of several in a list.
ASKS = re.compile(r"(==|!=|\bin)\s*[\(\[\{]?\s*$|\bfrozenset\(\s*\(?\s*$")
ASKED = re.compile(r"^\s*(==|!=|:(?!=))")


def strings(tree):
    """The literals of a Python file that are compared, keys, or stand in a list of texts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Dict):
            sides = [key for key in node.keys if key is not None]
        elif isinstance(node, ast.Set):
            sides = [node]
        elif isinstance(node, ast.Assign) and isinstance(node.value, (ast.Tuple, ast.List)):
            sides = [node.value]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("frozenset", "set"):
            sides = node.args
        else:
            continue
        for side in sides:
            parts = side.elts if isinstance(side, (ast.Tuple, ast.List, ast.Set)) else [side]
            for part in parts:
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


def tuples(text):
    """The literals of Cython's lists of texts, ``("a", "b")``, that aren't arguments of a call."""
    for match in SEVERAL.finditer(text):
        if not text[: match.start()].rstrip().endswith(("__all__ =", "__all__: list[str] =")):
            yield from re.findall(r'"(\w+)"', match[1])


@functools.cache
def asked(path):
    text = path.read_text()
    if path.suffix == ".py":
        return set(strings(ast.parse(text)))
    found = set(tuples(text))
    for line in text.splitlines():
        line = re.sub(r"#.*", "", line)
        for match in LITERAL.finditer(line):
            if ASKS.search(line[: match.start()]) or ASKED.match(line[match.end() :]):
                found.add(match[1][1:-1])
    return found


def allowed(path):
    where = path.relative_to(ROOT).as_posix()
    found = {
        n for start, (words, _) in ALLOWED.items() if where.startswith(start) for n in words.split()
    }
    return found | {n + "_" for n in found}


@each("path", [pytest.param(p, id=str(p.relative_to(ROOT))) for p in machinery()])
def test_no_operator_is_asked_for_by_name(path):
    found = asked(path) & NAMES - allowed(path)
    assert not found, f"say it in the records: {sorted(found)}"


def test_what_is_allowed_is_there():
    for start, (words, _) in ALLOWED.items():
        files = [p for p in machinery() if p.relative_to(ROOT).as_posix().startswith(start)]
        used = set().union(*map(asked, files))
        assert set(words.split()) <= used & NAMES, start


@pytest.mark.parametrize(
    "line",
    [
        'if op in ("std", "var"):',
        'if name == "mul":',
        'OLDER = frozenset(("add", "sub"))',
        'cdef tuple SOME = ("relu", "gelu")',
        'table = {"relu": 1}',
    ],
)
def test_the_check_sees(line, tmp_path):
    path = tmp_path / "machine.pyx"
    path.write_text(line + "\n")
    assert asked(path) & NAMES
    if not line.startswith(("if", "cdef")):
        path = tmp_path / "machine.py"
        path.write_text(line + "\n")
        assert asked(path) & NAMES
    assert schema.TABLE
