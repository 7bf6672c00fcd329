"""Compile all modules for 64-bit Arm with a cross compiler, and check the formulas under qemu.

    python -m ext.build.aarch64 [--formulas] [--fused]

The flags are those of a build on such a machine: the instruction set `base`, which has NEON and
fused products there. The modules are linked, too, but only a Python for Arm can load them.
formulas.c checks ext/kernels/scalar against libm, under qemu-user and here: the bits are the same.

Debian: apt install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user. Python's headers are
those of this Python, unless --python-headers names a folder with those of one for Arm: the
structures are the same, but a macro of pyconfig.h may differ.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Distribution

from . import contraction, flags
from .builder import REFUSALS, BuildExt, include_dirs, locked, numpy_include, placeholders
from .extensions import BUILD_DIR, ROOT
from .steps import Builder, Library, StepFailed, Unit

CC = "aarch64-linux-gnu-gcc"
QEMU = "qemu-aarch64"
FOLDER = BUILD_DIR / "aarch64"
SUFFIX = f".cpython-{sys.version_info.major}{sys.version_info.minor}-aarch64-linux-gnu.so"
FORMULAS = ROOT / "ext" / "build" / "formulas.c"
# What a build for x86-64 may add to a compiler, and another one does not know.
FOREIGN = ("-m", "-fcf-protection")
MULTIARCH = "aarch64-linux-gnu"


class Cross(BuildExt):
    """The command that prepares a build for Arm."""

    python_headers: str | None = None

    def build_extensions(self):
        for name in ("compiler_so", "linker_so"):
            words = [word for word in getattr(self.compiler, name) if not word.startswith(FOREIGN)]
            setattr(self.compiler, name, words)
        self.builder, self.units, _ = self._prepare()
        self.builder.c_folder = super().folder()  # what Cython made for this machine

    def folder(self) -> Path:
        return FOLDER

    def header_dirs(self) -> list[str]:
        if self.python_headers:
            own = {sysconfig.get_paths()[name] for name in ("include", "platinclude")}
            others = [path for path in include_dirs() if path not in own]
            return [*others, self.python_headers, str(Path(self.python_headers).parent)]
        return [*include_dirs(), *_debian_headers(FOLDER / "include")]


def _debian_headers(folder: Path) -> list[str]:
    """Folders in which Debian's pyconfig.h finds its half for Arm: that of this machine."""
    config = Path(sysconfig.get_config_h_filename())
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    if not (config.parent.name == version and config.parent.parent.name.endswith("-linux-gnu")):
        return []
    target = folder / MULTIARCH / version / "pyconfig.h"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(f'#include "{config}"\n', encoding="utf-8")
    return [str(folder)]


