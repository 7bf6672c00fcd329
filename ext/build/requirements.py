"""Requirements of pyproject.toml: those of the build and those of extras.

::

    python ext/build/requirements.py test       # the extra `test`, one requirement a line
    python ext/build/requirements.py --oldest   # the oldest packages that build and run the package

The build itself reads its bounds without a reader of TOML, by `prerequisites.lower_bounds`.
"""

from __future__ import annotations

import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


def read_project(text: str | None = None) -> dict:
    """Return the contents of pyproject.toml.

    Parameters
    ----------
    text : str, optional
        The text of another one, such as that of an sdist.
    """
    try:
        import tomllib
    except ImportError:  # Python 3.10
        from pip._vendor import tomli as tomllib
    return tomllib.loads(PROJECT.read_text(encoding="utf-8") if text is None else text)


def build_requirements(text: str | None = None) -> list[str]:
    """Return what a build needs, as in ``["setuptools>=77", "numpy>=1.23"]``."""
    return read_project(text)["build-system"]["requires"]


def extra_requirements(*names: str, text: str | None = None) -> list[str]:
    """Return the packages of extras, without other extras of this package.

    Raises
    ------
    KeyError
        If there is no such extra.
    """
    extras = read_project(text)["project"]["optional-dependencies"]
    return [one for name in names for one in extras[name] if not one.startswith("autograd_cy")]


def oldest() -> list[str]:
    """Return the lower bounds of the build, but that of setuptools, as versions for pip."""
    bounds = (requirement.split(">=") for requirement in build_requirements())
    return [f"{name}=={low}.*" for name, low in bounds if name != "setuptools"]


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        try:
            lines = oldest() if argument == "--oldest" else extra_requirements(argument)
        except KeyError:
            sys.exit(f"requirements.py: pyproject.toml has no extra {argument}")
        print("\n".join(lines))
