"""The parts of packaging/wheels: archives written again, libraries to link with, interpreters."""

import importlib
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "packaging" / "wheels"
if not FOLDER.is_dir():
    pytest.skip("the scripts are in the repository only", allow_module_level=True)
sys.path.append(str(FOLDER))
link_stubs, make_wheels, openmp_runtime, repack = map(
    importlib.import_module, ("link_stubs", "make_wheels", "openmp_runtime", "repack")
)

METADATA = """\
Metadata-Version: 2.4
Name: package
License-Expression: BSD-3-Clause
License-File: LICENSE
Requires-Dist: numpy

License-File: no header, part of the text
"""


def make_wheel(path, names, year, mode):
    """A wheel with files in an order, of a year, with modes."""
    contents = {
        "package/__init__.py": b"x = 1\n",
        "package/module.so": b"\x7fELF",
        "package-1.dist-info/METADATA": METADATA.encode(),
        "package-1.dist-info/licenses/LICENSE": b"text\n",
        "package-1.dist-info/RECORD": b"",
    }
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("package/"), b"")
        for place in names:
            name = list(contents)[place]
            info = zipfile.ZipInfo(name, (year, 1, 1, 0, 0, 0))
            info.external_attr = (0o100000 | (mode if name.endswith(".so") else mode & 0o666)) << 16
            archive.writestr(info, contents[name])
    return path


def test_order_times_and_umask_leave_no_trace_in_a_wheel(tmp_path):
    first = make_wheel(tmp_path / "first.whl", [0, 1, 2, 3, 4], 2020, 0o755)
    second = make_wheel(tmp_path / "second.whl", [4, 2, 1, 3, 0], 2030, 0o700)
    for wheel in (first, second):
        repack.repack(wheel, 1700000000)
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        infos = archive.infolist()
    assert [info.filename for info in infos] == [
        "package-1.dist-info/METADATA", "package-1.dist-info/licenses/LICENSE",
        "package/__init__.py", "package/module.so", "package-1.dist-info/RECORD",
    ]  # fmt: skip
    modes = [info.external_attr >> 16 for info in infos]
    assert modes == [0o100644, 0o100644, 0o100644, 0o100755, 0o100644]
    assert {info.date_time for info in infos} == {(2023, 11, 14, 22, 13, 20)}


def test_bundled_licences_are_in_the_headers_the_record_and_the_wheel(tmp_path):
    wheel = make_wheel(tmp_path / "package.whl", range(5), 2020, 0o755)
    for _ in range(2):  # the second time changes nothing
        repack.repack(wheel, 0, {"lib/COPYING": b"GPL\n"}, "GPL-3.0-only")
    with zipfile.ZipFile(wheel) as archive:
        files = {
            name: archive.read(name).decode() for name in archive.namelist() if ".so" not in name
        }
    head, _, body = files["package-1.dist-info/METADATA"].partition("\n\n")
    assert head.splitlines()[2:] == [
        "License-Expression: BSD-3-Clause AND GPL-3.0-only",
        "License-File: LICENSE",
        "License-File: lib/COPYING",
        "Requires-Dist: numpy",
    ]
    assert body == "License-File: no header, part of the text\n"
    assert files["package-1.dist-info/licenses/lib/COPYING"] == "GPL\n"
    record = files["package-1.dist-info/RECORD"].splitlines()
    # The digest of "x = 1\n" by openssl.
    assert "package/__init__.py,sha256=nia_NpkRxFwkPGhBR7I_yeHc_PJX0pmhxjIBam_NM_Q,6" in record
    assert record[-1] == "package-1.dist-info/RECORD,,"


def test_interpreters_that_do_not_run_here_are_missing():
    present, missing = make_wheels.find_interpreters([sys.executable, "9.9", "/no/such/python"])
    assert set(present.values()) <= {sys.executable}  # nothing where there are no headers
    assert missing[-2:] == ["9.9", "/no/such/python"]


