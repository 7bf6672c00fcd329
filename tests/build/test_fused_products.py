"""Nothing is fused that no source names: flags of the build, and the search in assembly."""

import re
import shutil
import subprocess
import sysconfig

import pytest
from building import ROOT

from ext.build import contraction, extensions, flags, openmp, simd
from ext.build.probe import Probe

CC = (sysconfig.get_config_var("CC") or "cc").split()[0]
SETS = {
    "avx2": ["-mavx2", "-mfma"],
    "avx512": ["-march=skylake-avx512", "-mprefer-vector-width=512"],
}
PLAIN = """
float one(float a, float b, float c);
float one(float a, float b, float c) { return a * b + c; }
void many(float *restrict a, const float *restrict b, const float *restrict c, long n);
void many(float *restrict a, const float *restrict b, const float *restrict c, long n) {
    for (long i = 0; i < n; i++) a[i] += b[i] * c[i];
}
"""
NAMED = """
#include "scalar/fused.h"
typedef ag_f32 narrow __attribute__((vector_size(16), aligned(4), may_alias));
typedef ag_f64 wide __attribute__((vector_size(VECTOR), aligned(8), may_alias));
float of_numbers(float a, float b, float c);
float of_numbers(float a, float b, float c) { return ag_fma_f32(a, b, c); }
void of_narrow(narrow *a, const narrow *b, float c);
void of_narrow(narrow *a, const narrow *b, float c) {
    *a = AG_FMA(f32, 16)(AG_ALL(narrow, c), *b, *a);
}
void of_wide(wide *a, const wide *b, double c);
void of_wide(wide *a, const wide *b, double c) {
    *a = AG_FMA(f64, VECTOR)(AG_ALL(wide, c), *b, *a);
}
"""


def knows(*wanted):
    return bool(shutil.which(CC)) and Probe([CC], [CC]).compiles(wanted)


each_set = pytest.mark.parametrize(
    "chosen",
    [
        pytest.param(
            chosen,
            id=name,
            marks=pytest.mark.skipif(not knows(*chosen), reason="no compiler for this set"),
        )
        for name, chosen in SETS.items()
    ],
)


def written(tmp_path, text):
    path = tmp_path / "kernel.c"
    path.write_text(text)
    return path


@each_set
def test_products_that_a_compiler_fuses_by_itself_are_found(tmp_path, chosen):
    source = written(tmp_path, PLAIN)
    command = [CC, "-O3", *chosen]
    assert contraction.fused_in([*command, "-ffp-contract=fast"], source) == ["many", "one"]
    assert contraction.fused_in([*command, flags.CONTRACTION], source) == []


@each_set
def test_named_products_are_one_instruction_and_not_found(tmp_path, chosen):
    source = written(tmp_path, NAMED)
    size = 64 if "-mavx2" not in chosen else 32
    command = [CC, "-O2", *chosen, f"-DVECTOR={size}", f"-I{ROOT / 'ext/kernels'}"]
    command += [*flags.SIMD_MATH, flags.CONTRACTION]
    assert contraction.fused_in(command, source) == []
    run = subprocess.run(
        [*command, "-S", str(source), "-o", "-"], capture_output=True, text=True, check=True
    )
    named = ["of_narrow", "of_numbers", "of_wide"]
    assert contraction.functions_with(contraction.FUSED, run.stdout) == named
    assert not re.search(r"\bv(add|mul|sub)[ps]", run.stdout)
    assert "call" not in run.stdout


@pytest.mark.skipif(not knows(), reason="no compiler")
def test_a_source_that_does_not_compile_is_named(tmp_path):
    with pytest.raises(RuntimeError, match=r"kernel\.c does not compile"):
        contraction.fused_in([CC], written(tmp_path, "int f( {"))


def test_assembly_of_arm_is_read_as_well():
    text = "f:\n\tfadd\ts0, s0, s1\n\tret\ng:\n.L3:\n\tfmla\tv0.4s, v1.4s, v2.4s\n"
    text += "h:\n\tfmadd\td0, d1, d2, d3\n"
    assert contraction.functions_with(contraction.FUSED, text) == ["g", "h"]


def test_contraction_is_off_in_every_module():
    class Accepting:
        version = "pretended cc 1.0"

        def compiles(self, wanted=(), source=""):
            return True

        def first(self, *candidates):
            return candidates[0]

    for kind in extensions.KINDS:
        assert flags.CONTRACTION in flags.of_kind(kind, openmp.OpenMP(()), Accepting(), {})
    own = [flag for module in extensions.MODULES for flag in module.flags]
    sets = [flag for target in simd.targets(Accepting(), {}) for flag in target.flags]
    assert not [flag for flag in (*own, *sets) if "contract" in flag or "fast" in flag]
