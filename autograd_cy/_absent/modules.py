"""Says what to use where a program imports a module that torch has and this package has not."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType

__all__ = ["install"]

_IMPORTS = "_find_and_load_unlocked"  # importlib's function that raises if no finder knows a module


class _Absent:
    """
    The last of the finders, asked where all others found nothing.

    A question whether there is such a module (``importlib.util.find_spec``) is answered with no; an
    ``import`` is the error that says what to do instead.
    """

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> None:
        if not name.startswith("autograd_cy."):
            return
        asker = sys._getframe(1).f_back
        if asker is not None and asker.f_code.co_name == _IMPORTS:
            from autograd_cy._absent.names import no_module

            error = no_module(name)
            if error is not None:
                raise error


def install() -> None:
    """Ask here for modules that nothing else finds; a second call changes nothing."""
    if _Absent not in sys.meta_path:
        sys.meta_path.append(_Absent)  # type: ignore[arg-type]