def test_what_steers_a_build_is_not_in_its_environment(monkeypatch):
    for name in ("AUTOGRAD_CY_OPT", "CFLAGS", "LDFLAGS", "PYTHONPATH", "LDSHARED"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("CC", "ccache gcc")
    environment = make_wheels.clean_environment(7)
    ours = {name for name in environment if name.startswith("AUTOGRAD_CY_")}
    assert ours == {"AUTOGRAD_CY_CUDA"}
    assert not {"CFLAGS", "LDFLAGS", "PYTHONPATH", "LDSHARED"} & environment.keys()
    assert (environment["CC"], environment["SOURCE_DATE_EPOCH"]) == ("ccache gcc", "7")


def test_requirements_are_those_of_the_sdist(tmp_path):
    root = FOLDER.parents[1]
    (tmp_path / "package-1").mkdir()
    shutil.copy(root / "pyproject.toml", tmp_path / "package-1")
    sdist = shutil.make_archive(str(tmp_path / "sdist"), "gztar", tmp_path, "package-1")
    names = [re.split(">=", line)[0] for line in make_wheels.requirements(Path(sdist))]
    assert names == ["setuptools", "cython", "numpy", "scipy"]


def test_no_source_calls_what_newer_headers_replace():
    """With glibc 2.38 and later, these are functions that an older glibc doesn't have."""
    replaced = re.compile(r"\b(?:v?[fs]?w?scanf|(?:str|wcs)to(?:l|ul|ll|ull|imax|umax))\s*\(")
    root = FOLDER.parents[1]
    users = [
        f"{path.relative_to(root)}: {match[0]}"
        for folder in ("ext", "autograd_cy")
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in (".c", ".h", ".pyx", ".pxi", ".pxd")
        for match in replaced.finditer(path.read_text(encoding="utf-8"))
    ]
    assert users == []


@pytest.mark.parametrize("content", [None, b"", b"no archive", "empty"])
def test_what_is_no_sdist_is_refused(tmp_path, content):
    sdist = tmp_path / "package-1.tar.gz"
    if content == "empty":
        (tmp_path / "package-1").mkdir()
        shutil.make_archive(str(tmp_path / "package-1"), "gztar", tmp_path, "package-1")
    elif content is not None:
        sdist.write_bytes(content)
    with pytest.raises(SystemExit, match=r"package-1\.tar\.gz is not an sdist .*; make one"):
        make_wheels.requirements(sdist)


@pytest.mark.parametrize(
    ("name", "value", "part"),
    [
        ("CC", "/no/such/gcc -O2", "there is no program /no/such/gcc: apt install gcc"),
        ("CC", "'gcc", "CC cannot be split into words"),
    ],
)
def test_a_compiler_that_is_not_there_is_refused(monkeypatch, name, value, part):
    monkeypatch.setattr(make_wheels, "TOOLS", ("sys",))
    programs = {"patchelf": "/bin/patchelf"}
    monkeypatch.setattr(make_wheels.shutil, "which", lambda name, path: programs.get(name))
    monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit, match=part):
        make_wheels.require_tools()


def test_a_date_that_is_none_is_refused(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "today")
    with pytest.raises(SystemExit, match="SOURCE_DATE_EPOCH=today is no time in seconds"):
        make_wheels.source_date()


def test_folders_that_cannot_be_written_to_are_refused(tmp_path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", Path("/proc/folder")):
        with pytest.raises(SystemExit, match=f"cannot write to {folder}"):
            make_wheels.require_writable(folder)
    make_wheels.require_writable(tmp_path / "new" / "folder")
    assert list((tmp_path / "new" / "folder").iterdir()) == []


SOURCE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>

void *opened(const char *path) { return dlopen(path, RTLD_NOW); }
int started(pthread_t *t, void *(*f)(void *)) { return pthread_create(t, 0, f, 0); }
int described(pthread_attr_t *a) { return pthread_getattr_np(pthread_self(), a); }
double powered(double x) { return pow(x, 2.5); }
/* What headers of glibc 2.38 and later make of strtoul. */
unsigned long renamed(const char *, char **, int) __asm__("__isoc23_strtoul");
unsigned long number(const char *text) { return renamed(text, 0, 10); }
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.skipif(not link_stubs.needed(), reason="glibc here is older than 2.34")
def test_what_moved_in_glibc_is_linked_as_in_2_28_and_nothing_else(tmp_path):
    stubs = link_stubs.write(tmp_path / "stubs", "gcc")
    (tmp_path / "source.c").write_text(SOURCE)
    library = tmp_path / "library.so"
    command = ["gcc", "-shared", "-fPIC", f"-L{stubs}", "source.c", "-lm", "-o", library]
    subprocess.run(command, cwd=tmp_path, check=True)
    text = subprocess.run(
        ["readelf", "-dW", "--dyn-syms", library], capture_output=True, text=True, check=True
    ).stdout
    needed = re.findall(r"NEEDED.*\[(.*)\]", text)
    assert set(needed) == {"libdl.so.2", "libpthread.so.0", "libm.so.6", "libc.so.6"}
    versions = dict(re.findall(r" UND (\w+)@([\w.]+)", text))
    assert versions["dlopen"] == versions["pthread_create"] == "GLIBC_2.2.5"
    assert versions["pthread_getattr_np"] == "GLIBC_2.2.5"
    assert versions["strtoul"] == "GLIBC_2.2.5"
    assert not [name for name in versions if name.startswith("__isoc23")]
    # It is in libm, is newer, and has to show.
    assert versions["pow"] == "GLIBC_2.29"
    assert openmp_runtime.newest_glibc(library) == (2, 29)
    # It runs with the real libraries.
    code = (
        "import ctypes, sys; l = ctypes.CDLL(sys.argv[1]); assert l.described(bytes(200)) == 0;"
        "assert l.number(b'23') == 23"
    )
    subprocess.run([sys.executable, "-c", code, library], check=True)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.skipif(not link_stubs.needed(), reason="glibc here is older than 2.34")
def test_glibc_still_has_what_the_stubs_promise():
    library = subprocess.run(
        ["gcc", "-print-file-name=libc.so.6"], capture_output=True, text=True, check=True
    ).stdout.strip()
    text = subprocess.run(
        ["readelf", "-W", "--dyn-syms", library], capture_output=True, text=True, check=True
    ).stdout
    exported = set(re.findall(r" (\w+)@(GLIBC_[\d.]+)", text))
    for versions in link_stubs.MOVED.values():
        for version, names in versions.items():
            assert {(name, version) for name in names} - exported == set()
