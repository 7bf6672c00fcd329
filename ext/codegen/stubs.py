"""Write the .pyi stubs of the compiled modules and of the top level, before anything is compiled.

A module of operators is described by its records; any other by what declarations.py finds in its
source. Names, parameters and defaults always come from there. Types come from a template in
stub_templates/ where one defines the same name, from C types and the docstring's "Returns"
otherwise. check_stubs.py compares the result with the built modules.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from ext.build.extensions import MODULES, PACKAGE, PACKAGE_DIR, ROOT
from ext.codegen import stub_namespace
from ext.codegen.declarations import Class, Function, Parameter, Source, read_source
from ext.codegen.kernel_loops import write_if_changed
from ext.codegen.python_forms import python_name, separate_sizes
from ext.codegen.table import records_by_name
from ext.codegen.vocabulary import NUMBER, arg_type

TEMPLATES = Path(__file__).resolve().parent / "stub_templates"
HEAD = "# Written by ext/codegen/stubs.py during the build; do not edit.\n"
# Aliases, because modules and the class define functions called `float`, `int`, `bool`, `type`.
IMPORTS = """\
from builtins import bool as _Bool, complex as _Complex, float as _Float, int as _Int, str as _Str
from collections.abc import Callable as _Callable, Iterator as _Iterator, Sequence as _Sequence
from typing import (
    Any as _Any, NamedTuple as _NamedTuple, NoReturn as _Never, SupportsIndex as _SupportsIndex,
    Type as _Type, overload as _overload,
)

import numpy as _np
from typing_extensions import Self as _Self

