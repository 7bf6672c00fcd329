"""Every slow test is run by one of the scripts in .ci."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / ".ci"

if not SCRIPTS.is_dir():
    pytest.skip("the scripts are in the repository only", allow_module_level=True)


BASH = [path.name for path in sorted(SCRIPTS.iterdir()) if b"env bash" in path.read_bytes()[:40]]


def test_there_are_scripts():
    assert {"coverage", "matrix", "release", "run", "sanitize", "slow"} <= set(BASH)


@pytest.mark.parametrize("name", BASH)
def test_scripts_can_be_read(name):
    subprocess.run(["bash", "-n", SCRIPTS / name], check=True)
    assert (SCRIPTS / name).stat().st_mode & 0o100


@pytest.mark.parametrize(
    ("variables", "part"),
    [
        ({"PYTHONS": "no-python"}, "not found: no-python"),
        ({"PYTHONS": "no-python"}, "PYTHONS and COMPILERS name what this machine has"),
        ({"PYTHONS": "no-python", "NUMPYS": "old"}, "NUMPYS has old, but only knows newest and"),
        ({"PYTHONS": "no-python", "TMPDIR": "/no/such/folder"}, "/no/such/folder"),
    ],
)
def test_a_matrix_of_nothing_says_why(variables, part):
    run = subprocess.run(
        [SCRIPTS / "matrix"], env={**os.environ, "COMPILERS": "no-cc", **variables}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    assert run.returncode in (1, 2)
    assert part in run.stdout


def test_slow_leaves_out_only_what_run_runs_whole():
    commands = re.sub(r"\\\n", " ", (SCRIPTS / "run").read_text())
    run = set()
    for line in re.findall(r"^python -m pytest .* -m slow .*$", commands, re.M):
        run |= set(re.findall(r"tests/\S+", line))
    left_out = re.search(r"of_run=\((.*?)\)", (SCRIPTS / "slow").read_text(), re.S)[1].split()
    assert left_out and set(left_out) <= run
    assert not [path for path in left_out if not (ROOT / path).exists()]
