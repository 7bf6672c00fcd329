"""The build of the package and the machine it runs on, as text."""

from __future__ import annotations

from autograd_cy._environment import info as _info

__all__ = ["parallel_info", "show"]


def _lines(*sections: str) -> str:
    facts = _info.collect()
    lines = []
    for section in sections:
        lines.append(f"{section}:")
        lines += [f"  - {name}: {value}" for name, value in facts[section].items()]
    return "\n".join(lines) + "\n"


def show() -> str:
    """
    Return the versions, the build and the instructions that are used.

    Returns
    -------
    str

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.__config__.show().startswith("versions:")
    True
    """
    return _lines("versions", "build", "simd", "blas")


def parallel_info() -> str:
    """
    Return what is known about threads.

    Returns
    -------
    str

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.__config__.parallel_info().startswith("threads:")
    True
    """
    return _lines("threads")
