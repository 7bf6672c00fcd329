"""Turn the name on in processes that :mod:`multiprocessing` starts anew.

A forked process has it from its parent. A spawned one is sent what it is to know before it imports
the program's main module; what is done here goes in front of that.
"""

from __future__ import annotations

import multiprocessing.spawn
from pathlib import Path
from typing import Any

__all__ = ["tell_children", "tell_no_more"]

# The paths of the parent are set before, and once more after it, by Python itself. Where the
# package isn't on them (it came from the folder of `python -m`), its own folder is last.
_IN_THE_CHILD = """
import sys
sys.path[:] = {path!r}
try:
    import autograd_cy
except ModuleNotFoundError:
    sys.path.append({root!r})
    import autograd_cy
autograd_cy.as_torch()
"""


class _Told:
    """An object that turns the name on where it is unpickled."""

    def __init__(self, path: list[str]) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        root = str(Path(__file__).parents[2])
        return exec, (_IN_THE_CHILD.format(path=self._path, root=root), {})


class _Prepared:
    """Return the data that a child is sent, after an object that turns the name on."""

    def __init__(self) -> None:
        self.original = multiprocessing.spawn.get_preparation_data

    def __call__(self, name: str) -> dict[str, Any]:
        data = self.original(name)
        if name == "ignore":
            # Of the server that forks children later: it would import the main module, which
            # each of its children does after it was told.
            data.pop("init_main_from_path", None)
            return data
        return {"autograd_cy.as_torch": _Told(list(data["sys_path"])), **data}


def tell_children() -> None:
    """Have processes that are spawned from now on find this package by the name of torch."""
    if not isinstance(multiprocessing.spawn.get_preparation_data, _Prepared):
        multiprocessing.spawn.get_preparation_data = _Prepared()  # type: ignore[assignment]


def tell_no_more() -> None:
    """Undo :func:`tell_children`."""
    prepared = multiprocessing.spawn.get_preparation_data
    if isinstance(prepared, _Prepared):
        multiprocessing.spawn.get_preparation_data = prepared.original
