"""The list of compiled modules.  To add one, add a line to MODULES.

`source` is relative to `ext/`; the module becomes `autograd_cy._C.<name>`.  Modules written by the
code generator are not listed here: the generator returns them (see builder.generate).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "autograd_cy._C"
PACKAGE_DIR = ROOT / "autograd_cy" / "_C"
BUILD_DIR = ROOT / "build"
GENERATED_DIR = BUILD_DIR / "generated"

# plain: one thread.  openmp: has parallel loops.  simd: parallel loops, compiled once per
# instruction set as <name>_base, <name>_avx2 and <name>_avx512.
KINDS = ("plain", "openmp", "simd")


@dataclass(frozen=True)
class Module:
    name: str
    source: str
    kind: str = "plain"
    flags: tuple[str, ...] = ()  # added after all others, if the compiler knows them

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"module {self.name}: kind is one of {KINDS}, not {self.kind!r}.")

    @property
    def path(self) -> Path:
        """The source; generated modules give an absolute path, which wins here."""
        return ROOT / "ext" / self.source


MODULES = (
    Module("info", "core/info.pyx", "openmp"),
    Module("storage", "core/storage.pyx"),
    Module("sealed", "core/sealed.pyx"),
    Module("dtypes", "core/dtypes.pyx"),
    Module("placement", "core/placement.pyx"),
    Module("tensor", "core/tensor.pyx"),
    Module("node", "engine/node.pyx"),
    Module("cpu", "core/cpu.pyx"),
    Module("parallel", "core/parallel.pyx", "openmp"),
    Module("scratch", "core/scratch.pyx"),
    Module("blas", "kernels/blas.pyx"),
    Module("gemm", "kernels/gemm.pyx"),
    Module("gemm_narrow", "kernels/gemm_narrow.pyx"),
    Module("gemm_loops", "kernels/gemm_loops.pyx", "simd"),
    Module("launch", "core/launch.pyx"),
    Module("devices", "core/devices.pyx"),
    Module("kernel_table", "core/kernel_table.pyx"),
    Module("linking", "core/linking.pyx"),
    Module("iterate", "core/iterate.pyx", "openmp"),
    Module("outputs", "core/outputs.pyx"),
    Module("rules_common", "shape_rules/rules_common.pyx"),
    Module("exchange", "core/exchange.pyx"),
    Module("creation", "core/creation.pyx"),
    Module("copying", "core/copying.pyx"),
    # Without fused multiply-adds a seed gives the same numbers on every processor.
    Module("random_loops", "kernels/random_loops.pyx", "simd", ("-ffp-contract=off",)),
    Module("random", "core/random.pyx"),
    Module("arguments", "core/arguments.pyx"),
    Module("shapes", "core/shapes.pyx"),
    Module("products", "kernels/products.pyx"),
    Module("powers", "kernels/powers.pyx"),
    Module("special", "kernels/special.pyx"),
    Module("levels", "engine/levels.pyx"),
    Module("formulas", "engine/formulas.pyx"),
    Module("lazy", "engine/lazy.pyx"),
    Module("forward", "engine/forward.pyx"),
    Module("batching", "engine/batching.pyx"),
    Module("accumulate", "engine/accumulate.pyx"),
    Module("hooks", "engine/hooks.pyx"),
    Module("batching_rules", "engine/batching_rules.pyx"),
    Module("engine", "engine/engine.pyx"),
    Module("saved", "engine/saved.pyx"),
    Module("function", "engine/function.pyx"),
    Module("views", "engine/views.pyx"),
    Module("inplace", "engine/inplace.pyx"),
    Module("arrange", "engine/arrange.pyx"),
    Module("derivatives", "engine/derivatives.pyx"),
    Module("variants", "engine/variants.pyx"),
    Module("interpreted", "engine/interpreted.pyx"),
    Module("transforms", "engine/transforms.pyx"),
    Module("overrides", "engine/overrides.pyx"),
    Module("getitem", "core/getitem.pyx"),
    Module("rows", "kernels/rows.pyx", "simd"),
    Module("reduce", "kernels/reduce.pyx"),
    Module("softmax", "kernels/softmax.pyx"),
    Module("loss", "kernels/loss.pyx"),
    Module("indexing", "kernels/indexing.pyx"),
    Module("optimize", "kernels/optimize.pyx"),
    Module("random_forms", "kernels/random_forms.pyx"),
)
