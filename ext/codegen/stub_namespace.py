"""Write the stubs of modules in Python: the top level, and those that records put functions into.

Their names are gathered at import, or found at the first use. The files are read as text (ast): by
what constants such as `_LATER` and `_TOP` say, which is stated once, there. Also finds the methods
that Python modules install on Tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ext.codegen.declarations import Function, Parameter
from ext.codegen.kernel_loops import write_if_changed

HEAD = "# Written by ext/codegen/stub_namespace.py during the build; do not edit.\n"


def write(package: Path, exported: dict[str, list[str] | None], lazy: dict[str, str]) -> None:
    """
    Write the stubs of the top level and of the module that gathers its names.

    `exported` has the public names of the compiled modules, `lazy` the module of each name that is
    found when it is first used.
    """
    names = namespace_imports(package, exported)
    lines = [line for line, _ in sorted(names.values())]
    lines += [f"from {module} import {name} as {name}" for name, module in sorted(lazy.items())]
    text = HEAD + "\n".join(lines) + f"\n\n__all__ = {sorted(names)!r}\n"
    write_if_changed(str(package / "_tensors" / "namespace.pyi"), text)
    write_if_changed(str(package / "__init__.pyi"), top_level(package, sorted(names), lazy))


# --- _tensors/namespace.py -------------------------------------------------------------------------


def namespace_imports(package: Path, exported) -> dict[str, tuple[str, str]]:
    """{public name: (import line, name)} of what `namespace` publishes; later ones win."""
    tree = ast.parse((package / "_tensors" / "namespace.py").read_text(encoding="utf-8"))
    imported = imports_of(tree)
    imports = {}

    def publish(name, module, original):
        imports[name] = (f"from {module} import {original} as {name}", name)

    for family in sorted(m for m in exported if m.startswith("ops_")):
        for name in exported[family] or ():
            publish(name, f"autograd_cy._C.{family}", name)
    for element in _value(tree, "_WHOLE").elts:
        module = ".".join(imported[element.id])
        short = module.rpartition(".")[2]
        public = exported.get(short) if "._C." in module else public_names(package, module)
        for name in public or ():
            publish(name, module, name)
    parts = _value(tree, "_PARTS")
    for key, names in zip(parts.keys, parts.values):
        for name in ast.literal_eval(names).split():
            publish(name, ".".join(imported[key.id]), name)
    renamed = _value(tree, "_RENAMED")
    for key, value in zip(renamed.keys, renamed.values):
        publish(key.value, ".".join(imported[value.value.id]), value.attr)
    return imports


def imports_of(tree) -> dict[str, tuple[str, str]]:
    """{local name: (module, original name)} of the `from` imports of a module."""
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def whole_modules(tree) -> list[str]:
    """The modules whose public names a module imports by ``*``."""
    imports = (node for node in tree.body if isinstance(node, ast.ImportFrom))
    return [node.module for node in imports if node.names[0].name == "*"]


def public_names(package: Path, module: str) -> list[str]:
    """`__all__` of a Python module of the package."""
    tree = ast.parse(source_of(package, module).read_text(encoding="utf-8"))
    return list(_constant(tree, "__all__"))


def source_of(package: Path, module: str) -> Path:
    """The file of a Python module of the package."""
    path = package.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


# --- __init__.py ----------------------------------------------------------------------------------


def top_level(package: Path, names: list[str], lazy: dict[str, str]) -> str:
    """The imports of __init__.py, each name exported, and what is loaded when it is first used."""
    tree = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    lines, public = ["from autograd_cy._tensors.namespace import *"], list(names)
    lazy = dict(lazy)
    for node in _statements(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = alias.asname or alias.name
                if name == "*" and node.module != "autograd_cy._tensors.namespace":
                    lazy |= dict.fromkeys(public_names(package, node.module), node.module)
                elif alias.name not in ("*", "__all__"):
                    lines.append(f"from {node.module} import {alias.name} as {name}")
    for part, listed in _constant(tree, "_LATER"):
        lazy |= dict.fromkeys(listed.split(), f"autograd_cy.{part}")
    lazy |= dict.fromkeys(_constant(tree, "_MODULES"), "autograd_cy")
    lines += [f"from {module} import {name} as {name}" for name, module in lazy.items()]
    public += [line.rpartition(" ")[2] for line in lines[1:]]
    hidden = [name for name in public if name.startswith("_") and name not in ("__version__", "_C")]
    public = sorted({*public} - {*hidden})
    return HEAD + "\n".join([lines[0], *sorted(lines[1:])]) + f"\n\n__all__ = {public!r}\n"


def _statements(tree) -> Iterator:
    """Yield the statements of a module, those of its with blocks too."""
    for node in tree.body:
        yield from node.body if isinstance(node, ast.With) else [node]


def _constant(tree, name: str) -> Iterable:
    """Return the value of a name of a module; the items of a dict."""
    value = _value(tree, name)
    value = () if value is None else ast.literal_eval(value)
    return value.items() if isinstance(value, dict) else value


def _value(tree, name: str) -> Any:
    """The expression that a name of a module is set to, or None."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if isinstance(node, ast.Assign | ast.AnnAssign) and _is_name(targets[0], name):
            return node.value
    return None


