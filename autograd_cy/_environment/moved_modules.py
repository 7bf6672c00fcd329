"""Finds modules by the paths under which torch keeps what this package keeps elsewhere.

Such a module is made when it is first imported, of names that are in other modules, and of those
that stand for what isn't there (``_absent/stand_ins.py``). The table is in ``moved_names.py``,
which is read when nothing else is found.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = ["install", "moved"]

_IMPORTS = "_find_and_load_unlocked"  # importlib's function that raises if no finder knows a module
_ROOT = "autograd_cy."


class _Moved(ModuleType):
    """A module of names that others define."""

    def __getattr__(self, name: str) -> Any:
        from autograd_cy._absent.stand_in_names import STAND_INS
        from autograd_cy._absent.stand_ins import stand_in
        from autograd_cy._environment.moved_names import MOVED

        path = self.__name__
        if _is_known(f"{path}.{name}"[len(_ROOT) :]):
            return import_module(f"{path}.{name}")
        if path[len(_ROOT) :] in STAND_INS:
            return stand_in(path, name)
        if path[len(_ROOT) :] in MOVED and not name.startswith("__"):
            _say_what_instead(path, name)
        raise AttributeError(f"module {path!r} has no attribute {name!r}")


def _is_known(inner: str) -> bool:
    """Tell whether one of the tables has a module by this path."""
    from autograd_cy._absent.stand_in_names import STAND_INS
    from autograd_cy._environment.moved_names import MOVED

    return inner in MOVED or inner in STAND_INS


def _say_what_instead(path: str, name: str) -> None:
    """Raise what the module raises that would have the name, if it says what to do."""
    from autograd_cy._environment.moved_names import MOVED

    home = MOVED[path[len(_ROOT) :]][0].partition(":")[0]
    try:
        getattr(import_module(f"{_ROOT}{home}".rstrip(".")), name)
    except AttributeError as error:
        if "no counterpart of torch" in str(error):
            raise


class _Finder:
    """One of the last finders, asked where the folders of the package have nothing."""

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith(_ROOT):
            return None
        from autograd_cy._environment.moved_names import MOVED

        if _is_known(name[len(_ROOT) :]):
            # As packages: `from path import name` then asks here for a name that isn't there.
            return ModuleSpec(name, cls, origin="autograd_cy", is_package=True)  # type: ignore[arg-type]
        parent, _, last = name.rpartition(".")
        asker = sys._getframe(1).f_back
        if parent[len(_ROOT) :] in MOVED and asker is not None and asker.f_code.co_name == _IMPORTS:
            try:
                _say_what_instead(parent, last)
            except AttributeError as error:
                # Without a name: importlib drops errors of `from path import name` that carry it.
                raise ModuleNotFoundError(f"cannot import {name}: {error}") from None
        return None

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        return _Moved(spec.name)

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        from autograd_cy._absent.stand_in_names import STAND_INS
        from autograd_cy._environment.moved_names import MOVED

        path = module.__name__[len(_ROOT) :]
        module.__doc__ = f"What torch has in ``torch.{path}``, from where it is here."
        public = []
        for part in MOVED.get(path, ()):
            source, _, names = part.partition(": ")
            found = import_module(f"{_ROOT}{source}".rstrip("."))
            for name in names.split():
                here, _, there = name.partition("=")
                setattr(module, here, getattr(found, there or here))
                public.append(here)
        public += STAND_INS.get(path, ())
        module.__all__ = [name for name in public if not name.startswith("_")]  # type: ignore[attr-defined]


def moved(package: str, name: str) -> ModuleType | None:
    """The module of a package that was asked for as an attribute, None if there is none.

    Examples
    --------
    >>> moved("autograd_cy.optim", "adamw").AdamW
    <class 'autograd_cy.optim.adam.AdamW'>
    >>> moved("autograd_cy.optim", "nothing")
    """
    from autograd_cy._environment.moved_names import LATER

    path = f"{package}.{name}"
    inner = path[len(_ROOT) :]
    return import_module(path) if _is_known(inner) or inner in LATER else None


def install() -> None:
    """Ask here for modules that nothing else finds; a second call changes nothing."""
    if _Finder not in sys.meta_path:
        sys.meta_path.append(_Finder)  # type: ignore[arg-type]
