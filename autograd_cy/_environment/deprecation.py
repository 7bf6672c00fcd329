"""Names of this package that will be removed: a table, and the warning when a program uses one.

Names that PyTorch deprecates are not in the table. They warn in PyTorch's words, and stay as long
as the version that is followed has them (docs/versions.md).
"""

from __future__ import annotations

from typing import NamedTuple

from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.tensor import _warn_always

__all__ = ["DEPRECATED", "Deprecation", "warn_deprecated"]


class Deprecation(NamedTuple):
    """The versions between which a name warns, and its replacement."""

    since: str  # the first version that warns
    removal: str  # the first version without the name
    instead: str  # what a program uses in its place


#: {name as programs write it, without the package: its deprecation}. A function, a class, a keyword
#: ("nn.Linear: argument `old`"), a variable of the environment.
DEPRECATED: dict[str, Deprecation] = {}

_warned: set[str] = set()


def warn_deprecated(name: str) -> None:
    """
    Warn that a name will be removed, once in a process, with the line of the program.

    Parameters
    ----------
    name : str
        A key of `DEPRECATED`.

    Raises
    ------
    KeyError
        If the table has no such name.
    """
    since, removal, instead = DEPRECATED[name]
    if name in _warned and not _warn_always():
        return
    _warned.add(name)
    _warn(
        f"{name} is deprecated since autograd_cy {since}, and will be removed in {removal}. "
        f"Use {instead} instead.",
        FutureWarning,
    )
