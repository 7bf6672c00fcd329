"""A release gives all recipes its version: in names of files, in texts, and in pages."""

import hashlib
import shutil

import pytest
from site_recipes import PACKAGING, ROOT, VERSION, ZEROS, load_file

NEXT = "7.8.9rc1"
# The script's own examples are of no release.
OWN = "fill.py"


@pytest.fixture
def tree(tmp_path):
    """A copy of what `fill.py` writes to."""
    shutil.copytree(PACKAGING, tmp_path / "packaging", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "autograd_cy").mkdir()
    for name in ("autograd_cy/_version.py", "CITATION.cff"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def contents(tree):
    """{name: bytes} of all files but the script."""
    paths = (path for path in tree.rglob("*") if path.is_file() and path.name != OWN)
    return {
        str(path.relative_to(tree)): path.read_bytes()
        for path in paths
        if "__pycache__" not in path.parts
    }


def script(tree):
    return load_file(tree / "packaging" / OWN, "fill_copy")


def test_a_new_version_leaves_nothing_of_the_old_one(tree):
    before = contents(tree)
    changed = script(tree).set_version(NEXT)
    after = contents(tree)
    assert set(after) == {name.replace(VERSION, NEXT) for name in before}
    assert [name for name, text in after.items() if VERSION.encode() in text] == []
    assert {str(path.relative_to(tree)) for path in changed} == {
        name for name in after if before.get(name) != after[name]
    }
    assert any(NEXT in name for name in after)


# The second is also a part of other versions, such as CUDA's 12.9.1.
@pytest.mark.parametrize("version", [NEXT, "2.9.1"])
def test_a_version_that_is_set_back_restores_every_file(tree, version):
    before = contents(tree)
    script(tree).set_version(version)
    script(tree).set_version(VERSION)
    assert contents(tree) == before


def test_filled_recipes_have_the_checksum_and_no_zeros(tree):
    sdist = tree / f"autograd_cy-{VERSION}.tar.gz"
    sdist.write_bytes(b"any")
    copies = script(tree).fill(sdist, tree / "filled", url="file:///somewhere/a.tar.gz")
    with_checksums = {
        path for path, text in contents(tree / "packaging").items() if ZEROS.encode() in text
    }
    assert with_checksums
    assert with_checksums <= {str(path.relative_to(tree / "filled")) for path in copies}
    for name in with_checksums:
        text = (tree / "filled" / name).read_text()
        assert ZEROS not in text
        assert hashlib.sha256(b"any").hexdigest() in text
