"""What the tests of recipes share: the tree, its version and requirements, and an sdist of it."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

try:
    import tomllib
except ImportError:  # Python 3.10
    from pip._vendor import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
#: The folder of recipes.
FOLDER = ROOT / "packaging"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def load(path: Path):
    """Load a program of ``packaging/``, which is no package, as a module."""
    specification = importlib.util.spec_from_file_location(f"recipes_{path.stem}", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


fill = load(FOLDER / "fill.py")
VERSION = fill.current_version()


def build_requirements() -> list[str]:
    """Return what a build needs, as pyproject.toml says."""
    return PROJECT["build-system"]["requires"]


def requirements_by_name(requirements) -> dict[str, str]:
    """Return {name: bound} of requirements such as ``numpy>=1.23``."""
    pairs = (re.fullmatch(r"([\w-]+)\s*(.*)", one).groups() for one in requirements)
    return {name: bound.strip() for name, bound in pairs}


def clean_environment(pip: bool = False, **changes) -> dict[str, str]:
    """Return the environment without what steers a build or Python, and pip's settings if asked."""
    unwanted = ("AUTOGRAD_CY_", "PYTHON", "CFLAGS", "CPPFLAGS", "LDFLAGS")
    unwanted += () if pip else ("PIP_",)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(unwanted)}
    return kept | {key: str(value) for key, value in changes.items()}


def make_sdist(folder: Path) -> Path:
    """Make an sdist of the tree in a folder, from a copy without build products."""
    folder.mkdir(parents=True, exist_ok=True)
    tree = folder / "tree"
    ignored = shutil.ignore_patterns("*.egg-info", "*.so", "__pycache__", ".*", "_build_info.py")

    def left_out(place, names):
        outputs = {"build", "dist"} if Path(place) == ROOT else set()
        return ignored(place, names) | outputs

    shutil.copytree(ROOT, tree, ignore=left_out)
    command = [sys.executable, "-W", "ignore", "setup.py", "-q", "sdist", "--dist-dir", str(folder)]
    subprocess.run(command, cwd=tree, env=clean_environment(), check=True)
    shutil.rmtree(tree)
    (path,) = folder.glob("*.tar.gz")
    return path
