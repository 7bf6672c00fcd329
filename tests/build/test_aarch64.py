"""64-bit Arm by a cross compiler: the modules compile, the formulas have the bits of x86-64."""

import os
import shutil
import subprocess

import pytest
from building import ROOT, run_python

from ext.build import aarch64, flags

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
needs_arm = pytest.mark.skipif(
    bool(aarch64.missing(aarch64.CC)), reason=aarch64.missing(aarch64.CC) or "-"
)
needs_qemu = pytest.mark.skipif(
    bool(aarch64.missing(aarch64.CC, aarch64.QEMU)),
    reason=aarch64.missing(aarch64.CC, aarch64.QEMU) or "-",
)


def test_programs_that_are_missing_are_named(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert aarch64.main([]) == 2
    said = capsys.readouterr().err
    assert "There is no aarch64-linux-gnu-gcc and no qemu-aarch64" in said
    assert "apt install gcc-aarch64-linux-gnu" in said


@pytest.mark.slow
@needs_gcc
@pytest.mark.parametrize("extra", [[], ["-march=haswell"], ["-march=skylake-avx512"]])
def test_formulas_are_exact_here(tmp_path, extra):
    if os.uname().machine != "x86_64" and extra:
        pytest.skip("flags of x86-64")
    try:
        lines = aarch64.formulas("gcc", extra, tmp_path).splitlines()
    except subprocess.CalledProcessError as error:
        if error.returncode == -4:
            pytest.skip("this processor lacks the instructions")
        raise
    assert len(lines) > 100


@pytest.mark.slow
@needs_gcc
def test_a_wrong_formula_is_noticed(tmp_path):
    shutil.copytree(ROOT / "ext" / "kernels" / "scalar", tmp_path / "scalar")
    path = tmp_path / "scalar" / "exp_log.h"
    text = path.read_text()
    assert "0.49999997f" in text
    path.write_text(text.replace("0.49999997f", "0.4999"))
    with pytest.raises(subprocess.CalledProcessError):
        aarch64.formulas("gcc", [f"-I{tmp_path}"], tmp_path / "out")


@pytest.mark.slow
@needs_gcc
@needs_qemu
def test_formulas_have_the_same_bits_under_qemu(tmp_path):
    count, different = aarch64.check_formulas(folder=tmp_path)
    assert count > 100
    assert different == []


@needs_arm
@pytest.mark.parametrize("name", ["scalar", "gemm_tiny", "conv_micro", "winograd_2x2", "fused"])
def test_headers_that_choose_by_processor_compile_for_arm(tmp_path, name):
    source = tmp_path / "header.c"
    source.write_text(f'#include "scalar/{name}.h"\nint x;\n')
    words = [aarch64.CC, "-O1", "-w", f"-I{ROOT}/ext/kernels", f"-I{ROOT}/ext/core"]
    words += [*flags.SIMD_MATH, flags.CONTRACTION, "-fsyntax-only", str(source)]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.release
@needs_qemu
def test_all_modules_compile_for_arm(source_tree):
    run = run_python("-m", "ext.build.aarch64", cwd=source_tree, check=False, AUTOGRAD_CY_OPT=0)
    assert run.returncode == 0, run.stdout
    assert ", 0 failed" in run.stdout
