"""An sdist of the tree, what its build needs, and a program to run: for recipes that build it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from site_recipes import ROOT, copy_tree, project

#: For a short build; the commands under test are the same.
QUICK = {"AUTOGRAD_CY_SIMD": "base", "AUTOGRAD_CY_OPT": "0"}
PROGRAM = """
import autograd_cy as torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
(x * x).sum().backward()
assert x.grad.tolist() == [2.0, 4.0]
print("works")
"""


def build_requirements() -> list[str]:
    """Return what a build needs, as pyproject.toml says."""
    return project()["build-system"]["requires"]


def requirements_by_name(requirements) -> dict[str, str]:
    """Return {name: bound} of requirements such as ``numpy>=1.23``."""
    pairs = (re.fullmatch(r"([\w-]+)\s*(.*)", one).groups() for one in requirements)
    return {name: bound.strip() for name, bound in pairs}


def build_environment(pip: bool = False, **changes) -> dict[str, str]:
    """Return the environment without what steers a build or Python, and pip's settings if asked."""
    unwanted = ("AUTOGRAD_CY_", "PYTHON", "CFLAGS", "CPPFLAGS", "LDFLAGS")
    unwanted += () if pip else ("PIP_",)
    usual = {key: value for key, value in os.environ.items() if not key.startswith(unwanted)}
    return usual | {key: str(value) for key, value in changes.items()}


def make_sdist(folder: Path) -> Path:
    """Make an sdist of the tree in a folder, from a copy without build products."""
    folder.mkdir(parents=True, exist_ok=True)
    tree = copy_tree(ROOT, folder / "tree")
    command = [sys.executable, "-W", "ignore", "setup.py", "-q", "sdist", "--dist-dir", str(folder)]
    subprocess.run(command, cwd=tree, env=build_environment(), check=True)
    shutil.rmtree(tree)
    (path,) = folder.glob("*.tar.gz")
    return path