# --- modules that records put functions into ------------------------------------------------------


def write_namespace(
    package: Path, namespace: str, families: dict, module_of: Callable[[Any], str]
) -> None:
    """
    Write the stub of the module of a namespace, such as ``linalg``.

    It has what the module lists in `__all__`, the names of the top level in its `_TOP` and, by
    other names, `_RENAMED`, and what records put there. `module_of` says in which module the
    functions of a record are.
    """
    path = source_of(package, f"autograd_cy.{namespace}")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = imports_of(tree)
    names = {name: (m, name) for m in whole_modules(tree) for name in public_names(package, m)}
    if not names:
        names = {name: imported[name] for name in _constant(tree, "__all__")}
    names.update({name: ("autograd_cy", name) for name in _constant(tree, "_TOP")})
    names.update({name: ("autograd_cy", theirs) for name, theirs in _constant(tree, "_RENAMED")})
    for records in families.values():
        for r in records:
            inside = namespace in (r.namespace, *r.call.also)
            if r.public and r.call.function and inside and r.name not in names:
                names[r.name] = module_of(r), r.name
    lines = [f"from {module} import {own} as {name}" for name, (module, own) in names.items()]
    text = HEAD + "\n".join(sorted(lines)) + f"\n\n__all__ = {sorted(names)!r}\n"
    write_if_changed(str(path.with_suffix(".pyi")), text)


# --- methods installed by Python modules ----------------------------------------------------------


def python_methods(package: Path) -> Iterator[tuple[str, Function | None, bool]]:
    """(name, function, is property) of what Python modules install on Tensor."""
    for path in sorted(package.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "_install(" in text:
            tree = ast.parse(text)
            functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
            for name, value in _installed(tree):
                yield _described(name, value, functions)


def _installed(tree) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        if isinstance(node, ast.Expr) and _is_install(node.value):
            name, value = node.value.args
            if isinstance(name, ast.Constant):
                yield name.value, value
        elif isinstance(node, ast.For) and any(_is_install(call) for call in ast.walk(node)):
            yield from _installed_in_loop(node)


def _installed_in_loop(node):
    """`for name, value in {...}.items(): _install(name, value)`; value may be an expression."""
    if not (isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Attribute)):
        return
    rows = node.iter.func.value
    if isinstance(rows, ast.Dict):
        for key, value in zip(rows.keys, rows.values):
            yield key.value, value


def _is_install(node) -> bool:
    return isinstance(node, ast.Call) and _is_name(node.func, "_install")


def _is_name(node, name) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _described(name, value, functions):
    known = isinstance(value, ast.Call) and _is_name(value.func, "property")
    if known or isinstance(value, ast.Subscript):  # or another name of one: vars(Tensor)["grad"]
        return name, None, True
    definition = functions.get(value.id) if isinstance(value, ast.Name) else None
    if definition is None:
        return name, None, False
    doc = ast.get_docstring(definition) or ""
    return name, Function(name, tuple(_parameters(definition.args)), doc), False


def _parameters(args) -> Iterator[Parameter]:
    plain = [*args.posonlyargs, *args.args]
    first = len(plain) - len(args.defaults)
    for i, a in enumerate(plain):
        default = ast.unparse(args.defaults[i - first]) if i >= first else None
        yield Parameter(a.arg, "", default)
    if args.vararg:
        yield Parameter(args.vararg.arg, mark="*")
    elif args.kwonlyargs:
        yield Parameter("", mark="*")
    for a, default in zip(args.kwonlyargs, args.kw_defaults):
        yield Parameter(a.arg, "", ast.unparse(default) if default else None)
    if args.kwarg:
        yield Parameter(args.kwarg.arg, mark="**")
