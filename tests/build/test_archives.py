"""Archives that depend on their contents alone, and what does not belong into them."""

import gzip
import os
import re
import shutil
import tarfile

import pytest
from building import ROOT, run_python

from ext.build import archives


def make_tree(folder, mode):
    """A folder with a file, a program and a folder in it, with modes of another umask."""
    (folder / "package" / "inner").mkdir(parents=True)
    for name, more in (("b.py", 0), ("a.sh", 0o111), ("inner/c.py", 0)):
        path = folder / "package" / name
        path.write_text(f"# {name}\n")
        path.chmod((0o666 | more) & mode)
    return folder / "package"


def pack(folder, tree, names, **times):
    """A tar.gz of some names in the order in which they stand."""
    path = folder / "package.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            os.utime(tree / name, **times)
            archive.add(tree / name, f"package/{name}", recursive=False)
    return path


def test_order_owner_umask_and_time_leave_no_trace_in_an_sdist(tmp_path):
    contents = []
    for number, mode in enumerate((0o755, 0o700)):
        folder = tmp_path / str(number)
        tree = make_tree(folder, mode)
        names = ["inner", "b.py", "a.sh", "inner/c.py"]
        path = pack(folder, tree, names[:: 1 - 2 * number], times=(number, number))
        archives.rewrite_tar(path, {"SOURCE_DATE_EPOCH": "1700000000"})
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    with tarfile.open(path) as archive:
        members = {m.name: (m.mode, m.uid, m.gid, m.uname, m.gname, m.mtime) for m in archive}
        assert archive.extractfile("package/b.py").read() == b"# b.py\n"
    nobody = (0, 0, "", "", 1700000000)
    assert list(members.items()) == [
        ("package/a.sh", (0o755, *nobody)),
        ("package/b.py", (0o644, *nobody)),
        ("package/inner", (0o755, *nobody)),
        ("package/inner/c.py", (0o644, *nobody)),
    ]


def test_without_a_date_the_files_of_an_sdist_have_their_own(tmp_path):
    tree = make_tree(tmp_path, 0o777)
    path = pack(tmp_path, tree, ["a.sh", "b.py"], times=(1600000000, 1600000000))
    archives.rewrite_tar(path, {})
    with tarfile.open(path) as archive:
        assert {m.mtime for m in archive} == {1600000000}
    with gzip.open(path) as zipped:
        zipped.read()
        assert zipped.mtime == 1600000000


def test_modes_in_a_wheel_are_those_of_no_umask(tmp_path):
    tree = make_tree(tmp_path, 0o700)
    archives.set_modes(tree)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tree.rglob("*") if path.is_file()}
    assert modes == {"a.sh": 0o755, "b.py": 0o644, "c.py": 0o644}


def test_what_a_build_writes_into_the_tree_is_not_in_the_sdist():
    if not (ROOT / ".gitignore").exists():
        pytest.skip("an sdist has no .gitignore")
    ignored = re.findall(r"^/(autograd_cy/.*[^/\n])$", (ROOT / ".gitignore").read_text(), re.M)
    excluded = re.findall(r"^exclude (.*)$", (ROOT / "MANIFEST.in").read_text(), re.M)
    assert sorted(ignored) == sorted(excluded)


@pytest.mark.slow
def test_an_sdist_and_a_wheel_come_out_equal_in_another_folder(small_tree, tmp_path):
    """With another umask, time zone, locale and order of sets, and files of another time."""
    pytest.importorskip("build", reason="needs the build front end (pip install build)")
    pytest.importorskip("Cython", reason="builds without isolation")
    for name in ("LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, small_tree / name)
    other = tmp_path / "a longer name" / "tree"
    shutil.copytree(small_tree, other)
    for path in other.rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            os.utime(path, (1500000000, 1500000000))
    changes = {"TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": 2, "MAX_JOBS": 1}
    for tree, umask, environment in ((small_tree, 0o022, {}), (other, 0o077, changes)):
        before = os.umask(umask)
        try:
            command = ("-W", "ignore", "-m", "build", "--no-isolation", "-o", "dist")
            run_python(*command, cwd=tree, SOURCE_DATE_EPOCH=1700000000, **environment)
        finally:
            os.umask(before)
    first, second = (sorted((tree / "dist").iterdir()) for tree in (small_tree, other))
    assert [path.suffix for path in first] == [".whl", ".gz"]
    assert [path.name for path in first] == [path.name for path in second]
    for one, two in zip(first, second):
        assert one.read_bytes() == two.read_bytes(), one.name
