"""Look for fused products that no source names, in the assembly of all kernels.

    python -m ext.build.contraction [MODULE ...]

Kernels are compiled with the flags of the build, for each instruction set that it makes, but what
names a fused product (fma, the intrinsics) stands for a product and a sum. Whatever is fused now
was the compiler's choice: it may take another one for whole vectors than for what is left over, and
the same element has other bits in either. Nothing is run, so any machine can look at all sets.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Distribution

from .builder import REFUSALS, BuildExt, placeholders
from .extensions import ROOT
from .flags import job_count
from .probe import Probe

# On x86-64 and on Arm.
FUSED = re.compile(r"vfn?m(add|sub)\w*|fn?m(add|sub|la|ls|ad|sb)|vfn?m[as]\.\w+")
LABEL = re.compile(r'"?([A-Za-z_][\w.$]*)"?:')
HAS_FUSED = """
#if !defined(__FMA__) && !defined(__ARM_FEATURE_FMA) && !defined(__FP_FAST_FMA)
#error "no fused product"
#endif
typedef int probe;
"""


def without_names() -> str:
    """A header, included first, after which fma and the intrinsics fuse nothing."""
    lines = ["#include <math.h>"]
    lines += [f"#define {name}(a, b, c) ((a) * (b) + (c))" for name in ("fma", "fmaf")]
    lines += ["#if defined(__FMA__)", "#include <immintrin.h>"]
    for width in ("_mm", "_mm256", "_mm512"):
        for kind in ("ps", "pd"):
            times = f"{width}_mul_{kind}(a, b)"
            for name, last in (
                ("fmadd", f"add_{kind}({times}, c)"),
                ("fmsub", f"sub_{kind}({times}, c)"),
                ("fnmadd", f"sub_{kind}(c, {times})"),
            ):
                lines.append(f"#define {width}_{name}_{kind}(a, b, c) {width}_{last}")
                masked = f"{width}_maskz_{last}".replace("(", "(k, ", 1)
                lines.append(f"#define {width}_maskz_{name}_{kind}(k, a, b, c) {masked}")
    return "\n".join([*lines, "#endif", ""])


def fused_in(command: list[str], source: Path) -> list[str]:
    """Functions in which `command` (a compiler with flags) fuses what is not named, sorted."""
    with tempfile.TemporaryDirectory(prefix="autograd_cy_fused_") as folder:
        header, assembly = Path(folder, "without_names.h"), Path(folder, "kernel.s")
        header.write_text(without_names(), encoding="utf-8")
        run = subprocess.run(
            [*command, "-include", str(header), "-S", str(source), "-o", str(assembly)],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if run.returncode:
            raise RuntimeError(f"{source.name} does not compile:\n{run.stderr}")
        return functions_with(FUSED, assembly.read_text(encoding="utf-8"))


def functions_with(instruction: re.Pattern, assembly: str) -> list[str]:
    """Labels behind which an instruction stands, the local ones of a function left out."""
    functions, where = set(), "?"
    for line in assembly.splitlines():
        if line[:1] not in ("\t", " "):
            label = LABEL.match(line)
            if label and not label.group(1).startswith((".L", "L")):
                where = label.group(1)
        elif instruction.fullmatch(line.split(maxsplit=1)[0] if line.split() else ""):
            functions.add(where)
    return sorted(functions)


class Commands(BuildExt):
    """The command that prepares a build and keeps what it would run."""

    def build_extensions(self):
        self.builder, self.units, _ = self._prepare()

    def kernels(self) -> list[tuple[str, list[str], Path]]:
        """Name, compiler command and C file of each module of each set that can fuse."""
        result = []
        for unit in self.units:
            for library in unit.libraries:
                if len(unit.libraries) > 1 or library.name == unit.name + "_base":
                    result.append(
                        (library.name, library.compile_command, self.builder.c_file(unit))
                    )
        able = {}
        for _, command, _ in result:
            able.setdefault(_set_of(command), Probe(command, command).compiles((), HAS_FUSED))
        return [one for one in result if able[_set_of(one[1])]]


def _set_of(command: list[str]) -> str:
    return next((w for w in command if w.startswith("-DAUTOGRAD_CY_SIMD=")), "")


def of_tree() -> Commands:
    """The commands of this tree's build."""
    os.chdir(ROOT)  # the paths in commands are relative to it
    command = Commands(Distribution({"name": "autograd_cy", "ext_modules": placeholders()}))
    command.ensure_finalized()
    command.run()
    return command


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m ext.build.contraction", description=__doc__.split("\n")[0]
    )
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="those alone, as kern_avx2")
    options = parser.parse_args(arguments)
    try:
        kernels = of_tree().kernels()
    except REFUSALS as error:
        print(error)
        return 2
    wanted = [one for one in kernels if not options.modules or one[0] in options.modules]
    if missing := sorted(set(options.modules) - {name for name, _, _ in wanted}):
        parser.error(f"no kernels that can fuse: {', '.join(missing)}")
    if absent := [source.name for _, _, source in wanted if not source.exists()]:
        print(f"There is no {absent[0]} yet: build first (pip install -e .).", file=sys.stderr)
        return 2
    # The longest first.
    wanted.sort(key=lambda one: -one[2].stat().st_size)
    with ThreadPoolExecutor(job_count()) as pool:
        fused = list(pool.map(lambda one: fused_in(one[1], one[2]), wanted))
    for (name, _, _), functions in zip(wanted, fused, strict=True):
        if functions:
            print(f"{name} fuses products that its source does not name in {', '.join(functions)}")
    print(f"{len(wanted)} modules of kernels compiled, {sum(map(bool, fused))} fuse by themselves")
    return 1 if any(fused) else 0


if __name__ == "__main__":
    sys.exit(main())
