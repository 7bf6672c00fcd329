"""The names of a Cython source that Python sees: functions, classes, constants and installed
methods.

The text is read line by line, no compiler is asked: stubs are written before anything is compiled.
`include` lines are followed. stubs.py turns what is found here into .pyi text.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

_INCLUDE = re.compile(r'^include "([^"]+)"$', re.M)
_HEAD = re.compile(r"^(?P<indent> *)(?:(?:async )?def|cpdef \w+) (?P<name>\w+)\(")
_CLASS = re.compile(r"^(?:cdef )?class (?P<name>\w+)(?:\((?P<bases>[^)]*)\))?:")
_FIELD = re.compile(
    r"^    cdef (?:public|readonly) (?P<type>.+?) (?P<names>\w+(?:, *\w+)*)(?:\s*#.*)?$"
)
_CONSTANT = re.compile(r"^(?P<names>\w+(?:, *\w+)*)(?P<whole>: int)? = (?P<value>.*)$")
_ALIAS = re.compile(r"^    (?P<name>\w+) = (?P<value>\w+)$")
_INSTALL = re.compile(r'^_?install\((?:Tensor, )?"(?P<name>\w+)", (?P<value>\w+)\)', re.M)
_INSTALL_ALL = re.compile(
    r"^for (?P<var>\w+) in \((?P<names>[^)]*)\):\n +_?install\((?:Tensor, )?(?P=var).__name__", re.M
)
_C_TYPES = {
    "bint": "bool", "str": "str", "tuple": "tuple", "list": "list", "dict": "dict", "bytes": "bytes",
    "double": "float", "float": "float", "type": "type", "int": "int", "object": "",
}  # fmt: skip
_INTEGER = re.compile(
    r"^(?:unsigned )?(?:int|long|long long|Py_ssize_t|size_t|u?int\d+_t|modes_t)$"
)
_CIMPORT = re.compile(r"^from \S+ cimport (?:\(([^)]*)\)|(.*))", re.M)


@dataclass(frozen=True)
class Parameter:
    """
    One parameter; `mark` is "", "*" or "**"; a bare star is a parameter without name.

    `optional` says that it may be None whatever its default is.
    """

    name: str
    type: str = ""
    default: str | None = None
    mark: str = ""
    optional: bool = False


@dataclass(frozen=True)
class Function:
    name: str
    parameters: tuple[Parameter, ...]
    doc: str = ""
    decorators: tuple[str, ...] = ()


@dataclass
class Class:
    name: str
    bases: tuple[str, ...] = ()
    fields: dict[str, str] = field(default_factory=dict)  # name -> type, of public C fields
    members: list[Function] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)


@dataclass
class Source:
    """The public face of one module."""

    functions: dict[str, Function] = field(default_factory=dict)
    classes: dict[str, Class] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)  # name -> text of the value
    installed: dict[str, str] = field(default_factory=dict)  # method of Tensor -> its function
    exported: list[str] | None = None  # __all__, if the module has one


def read_source(path: Path, pxd: Path | None = None) -> Source:
    """The declarations of a .pyx with its includes, and the public C fields of its .pxd."""
    source = Source()
    text = _with_includes(path)
    shared = pxd.read_text(encoding="utf-8") if pxd is not None and pxd.exists() else ""
    _read_lines(text.split("\n"), source)
    _read_fields(shared.split("\n"), source)
    for name in [n for n in source.constants if _is_c_variable(n, text + "\n" + shared)]:
        del source.constants[name]
    for m in _INSTALL.finditer(text):
        source.installed[m["name"]] = m["value"]
    for m in _INSTALL_ALL.finditer(text):
        for name in re.findall(r"\w+", m["names"]):
            source.installed[name] = name
    if exported := re.search(r"^__all__(?:: [^=\n]*)? = (\[.*?\])", text, re.M | re.S):
        source.exported = list(ast.literal_eval(exported[1]))
    return source


def _is_c_variable(name, text):
    """Tell whether it is declared here, or in the header of the module that it comes from."""
    if any(name in re.findall(r"\w+", m[1] or m[2]) for m in _CIMPORT.finditer(text)):
        return True
    return (
        re.search(rf"^cdef (?:[^(\n]*\b{name}\b *(?:=|,|#|$)|\w+ \(\*{name}\))", text, re.M)
        is not None
    )


def _with_includes(path: Path) -> str:
    def part(m):
        file = path.parent / m[1]
        return (
            _with_includes(file) if file.exists() else ""
        )  # a generated part shows Python nothing

    return _INCLUDE.sub(part, path.read_text(encoding="utf-8"))


def _read_lines(lines, source):
    current, decorators, position = None, [], 0
    while position < len(lines):
        line = lines[position]
        bare = line.strip()
        depth = len(line) - len(line.lstrip())
        if bare and depth == 0 and not bare.startswith(("#", "@")):
            current = None
        if bare.startswith("@") and depth in (0, 4):
            decorators.append(bare[1:])
        elif m := _CLASS.match(line):
            bases = tuple(b.strip() for b in (m["bases"] or "").split(",") if b.strip())
            current = source.classes.setdefault(m["name"], Class(m["name"], bases))
            decorators = []
        elif (m := _HEAD.match(line)) and depth == (4 if current else 0):
            function, position = _function(lines, position, m["name"], tuple(decorators))
            if current:
                current.members.append(function)
            else:
                source.functions[function.name] = function
            decorators = []
        elif current and depth == 4 and (m := _FIELD.match(line)):
            _add_fields(current, m)
        elif current and depth == 4 and (m := _ALIAS.match(line)):
            current.aliases[m["name"]] = m["value"]
        elif depth == 0 and (m := _CONSTANT.match(line)) and m["names"] != "__all__":
            for name in m["names"].split(","):
                source.constants[name.strip()] = "0" if m["whole"] else m["value"]
        elif bare:
            decorators = []
        position += 1


def _function(lines, position, name, decorators):
    """The function whose head starts at a line, and the last line of the head."""
    text, depth = "", 0
    while True:
        line = re.sub(r"\s+#.*$", "", lines[position])
        text += line.strip() + " "
        depth += line.count("(") + line.count("[") - line.count(")") - line.count("]")
        if depth == 0:
            break
        position += 1
    inside = text[text.index("(") + 1 : text.rindex(")")]
    doc = _docstring(lines, position + 1)
    return Function(name, read_parameters(inside), doc, decorators), position


def _docstring(lines, start):
    first = lines[start].strip() if start < len(lines) else ""
    if not first.startswith('"""'):
        return ""
    docstring = [first[3:]]
    while '"""' not in docstring[-1]:
        start += 1
        docstring.append(lines[start].strip())
    return "\n".join(docstring).partition('"""')[0].strip()


