"""An import that cannot succeed says why in one message: half a copy, another version ..."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import programs
import pytest
from building import ROOT

from autograd_cy._environment import loading

PACKAGE = Path(importlib.util.find_spec("autograd_cy").origin).parent
SUFFIX = importlib.util.find_spec("autograd_cy._C.info").origin.rpartition("/info")[2]
IMPORT = "import autograd_cy; print(autograd_cy.ones(2).sum().item())"


# What an import reads before the compiled modules.
ENVIRONMENT = [str(path.relative_to(PACKAGE)) for path in (PACKAGE / "_environment").glob("*.py")]
CHANGED: list[Path] = []  # files of the copy, by one test


@pytest.fixture(scope="module")
def links(tmp_path_factory):
    """A copy of the installed package, made of links."""
    target = tmp_path_factory.mktemp("site") / "autograd_cy"
    ignored = shutil.ignore_patterns("__pycache__", "*.pyi", "*.fatbin")
    shutil.copytree(PACKAGE, target, copy_function=os.symlink, ignore=ignored)
    return target


@pytest.fixture
def copy(links):
    """The copy, which is put right after a test."""
    yield links
    for path in CHANGED:
        path.unlink(missing_ok=True)
        path.symlink_to(PACKAGE / path.relative_to(links))
    CHANGED.clear()


def remove(path):
    CHANGED.append(path)
    path.unlink()


def replace(path, content):
    """Put a file in place of the link; `content` is bytes, text or a function of the text."""
    before = path.read_bytes()
    remove(path)
    if callable(content):
        content = content(before.decode())
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def run_import(copy):
    folder = copy.parent
    return programs.run("-c", IMPORT, cwd=folder, env=os.environ | {"PYTHONPATH": str(folder)})


def message_of_import(copy):
    """The message with which the import of a copy ends, and nothing but it in the traceback."""
    run = run_import(copy)
    assert run.returncode == 1, run.stdout + run.stderr
    assert "direct cause" not in run.stderr
    assert "During handling" not in run.stderr
    lines = run.stderr.splitlines()
    assert len(lines) < 25, run.stderr
    start = next(i for i, line in enumerate(lines) if line.startswith("ImportError: autograd_cy: "))
    return "\n".join(lines[start:])


def test_the_copy_works(copy):
    run = run_import(copy)
    assert run.stdout == "2.0\n", run.stderr


def test_modules_of_another_version(copy):
    replace(
        copy / "_version.py", lambda text: re.sub('__version__ = ".*"', '__version__ = "9.9"', text)
    )
    said = message_of_import(copy)
    assert "the Python files of 9.9" in said
    assert "pip install -e ." in said


def test_modules_of_a_version_that_did_not_say_so(copy):
    replace(copy / "_C" / "_build_info.py", lambda text: re.sub("'version': '.*',", "", text))
    assert "are of an older version" in message_of_import(copy)


def test_modules_of_another_python(copy):
    replace(copy / "_C" / f"info{SUFFIX}", b"")
    other = copy / "_C" / "info.cpython-39-x86_64-linux-gnu.so"
    (copy / "_C" / f"info{SUFFIX}").rename(other)
    said = message_of_import(copy)
    other.unlink()
    assert "the compiled modules are missing" in said
    assert "modules for another Python: cpython-39-x86_64-linux-gnu.so" in said


def test_no_record_of_the_build(copy):
    remove(copy / "_C" / "_build_info.py")
    assert "are of a build that did not end" in message_of_import(copy)


@pytest.mark.parametrize("content", [b"", b"\x7fELF\x02\x01\x01", b"\0" * 8192])
@pytest.mark.parametrize("name", ["tensor", "cpu", "engine"])
def test_half_a_module(copy, name, content):
    replace(copy / "_C" / f"{name}{SUFFIX}", content)
    said = message_of_import(copy)
    assert f"{name}{SUFFIX}" in said
    assert "half a copy" in said
    assert "pip install --force-reinstall" in said


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("from autograd_cy._C import (\n    tensor", "namespace.py: '(' was never closed"),
        (b"\0" * 512, "cannot contain null bytes"),
    ],
)
def test_half_a_python_file(copy, content, part):
    replace(copy / "_tensors" / "namespace.py", content)
    said = message_of_import(copy)
    assert part in said
    assert "half a copy" in said
    assert "pip install --force-reinstall" in said


def test_an_archive(tmp_path):
    for name in ("__init__.py", "_version.py", "_C/__init__.py", *ENVIRONMENT):
        (tmp_path / "autograd_cy" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PACKAGE / name, tmp_path / "autograd_cy" / name)
    archive = shutil.make_archive(str(tmp_path / "a"), "zip", tmp_path, "autograd_cy")
    (tmp_path / "empty").mkdir()
    env = os.environ | {"PYTHONPATH": archive}
    run = programs.run("-c", IMPORT, cwd=tmp_path / "empty", env=env)
    assert run.returncode == 1
    assert "is in an archive, and compiled modules load from files only" in run.stderr
    assert run.stderr.endswith(
        "Install the wheel (`pip install FILE.whl`), or unpack the archive.\n"
    )


def test_a_module_too_few(copy):
    remove(copy / "_C" / f"engine{SUFFIX}")
    assert "are not of one build" in message_of_import(copy)


def test_python_files_that_expect_more_of_the_modules(copy):
    replace(copy / "_tensors" / "namespace.py", "from autograd_cy._C.tensor import no_such_name\n")
    said = message_of_import(copy)
    assert "cannot import name 'no_such_name'" in said
    assert "are not of one build" in said


def test_errors_that_are_not_known_stay(copy):
    replace(copy / "_tensors" / "namespace.py", "raise ValueError('of a program')\n")
    run = run_import(copy)
    assert run.stderr.endswith("ValueError: of a program\n")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('__version__ = "1.22.4"', "NumPy is 1.22.4, and 1.23 or later is needed"),
        ('__version__ = "0.9.1rc1"', "NumPy is 0.9.1rc1, and 1.23"),
        ("raise ModuleNotFoundError(name='numpy')", "NumPy is not installed"),
    ],
)
def test_an_old_numpy(copy, tmp_path, text, part):
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy" / "__init__.py").write_text(text)
    env = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{copy.parent}"}
    run = subprocess.run(
        [sys.executable, "-c", IMPORT], cwd=tmp_path, env=env, text=True, capture_output=True,
        check=False,
    )  # fmt: skip
    assert run.returncode == 1
    assert f"ImportError: autograd_cy: {part}" in run.stderr.splitlines()[-1]
    assert 'pip install "numpy>=1.23"' in run.stderr
    assert "direct cause" not in run.stderr


def test_the_oldest_numpy_is_that_of_the_metadata():
    assert f'"numpy>={loading.OLDEST_NUMPY}"' in (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("libgomp.so.1: cannot open shared object file: No such file or directory", "libgomp1"),
        ("libomp.so.5: cannot open shared object file: No such file or directory", "module load"),
        ("libgomp-661b0aca.so.1: cannot open shared object file: No such file", "part of the inst"),
        ("/x/tensor.so: cannot open shared object file: Permission denied", "chmod -R a+rX"),
        ("cannot import name 'copying' from 'autograd_cy._C' (unknown location)", "may not read"),
        ("libsvml.so: cannot open shared object file: No such file or directory", "same modules"),
        ("/lib/libc.so.6: version `GLIBC_2.34' not found (required by /x.so)", "oldest system"),
        ("/x/libgomp.so: cannot allocate memory in static TLS block", "GLIBC_TUNABLES"),
        ("/x/kern.so: undefined symbol: half_of_a_name", "half a copy"),
        ("/x.so: undefined symbol: __kmpc_dispatch_deinit, version VERSION", "older than the"),
        ("/x/libgomp.so.1: version `GOMP_5.0' not found (required by /x.so)", "older than the"),
        (
            "numpy.dtype size changed, may indicate binary incompatibility. Expected 96",
            "does not fit",
        ),
        ("module was compiled against NumPy C-API version 0x14 but", "does not fit"),
        ("autograd_cy._C.tensor.Tensor size changed, may indicate binary", "not of one build"),
        ("C function autograd_cy._C.kern.fill has wrong signature (expected", "not of one build"),
        ("No module named 'autograd_cy._C.absent'", "not of one build"),
        ("module 'autograd_cy._environment.threads' has no attribute 'f'", "not of one build"),
    ],
)
def test_reasons(text, part):
    said = loading.advice(text)
    assert said.startswith(f"autograd_cy: {text}\n")
    assert part in said


@pytest.mark.parametrize(
    "text",
    [
        "No module named 'numpy'",
        "autograd_cy: the compiled modules are missing from /x",
        "autograd_cy._C.kern_avx2: this build of the module is for processors with avx2, which",
        "AUTOGRAD_CY_CPU=avx9: unknown instruction set.",
        "partially initialized module 'autograd_cy.x' has no attribute 'y' (a circular import)",
    ],
)
def test_what_says_enough_by_itself(text):
    assert loading.advice(text) == ""
