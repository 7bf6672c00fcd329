"""Compile the generated C strictly, to find today what newer compilers refuse tomorrow.

    python -m ext.build.guard

Release builds say -w, because Cython's C warns of what is harmless, and that hides what is not:
gcc 14 and clang 16 made errors of assignments between unrelated pointers, of integers taken for
pointers and of functions without a declaration.  Only the syntax is checked, in a few seconds.
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import prerequisites
from .builder import REFUSALS, generate, include_dirs
from .extensions import BUILD_DIR, MODULES, ROOT, SHARED
from .flags import compiler, job_count
from .probe import Probe

ERRORS = (
    "incompatible-pointer-types",
    "int-conversion",
    "implicit-function-declaration",
    "implicit-int",
    "return-mismatch",
)
# clang counts these to the first, and gcc doesn't: Cython's temporary variables have no const.
ALLOWED = ("incompatible-pointer-types-discards-qualifiers",)


def command(source: Path, known: tuple[str, ...]) -> list[str]:
    """The compiler's command that checks one file."""
    strict = [f"-Werror={name}" for name in known]
    strict += [f"-Wno-{name}" for name in ALLOWED]  # an unknown name is no error
    includes = [f"-I{path}" for path in include_dirs()]
    defines = ["-DNPY_NO_DEPRECATED_API=NPY_1_22_API_VERSION", '-DAUTOGRAD_CY_SIMD="base"']
    return [*compiler(), "-fsyntax-only", "-fopenmp", *strict, *defines, *includes, str(source)]


def known_errors() -> tuple[str, ...]:
    """Those of ERRORS that this compiler has a name for."""
    known = []
    for name in ERRORS:
        run = subprocess.run(
            [*compiler(), "-Werror", f"-Werror={name}", "-fsyntax-only", "-x", "c", "-"],
            input="int main(void) { return 0; }\n", capture_output=True, text=True, check=False,
        )  # fmt: skip
        if run.returncode == 0:
            known.append(name)
    return tuple(known)


def refused(sources: list[Path]) -> list[str]:
    """Return the compiler's message for each source that it refuses."""
    known = known_errors()

    def one(source):
        run = subprocess.run(
            command(source, known), cwd=ROOT, capture_output=True, text=True, check=False
        )
        return f"{source.name}:\n{run.stderr}" if run.returncode else ""

    with ThreadPoolExecutor(job_count()) as pool:
        return [text for text in pool.map(one, sources) if text]


def main() -> int:
    # Folders of earlier builds hold C of modules that are gone.
    names = {SHARED, *(module.name for module in [*MODULES, *generate()])}
    sources = sorted(path for path in BUILD_DIR.glob("*/*/*.c") if path.stem in names)
    if not sources:
        print("There is no generated C yet: build first (pip install -e .).", file=sys.stderr)
        return 2
    try:
        prerequisites.require_compiler(Probe(compiler(), compiler()))
    except REFUSALS as error:
        print(error)
        return 2
    failed = refused(sources)
    print(*failed, sep="\n", end="")
    print(f"{len(sources)} C files checked, {len(failed)} refused")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
