"""Write the classes of ``nn`` that only store options and call a function.

Each file of rows in autograd_cy/ops/layers/ (`_schema.py` has their vocabulary) becomes the module
with the same path in autograd_cy/nn/. What is written is plain Python with types and docstrings, so
that importing, calling, pickling and type checkers find what a class by hand would give them.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ext.codegen.kernel_loops import write_if_changed
from ext.codegen.table import ROOT, importable

FOLDER = ROOT / "autograd_cy" / "ops" / "layers"
HEAD = '''"""{doc}

Written from autograd_cy/ops/layers/{path} by ext/codegen/layers.py; do not edit.
"""

# ruff: noqa
from __future__ import annotations

from typing import Any, ClassVar

from autograd_cy import Tensor
from autograd_cy.nn import functional
from autograd_cy.nn.functional._dimensions import Sizes
from autograd_cy.nn.module import Module
'''
DOC_END = '"""'
WORDS = {"Tensor | None": "Tensor", "bool | None": "bool", "int | None": "int"}


def paths() -> list[Path]:
    """The files of rows."""
    return sorted(p for p in FOLDER.rglob("*.py") if not p.stem.startswith("_"))


def schema() -> Any:
    """The vocabulary of the rows."""
    return importlib.import_module("autograd_cy.ops.layers._schema")


def load() -> dict[str, tuple[Any, list]]:
    """{path: (module, its rows)} of all files."""
    files = {}
    with importable():
        rows = schema().ROWS
        for path in paths():
            place = path.relative_to(FOLDER)
            name = ".".join(place.with_suffix("").parts)
            module = importlib.import_module(f"autograd_cy.ops.layers.{name}")
            for row in rows:
                if not row.file:
                    object.__setattr__(row, "file", place.as_posix())
            files[place.as_posix()] = module, [r for r in rows if r.file == place.as_posix()]
    return files


def rows_by_name(files: dict) -> dict[str, Any]:
    """The rows of all files by the names of their classes."""
    return {row.name: row for _, rows in files.values() for row in rows}


def write(folder: Path) -> None:
    """Write the modules into `folder`, which is autograd_cy/nn."""
    files = load()
    known = rows_by_name(files)
    for place, (module, rows) in files.items():
        write_if_changed(str(folder / place), module_text(place, module, rows, known))


def module_text(place: str, module: Any, rows: list, known: dict) -> str:
    """The Python source of one file of rows; `known` are those of all files by name."""
    public = sorted(row.name for row in rows if not row.name.startswith("_"))
    lines = [HEAD.format(doc=module.__doc__.strip().split("\n")[0], path=place)]
    lines[0] += getattr(module, "IMPORTS", "")
    lines += [f"__all__ = {public!r}".replace("'", '"')]
    for row in rows:
        lines += ["", "", *ClassText(row, known).lines()]
    return "\n".join(lines) + "\n"