class Collecting(Builder):
    """A builder that goes on where a module fails, and keeps the messages."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.failed: dict[str, str] = {}

    def _compile(self, unit, library):
        try:
            super()._compile(unit, library)
        except StepFailed as error:
            self.failed[library.name] = str(error)


def of_tree(python_headers: str | None = None, cc: str = CC) -> Cross:
    """The commands of a build of this tree for Arm."""
    os.chdir(ROOT)  # the paths in commands are relative to it
    os.environ["CC"] = cc
    for name in ("CFLAGS", "LDFLAGS", "LDSHARED", "AUTOGRAD_CY_SIMD"):
        os.environ.pop(name, None)
    os.environ["AUTOGRAD_CY_CUDA"] = "0"
    command = Cross(Distribution({"name": "autograd_cy", "ext_modules": placeholders()}))
    command.python_headers = python_headers
    command.ensure_finalized()
    command.run()
    return command


def compile_modules(command: Cross) -> dict[str, str]:
    """Compile and link all modules; returns the messages of those that failed."""
    versions = [f"{name} {version}" for name, version in command.versions.items()]
    builder = Collecting(ROOT, FOLDER, SUFFIX, versions, relocatable=[numpy_include()])
    builder.c_folder = command.builder.c_folder
    with locked(BUILD_DIR):
        builder.build(command.units, flags.job_count())
    return builder.failed


def fused(command: Cross) -> dict[str, list[str]]:
    """Functions of kernels that fuse products which no source names, by module."""

    def one(pair: tuple[Unit, Library]) -> tuple[str, list[str]]:
        unit, library = pair
        return library.name, contraction.fused_in(
            library.compile_command, command.builder.c_file(unit)
        )

    kernels = [
        (unit, library)
        for unit in command.units
        for library in unit.libraries
        if library.name == f"{unit.name}_base"
    ]
    with ThreadPoolExecutor(flags.job_count()) as pool:
        return {name: functions for name, functions in pool.map(one, kernels) if functions}


def formulas(cc: str, extra: list[str], folder: Path, runner: tuple[str, ...] = ()) -> str:
    """Compile formulas.c by `cc`, run it and return its output; a failed check raises."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / f"formulas-{cc.rpartition('/')[2]}"
    words = [cc, "-O3", "-g0", "-w", "-fno-strict-aliasing", *flags.SIMD_MATH, flags.CONTRACTION]
    words += [*extra, f"-I{ROOT / 'ext' / 'kernels'}", str(FORMULAS), "-o", str(program), "-lm"]
    subprocess.run(words, check=True)
    run = subprocess.run([*runner, str(program)], capture_output=True, text=True, check=False)
    if run.returncode:
        sys.stdout.write(run.stdout + run.stderr)
        run.check_returncode()
    return run.stdout


def bits(lines: str) -> dict[str, str]:
    """The digest of the results of each function in what formulas.c prints."""
    return {
        line.partition(" at ")[0].rpartition(" ")[0]: line.split()[-1]
        for line in lines.splitlines()
    }


def check_formulas(cc: str = CC, qemu: str = QEMU, folder: Path = FOLDER) -> tuple[int, list[str]]:
    """Run formulas.c for Arm and here; returns the number of functions, and those that differ."""
    # Statically linked: qemu needs no folder of libraries then.
    for_arm = bits(formulas(cc, ["-static"], folder, (qemu,)))
    if os.uname().machine != "x86_64":
        return len(for_arm), []
    here = bits(formulas("gcc", ["-march=haswell"], folder))
    return len(for_arm), [name for name, digest in for_arm.items() if here.get(name) != digest]


def missing(*programs: str) -> str:
    """Say which programs are not installed; "" if all are."""
    absent = [program for program in programs if not shutil.which(program)]
    if not absent:
        return ""
    return (
        f"There is no {' and no '.join(absent)}. Debian and Ubuntu: "
        "apt install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m ext.build.aarch64", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--formulas", action="store_true", help="check the formulas alone")
    parser.add_argument(
        "--fused", action="store_true", help="look for fused products that no source names, too"
    )
    parser.add_argument("--python-headers", metavar="FOLDER", help="with Python.h for Arm")
    options = parser.parse_args(arguments)
    if said := missing(CC, QEMU):
        print(said, file=sys.stderr)
        return 2
    count, different = check_formulas()
    for name in different:
        print(f"{name} has other bits than on x86-64")
    print(f"{count} formulas checked under {QEMU}, {len(different)} differ from x86-64")
    if options.formulas:
        return 1 if different else 0
    start = time.perf_counter()
    try:
        command = of_tree(options.python_headers)
        failed = compile_modules(command)
    except REFUSALS as error:
        print(error)
        return 2
    for name, said in failed.items():
        print(f"{name}:\n{said}")
    total = sum(len(unit.libraries) for unit in command.units)
    seconds = time.perf_counter() - start
    compiler = command.versions["compiler"]
    print(f"{total} modules compiled by {compiler}, {len(failed)} failed ({seconds:.0f} s)")
    unnamed = fused(command) if options.fused and not failed else {}
    for name, functions in unnamed.items():
        print(f"{name} fuses products that its source does not name in {', '.join(functions)}")
    return 1 if failed or different or unnamed else 0


if __name__ == "__main__":
    sys.exit(main())
