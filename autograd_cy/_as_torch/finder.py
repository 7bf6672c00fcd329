"""Answer ``import torch.X`` with ``autograd_cy.X``, and requests for the metadata of torch."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["Finder", "share"]

_OURS, _THEIRS = "autograd_cy", "torch"


def _counterpart(theirs: str) -> str:
    return _OURS + theirs[len(_THEIRS) :]


def share() -> None:
    """
    Know all modules that are loaded by torch's names, too.

    A module that is first imported by such a name is set as an attribute of its package, also
    where the package has a function by the name. What is known before it is asked for isn't.
    """
    for name, module in list(sys.modules.items()):
        if name == _OURS or name.startswith(_OURS + "."):
            sys.modules[_THEIRS + name[len(_OURS) :]] = module


class _Metadata(importlib.metadata.Distribution):
    """The result of ``importlib.metadata.distribution("torch")``."""

    def __init__(self, version: str) -> None:
        self._texts = {
            "METADATA": f"Metadata-Version: 2.1\nName: {_THEIRS}\nVersion: {version}\n"
            f"Summary: autograd_cy, by the name of torch\n",
            "top_level.txt": f"{_THEIRS}\n",
        }

    def read_text(self, filename: str) -> str | None:
        return self._texts.get(filename)

    def locate_file(self, path: Any) -> Any:
        return Path(import_module(_OURS).__file__ or "").parent.parent / path


class Finder:
    """The first that is asked for modules while the package goes by the name of torch."""

    def __init__(self, version: str) -> None:
        self._version = version

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != _THEIRS and not name.startswith(_THEIRS + "."):
            return None
        ours = importlib.util.find_spec(_counterpart(name))
        if ours is None:
            return None
        is_package = ours.submodule_search_locations is not None
        return ModuleSpec(name, self, origin=ours.origin, is_package=is_package)  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        module = import_module(_counterpart(spec.name))
        share()
        spec.loader_state = module.__spec__
        return module

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        # Python has put the specification of torch's name in the place of the module's own.
        spec = module.__spec__
        if spec is not None and spec.name.startswith(_THEIRS + "."):
            module.__spec__ = spec.loader_state

    def find_distributions(self, context: Any = None) -> Iterable[importlib.metadata.Distribution]:
        """Answer :mod:`importlib.metadata`, which asks all finders."""
        name = getattr(context, "name", None)
        if name is None or name.lower() == _THEIRS:
            yield _Metadata(self._version)
