"""
Lazy attributes and modules.

`attach` gives a module its ``__getattr__`` and ``__dir__``, in the manner of scikit-image's
lazy_loader: attributes are loaded at their first use. `install` adds a finder for modules that
have no file here. For names that neither knows, both look into the table of torch's names
(``table.py``, read by ``lookup.py``), which is loaded at the first such name.

Note [Modules that are absent]
A finder can't tell ``import autograd_cy.library`` from ``importlib.util.find_spec`` of that name:
importlib calls it in the same way. For a name that the table calls absent it returns a spec whose
loader raises a ModuleNotFoundError that says what to use instead. So ``find_spec`` doesn't return
None for such a name, and only an import shows that there is no module.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = ["ROOT", "attach", "install"]

ROOT = "autograd_cy."


def attach(
    module: str,
    submodules: Iterable[str] = (),
    attributes: Mapping[str, str] | None = None,
    find: Callable[[str], Any] | None = None,
    hint: str = "",
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """
    Return ``__getattr__`` and ``__dir__`` for a module.

    Parameters
    ----------
    module : str
        Its ``__name__``.
    submodules : iterable of str, optional
        Modules below it to import at their first use.
    attributes : mapping, optional
        Path of a module without the package's name -> names in it, separated by spaces. They
        become attributes at their first use.
    find : callable, optional
        Returns the value of another name, or None. The value isn't stored.
    hint : str, optional
        The end of the error message for all other names, instead of what the table says.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> getattribute, _ = attach("autograd_cy.nn", ["parallel"], {"nn.parallel": "DataParallel"})
    >>> getattribute("DataParallel") is getattribute("parallel").DataParallel
    True
    """
    modules = frozenset(submodules)
    homes = {name: path for path, names in (attributes or {}).items() for name in names.split()}
    namespace = vars(sys.modules[module])

    def __getattr__(name: str) -> Any:
        if name in modules:
            return import_module(f"{module}.{name}")
        if name in homes:
            value = getattr(import_module(f"autograd_cy.{homes[name]}"), name)
            namespace[name] = value
            return value
        value = None if find is None else find(name)
        if value is not None:
            return value
        if hint or name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}{hint}")
        from autograd_cy._lazy.lookup import attribute

        return attribute(module, name)

    def __dir__() -> list[str]:
        return sorted({*namespace, *namespace.get("__all__", ())})

    return __getattr__, __dir__


class _Finder:
    """Find the modules of the table, absent ones too: see Note [Modules that are absent]."""

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith(ROOT):
            return None
        from autograd_cy._lazy.lookup import import_error, is_module

        if not is_module(name) and import_error(name) is None:
            return None
        # As a package: `from path import name` then comes here for a name that it lacks.
        return ModuleSpec(name, cls, origin="autograd_cy", is_package=True)  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        from autograd_cy._lazy.lookup import import_error

        error = import_error(spec.name)
        if error is not None:
            raise error

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        from autograd_cy._lazy.lookup import fill_module

        fill_module(module)
        namespace = vars(module)
        namespace["__getattr__"], namespace["__dir__"] = attach(module.__name__)


def install() -> None:
    """Add the finder to ``sys.meta_path``; a second call changes nothing."""
    if _Finder not in sys.meta_path:
        sys.meta_path.append(_Finder)  # type: ignore[arg-type]
