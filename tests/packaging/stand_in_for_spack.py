"""A stand-in for Spack, which no package index has: its directives record what a recipe says.

It has the names that ``from spack.package import *`` gives to the recipe, with the parameters of
Spack's, and the two base classes. `read` executes a recipe as Spack does. What only Spack can check
(that other packages exist, and that the solver finds versions) stays open.
"""

from __future__ import annotations

import contextlib
import sys
import types
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Directives:
    """Arguments of all directives of one class body."""

    versions: dict = field(default_factory=dict)
    variants: dict = field(default_factory=dict)
    dependencies: list = field(default_factory=list)
    conflicts: list = field(default_factory=list)
    licenses: list = field(default_factory=list)
    maintainers: list = field(default_factory=list)
    defaults: list = field(default_factory=list)
    conditions: list = field(default_factory=list)

    def condition(self, when: str | None) -> str:
        """Return a condition with those of the ``with when(...)`` around it."""
        return " ".join([*self.conditions, *([when] if when else [])])


class EnvironmentModifications:
    """Keeps what a recipe sets."""

    def __init__(self):
        self.variables = {}

    def set(self, name: str, value: str) -> None:
        assert isinstance(value, str), f"{name} is not text: {value!r}"
        self.variables[name] = value


@dataclass
class Spec:
    """A concrete spec: variants that are on, architectures of GPUs, prefixes of dependencies."""

    on: frozenset = frozenset({"openmp"})
    cuda_arch: tuple = ("none",)
    prefixes: dict = field(default_factory=dict)

    def satisfies(self, text: str) -> bool:
        if text.startswith("cuda_arch="):
            return text.partition("=")[2] in self.cuda_arch
        assert text[0] in "+~", f"a condition that the stand-in does not know: {text}"
        return (text[1:] in self.on) == (text[0] == "+")

    @property
    def variants(self) -> dict:
        return {"cuda_arch": types.SimpleNamespace(value=self.cuda_arch)}

    def __getitem__(self, name: str):
        return types.SimpleNamespace(prefix=self.prefixes[name])


class PythonPackage:
    """Stand-in for the base class of packages that pip builds."""

    def __init__(self, spec: Spec):
        self.spec = spec

    @classmethod
    def url(cls) -> str:
        """Return the address that Spack makes from ``pypi``, where the recipe has no other."""
        return f"https://files.pythonhosted.org/packages/source/{cls.pypi[0]}/{cls.pypi}"


def _cuda_package(directives: types.SimpleNamespace) -> type:
    class CudaPackage:
        """Stand-in for the variants of GPUs, with the architectures that Spack knows in 2026."""

        cuda_arch_values = tuple(
            "10 11 12 13 20 21 30 32 35 37 50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a 100 100a "
            "100f 101 101a 101f 103 103a 103f 110 110a 110f 120 120a 120f 121 121a 121f".split()
        )
        directives.variant("cuda", default=False, description="Build with CUDA")
        directives.variant("cuda_arch", values=cuda_arch_values, when="+cuda")
        directives.depends_on("cuda", when="+cuda")

    return CudaPackage


def _directives(record: Directives) -> types.SimpleNamespace:
    """Return the functions that a recipe calls, which add to a record."""

    def version(ver, checksum=None, *, sha256=None, url=None, preferred=None, deprecated=None):
        record.versions[ver] = sha256

    def variant(name, default=None, description="", values=None, multi=None, validator=None,
                when=None, sticky=False):  # fmt: skip
        record.variants[name] = {"default": default, "description": description}

    def depends_on(spec, when=None, type=None, patches=None):
        types_ = type or next((one for one in reversed(record.defaults) if one), ("build", "link"))
        types_ = (types_,) if isinstance(types_, str) else tuple(types_)
        assert set(types_) <= {"build", "link", "run", "test"}
        record.dependencies.append((spec, record.condition(when), types_))

    def conflicts(conflict_spec, when=None, msg=None):
        record.conflicts.append((conflict_spec, record.condition(when), msg))

    def license(license_identifier, checked_by=None, when=None):
        record.licenses.append(license_identifier)

    def maintainers(*names):
        record.maintainers += names

    @contextlib.contextmanager
    def when(condition):
        record.conditions.append(condition)
        yield
        record.conditions.pop()

    @contextlib.contextmanager
    def default_args(*, type):
        record.defaults.append(type)
        yield
        record.defaults.pop()

    return types.SimpleNamespace(**{k: v for k, v in locals().items() if k != "record"})


def read(path: Path, **injected) -> tuple[type, Directives]:
    """Execute a recipe; return its class and the arguments of its directives.

    Parameters
    ----------
    path : pathlib.Path
        The file ``package.py``.
    **injected
        Names that Spack puts into the module before it calls methods, such as ``make_jobs``.
    """
    record = Directives()
    directives = _directives(record)
    modules = {
        "spack": {},
        "spack.package": {**vars(directives), "EnvironmentModifications": EnvironmentModifications},
        "spack_repo": {},
        "spack_repo.builtin": {},
        "spack_repo.builtin.build_systems": {},
        "spack_repo.builtin.build_systems.python": {"PythonPackage": PythonPackage},
        "spack_repo.builtin.build_systems.cuda": {"CudaPackage": _cuda_package(directives)},
    }
    before = {name: sys.modules.get(name) for name in modules}
    try:
        for name, contents in modules.items():
            sys.modules[name] = types.ModuleType(name)
            vars(sys.modules[name]).update(contents)
        names = {"__name__": f"recipe_{path.parent.name}", **injected}
        exec(compile(path.read_text(), path, "exec"), names)
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
    (recipe,) = [
        value
        for value in names.values()
        if isinstance(value, type) and value.__module__ == names["__name__"]
    ]
    return recipe, record