def read_parameters(text: str) -> tuple[Parameter, ...]:
    """Parameters of a Cython `def`, with C types translated."""
    parameters = []
    for part in split_commas(text):
        left, _, default = (x.strip() for x in part.partition("="))
        left, none = re.subn(r" not None$", "", left)
        left, optional = re.subn(r" or None$", "", left)
        mark = left[: len(left) - len(left.lstrip("*"))]
        left = left[len(mark) :]
        kind, _, name = left.rpartition(" ")
        if mark and kind:  # a C pointer
            kind = ""
        # Cython lets None pass as any object of a declared type.
        optional = optional or (not none and kind.strip() in ("list", "dict"))
        parameters.append(
            Parameter(name, python_type(kind.strip()), default or None, mark, bool(optional))
        )
    return tuple(parameters)


def split_commas(text: str) -> list[str]:
    """Parts between the commas that are outside of brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


def python_type(c_type: str) -> str:
    """The Python type of a C type; empty if nothing is known."""
    if not c_type or "[" in c_type or "*" in c_type:
        return ""
    if c_type in _C_TYPES:
        return _C_TYPES[c_type]
    return "int" if _INTEGER.match(c_type) else c_type


def _add_fields(cls, match):
    for name in match["names"].split(","):
        cls.fields[name.strip()] = python_type(match["type"])


def _read_fields(lines, source):
    current = None
    for line in lines:
        if line and not line[0].isspace():
            m = _CLASS.match(line)
            current = source.classes.get(m["name"]) if m else None
        elif current and (m := _FIELD.match(line)):
            _add_fields(current, m)
