"""Entry point of the generator: writes every generated source and returns the modules to build."""

from __future__ import annotations

from pathlib import Path

from ext.build.extensions import Module
from ext.codegen import kernel_loops, modules, stubs, table
from ext.codegen.kernel_loops import write_if_changed
from ext.codegen.kernel_specs import SPECS


def main(build_dir: str | Path, pxd_dir: str | Path) -> list[Module]:
    """Write generated sources into `build_dir` and generated .pxd files into `pxd_dir`."""
    build_dir, pxd_dir = Path(build_dir), Path(pxd_dir)
    build_dir.mkdir(parents=True, exist_ok=True)
    kern = build_dir / "kern.pyx"
    kernel_loops.generate(SPECS, str(kern), str(pxd_dir / "kernel_ids.pxd"))
    made = [Module("kern", str(kern.resolve()), "simd")]

    families = table.load()
    by_name: dict = {}
    for records in families.values():
        for r in records:
            by_name.setdefault(r.name, []).append(r)
    pxd, pyx = modules.optable(families)
    write_if_changed(str(pxd_dir / "optable.pxd"), pxd)
    write_if_changed(str(build_dir / "optable.pyx"), pyx)
    made.append(Module("optable", str((build_dir / "optable.pyx").resolve())))
    for family, records in families.items():
        path = build_dir / f"ops_{family}.pyx"
        write_if_changed(str(path), modules.family_module(family, records, by_name))
        # Calls and checks around the kernels: -O2 takes nearly twice as long to compile.
        made.append(Module(f"ops_{family}", str(path.resolve()), flags=("-O1",)))
    stubs.write_stubs(families, pxd_dir)
    return made
