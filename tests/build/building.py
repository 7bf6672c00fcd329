"""The helpers of the build tests: the root of the tree, commands run in a copy of it."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# At the end, so that an installed copy of the package is not hidden by the source tree.
sys.path.append(str(ROOT))

IGNORED = shutil.ignore_patterns("*.egg-info", "*.so", "__pycache__", ".*", "_build_info.py")


def copy_tree(source: Path, target: Path) -> Path:
    """Copy a source tree as a fresh checkout would have it."""

    def left_out(folder, names):
        outputs = {"build", "dist"} if Path(folder) == ROOT else set()
        return IGNORED(folder, names) | outputs

    shutil.copytree(source, target, ignore=left_out)
    return target


_once: dict[str, Path] = {}


def fresh_tree(tmp_path_factory) -> Path:
    """A copy of the source tree, the same for all tests of a process."""
    if "tree" not in _once:
        _once["tree"] = copy_tree(ROOT, tmp_path_factory.mktemp("tree") / "autograd_cy")
    return _once["tree"]


def distributions(tmp_path_factory) -> Path:
    """The folder of an sdist and the wheel built from it, the same for all tests of a process."""
    if "dist" not in _once:
        pytest.importorskip("build", reason="needs the build front end (pip install build)")
        pytest.importorskip("Cython", reason="builds without isolation")
        tree = fresh_tree(tmp_path_factory)
        run_python("-m", "build", "--no-isolation", "-o", "dist", cwd=tree)
        _once["dist"] = tree / "dist"
    return _once["dist"]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))


def clean_environment(**changes) -> dict:
    """The environment without what would steer a build; kernels of GPUs take their time."""
    unwanted = ("AUTOGRAD_CY_", "PYTHONPATH", "CFLAGS", "CPPFLAGS", "LDFLAGS")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(unwanted)}
    changes = {"AUTOGRAD_CY_CUDA": 0, **changes}
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


def set_modules(tree: Path, *entries: str) -> None:
    """Replace the list of modules in the tree's extensions.py."""
    path = tree / "ext" / "build" / "extensions.py"
    head, _, _ = path.read_text().partition("MODULES = find_modules()")
    path.write_text(f"{head}MODULES = ({', '.join(entries)},)\n")
