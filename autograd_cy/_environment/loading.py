"""The way out where the compiled modules cannot be loaded: half a copy, another build, no runtime.

Nothing here imports a compiled module.
"""

from __future__ import annotations

import os
import re
from types import TracebackType

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OLDEST_NUMPY = "1.23"  # as in pyproject.toml

_OPENMP = (
    "The package was built with the OpenMP runtime of a compiler that is not here. Load the module "
    "of that compiler (module load gcc, or llvm), add the folder of the library to "
    "LD_LIBRARY_PATH, or install it (Debian and Ubuntu: libgomp1 or libomp5; conda: libgomp or "
    "llvm-openmp)."
)
_BUNDLED = (
    "The OpenMP runtime is a part of the installed package, and is missing: an installation was "
    "interrupted, or files were removed."
)
_OLD_OPENMP = (
    "The OpenMP runtime of this process is older than the compiler that built the package. Put the "
    "folder of that compiler's libomp or libgomp first into LD_LIBRARY_PATH (module load llvm, or "
    "gcc), or import autograd_cy before the package that loads the other one."
)
_LIBRARY = (
    "The package was built with a library that is not here. Load the same modules as for the "
    "build, add the folder of the library to LD_LIBRARY_PATH, or build the package again here."
)
_DAMAGED = (
    "The file is damaged, or half a copy: an installation was interrupted, or a disk was full."
)
_UNREADABLE = (
    "This user may not read a file or folder of the package: it was installed by another one, or "
    f"with umask 077. Who installed it runs `chmod -R a+rX {os.path.join(_ROOT, 'autograd_cy')}`."
)
_NEWER = (
    "The package was built on a system with a newer C library than this one. Build it on the "
    "oldest system that it shall run on."
)
_STATIC_TLS = (
    "Other libraries of this process have used up the memory for variables of threads. Import "
    "autograd_cy before them, or start Python with "
    "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4096."
)
_NUMPY = (
    "The NumPy that is installed does not fit the one that the package was built with. Install a "
    "newer one (pip install --upgrade numpy), or build the package again."
)
_MIXED = "The compiled modules and the Python files are not of one build."

# What the loader, Python, NumPy and Cython write, the reason, and if another build is a way out.
_CAUSES = (
    (r"shared object file: Permission denied|'autograd_cy\S*' \(unknown location\)", _UNREADABLE,
     False),
    (r"libg?omp-[0-9a-f]{8}\.\S*: cannot open shared object file", _BUNDLED, True),
    (r"lib(gomp|omp|iomp5)\S*: cannot open shared object file", _OPENMP, False),
    (r"undefined symbol: (__kmpc|GOMP|omp)_|version `(GOMP|OMP|VERSION)\S*' not found", _OLD_OPENMP,
     False),
    (r"cannot open shared object file", _LIBRARY, False),
    (r"static TLS block", _STATIC_TLS, False),
    (r"version `GLIBC\S+' not found", _NEWER, False),
    (r"file too short|invalid ELF|ELF load command|ELF file's|wrong ELF class", _DAMAGED, True),
    (r"does not define module export function|undefined symbol", _DAMAGED, True),
    (r"source code (string )?cannot contain null bytes", _DAMAGED, True),
    (r"(?i)compiled against (numpy|api|abi)|numpy\.\w+ size changed|numpy\.core\.multiarray",
     _NUMPY, False),
    (r"\bautograd_cy\.(?!.*circular import)", _MIXED, True),
)  # fmt: skip


class explained:
    """A context for imports of compiled modules: known errors become one that says what to do."""

    def __enter__(self) -> None:
        check_numpy()

    def __exit__(
        self, kind: type | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        known = (ImportError, AttributeError, TypeError, ValueError, RuntimeError, SyntaxError)
        if isinstance(error, known) and (said := _half_a_file(error) or advice(str(error))):
            raise ImportError(said) from None


def _half_a_file(error: BaseException) -> str:
    """Return the message for an installed Python file with a syntax error; else ""."""
    package = os.path.join(_ROOT, "autograd_cy", "")
    # In a source tree, the line that is wrong is what its author wants to see.
    if (
        isinstance(error, SyntaxError)
        and (error.filename or "").startswith(package)
        and not _is_source_tree()
    ):
        return f"autograd_cy: {error.filename}: {error}\n{_DAMAGED}{_build_again()}"
    return ""


def check_numpy() -> None:
    """Say in one message what to do where NumPy is not installed, or too old."""
    try:
        import numpy
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        version = "is not installed"
    else:
        if _numbers(numpy.__version__) >= _numbers(OLDEST_NUMPY):
            return
        version = f"is {numpy.__version__}"
    raise ImportError(
        f"autograd_cy: NumPy {version}, and {OLDEST_NUMPY} or later is needed: "
        f'`pip install "numpy>={OLDEST_NUMPY}"`.'
    ) from None


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")[:2]]


def advice(text: str) -> str:
    """Return the message for the text of an error of an import; "" if it is not known."""
    # Those of this package say what to do.
    if text.startswith("autograd_cy: ") or "this build of the module" in text:
        return ""
    for pattern, reason, again in _CAUSES:
        if re.search(pattern, text):
            return f"autograd_cy: {text.strip()}\n{reason}{_build_again() if again else ''}"
    return ""


def _is_source_tree() -> bool:
    return all(os.path.exists(os.path.join(_ROOT, name)) for name in ("ext", "setup.py"))


def _build_again() -> str:
    if _is_source_tree():
        return f"\nRun `pip install -e .` again in {_ROOT}. If that does not help, remove build/."
    return "\nRun `pip install --force-reinstall --no-deps autograd_cy`."