class ClassText:
    """The text of one class."""

    def __init__(self, row: Any, known: dict):
        self.row, self.known = row, known
        self.options = self.options_of(row.name)

    def options_of(self, name: str) -> tuple:
        """The parameters of the constructor of a row, which it may have from its base."""
        row = self.known.get(name)
        if row is None:
            return ()
        return row.options if row.options is not None else self.options_of(row.base)

    def lines(self) -> Iterator[str]:
        row = self.row
        yield f"class {row.name}({row.base}):"
        if row.doc:
            yield from (*indented(self.docstring()), "")
        constants = row.constants
        if constants is None:
            constants = " ".join(o.name for o in self.options) if row.function else ""
        if constants:
            yield f"    __constants__: ClassVar[list[str]] = {constants.split()!r}".replace(
                "'", '"'
            )
        for name, value in row.members.items():
            yield f"    {name} {value}" if name.endswith(":") else f"    {name} = {value}"
        if row.options is not None:
            yield from ("", *self.constructor())
        if row.function:
            yield from ("", *self.forward())
        yield from self.extra_repr()

    # --- docstring ------------------------------------------------------------------------------

    def docstring(self) -> list[str]:
        row = self.row
        lines = [*row.doc.split("\n"), ""]
        if self.options:
            lines += ["Parameters", "----------", *parameter_lines(row, self.options), ""]
        if row.attributes:
            lines += ["Attributes", "----------"]
            lines += [
                x
                for n, (kind, text) in row.attributes.items()
                for x in (f"{n} : {kind}", f"    {text}")
            ]
            lines += [""]
        if row.raises:
            lines += [*raises_lines(row.raises), ""]
        if row.example:
            lines += ["Examples", "--------", ">>> import autograd_cy as torch"]
            lines += row.example.split("\n")
        while not lines[-1]:
            lines.pop()
        return quoted(lines)

    # --- methods --------------------------------------------------------------------------------

    def constructor(self) -> Iterator[str]:
        row = self.row
        yield from wrapped("    def __init__(", ["self", *signature(self.options)], ") -> None:")
        taken = self.taken_by_base()
        to_base = row.to_base
        if to_base is None:
            to_base = ", ".join(f"{name}={name}" for name in taken)
        yield f"        super().__init__({to_base})"
        yield from indented(row.check_options.splitlines(), 8)
        stored = {o.name: o.name for o in self.options if o.name not in (*taken, *row.buffers)}
        if row.to_base is not None:
            stored = {}
        for name, value in {**stored, **row.store}.items():
            if value:
                yield f"        self.{name} = {value}"
        for name in row.buffers:
            yield f'        self.register_buffer("{name}", {name})'

    def taken_by_base(self) -> list[str]:
        """The options that the constructor of the base takes, too."""
        theirs = {o.name for o in self.options_of(self.row.base)}
        return [o.name for o in self.options if o.name in theirs]

    def forward(self) -> Iterator[str]:
        row = self.row
        inputs = [part.partition(":")[0].strip() for part in row.inputs.split(", ")]
        yield from wrapped(
            "    def forward(", ["self", *row.inputs.split(", ")], f") -> {row.result}:"
        )
        yield f'        """Return {row.gives}.{"" if row.takes else DOC_END}'
        if row.takes:
            yield from ("", *indented([*row.takes.split("\n"), DOC_END], 8))
        yield from indented(row.check_input.splitlines(), 8)
        texts = row.all_arguments.split(", ") if row.all_arguments else [*inputs, *self.arguments()]
        yield from wrapped(f"        return functional.{row.function}(", texts, ")")

    def arguments(self) -> list[str]:
        """List the arguments of the function after the inputs."""
        row = self.row
        if row.arguments is not None:
            return row.arguments.split(", ") if row.arguments else []
        if row.base in ("_Loss", "_WeightedLoss"):
            names = [o.name for o in self.options if o.name not in ("size_average", "reduce")]
            return [f"{name}=self.{name}" for name in names]
        return [f"self.{o.name}" for o in self.options]

    def extra_repr(self) -> Iterator[str]:
        shown = self.row.shown
        if shown is None:
            shown = " ".join(o.name for o in self.options) if self.row.base == "Module" else ""
        if not shown:
            return
        yield from ("", "    def extra_repr(self) -> str:")
        yield '        """Return the options as ``repr`` shows them."""'
        if "{" in shown:
            yield f'        return f"{shown}"'
            return
        names = [name for name in shown.split() if name != "inplace"]
        text = ", ".join(f"{name}={{self.{name}}}" for name in names)
        if "inplace" not in shown.split():
            yield f'        return f"{text}"'
        elif not names:
            yield '        return "inplace=True" if self.inplace else ""'
        else:
            yield '        inplace = ", inplace=True" if self.inplace else ""'
            yield f'        return f"{text}{{inplace}}"'


# --- parts of definitions -------------------------------------------------------------------------


def signature(options: tuple) -> list[str]:
    """The parameters of a definition."""
    parameters: list[str] = []
    for o in options:
        if o.keyword and "*" not in parameters:
            parameters.append("*")
        parameters.append(f"{o.name}: {o.kind}" + (f" = {o.default}" if o.default else ""))
    return parameters


def each_name(texts: dict[str, str]) -> dict[str, str]:
    """The texts of single parameters."""
    return {name: text for names, text in texts.items() for name in names.split()}


def parameter_lines(row: Any, options: tuple, texts: dict | None = None) -> Iterator[str]:
    """The parameters in a docstring; those with equal texts stand together."""
    own = each_name(row.texts) if texts is None else texts
    groups: dict[tuple[str, str], list[str]] = {}
    for o in options:
        kind = row.kinds.get(o.name) or o.word or WORDS.get(o.kind, o.kind)
        if o.default is not None:
            kind += ", optional"
        groups.setdefault((kind, own.get(o.name, o.text)), []).append(o.name)
    for (kind, text), names in groups.items():
        yield f"{', '.join(names)} : {kind}"
        yield from (f"    {line}" for line in text.split("\n") if line)


def raises_lines(raises: dict) -> list[str]:
    """The section of errors in a docstring."""
    lines = [line for error, when in raises.items() for line in (error, f"    {when}")]
    return ["Raises", "------", *lines]


def quoted(lines: list[str]) -> list[str]:
    """A docstring of these lines."""
    raw = "r" if any("\\" in line for line in lines) else ""
    return [f'{raw}"""{lines[0]}', *lines[1:], DOC_END]


def wrapped(head: str, parts: list[str], tail: str) -> list[str]:
    """A call or a definition on one line, or with one argument a line."""
    line = f"{head}{', '.join(parts)}{tail}"
    if len(line) <= 100:
        return [line]
    depth = len(head) - len(head.lstrip())
    return [head, *(" " * (depth + 4) + part + "," for part in parts), " " * depth + tail]


def indented(lines: list[str], depth: int = 4) -> Iterator[str]:
    return (" " * depth + line if line else "" for line in lines)
