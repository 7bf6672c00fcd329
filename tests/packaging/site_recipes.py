"""Helpers of the tests of recipes for sites: the files, the project's metadata, commands."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
# At the end, so that an installed copy of the package is not hidden by the source tree.
sys.path += [str(ROOT), str(ROOT / "tests" / "build")]
from building import copy_tree as copy_tree  # noqa: E402

from ext.build.requirements import read_project  # noqa: E402

ZEROS = "0" * 64


def load_file(path: Path, name: str):
    """Return the module of a file that no package contains."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


fill = load_file(PACKAGING / "fill.py", "fill_recipes")
VERSION = fill.current_version()


def project() -> dict:
    """Return pyproject.toml."""
    return read_project()


def lower_bounds(requirements: list[str]) -> dict[str, str]:
    """Return {name: version} of requirements such as ``numpy>=1.23``."""
    return dict(re.fullmatch(r"([\w.-]+)>=([\d.]+)", one).groups() for one in requirements)


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, to be compared."""
    return tuple(map(int, re.findall(r"\d+", version)))


def tool(name: str, package: str) -> str:
    """Return the path of a command, or skip the test; beside the interpreter it needs no $PATH."""
    path = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if path is None:
        pytest.skip(f"{name} is not installed: {package}")
    return path


def lmod() -> Path:
    """Return the folder of Lmod, or skip the test."""
    for command in (os.environ.get("LMOD_CMD"), "/usr/share/lmod/lmod/libexec/lmod"):
        if command and Path(command).is_file():
            return Path(command).parents[1]
    pytest.skip("Lmod is not installed: apt-get install lmod, or set LMOD_CMD")


def clean_environment(home: Path, **changes) -> dict[str, str]:
    """Return the environment without settings of builds, modules and tools, with this home."""
    unwanted = ("AUTOGRAD_CY_", "EASYBUILD_", "RFM_", "LMOD_", "MODULE", "PYTHON", "OMP_", "XDG_")
    unwanted += ("CFLAGS", "CPPFLAGS", "LDFLAGS", "LOADEDMODULES", "_LM", "_ModuleTable")
    usual = {key: value for key, value in os.environ.items() if not key.startswith(unwanted)}
    path = f"{Path(sys.executable).parent}{os.pathsep}{usual['PATH']}"
    return usual | {"HOME": str(home), "PATH": path} | {k: str(v) for k, v in changes.items()}


def run(*command, cwd: Path, check: bool = True, **environment) -> subprocess.CompletedProcess:
    """Run a command in a folder, which is its home, too; on failure show all that it wrote."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=clean_environment(cwd, **environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if check and done.returncode:
        pytest.fail(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return done
