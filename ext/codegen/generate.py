"""Entry point of the generator: writes every generated source and returns the modules to build."""

from __future__ import annotations

from pathlib import Path

from ext.build.extensions import Module
from ext.codegen import kernel_loops
from ext.codegen.kernel_specs import SPECS


def main(build_dir: str | Path, pxd_dir: str | Path) -> list[Module]:
    """Write generated sources into `build_dir` and generated .pxd files into `pxd_dir`."""
    build_dir, pxd_dir = Path(build_dir), Path(pxd_dir)
    build_dir.mkdir(parents=True, exist_ok=True)
    kern = build_dir / "kern.pyx"
    kernel_loops.generate(SPECS, str(kern), str(pxd_dir / "kernel_ids.pxd"))
    return [Module("kern", str(kern.resolve()), "simd")]
