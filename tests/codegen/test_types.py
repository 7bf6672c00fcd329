"""The generator of operators is typed, every function of it."""

import subprocess
import sys

import pytest

from ext.build.extensions import ROOT

TYPED = (
    "form_parts forward_rules formula generate kernel_loops kernel_specs linkage lines "
    "module_head modules node_text operator_base operator_forms operators python_forms "
    "tangents vmap_rules"
).split()


@pytest.mark.slow
def test_the_generator_of_operators_is_typed(tmp_path):
    pytest.importorskip("mypy")
    files = [f"ext/codegen/{name}.py" for name in TYPED]
    options = ["--disallow-untyped-defs", "--follow-imports=silent", "--cache-dir", str(tmp_path)]
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", *options, *files],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode in (0, 1), run.stdout + run.stderr
    # What else mypy says is about stubs, which have a test of their own.
    assert [line for line in run.stdout.splitlines() if line.startswith(tuple(files))] == []
