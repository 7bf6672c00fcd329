"""Say what a build would rebuild, and why.

    python -m ext.build --explain
    python -m ext.build --explain --if-changed ext/core/iterate.pyx autograd_cy/ops/reduction.py

Generated sources are written, as a build does first; nothing is compiled.  The switches of the
environment count: under another AUTOGRAD_CY_OPT than the last build's, every command has changed.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, field
from pathlib import Path

from setuptools import Distribution

from .builder import REFUSALS, BuildExt, placeholders
from .extensions import GENERATED_DIR, PACKAGE_DIR, ROOT
from .steps import Builder, Unit

SHOWN = 4  # reasons of a unit that are printed


@dataclass
class Explanation:
    """The steps of a build for the units of a tree, with reasons."""

    pending: dict[str, dict[str, dict[str, list[str]]]] = field(default_factory=dict)
    c_bytes: dict[str, int] = field(
        default_factory=dict
    )  # of each unit's C file, 0 if there is none
    libraries: int = 0  # of all units
    images: dict[str, list[str]] = field(default_factory=dict)  # of CUDA kernels, with the reasons

    @property
    def translated(self) -> list[str]:
        """Units whose C is made anew."""
        return [unit for unit, runs in self.pending.items() if "cython" in runs.get(unit, {})]

    @property
    def compiled(self) -> list[str]:
        """Modules that are compiled."""
        return [
            name for runs in self.pending.values() for name, s in runs.items() if "compile" in s
        ]

    @property
    def share(self) -> float:
        """The part of the generated C that is made anew, by bytes."""
        whole = sum(self.c_bytes.values())
        return sum(self.c_bytes[unit] for unit in self.translated) / whole if whole else 1.0

    def text(self) -> str:
        """A report: each unit with its steps and reasons, then the totals."""
        lines = []
        for unit, runs in sorted(self.pending.items(), key=lambda item: -self.c_bytes[item[0]]):
            lines.append(f"{unit} ({_size(self.c_bytes[unit])} of C): {_steps(unit, runs)}")
            said = [why for steps in runs.values() for reasons in steps.values() for why in reasons]
            # What follows from an earlier step says nothing new.
            why = [
                w
                for w in dict.fromkeys(said)
                if not w.startswith("its C ") and w[-9:] != "step runs"
            ]
            lines += [f"    {reason}" for reason in why[:SHOWN]]
            if len(why) > SHOWN:
                lines.append(f"    and {len(why) - SHOWN} more")
        for image, reasons in sorted(self.images.items()):
            lines.append(f"{image} (CUDA): nvcc")
            lines += [f"    {reason}" for reason in dict.fromkeys(reasons[:SHOWN])]
        size = sum(self.c_bytes[unit] for unit in self.translated)
        lines.append(
            f"{len(self.translated)} of {len(self.c_bytes)} units translated, {_size(size)} of "
            f"{_size(sum(self.c_bytes.values()))} of generated C ({self.share:.1%}); "
            f"{len(self.compiled)} of {self.libraries} modules compiled"
        )
        return "\n".join(lines)


def explain(builder: Builder, units: list[Unit]) -> Explanation:
    """Return the steps that `builder` would run for the units now."""
    explanation = Explanation()
    for unit in units:
        c_file = builder.c_file(unit)
        explanation.c_bytes[unit.name] = c_file.stat().st_size if c_file.exists() else 0
        explanation.libraries += len(unit.libraries)
        if runs := builder.pending(unit):
            explanation.pending[unit.name] = runs
    return explanation


def families_of(file: Path) -> list[str]:
    """Return the families that a file in the folder of records changes: those that import it."""
    if not file.stem.startswith("_"):
        return [file.stem]
    records = (ROOT / file.parent).glob("[!_]*.py")
    return sorted(p.stem for p in records if file.stem in p.read_text(encoding="utf-8"))


def touched(path: str) -> list[str]:
    """The files that steps read and that change with a file: itself or what is made from it."""
    file = Path(path)
    short = Path(os.path.relpath(file if file.is_absolute() else ROOT / file, ROOT))
    codegen = Path("ext", "codegen")
    if short.parent == Path("autograd_cy", "ops"):
        generated = [GENERATED_DIR / f"ops_{family}.pyx" for family in families_of(short)]
    elif short == codegen / "kernel_specs.py":
        generated = [GENERATED_DIR / "kern.pyx"]
    elif short.parent == codegen:
        generated = sorted(GENERATED_DIR.glob("*.pyx"))
    else:
        return [str(short)]
    generated += [GENERATED_DIR / "optable.pyx", PACKAGE_DIR / "optable.pxd"]
    return list(dict.fromkeys(os.path.relpath(one, ROOT) for one in generated))


class Explain(BuildExt):
    """The command that prepares a build and explains it instead of running it."""

    if_changed: tuple[str, ...] = ()
    explanation: Explanation

    def build_extensions(self):
        builder, units, _ = self._prepare()
        for path in self.if_changed:
            for file in touched(path):
                builder.digests[str(builder.root / file)] = "as it would be"
        self.explanation = explain(builder, units)
        if self.images is not None:
            self.images.digests = builder.digests
            self.explanation.images = self.images.pending_images()


def of_tree(if_changed: tuple[str, ...] = ()) -> Explanation:
    """Return the steps that a build of this tree would run now, or if these files changed."""
    os.chdir(ROOT)  # the paths in commands are relative to it
    command = Explain(Distribution({"name": "autograd_cy", "ext_modules": placeholders()}))
    command.if_changed = if_changed
    command.ensure_finalized()
    command.run()
    return command.explanation


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m ext.build", description=__doc__.split("\n")[0])
    parser.add_argument(
        "--explain", action="store_true", required=True, help="explain the next build"
    )
    parser.add_argument(
        "--if-changed", nargs="+", default=(), metavar="FILE",
        help="what would be rebuilt if these files were changed, besides what is pending",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    files = tuple(os.path.abspath(path) for path in options.if_changed)
    if missing := [path for path in files if not Path(path).is_file()]:
        parser.error(f"no such file: {', '.join(missing)}")
    try:
        print(of_tree(files).text())
    except REFUSALS as error:
        print(error)
        return 1
    return 0


def _size(n: int) -> str:
    return f"{n / 1e6:.2f} MB"


def _steps(unit: str, runs: dict[str, dict[str, list[str]]]) -> str:
    """Describe the steps for a unit, with the number of modules that come of each."""
    parts = ["cython"] if "cython" in runs.get(unit, {}) else []
    for step in ("compile", "link"):
        count = sum(step in steps for steps in runs.values())
        parts += [step if count == 1 else f"{step} {count} times"] if count else []
    return ", ".join(parts)
