"""Fixtures of the build tests: copies of the source tree."""

import shutil
from pathlib import Path

import pytest
from building import ROOT, copy_tree, fresh_tree, set_modules


@pytest.fixture(scope="session")
def source_tree(tmp_path_factory) -> Path:
    """A copy of the whole source tree, as a fresh checkout would be."""
    return fresh_tree(tmp_path_factory)


@pytest.fixture
def small_tree(tmp_path) -> Path:
    """The build logic with only the `info` module, to which a test adds its own."""
    tree = tmp_path / "small"
    copy_tree(ROOT / "ext" / "build", tree / "ext" / "build")
    for folder in ("ext/core", "ext/kernels", "autograd_cy/_C"):
        (tree / folder).mkdir(parents=True)
    package = ("__init__.py", "_C/__init__.py", "_version.py", "py.typed")
    for name in ("setup.py", "pyproject.toml", "README.md", "ext/__init__.py", "ext/core/info.pyx"):
        shutil.copy(ROOT / name, tree / name)
    shutil.copy(ROOT / "ext/core/processor.h", tree / "ext/core/processor.h")
    for name in package:
        shutil.copy(ROOT / "autograd_cy" / name, tree / "autograd_cy" / name)
    (tree / "autograd_cy" / "__init__.py").write_text("from . import _C\n")
    # The private names of torch._C need all modules.
    loader = tree / "autograd_cy" / "_C" / "__init__.py"
    loader.write_text(loader.read_text().partition("\ndef __getattr__")[0])
    set_modules(tree, 'Module("info", "core/info.pyx")')
    return tree