_Number = _Bool | _Int | _Float | _Complex
"""
SHARED = {
    "dtypes": "dtype",
    "placement": "device layout memory_format",
    "tensor": "Size Tensor ForwardLevel Restoring",
    "node": "Node",
    "random": "Generator",
    "exchange": "UntypedStorage",
    "streams": "Stream Event",
    "step_lists": "StepLists",
}
# Classes that have subclasses in other modules.
_SHARED_BASES = ("Node", "Restoring", "StepLists")
# Parameters that mean the same in every function.
BY_NAME = {
    "dtype": "_dtype | None", "device": "_device | _Str | _Int | None", "layout": "_layout | None",
    "requires_grad": "_Bool", "pin_memory": "_Bool", "out": "_Tensor | None",
    "memory_format": "_memory_format | None", "generator": "_Generator | None",
    "size": "_Int | _Sequence[_Int] | None", "input": "_Tensor", "fill_value": NUMBER,
    "stride": "_Int | _Sequence[_Int]", "seed": "_Int", "dim": "_Int", "copy": "_Bool | None",
    "non_blocking": "_Bool",
}  # fmt: skip
DOC_TYPES = {
    "Tensor": "_Tensor", "Generator": "_Generator", "UntypedStorage": "_UntypedStorage",
    "Stream": "_Stream", "Event": "_Event", "dtype": "_dtype", "bool": "_Bool", "int": "_Int", "float": "_Float", "str": "_Str",
    "dict": "dict[_Str, _Any]", "tuple": "tuple[_Any, ...]", "numpy.ndarray": "_np.ndarray",
    "tuple of Tensors": "tuple[_Tensor, ...]",
}  # fmt: skip
C_TYPES = {
    "bool": "_Bool", "int": "_Int", "float": "_Float", "str": "_Str", "tuple": "tuple[_Any, ...]",
    "list": "list[_Any]", "dict": "dict[_Any, _Any]", "bytes": "bytes", "type": "type",
    "Tensor": "_Tensor", "Node": "_Node", "UntypedStorage": "_UntypedStorage",
    "Stream": "_Stream", "Event": "_Event",
    "ForwardLevel": "_ForwardLevel",
}  # fmt: skip
SPECIAL = {
    "__len__": "_Int", "__bool__": "_Bool", "__int__": "_Int", "__index__": "_Int",
    "__float__": "_Float", "__complex__": "_Complex", "__hash__": "_Int", "__repr__": "_Str",
    "__str__": "_Str", "__init__": "None", "__init_subclass__": "None", "__format__": "_Str", "__dir__": "list[_Str]",
    "__contains__": "_Bool", "__setitem__": "None", "__setattr__": "None", "__delitem__": "None",
    "__setstate__": "None", "__reduce__": "tuple[_Any, ...]", "__reduce_ex__": "tuple[_Any, ...]",
}  # fmt: skip
# What functions of these modules return, if their docstring doesn't say.
MODULE_RESULTS = {"creation": "_Tensor", "inplace": "_Tensor"}
# Run by Cython before __init__, or not to be called by name.
HIDDEN = ("__cinit__", "__dealloc__", "__getbuffer__", "__releasebuffer__")
COMPARISONS = ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__")


def write_stubs(families: dict, pxd_dir: Path) -> None:
    """Write the stub of each compiled module and of the top level."""
    sources = {
        m.name: read_source(m.path, PACKAGE_DIR / f"{m.name}.pxd")
        for m in MODULES
        if m.kind != "simd"
    }
    exported = {name: source.exported for name, source in sources.items()}
    lazy: dict[str, str] = {}
    methods = [
        *(f for records in families.values() for f in record_methods(records)),
        *installed_methods(sources),
        *python_methods(),
    ]
    for name, source in sources.items():
        text = module_stub(name, source, methods if name == "tensor" else [], families)
        write_if_changed(str(pxd_dir / f"{name}.pyi"), text)
    written = {*exported}
    for family, records in families.items():
        name = f"ops_{family}"
        compiled = [r for r in records if r.tier == "compiled"]
        if compiled:
            written.add(name)
            text, names = family_stub(name, compiled)
            write_if_changed(str(pxd_dir / f"{name}.pyi"), text)
            if compiled[0].later:
                lazy |= dict.fromkeys(names, f"{PACKAGE}.{name}")
            else:
                exported[name] = names
    lazy |= write_interpreted(families, pxd_dir.parent / "_interpreted")
    write_if_changed(str(pxd_dir.parent / "return_types.pyi"), results_stub(families))
    stub_namespace.write(pxd_dir.parent, exported, lazy)
    for namespace in namespaces(families):
        stub_namespace.write_namespace(pxd_dir.parent, namespace, families, module_of)
    for path in pxd_dir.glob("*.pyi"):
        if path.stem not in written:  # of a module that is gone
            path.unlink()


def write_interpreted(families: dict, folder: Path) -> dict[str, str]:
    """The stubs of the interpreted tier; {name at the top level: its module}."""
    written, lazy = set(), {}
    folder.mkdir(exist_ok=True)
    for family, records in families.items():
        interpreted = [r for r in records if r.tier == "interpreted"]
        if not interpreted:
            continue
        written.add(family)
        text, _ = family_stub(family, interpreted)
        write_if_changed(str(folder / f"{family}.pyi"), text)
        for r in interpreted:
            if r.name.startswith("_") or not r.call.function:
                continue
            names = [*r.call.aliases] if r.namespace else [r.name, *r.call.aliases]
            names += [f"{name}_" for name in names] if r.call.inplace else []
            lazy |= dict.fromkeys(names, f"autograd_cy._interpreted.{family}")
    for path in folder.glob("*.pyi"):
        if path.stem not in written:
            path.unlink()
    return lazy


def results_stub(families: dict) -> str:
    """The stub of the module that has the classes of several results with names."""
    classes: dict[str, str] = {}
    for family, records in families.items():
        for r in records:
            if len(r.returns) > 1 and r.call.named and not r.symbol.startswith("_"):
                module = f"_C.ops_{r.file}" if r.tier == "compiled" else f"_interpreted.{family}"
                classes[r.symbol] = (
                    f"from autograd_cy.{module} import {r.symbol}_result as {r.symbol}"
                )
    lines = [classes[name] for name in sorted(classes)]
    return "\n".join([*lines, f"__all__ = {sorted(classes)!r}", "all_return_types: list[type]", ""])


def namespaces(families: dict) -> list[str]:
    """The modules in Python that records put functions into."""
    named = {
        n for records in families.values() for r in records for n in (r.namespace, *r.call.also)
    }
    return sorted(filter(None, named))


def module_of(r) -> str:
    """The module with the Python forms of a record."""
    return (
        f"{PACKAGE}.ops_{r.file}" if r.tier == "compiled" else f"autograd_cy._interpreted.{r.file}"
    )


# --- modules written by hand ----------------------------------------------------------------------


def module_stub(name: str, source: Source, methods: list[str], families=()) -> str:
    """The stub of a module of MODULES; `methods` are added to the class Tensor."""
    template = Template(TEMPLATES / f"{name}.pyi")
    parts = [HEAD + IMPORTS + shared_imports(name), template.head]
    if methods:  # their results may be named tuples of these
        modules = sorted({module_of(r) for records in families.values() for r in records})
        parts += [f"import {name} as {alias(name)}" for name in modules]
    for constant, value in source.constants.items():
        parts.append(template.names.get(constant) or f"{constant}: {constant_type(value)}")
    for cls in source.classes.values():
        extra = methods if cls.name == "Tensor" else []
        parts.append(class_stub(cls, template, extra))
    result = MODULE_RESULTS.get(name, "_Any")
    for function in source.functions.values():
        text = template.names.get(function.name)
        parts.append(text or function_stub(function, doc_type(function.doc, result)))
    defined = {*source.constants, *source.classes, *source.functions}
    parts += [text for key, text in template.names.items() if key not in defined]
    if source.exported is not None:
        parts.append(f"__all__ = {source.exported!r}")
    return "\n".join(part for part in parts if part) + "\n"


def alias(module: str) -> str:
    return "_" + module.removeprefix("autograd_cy.").lstrip("_").replace(".", "_")


def shared_imports(own: str) -> str:
    """Types of other modules, under names with an underscore; the module's own as an alias."""
    lines = []
    for module, names in SHARED.items():
        if module == own:
            lines += [f"_{name} = {name}" for name in names.split()]
        else:
            listed = ", ".join(f"{name} as _{name}" for name in names.split())
            lines.append(f"from {PACKAGE}.{module} import {listed}")
    return "\n".join(sorted(lines, key=lambda line: " = " in line)) + "\n"


