"""Compare the stubs with the built modules: `python ext/codegen/check_stubs.py`.

Every public name of a module must be in its stub and the other way round, the members of classes
too, and functions must have the same parameters. Writes the differences and ends with 1 if there
are any.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "autograd_cy"
# Folders whose stubs have definitions, not names of others.
WRITTEN = ("_C", "_interpreted")
# Every class has these, and Cython writes some of its own.
COMMON = {
    *dir(object),
    "__module__",
    "__dict__",
    "__weakref__",
    "__pyx_vtable__",
    "__annotations__",
}
COMMON |= {"__reduce_cython__", "__setstate_cython__", "__static_attributes__", "__firstlineno__"}
COMMON |= {"__slots__", "__match_args__", "__test__", "__orig_bases__"}
# Filled by each slot that Python has for it; the stub names those that make sense.
SLOTS = {"__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__", "__hash__", "__buffer__"}
SLOTS |= {"__rtruediv__", "__delattr__", "__delitem__", "__next__", "__release_buffer__"}
# Classes that share the methods of another, whose stub shows them.
SHARING = {"TensorBase": "Tensor"}


def main() -> int:
    """Check all stubs; returns the exit status."""
    problems = []
    stubs = sorted((PACKAGE / "_C").glob("*.pyi"))
    for path in stubs:
        module = importlib.import_module(f"autograd_cy._C.{path.stem}")
        problems += [f"{path.name}: {text}" for text in module_problems(module, path)]
    missing = unstubbed({path.stem for path in stubs})
    problems += [f"{name}: the module has no stub" for name in missing]
    problems += names_problems()
    for text in problems:
        print(text)
    print(f"{len(stubs)} stubs, {len(problems)} differences")
    return 1 if problems or not stubs else 0


def unstubbed(known: set[str]) -> list[str]:
    """Built modules without a stub, other than kernels compiled per instruction set."""
    import autograd_cy._C as folder

    names = {p.name.split(".")[0] for p in Path(folder.__path__[0]).glob("*.so")}
    simd = {f"{n}_{t}" for n in ("kern", *simd_modules()) for t in ("base", "avx2", "avx512")}
    return sorted(names - known - simd - {"optable", "kernel_table", "_shared", "cuda_host"})


def simd_modules() -> list[str]:
    from ext.build.extensions import MODULES

    return [m.name for m in MODULES if m.kind == "simd"]


# --- one module -----------------------------------------------------------------------------------


def module_problems(module, path: Path):
    """Differences between a module and its stub."""
    stub = definitions(ast.parse(path.read_text(encoding="utf-8")).body)
    built = public_names(module)
    shown = {name for name in stub if not name.startswith("_")}
    yield from (f"{name} is not in the stub" for name in sorted(built - shown))
    absent = sorted(name for name in stub if not hasattr(module, name))
    yield from (f"{name} is not in the module" for name in absent)
    for name, nodes in stub.items():
        value = getattr(module, name, None)
        if isinstance(nodes[0], ast.ClassDef) and isinstance(value, type):
            yield from (f"{name}.{text}" for text in class_problems(value, nodes[0]))
        elif isinstance(nodes[0], ast.FunctionDef) and value is not None:
            yield from (f"{name}: {text}" for text in signature_problems(value, nodes))


def definitions(body) -> dict[str, list]:
    """{name: statements} of a stub; imports and aliases are left out."""
    result: dict[str, list] = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            result.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.AnnAssign):
            result.setdefault(node.target.id, []).append(node)
        elif isinstance(node, ast.Assign) and not node.targets[0].id.startswith("_"):
            result.setdefault(node.targets[0].id, []).append(node)
    return result


def public_names(module) -> set[str]:
    """Public names that the module defines itself, and those of its `__all__`."""
    own = set(getattr(module, "__all__", ()))
    for name, value in vars(module).items():
        if own and inspect.isroutine(value):  # what isn't listed is for the module itself
            continue
        place = getattr(value, "__module__", None)
        foreign = isinstance(value, types.ModuleType) or (
            isinstance(place, str) and place != module.__name__ and inspect.isroutine(value)
        ) or (isinstance(value, type) and place != module.__name__)  # fmt: skip
        if not name.startswith("_") and not foreign:
            own.add(name)
    return own


def class_problems(cls, node: ast.ClassDef):
    """Differences between the members of a class and its stub."""
    stub = definitions(node.body)
    aliases = {n.targets[0].id for n in node.body if isinstance(n, ast.Assign)}
    # What only says that it isn't there is not in the stub.
    built = {name for name in vars(cls) if name not in COMMON | SLOTS and hasattr(cls, name)}
    if cls.__name__ in SHARING:
        module = sys.modules[cls.__module__]
        built -= set(dir(getattr(module, SHARING[cls.__name__])))
    if getattr(vars(cls).get("__setstate__"), "__name__", "") == "__setstate_cython__":
        built.discard("__setstate__")
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return
    known = {*stub, *aliases}
    yield from (f"{name} is not in the stub" for name in sorted(built - known))
    absent = (name for name in known if not hasattr(cls, name) and not set_by_init(node, name))
    yield from (f"{name} is not in the class" for name in sorted(absent))
    for name, nodes in stub.items():
        value = inspect.getattr_static(cls, name, None)
        if isinstance(value, staticmethod):
            value = value.__func__
        is_property = isinstance(nodes[0], ast.FunctionDef) and any(
            ast.unparse(d) == "property" for d in nodes[0].decorator_list
        )
        if name in aliases:
            continue
        if is_property or not isinstance(nodes[0], ast.FunctionDef):
            if callable(value) and not isinstance(value, type) and inspect.isroutine(value) \
                    and not inspect.isgetsetdescriptor(value):  # fmt: skip
                yield f"{name} is a method, not an attribute"
        elif isinstance(value, property) or inspect.isgetsetdescriptor(value):
            yield f"{name} is an attribute, not a method"
        elif not name.startswith("__"):
            yield from (f"{name}: {text}" for text in signature_problems(value, nodes))


def set_by_init(node: ast.ClassDef, name: str) -> bool:
    """Return whether a plain Python class sets the attribute on its instances."""
    return any(isinstance(n, ast.AnnAssign) and n.target.id == name for n in node.body)


# --- functions ------------------------------------------------------------------------------------


def signature_problems(value, nodes):
    """Differences between the parameters of a function and of its stub."""
    if len(nodes) > 1:  # overloads: one function for all of them
        return
    try:
        built = parameters_of(inspect.signature(value))
    except (TypeError, ValueError):
        return
    if [name for name, kind, _ in built] == ["args", "kwargs"]:
        return
    shown = parameters_of_stub(nodes[0].args)
    if built and shown and built[0][1] == shown[0][1] and shown[0][0] == "self":
        built[0] = shown[0]  # methods of the table call their first argument `input`
    if built != shown:
        yield f"the stub has {text_of_parameters(shown)}, the module {text_of_parameters(built)}"


def parameters_of(signature) -> list[tuple[str, str, bool]]:
    """(name, kind, whether there is a default)."""
    kinds = {
        inspect.Parameter.POSITIONAL_ONLY: "plain",
        inspect.Parameter.POSITIONAL_OR_KEYWORD: "plain",
        inspect.Parameter.VAR_POSITIONAL: "*",
        inspect.Parameter.KEYWORD_ONLY: "keyword",
        inspect.Parameter.VAR_KEYWORD: "**",
    }
    return [
        (p.name, kinds[p.kind], p.default is not inspect.Parameter.empty)
        for p in signature.parameters.values()
    ]


def parameters_of_stub(args: ast.arguments) -> list[tuple[str, str, bool]]:
    plain = [*args.posonlyargs, *args.args]
    first = len(plain) - len(args.defaults)
    result = [(a.arg, "plain", i >= first) for i, a in enumerate(plain)]
    if args.vararg:
        result.append((args.vararg.arg, "*", False))
    result += [(a.arg, "keyword", d is not None) for a, d in zip(args.kwonlyargs, args.kw_defaults)]
    if args.kwarg:
        result.append((args.kwarg.arg, "**", False))
    return result


def text_of_parameters(parameters) -> str:
    marks = {"plain": "", "keyword": "", "*": "*", "**": "**"}
    shown, star = [], False
    for name, kind, default in parameters:
        if kind == "keyword" and not star:
            shown.append("*")
        star = star or kind in ("*", "keyword")
        shown.append(marks[kind] + name + ("=" if default else ""))
    return f"({', '.join(shown)})"


# --- modules in Python ----------------------------------------------------------------------------


def names_problems():
    """Differences between `__all__` of modules in Python and of their stubs, the top level
    first."""
    stubs = {path for path in PACKAGE.rglob("*.pyi") if path.parent.name not in WRITTEN}
    for path in sorted({PACKAGE / "__init__.pyi", *stubs}):
        said = path.relative_to(PACKAGE.parent)
        if not path.exists():
            yield f"{said} is missing"
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign):
                shown = set(ast.literal_eval(node.value))
        module = ".".join(said.with_suffix("").parts).removesuffix(".__init__")
        built = set(importlib.import_module(module).__all__)
        yield from (f"{said}: {name} is missing" for name in sorted(built - shown))
        yield from (f"{said}: {name} is no public name" for name in sorted(shown - built))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
