"""Warnings that name the line of the program: the nearest one outside of this package."""

import sys
import warnings

_PACKAGE = __name__.partition(".")[0]


def warn(text: str, category: type = UserWarning, source: object = None) -> None:
    """
    Warn of the line that called the package, however many of its functions lie between.

    Python shows a warning once for each line: one of the package would hide all but the first.

    Parameters
    ----------
    text : str
    category : type
        A class of warnings.
    source : object, optional
        What a `ResourceWarning` is about.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__")):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level, source=source)


def _is_ours(module) -> bool:
    return isinstance(module, str) and module.partition(".")[0] == _PACKAGE
