"""Entry point of the generator: writes every generated source and returns the modules to build."""

from __future__ import annotations

from pathlib import Path

from ext.build.extensions import Module
from ext.codegen import interpreted, kernel_loops, modules, stubs, table
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
            by_name.setdefault(r.symbol, []).append(r)
    compiled = {f: [r for r in records if r.tier == "compiled"] for f, records in families.items()}
    compiled = {f: records for f, records in compiled.items() if records}
    pxd, pyx = modules.optable(compiled)
    write_if_changed(str(pxd_dir / "optable.pxd"), pxd)
    write_if_changed(str(build_dir / "optable.pyx"), pyx)
    made.append(Module("optable", str((build_dir / "optable.pyx").resolve())))
    for family, records in compiled.items():
        path = build_dir / f"ops_{family}.pyx"
        write_if_changed(str(path), modules.family_module(family, records, by_name))
        # Calls and checks around the kernels: -O2 takes nearly twice as long to compile.
        made.append(Module(f"ops_{family}", str(path.resolve()), flags=("-O1",)))
    write_interpreted(families, by_name, pxd_dir.parent / "_interpreted")
    stubs.write_stubs(families, pxd_dir)
    return made


def write_interpreted(families: dict, by_symbol: dict, folder: Path) -> None:
    """The Python modules of the interpreted tier, and the index of their names."""
    written = {"_index.py"}
    write_if_changed(str(folder / "_index.py"), interpreted.index(families))
    for family, records in families.items():
        if any(map(interpreted.is_interpreted, records)):
            written.add(f"{family}.py")
            write_if_changed(
                str(folder / f"{family}.py"), interpreted.family_module(family, records, by_symbol)
            )
    for path in folder.glob("[!_]*.py"):
        if path.name not in written:  # of a family that is gone
            path.unlink()
