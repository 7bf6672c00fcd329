"""A release gives all recipes its version: in names of files, in texts, and in pages."""

import hashlib
import shutil
import subprocess
import sys

import pytest
from site_recipes import PACKAGING, ROOT, VERSION, ZEROS, run

NEXT = "7.8.9rc1"
# The script's own examples are of no release.
OWN = "fill.py"
# Other files that the script reads and writes.
OTHERS = (
    "autograd_cy/_version.py",
    "autograd_cy/_as_torch/switch.py",
    "docs/coming-from-pytorch.md",
    "docs/install.md",
    "CHANGELOG.md",
    "CITATION.cff",
)


@pytest.fixture
def tree(tmp_path):
    """A copy of the files that `fill.py` reads and writes."""
    folder = tmp_path / "tree"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGING, folder / "packaging", ignore=ignored)
    for name in OTHERS:
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def contents(folder):
    """{name: bytes} of all files but the script."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != OWN and "__pycache__" not in path.parts
    }


def script(tree, *options):
    """Run the script in the copy; return the names that it prints, below ``packaging/``."""
    path = tree / "packaging" / OWN
    lines = run(sys.executable, path, *options, cwd=tree).stdout.splitlines()
    folder = f"{tree / 'packaging'}/"
    return {line.removeprefix(folder) for line in lines if line.startswith(folder)}


def test_a_new_version_leaves_nothing_of_the_old_one(tree):
    before = contents(tree / "packaging")
    changed = script(tree, "--version", NEXT)
    after = contents(tree / "packaging")
    assert set(after) == {name.replace(VERSION, NEXT) for name in before}
    assert [name for name, text in after.items() if VERSION.encode() in text] == []
    assert {name for name in after if before.get(name) != after[name]} <= changed
    assert any(NEXT in name for name in after)
    assert NEXT in (tree / "autograd_cy" / "_version.py").read_text()
    assert VERSION not in (tree / "docs" / "install.md").read_text()


# The second is also a part of other versions, such as CUDA's 12.9.1.
@pytest.mark.parametrize("version", [NEXT, "2.9.1"])
def test_a_version_that_is_set_back_restores_every_file(tree, version):
    before = contents(tree / "packaging")
    script(tree, "--version", version)
    assert contents(tree / "packaging") != before
    script(tree, "--version", VERSION)
    assert contents(tree / "packaging") == before


SDIST = f"autograd_cy-{VERSION}.tar.gz"


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ("", "give --version (and --date), or --sdist and --into (and --url)"),
        ("--version 0.3", "0.3 is not a version such as 1.2.3"),
        ("--version 7.8.9 --into filled", "give --version (and --date), or --sdist"),
        ("--version 7.8.9 --date today", "today is not a date such as 2026-12-31"),
        (f"--sdist {SDIST}", "give --version (and --date), or --sdist and --into"),
        (f"--sdist {SDIST} --into filled --date 2026-12-31", "give --version (and --date), or"),
        ("--sdist absent.tar.gz --into filled", "absent.tar.gz is not an sdist; make one"),
        ("--sdist autograd_cy-9.9.9.tar.gz --into filled", "is of another version than the tree"),
        (f"--sdist {SDIST} --into packaging", "copies go into another folder: --into build/rec"),
        (f"--sdist {SDIST} --into CITATION.cff", "cannot write to CITATION.cff/conda"),
        (f"--sdist {SDIST} --into /proc/filled", "name a folder of your own: --into build/recipes"),
    ],
)
def test_wrong_arguments_change_nothing(tree, options, part):
    for name in (SDIST, "autograd_cy-9.9.9.tar.gz"):
        (tree / name).write_bytes(b"any")
    before = contents(tree)
    command = [sys.executable, str(tree / "packaging" / OWN), *options.split()]
    result = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    assert result.returncode
    assert part in result.stderr
    assert "Traceback" not in result.stderr
    assert contents(tree) == before


def test_filled_recipes_have_the_checksum_and_no_zeros(tree):
    sdist = tree / f"autograd_cy-{VERSION}.tar.gz"
    sdist.write_bytes(b"any")
    script(tree, "--sdist", sdist, "--into", tree / "filled", "--url", "file:///a/b.tar.gz")
    recipes, filled = contents(tree / "packaging"), contents(tree / "filled")
    with_checksums = {name for name, text in recipes.items() if ZEROS.encode() in text}
    assert with_checksums
    assert with_checksums <= set(filled)
    assert {"conda/variants.yaml", "spack/spack_repo/autograd_cy/repo.yaml"} <= set(filled)
    for name in with_checksums:
        assert ZEROS.encode() not in filled[name]
        assert hashlib.sha256(b"any").hexdigest().encode() in filled[name]