def constant_type(value: str) -> str:
    """The type of a constant, from the text of its value."""
    try:
        kind = type(ast.literal_eval(value)).__name__
    except (ValueError, SyntaxError):
        return "_Any"
    return C_TYPES.get(kind, kind)


def class_stub(cls: Class, template: Template, methods: list[str]) -> str:
    """A class: fields, members of the source and the template, installed methods."""
    known = template.classes.get(cls.name, {})
    bases = ", ".join(f"_{b}" if b in _SHARED_BASES else b for b in cls.bases)
    bases = template.bases.get(cls.name) or bases
    lines = [f"class {cls.name}({bases}):" if bases else f"class {cls.name}:"]
    done = set()

    def add(name, text):
        if name in done and name in known:
            return
        done.add(name)
        lines.append(indented(known.get(name, text)))

    for name, kind in cls.fields.items():
        add(name, f"{name}: {C_TYPES.get(kind, kind) or '_Any'}")
    for member in cls.members:
        if member.name in HIDDEN:
            continue
        if member.name == "__richcmp__":
            for name in COMPARISONS:
                add(name, f"def {name}(self, other: object, /) -> _Bool: ...")
            continue
        add(member.name, member_stub(cls, member))
    for name, target in cls.aliases.items():
        add(name, f"{name} = {target}")
    for text in methods:
        name = re.search(r"^(?:def )?(\w+)", re.sub(r"^@.*\n", "", text, flags=re.M))[1]
        add(name, text)
    for name, text in known.items():
        if name not in done:
            lines.append(indented(text))
    return "\n".join(lines if len(lines) > 1 else [lines[0] + " ..."])


def member_stub(cls: Class, member: Function) -> str:
    """A method or property of a class of the source."""
    decorators = [d for d in member.decorators if d in ("property", "staticmethod", "classmethod")]
    decorators += [d for d in member.decorators if d.endswith((".setter", ".deleter"))]
    result = SPECIAL.get(member.name)
    if any(d.endswith((".setter", ".deleter")) for d in decorators):
        result = "None"
    if member.name in ("__eq__", "__ne__") and cls.name != "Tensor":
        return f"def {member.name}(self, other: object, /) -> _Bool: ..."
    if result is None and cls.name == "Tensor" and is_operator(member.name):
        return operator_stub(member)
    return "".join(f"@{d}\n" for d in decorators) + function_stub(member, result, own="self")


def is_operator(name: str) -> bool:
    """Return whether a method of Tensor is behind a Python operator that gives a tensor."""
    return re.fullmatch(r"__\w+__", name) is not None and name not in ("__getitem__", "__iter__")


def operator_stub(member: Function) -> str:
    name, rest = member.name, member.parameters[1:]
    if not rest:
        return f"def {name}(self) -> _Tensor: ..."
    power = ", modulo: None = None" if len(rest) > 1 else ""
    reason = {"__eq__": "override", "__ne__": "override", "__ipow__": "misc"}.get(name)
    ignore = f"  # type: ignore[{reason}]" if reason else ""
    return f"def {name}(self, other: _Tensor | {NUMBER}{power}, /) -> _Tensor: ...{ignore}"


