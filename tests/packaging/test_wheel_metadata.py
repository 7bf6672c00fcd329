"""The files for PyPI pass the checks of its tools; they are those that tests/build makes."""

import email
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "build"))
from building import ROOT, distributions

pytestmark = pytest.mark.slow


def run_tool(module, *arguments):
    """Run a tool of the extra `packaging` as a program of this Python."""
    pytest.importorskip(module, reason="needs the extra packaging")
    command = [sys.executable, "-m", module, *map(str, arguments)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    return distributions(tmp_path_factory)


@pytest.fixture(scope="module")
def wheel(dist):
    (path,) = dist.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def metadata(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        return email.message_from_string(archive.read(name).decode())


def test_pyproject_is_valid():
    assert "Valid file" in run_tool("validate_pyproject", "pyproject.toml")


def test_descriptions_are_rendered(dist):
    assert run_tool("twine", "check", "--strict", *dist.iterdir()).count("PASSED") == 2


def test_contents_of_the_wheel_are_right(wheel):
    assert run_tool("check_wheel_contents", wheel).rstrip().endswith(": OK")


def test_metadata_say_what_pyproject_says(metadata):
    assert metadata["Name"] == "autograd_cy"
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert metadata.get_all("License-File") == ["LICENSE"]
    assert metadata["Requires-Python"] == ">=3.10"
    classifiers = metadata.get_all("Classifier")
    assert not [line for line in classifiers if line.startswith("License ::")]
    assert "Operating System :: POSIX :: Linux" in classifiers


def test_sdist_has_one_folder_of_nobody(dist):
    (path,) = dist.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        members = archive.getmembers()
    assert {m.name.partition("/")[0] for m in members} == {path.name.removesuffix(".tar.gz")}
    assert {(m.uid, m.gid, m.uname, m.gname) for m in members} == {(0, 0, "", "")}
    assert {m.mode for m in members} == {0o644, 0o755}
    assert [m.name for m in members] == sorted(m.name for m in members)


def test_the_record_of_the_build_names_no_folder(wheel):
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read("autograd_cy/_C/_build_info.py").decode()
    assert "'command'" in text
    assert re.findall(r"(?<![\w.])/(?:\w+/)+\w+", text) == []
