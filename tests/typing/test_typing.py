"""Programs and the package under type checkers."""

import os
from pathlib import Path

import programs
import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def run(*command):
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = programs.run(*command, cwd=ROOT, env=env, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


PROGRAMS = {"program.py": "tensor", "legacy_program.py": "Variable containing"}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_typed_program_runs(program):
    assert PROGRAMS[program] in run(f"tests/typing/{program}")


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_typed_program_passes_strict_mypy(program):
    pytest.importorskip("mypy")
    config = str(HERE / "mypy.ini")
    checked = f"tests/typing/{program}"
    run("-m", "mypy", "--config-file", config, "--cache-dir", os.devnull, checked)


@pytest.mark.slow
def test_the_package_passes_mypy():
    pytest.importorskip("mypy")
    run("-m", "mypy", "--cache-dir", os.devnull, "autograd_cy")