def function_stub(function: Function, result: str | None = None, own: str = "") -> str:
    """A function of the source; `own` is the name of a method's first parameter."""
    shown = [parameter_text(p) for p in function.parameters]
    if own and shown and function.parameters[0].name in ("self", "cls"):
        shown[0] = function.parameters[0].name
    result = result or doc_type(function.doc)
    return f"def {function.name}({', '.join(shown)}) -> {result}: ..."


def parameter_text(p: Parameter) -> str:
    """A parameter with its type."""
    if not p.name:
        return p.mark
    kind = C_TYPES.get(p.type, p.type) if p.type else BY_NAME.get(p.name, "_Any")
    if p.type and (p.optional or p.default == "None"):
        kind += " | None"
    if p.mark:
        return f"{p.mark}{p.name}: _Any"
    if p.default is None:
        return f"{p.name}: {kind}"
    if kind == "_Any":
        kind = {"True": "_Bool", "False": "_Bool"}.get(p.default, kind)
    if p.default == "None" and kind != "_Any" and not kind.endswith("None"):
        kind += " | None"
    return f"{p.name}: {kind} = {p.default if is_simple(p.default) else '...'}"


def is_simple(default: str) -> bool:
    """Return whether a default can be shown as it is."""
    try:
        ast.literal_eval(default)
    except (ValueError, SyntaxError):
        return False
    return True


def doc_type(doc: str, otherwise: str = "_Any") -> str:
    """The type that a docstring's "Returns" names."""
    m = re.search(r"^Returns\n-+\n(.+)$", doc, re.M)
    if not m:
        return otherwise
    return DOC_TYPES.get(m[1].strip(), "_Any")


def installed_methods(sources: dict[str, Source]) -> list[str]:
    """Functions that modules install on Tensor, as methods."""
    stubs = []
    for module, source in sources.items():
        for name, target in source.installed.items():
            function = source.functions.get(target)
            if function is None:
                stubs.append(f"{name}: {constant_type(target)}")
            else:
                method = Function(name, function.parameters, function.doc, function.decorators)
                result = SPECIAL.get(name) or doc_type(
                    function.doc, MODULE_RESULTS.get(module, "_Any")
                )
                stubs.append(function_stub(method, result, own="self"))
    return stubs


def python_methods() -> list[str]:
    """List the methods that Python modules install on Tensor."""
    stubs = []
    for name, function, is_property in stub_namespace.python_methods(ROOT / "autograd_cy"):
        if is_property:
            stubs.append(f"@property\ndef {name}(self) -> _Tensor: ...")
        elif function is None:  # made by a call; a template may say more
            returned = SPECIAL.get(name, "_Any")
            stubs.append(f"def {name}(self, *args: _Any, **kwargs: _Any) -> {returned}: ...")
        else:
            stubs.append(function_stub(function, SPECIAL.get(name), own="self"))
    return stubs


def indented(text: str) -> str:
    return "\n".join("    " + line for line in text.split("\n"))


class Template:
    """A hand-written stub: definitions by name, which replace those derived from the source."""

    def __init__(self, path: Path):
        self.names: dict[str, str] = {}
        self.classes: dict[str, dict[str, str]] = {}
        self.bases: dict[str, str] = {}
        self.head = ""
        if not path.exists():
            return
        text = path.read_text(encoding="utf-8")
        lines = text.split("\n")
        head = []
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef):
                members = self.classes.setdefault(node.name, {})
                self.bases[node.name] = ", ".join(ast.unparse(b) for b in node.bases)
                for member in node.body:
                    self._add(members, member, lines, 4)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                head += lines[node.lineno - 1 : node.end_lineno]
            else:
                self._add(self.names, node, lines, 0)
        self.head = "\n".join(head)

    @staticmethod
    def _add(where, node, lines, depth):
        name = name_of_node(node)
        if not name:
            return
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        text = "\n".join(line[depth:] for line in lines[first - 1 : node.end_lineno])
        where[name] = f"{where[name]}\n{text}" if name in where else text


def name_of_node(node) -> str:
    """Return the name that a statement of a stub defines."""
    if isinstance(node, ast.FunctionDef):
        return node.name
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return ""


# --- modules of operators -------------------------------------------------------------------------


