"""Files of text name their encoding, so a build doesn't depend on the locale of the machine."""

import ast

import pytest
from building import ROOT

#: Modules whose `open` is another, or is of bytes.
OTHERS = {"os", "tarfile", "zipfile", "gzip", "lzma"}
SOURCES = [
    ROOT / "setup.py",
    *(p for folder in ("ext", "packaging", "autograd_cy/_environment")
      for p in sorted((ROOT / folder).rglob("*.py"))),
]  # fmt: skip


def mode_of(call, position):
    """The mode of a call of `open`, or None if it isn't a constant."""
    values = [*call.args[position : position + 1]]
    values += [word.value for word in call.keywords if word.arg == "mode"]
    if not values:
        return "r"
    return values[0].value if isinstance(values[0], ast.Constant) else None


def reads_text_by_the_locale(call):
    """True for a call that opens text and leaves the encoding to the locale."""
    function = call.func
    name = getattr(function, "attr", getattr(function, "id", None))
    if any(word.arg in ("encoding", None) for word in call.keywords):
        return False
    if isinstance(function, ast.Attribute) and name in ("read_text", "write_text"):
        return len(call.args) < (2 if name == "write_text" else 1)
    if name not in ("open", "fdopen"):
        return False
    module = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)
    if name == "open" and module and function.value.id in OTHERS:
        return False
    in_path = isinstance(function, ast.Attribute) and name == "open"
    mode = mode_of(call, 0 if in_path else 1)
    return isinstance(mode, str) and "b" not in mode


@pytest.mark.parametrize(("text", "expected"), [
    ("path.read_text()", True),
    ('path.read_text("ascii")', False),
    ("path.write_text(lines)", True),
    ('path.write_text(lines, encoding="utf-8")', False),
    ('open(name, "w")', True),
    ('open(name, "rb")', False),
    ("path.open()", True),
    ('path.open("wb")', False),
    ("os.open(name, flags)", False),
    ('os.fdopen(number, "w")', True),
])  # fmt: skip
def test_the_check_sees_what_depends_on_the_locale(text, expected):
    assert reads_text_by_the_locale(ast.parse(text, mode="eval").body) is expected


def test_text_is_read_and_written_in_a_named_encoding():
    problems = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and reads_text_by_the_locale(node):
                problems.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert problems == []
