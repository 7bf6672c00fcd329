"""The packages, programs and headers that a build needs before the first module is compiled.

The cure differs: old packages, a compiler that does not start, one that cannot compile anything,
missing headers of Python.  Each has its own message; OpenMP, which is asked for next, is in
openmp.py.
"""

from __future__ import annotations

import importlib
import itertools
import os
import re
import sys
import sysconfig
import tempfile
from pathlib import Path

from . import advice
from .extensions import ROOT

# Names to import, where they differ.
MODULES = {"cython": "Cython"}
LONG = 300  # characters of a line that are quoted
PYTHON_HEADER = "#include <Python.h>\ntypedef int probe;\n"


class Missing(Exception):
    """Something that the build needs is not there; the message says how to get it."""


def lower_bounds(text: str | None = None) -> dict[str, str]:
    """The oldest versions that work, from pyproject.toml: {package: version}."""
    if text is None:
        text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return dict(re.findall(r'"([\w-]+)>=([\d.]+)"', text.partition("[project]")[0]))


def require_packages(*names: str) -> None:
    """Raise Missing unless these packages are here, and new enough."""
    bounds = lower_bounds()
    wrong = {name: why for name in names if (why := _lack(name, bounds[name]))}
    if not wrong:
        return
    said = "\n".join(f"  {name} {bounds[name]} or later: {why}" for name, why in wrong.items())
    install = " ".join(f'"{name}>={bounds[name]}"' for name in wrong)
    raise Missing(
        f"autograd_cy: this Python ({sys.executable}) lacks what the build needs:\n{said}\n"
        f"  Install it (pip install {install}), or let pip fetch\n"
        "  it for the build alone: pip install . without --no-build-isolation."
    )


def _lack(name: str, oldest: str) -> str:
    """Say what is wrong with a package; "" if it is here and no older."""
    module = MODULES.get(name, name)
    try:
        version = importlib.import_module(module).__version__
    except ModuleNotFoundError as error:
        return "it is not installed" if error.name == module else f"it does not import ({error})"
    except Exception as error:  # NumPy for another Python raises several
        return f"it does not import ({_first_lines(str(error).strip(), 1)})"
    return f"it is {version}" if _numbers(version) < _numbers(oldest) else ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.match(r"\d+(?:\.\d+)*", version)[0].split(".")))


def require_compiler(probe) -> None:
    """Raise Missing unless the compiler starts and compiles an empty program."""
    said = probe.explain()
    if not said:
        _require_linker(probe)
        return
    command = probe.cc[0] if probe.cc else "cc"
    if reason := advice.advice(1, said):
        raise Missing(f"{reason}\n  {_first_lines(said)}")
    said = _first_lines(said)
    whole = os.environ.get("CC", "")
    words = list(itertools.takewhile(lambda word: not word.startswith("-"), probe.cc))
    if " " in whole and os.path.exists(whole):
        said += f"\n  CC has spaces: quote the path once more, CC='\"{whole}\"'."
    elif words and words != probe.cc and not type(probe)(words, words).explain():
        flags = " ".join(probe.cc[len(words) :])
        said += f"\n  Without flags it does: look into CC and CFLAGS ({flags})."
    raise Missing(
        f"autograd_cy: the C compiler `{command}` does not compile an empty program:\n"
        f"  {said}\n"
        "  Is it installed, and is its module loaded (module load gcc)?  CC=gcc, say, chooses\n"
        "  another one; Debian and Ubuntu: apt install gcc; Fedora and RHEL: dnf install gcc."
    )


def _require_linker(probe) -> None:
    """Raise Missing unless the compiler links an empty shared object."""
    said = probe.explain_link()
    if not said:
        return
    if reason := advice.advice(1, said):
        raise Missing(f"{reason}\n  {_first_lines(said)}")
    chosen = [name for name in ("LDFLAGS", "LDSHARED") if os.environ.get(name)]
    way = f"Look into {' and '.join(chosen)}" if chosen else "Is binutils installed"
    raise Missing(
        f"autograd_cy: the C compiler `{probe.cc[0]}` compiles, but does not link an empty "
        f"library:\n  {_first_lines(said)}\n  The command was: {' '.join(probe.ld)}\n"
        f"  {way}{'.' if chosen else '?'}  CC=gcc, say, chooses another compiler."
    )


def require_python_header(probe, include_dirs) -> None:
    """Raise Missing unless the compiler finds Python.h, and what that includes."""
    words = [f"-I{path}" for path in include_dirs]
    if probe.compiles(words, PYTHON_HEADER):
        return
    if any(Path(path, "Python.h").exists() for path in include_dirs):
        raise Missing(
            f"autograd_cy: the C compiler `{probe.cc[0]}` does not compile Python's headers:\n"
            f"  {_first_lines(probe.explain(PYTHON_HEADER, words))}\n"
            "  If a header of the C library is missing, install it (Debian and Ubuntu: apt\n"
            "  install libc6-dev; Fedora and RHEL: dnf install glibc-devel), or load the module\n"
            "  of another compiler; CC=gcc chooses one."
        )
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
    except (FileExistsError, NotADirectoryError) as error:
        raise Missing(
            f"autograd_cy: {error.filename} is a file, or a link to nothing, and a build needs a "
            "folder there.\n  Remove it."
        ) from None
    except OSError as error:
        raise Missing(
            advice.of_error(error, folder)
            or f"autograd_cy: cannot write to {folder} ({os.strerror(error.errno or 0)}).\n"
            "  The build writes into the source tree: build a copy of it in a folder of your own."
        ) from None


def _first_lines(text: str, count: int = 3) -> str:
    return "\n  ".join(line[:LONG] for line in text.splitlines()[:count])