def family_stub(name: str, records: list) -> tuple[str, list[str]]:
    """The stub of a module of operators, and the names that it exports."""
    body, exported = [], []
    for key, group in records_by_name(records).items():
        tuples = [r for r in group if len(r.returns) > 1 and r.call.named]
        for r in tuples[:1]:
            body += [
                f"class {r.symbol}_result(_NamedTuple):",
                *(f"    {o}: _Tensor" for o in r.returns),
            ]
        changing = [r for r in group if r.call.inplace]
        for name in dict.fromkeys((key, *group[0].call.aliases)):
            lists = [record_parameters(r) for r in group]
            results = [result_of(r) for r in group]
            for r in filter(lambda r: r.call.alone, group):
                lists.append(record_parameters(r)[:1])
                results.append("tuple[_Tensor, ...]")
            body += overloads(name, lists, results)
            lists = [record_parameters(r, "inplace") for r in changing]
            body += overloads(f"{name}_", lists, ["_Tensor"] * len(lists))
            within = group[0].namespace and name == key and group[0].tier == "compiled"
            if group[0].call.function and not key.startswith("_") and not within:
                exported += [name, f"{name}_"] if changing else [name]
    needed = ["dtypes", "placement", "tensor"]
    if any("_Generator" in line for line in body):
        needed.append("random")
    imports = "".join(
        line + "\n"
        for line in shared_imports("").splitlines()
        if line.split(".")[-1].split(" ")[0] in needed
    )
    text = [HEAD + IMPORTS + imports, *body, f"__all__ = {exported!r}"]
    return "\n".join(text) + "\n", exported


def record_methods(records: list) -> list[str]:
    """The methods of Tensor that records give."""
    stubs = []
    for key, group in records_by_name(records).items():
        if key.startswith("_"):
            continue
        changing = [r for r in group if r.call.inplace]
        methods = [r for r in group if r.call.method]
        for name in method_names(group[0]):
            if group[0].call.method:
                results = [result_of(r, f"{alias(module_of(r))}.") for r in methods]
                lists = [record_parameters(r, "method") for r in methods]
                stubs.append("\n".join(overloads(name, lists, results)))
            if changing and group[0].call.method:
                lists = [record_parameters(r, "inplace method") for r in changing]
                stubs.append("\n".join(overloads(f"{name}_", lists, ["_Tensor"] * len(lists))))
    return stubs


def method_names(r) -> tuple[str, ...]:
    """List the names of methods; records of a namespace have methods by their other names only."""
    return r.call.aliases if r.namespace else (r.name, *r.call.aliases)


def overloads(name: str, lists: list[list[str]], results: list[str]) -> list[str]:
    """One function, or several overloads of it; equal ones are written once."""
    lines = list(dict.fromkeys(function_line(name, p, r) for p, r in zip(lists, results)))
    if len(lines) == 1:
        return lines
    ignore = "  # type: ignore[overload-overlap]"
    return [text for line in lines for text in ("@_overload" + ignore, line)]


def function_line(name: str, parameters: list[str], result: str) -> str:
    return f"def {name}({', '.join(parameters)}) -> {result}: ..."


def record_parameters(r, form: str = "") -> list[str]:
    """Parameters of the Python form of a record, as function_form and inplace_form write them."""
    method, inplace = "method" in form, "inplace" in form
    parts, star = [], False
    for i, a in enumerate(r.args):
        name = python_name(a, i)
        if i == 0 and method:
            parts.append(name)  # a method is the function itself, with its names
            continue
        if name == separate_sizes(r) and not inplace:
            sizes = "_Int | _Sequence[_Int]"
            parts += [f"*{name}_: {sizes}", f"{name}: {sizes} | None = None"]
            star = True
            continue
        if a.keyword and not star:
            parts.append("*")
            star = True
        text = f"{name}: {arg_type(a.type).stub}"
        parts.append(text if a.default is None else f"{text} = {a.default}")
    extra = [f"{a.name}: {arg_type(a.type).stub} = {a.default}" for a, _ in r.call.options]
    extra += [f"alpha: {NUMBER} = 1"] if r.call.alpha else []
    several = r.outs or len(r.returns) > 1
    kind = "_Sequence[_Tensor]" if several else "_Tensor"
    extra += [f"out: {kind} | None = None"] if r.outs or (r.call.out and not inplace) else []
    if extra and not star:
        parts.append("*")
    return parts + extra


def result_of(r, prefix: str = "") -> str:
    """Return the type of the results; `prefix` leads to the module with the named tuple."""
    if len(r.returns) > 1 and not r.call.named:
        return f"tuple[{', '.join('_Tensor' for _ in r.returns)}]"
    if len(r.returns) > 1:
        return f"{prefix}{r.symbol}_result"
    if not r.returns:
        return "None"
    return "tuple[_Tensor, ...]" if r.returns == ("*",) else "_Tensor"
