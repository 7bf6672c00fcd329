"""sdist -> wheel -> installed copy -> a package of someone else that compiles against it."""

import json
import re
import shutil
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import pytest
from building import ROOT, distributions, run_python, write

from ext.build import extensions

pytestmark = pytest.mark.slow

MEGABYTE = 1 << 20


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """Folder with the sdist and the wheel that was built from it."""
    return distributions(tmp_path_factory)


@pytest.fixture(scope="module")
def wheel(dist):
    (path,) = dist.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    """The wheel, installed alone in a folder."""
    folder = tmp_path_factory.mktemp("site")
    options = ("--quiet", "--no-deps", "--no-index", "--target", folder)
    run_python("-m", "pip", "install", *options, wheel, cwd=folder)
    return folder


def test_sdist_holds_all_that_a_build_needs(dist):
    (path,) = dist.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    expected = {"setup.py", "pyproject.toml", "LICENSE", "README.md", "ext/build/builder.py"}
    for folder in ("autograd_cy", "ext", "tests"):
        found = (path for path in (ROOT / folder).rglob("*") if path.is_file())
        expected |= {
            str(path.relative_to(ROOT))
            for path in found
            if path.suffix in (".py", ".pyx", ".pxi", ".h", ".cuh")
            and "__pycache__" not in path.parts
        }  # fmt: skip
    patterns = re.findall(r"^exclude (.*)$", (ROOT / "MANIFEST.in").read_text(), re.M)
    written = {n for n in names | expected if any(PurePosixPath(n).match(p) for p in patterns)}
    assert "autograd_cy/_C/_build_info.py" in patterns
    assert expected - names - written == set()
    assert written & names == set()
    assert not [name for name in names if name.endswith((".so", ".o", ".pyc", "_build_info.py"))]


def test_wheel_holds_what_runs_and_nothing_else(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    package = {name for name in names if name.startswith("autograd_cy/")}
    rest = {name for name in names - package if ".dist-info/" not in name}
    assert rest == set()
    endings = {name.rpartition(".")[2] for name in package}
    assert endings <= {"py", "pyi", "pxd", "typed", "so"}
    assert {"autograd_cy/py.typed", "autograd_cy/_C/_build_info.py"} <= package
    for path in extensions.PACKAGE_DIR.glob("*.pxd"):
        assert f"autograd_cy/_C/{path.name}" in package
    modules = {name.split("/")[-1].split(".")[0] for name in package if name.endswith(".so")}
    listed = {m.name for m in extensions.MODULES if m.kind != "simd"}
    listed |= {f"{m.name}_base" for m in extensions.MODULES if m.kind == "simd"}
    assert listed <= modules


def test_wheel_is_small_and_stripped(wheel):
    assert wheel.stat().st_size < 15 * MEGABYTE  # without kernels of GPUs
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(".so"):
                content = archive.read(name)
                assert content[:4] != b"\x7fELF" or b".debug_info" not in content, name
                assert str(ROOT).encode() not in content, name


def test_installed_copy_works_outside_of_the_tree(site, tmp_path):
    write(tmp_path / "smoke.py", SMOKE)
    run_python("smoke.py", cwd=tmp_path, PYTHONPATH=site)
    text = run_python("-m", "autograd_cy", "info", "--json", cwd=tmp_path, PYTHONPATH=site).stdout
    facts = json.loads(text)
    assert facts["versions"]["location"] == str(site / "autograd_cy")
    assert [name for name, section in facts.items() if "error" in section] == []
    run_python("-m", "autograd_cy", "doctor", cwd=tmp_path, PYTHONPATH=site)


SMOKE = """
import sys
import autograd_cy as torch
heavy = {"scipy", "mpi4py", "pycuda", "matplotlib"} & set(sys.modules)
assert not heavy, heavy
if hasattr(torch, "tensor"):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
"""

STUBS = (
    "autograd_cy/__init__.pyi",
    "autograd_cy/_tensors/namespace.pyi",
    "autograd_cy/_C/tensor.pyi",
)
TYPED = """
import autograd_cy as ag

x = ag.tensor([1.0, 2.0], requires_grad=True)
y: ag.Tensor = (x * 2 + ag.exp(x)).sum()
y.backward()
values, indices = x.max(0)
size: int = ag.add(values, 1, alpha=2).view(1, 1).numel()
step = ag.zeros_like(x).to(ag.float64).grad_fn
"""
MISTYPED = """
import autograd_cy as ag

ag.exp("one")
ag.ones(3).no_such_method()
ag.no_such_function
"""


def test_stubs_ship_in_the_wheel(wheel):
    assert set(STUBS) <= set(zipfile.ZipFile(wheel).namelist())


def test_a_type_checker_reads_the_installed_stubs(site, tmp_path):
    pytest.importorskip("mypy", reason="needs mypy")
    write(tmp_path / "typed.py", TYPED)
    write(tmp_path / "mistyped.py", MISTYPED)
    options = ("-m", "mypy", "--follow-imports=silent", "--no-error-summary")
    run_python(*options, "typed.py", cwd=tmp_path, MYPYPATH=site)
    run = run_python(*options, "mistyped.py", cwd=tmp_path, check=False, MYPYPATH=site)
    assert [line.split(":")[1] for line in run.stdout.splitlines()] == ["4", "5", "6"], run.stdout


DOWNSTREAM = Path(__file__).parent / "downstream"


def test_another_package_cimports_the_installed_one(site, tmp_path):
    folder = tmp_path / "downstream"
    shutil.copytree(DOWNSTREAM, folder)
    quiet = ("-W", "ignore", "setup.py", "-q", "build_ext", "--inplace")
    run_python(*quiet, cwd=folder, PYTHONPATH=site, CFLAGS="-O0")
    run_python("use.py", cwd=folder, PYTHONPATH=site)
