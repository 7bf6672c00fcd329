"""The programs and headers that a build needs before the first module is compiled.

The cure differs: a compiler that does not start, one that cannot compile anything, missing headers
of Python.  Each has its own message; OpenMP, which is asked for next, is in openmp.py.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
from pathlib import Path

PYTHON_HEADER = "#include <Python.h>\ntypedef int probe;\n"


class Missing(Exception):
    """Something that the build needs is not there; the message says how to get it."""


def require_compiler(probe) -> None:
    """Raise Missing unless the compiler starts and compiles an empty program."""
    said = probe.explain()
    if not said:
        return
    command = probe.cc[0] if probe.cc else "cc"
    raise Missing(
        f"autograd_cy: the C compiler `{command}` does not compile an empty program:\n"
        f"  {_first_lines(said)}\n"
        "  Is it installed, and is its module loaded (module load gcc)?  CC=gcc, say, chooses\n"
        "  another one; Debian and Ubuntu: apt install gcc; Fedora and RHEL: dnf install gcc."
    )


def require_python_header(probe, include_dirs) -> None:
    """Raise Missing unless the compiler finds Python.h."""
    if probe.compiles([f"-I{path}" for path in include_dirs], PYTHON_HEADER):
        return
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = sysconfig.get_paths()["include"]
    raise Missing(
        f"autograd_cy: Python.h of Python {version} is not in {folder}.\n"
        f"  Install Python's headers (Debian and Ubuntu: apt install python{version}-dev; Fedora\n"
        f"  and RHEL: dnf install python{version}-devel), or build with a Python that has them:\n"
        "  conda's, Spack's, EasyBuild's and pyenv's do."
    )


def require_writable(folder: Path) -> None:
    """Raise Missing unless files can be made in `folder`: a build writes into the source tree."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise Missing(
            f"autograd_cy: cannot write to {folder} ({os.strerror(error.errno or 0)}).\n"
            "  The build writes into the source tree: build a copy of it in a folder of your own\n"
            "  (cp -r), or let pip do so from an sdist."
        ) from None


def _first_lines(text: str, count: int = 3) -> str:
    return "\n  ".join(text.splitlines()[:count])
