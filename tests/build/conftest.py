"""Fixtures of the build tests: copies of the source tree, and commands run in them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# At the end, so that an installed copy of the package is not hidden by the source tree.
sys.path.append(str(ROOT))

LEFT_OUT = shutil.ignore_patterns(
    ".git", "build", "dist", "*.egg-info", "*.so", "__pycache__", ".*_cache", "_build_info.py"
)


def clean_environment(**changes) -> dict:
    """The environment without what would steer a build."""
    unwanted = ("AUTOGRAD_CY_", "PYTHONPATH", "CFLAGS", "CPPFLAGS", "LDFLAGS")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(unwanted)}
    return kept | {key: str(value) for key, value in changes.items()}


def run_python(*arguments, cwd, check=True, **environment):
    """Run this interpreter in `cwd`; on failure show everything that it wrote."""
    command = [sys.executable, *map(str, arguments)]
    run = subprocess.run(
        command,
        cwd=cwd,
        env=clean_environment(**environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if check and run.returncode:
        pytest.fail(f"{' '.join(command)} ended with {run.returncode}:\n{run.stdout}")
    return run


def build_inplace(tree, check=True, **environment):
    return run_python(
        "-W", "ignore", "setup.py", "-q", "build_ext", "--inplace",
        cwd=tree, check=check, **environment,
    )  # fmt: skip


@pytest.fixture(scope="session")
def source_tree(tmp_path_factory) -> Path:
    """A copy of the whole source tree, as a fresh checkout would be."""
    tree = tmp_path_factory.mktemp("tree") / "autograd_cy"
    ignored = lambda folder, names: (  # noqa: E731
        {n for n in LEFT_OUT(folder, names) if not (n == "build" and Path(folder) != ROOT)}
    )
    shutil.copytree(ROOT, tree, ignore=ignored)
    return tree


@pytest.fixture
def small_tree(tmp_path) -> Path:
    """The build logic with only the `info` module, to which a test adds its own."""
    tree = tmp_path / "small"
    shutil.copytree(ROOT / "ext" / "build", tree / "ext" / "build", ignore=LEFT_OUT)
    for name in ("setup.py", "pyproject.toml", "README.md", "ext/__init__.py"):
        shutil.copy(ROOT / name, tree / name)
    for folder in ("ext/core", "ext/kernels", "autograd_cy/_C"):
        (tree / folder).mkdir(parents=True)
    shutil.copy(ROOT / "ext/core/info.pyx", tree / "ext/core/info.pyx")
    for name in ("_C/__init__.py", "_version.py", "py.typed"):
        shutil.copy(ROOT / "autograd_cy" / name, tree / "autograd_cy" / name)
    (tree / "autograd_cy" / "__init__.py").write_text("from . import _C\n")
    set_modules(tree, 'Module("info", "core/info.pyx", "openmp")')
    return tree


def set_modules(tree: Path, *entries: str) -> None:
    """Replace the list of modules in the tree's extensions.py."""
    path = tree / "ext" / "build" / "extensions.py"
    head, _, _ = path.read_text().partition("MODULES = (")
    path.write_text(f"{head}MODULES = ({', '.join(entries)},)\n")
