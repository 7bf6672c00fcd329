"""Measure the stack that compiled functions take, for threads whose stacks are small.

    python -m ext.build.stacks [module ...]

A thread may have 64 KiB (see Note [Small stacks] in ext/core/parallel.pyx). A function with a frame
of more than SMALL bytes must be one that only the loops of parallel.pyx call, which see to it that
there is enough: IN_LOOPS names them. None may have more than LARGEST, a fraction of what the loops
ask for. Compiles the kernels once more, as a release build does (a few minutes of one core).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .extensions import BUILD_DIR, ROOT
from .flags import job_count

SMALL = 22_000
LARGEST = 80_000

# Tasks and tiles of parallel_for() and its siblings, and what these alone call.
IN_LOOPS = {
    "gemm_loops": ("pack", "multiply_direct_kind"),
    "grid_loops": ("to_points", "to_image_by_places", "to_points_by_places"),
    "pool_loops": ("max_pairs",),
    "row_loops": ("soft_back_rows",),
    "pointwise_loss": ("loss_tile",),
    "convolution_weights": ("store_task",),
    "iterate": ("side_range", "turned_range"),
}
# Tasks into which clang puts some of these.
OF_CLANG = {"gemm_loops": ("multiply_direct",), "pool_loops": ("max_rows",)}


def commands(names: set[str]) -> list[tuple[str, list[str]]]:
    """(module, the command that compiles it as in a release build), for the last target of each."""
    from setuptools import Distribution
    from setuptools._distutils.ccompiler import new_compiler
    from setuptools._distutils.sysconfig import customize_compiler

    from .builder import BuildExt, placeholders

    build = BuildExt(Distribution({"name": "autograd_cy", "ext_modules": placeholders()}))
    build._check_variables()
    build.inplace = True
    build.finalize_options()
    build.compiler = new_compiler()
    customize_compiler(build.compiler)
    _, units, _ = build._prepare()
    return [
        (unit.name, list(unit.libraries[-1].compile_command))
        for unit in units
        if (unit.name in names if names else _has_kernels(unit.source))
    ]


def _has_kernels(source: Path | None) -> bool:
    """Tell whether a module has loops: those that only call others have small frames."""
    return source is not None and (
        "kernels" in source.parts or source.stem in ("kern", "iterate", "parallel")
    )


def frames(names: set[str] = frozenset()) -> list[tuple[int, str, str]]:
    """(bytes, module, function) of each frame, the largest first."""
    sources = {path.stem: path for path in sorted(BUILD_DIR.glob("release/*/*.c"))}
    with tempfile.TemporaryDirectory() as folder:

        def measure(job):
            name, command = job
            product = os.path.join(folder, name)
            command = [*command, "-fstack-usage", "-c", str(sources[name]), "-o", product + ".o"]
            subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
            os.unlink(product + ".o")
            lines = Path(product + ".su").read_text(encoding="utf-8").splitlines()
            return [(int(f[1]), name, function_of(name, f[0])) for f in map(_fields, lines)]

        with ThreadPoolExecutor(job_count()) as pool:
            jobs = [job for job in commands(set(names)) if job[0] in sources]
            result = [frame for part in pool.map(measure, jobs) for frame in part]
    return sorted(result, reverse=True)


def _fields(line: str) -> list[str]:
    return line.rsplit("\t", 2)


def function_of(module: str, place: str) -> str:
    """The name in the source of a function that ``file.c:line:column:name`` tells of."""
    name = place.rpartition(":")[2].split(".")[0]
    return re.sub(rf"^(__pyx_fuse_\d+(_\d+)*)?__pyx_f_.*?{len(module)}{module}_", "", name)


def refused(measured: list[tuple[int, str, str]]) -> list[str]:
    """Say what is wrong with frames."""
    words = []
    for size, module, name in measured:
        if size > LARGEST:
            words.append(f"{module}.{name} takes {size} bytes of stack, more than {LARGEST}")
        elif size > SMALL and name not in (*IN_LOOPS.get(module, ()), *OF_CLANG.get(module, ())):
            words.append(
                f"{module}.{name} takes {size} bytes of stack, more than {SMALL}: take scratch "
                "memory, or call it by a loop of parallel.pyx and say so in ext/build/stacks.py"
            )
    return words


def main() -> int:
    from .builder import REFUSALS

    names = frozenset(sys.argv[1:])
    try:
        measured = frames(names)
    except REFUSALS as error:
        print(error)
        return 2
    if not measured:
        of = f" of {', '.join(sorted(names))}" if names else ""
        print(f"There is no generated C{of}: build first (pip install -e .).", file=sys.stderr)
        return 2
    for size, module, name in measured[:20]:
        print(f"{size:8d} {module}.{name}")
    words = refused(measured)
    print(*words, sep="\n")
    return 1 if words else 0


if __name__ == "__main__":
    sys.exit(main())
