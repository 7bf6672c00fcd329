"""The compiled modules: one for each source in the folders of `ext/` that LAYERS names.

`source` is relative to `ext/`; the module becomes `autograd_cy._C.<name>`. How it is built, if not
plainly, its source says in a line such as ``# build: simd``. Modules written by the code generator
are not among these: the generator returns them (see builder.generate).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "autograd_cy._C"
PACKAGE_DIR = ROOT / "autograd_cy" / "_C"
BUILD_DIR = ROOT / "build"
GENERATED_DIR = BUILD_DIR / "generated"
# Helper code of Cython that all modules would repeat; Cython writes it, there is no source.
SHARED = "_shared"

# plain: one thread.  openmp: has parallel loops.  simd: parallel loops, compiled once per
# instruction set as <name>_base, <name>_avx2 and <name>_avx512.
KINDS = ("plain", "openmp", "simd")
HEADER = "# build:"
LAYERS = ("core", "shape_rules", "kernels", "engine", "composites", "cuda", "distributed")
# Most of their code is calls of other modules, where a compiler finds little to improve; a module
# of which that isn't true says `hot` in its header.
COLD_LAYERS = ("core", "engine", "shape_rules", "composites", "cuda", "distributed")


@dataclass(frozen=True)
class Module:
    name: str
    source: str
    kind: str = "plain"
    flags: tuple[str, ...] = ()  # added after all others, if the compiler knows them
    cold: bool = False  # compiled with less effort (see flags.COLD)

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"module {self.name}: kind is one of {KINDS}, not {self.kind!r}.")

    @property
    def path(self) -> Path:
        """The source; generated modules give an absolute path, which wins here."""
        return ROOT / "ext" / self.source


def find_modules(folder: Path = ROOT / "ext") -> tuple[Module, ...]:
    """A module for each source in the layers of `folder`, built as its header says."""
    paths = sorted(path for layer in LAYERS for path in (folder / layer).glob("*.pyx"))
    return tuple(declared(path, path.relative_to(folder).as_posix()) for path in paths)


def declared(path: Path, source: str) -> Module:
    """The module of one source; ``# build: kind flag...`` among its first lines is its header."""
    kind, flags = "plain", []
    with path.open(encoding="utf-8") as lines:
        for line in islice(lines, 5):
            if line.startswith(HEADER):
                kind, *flags = line.removeprefix(HEADER).split()
                break
    cold = kind == "plain" and path.parent.name in COLD_LAYERS and "hot" not in flags
    own = tuple(flag for flag in flags if flag not in ("cold", "hot"))
    return Module(path.stem, source, kind, own, cold or "cold" in flags)


MODULES = find_modules()
