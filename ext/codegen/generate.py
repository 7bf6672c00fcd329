"""Entry point of the generator: writes every generated source and returns the modules to build."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ext.build.extensions import ROOT, Module
from ext.codegen import (
    argument_kinds,
    cuda_entries,
    cuda_host,
    dtypes,
    functional,
    interpreted,
    kernel_loops,
    layers,
    linkage,
    modules,
    python_forms,
    step_kernels,
    stubs,
    table,
)
from ext.codegen.kernel_loops import write_if_changed
from ext.codegen.kernel_specs import SPECS, KernelSpec

if TYPE_CHECKING:
    from autograd_cy.ops._schema import Record

Families: TypeAlias = "dict[str, list[Record]]"


def main(build_dir: str | Path, pxd_dir: str | Path) -> list[Module]:
    """Write generated sources into `build_dir` and generated .pxd files into `pxd_dir`."""
    build_dir, pxd_dir = Path(build_dir), Path(pxd_dir)
    families = table.load()
    written = sources(families)
    for name, text in written.items():
        write_if_changed(str((pxd_dir if name.endswith(".pxd") else build_dir) / name), text)
    for path in build_dir.glob("operators_of_*.pxi"):
        if path.name not in written:  # of a module that calls none any more
            path.unlink()
    write_interpreted(families, pxd_dir.parent / "_interpreted")
    nn = pxd_dir.parent / "nn"
    layers.write(nn)
    write_if_changed(str(nn / "functional" / "_from_records.py"), functional.module_text(families))
    stubs.write_stubs(families, pxd_dir)
    generated = [Module("kern", str((build_dir / "kern.pyx").resolve()), "simd")]
    generated.append(Module("optable", str((build_dir / "optable.pyx").resolve())))
    generated.append(
        Module("cuda_host", str((build_dir / "cuda_host.pyx").resolve()), flags=("-O1",))
    )
    # Calls and checks around the kernels: -O2 takes nearly twice as long to compile.
    generated += [
        Module(f"ops_{family}", str((build_dir / f"ops_{family}.pyx").resolve()), flags=("-O1",))
        for family in compiled(families)
    ]
    return generated


def sources(families: Families, specs: Sequence[KernelSpec] = SPECS) -> dict[str, str]:
    """Every Cython file that the build makes of these records and kernels: {name: text}."""
    own = compiled(families)
    entries = linkage.all_entries(own)
    pxd, pyx = linkage.public_table(entries)
    texts = {"kern.pyx": kernel_loops.module_text(specs), "optable.pxd": pxd, "optable.pyx": pyx}
    dtypes.check_codes()
    texts["dtype_table.pxi"] = dtypes.table_source()
    texts["traced_dtypes.pxi"] = dtypes.traced_source()
    texts["cuda_types.pxi"] = dtypes.cuda_source()
    texts["buffer_formats.pxi"] = dtypes.formats_source()
    texts["argument_kinds.pxi"] = argument_kinds.source(own)
    texts["operator_names.pxi"] = python_forms.operator_names(own)
    texts["dispatched_operators.pxi"] = python_forms.dispatched_operators(own)
    texts |= linkage.tables_by_hand(ROOT / "ext", entries)
    texts |= step_kernels.sources(own)
    texts["cuda_host.pyx"] = cuda_host.source(families, ROOT / "ext" / "composites")
    texts["cuda_entries.pxi"] = cuda_entries.table_text(specs)
    symbols = table.records_by_symbol(families)
    for family, records in own.items():
        text = modules.family_module(family, records, symbols, entries)
        texts[f"ops_{family}.pyx"] = text
    return texts


def compiled(families: Families) -> Families:
    """The records of each family that become Cython."""
    own = {f: [r for r in records if r.tier == "compiled"] for f, records in families.items()}
    return {f: records for f, records in own.items() if records}


def write_interpreted(families: Families, folder: Path) -> None:
    """The Python modules of the interpreted tier, and the index of their names."""
    written, by_symbol = {"_index.py"}, table.records_by_symbol(families)
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
