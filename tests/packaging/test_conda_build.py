"""The conda recipe builds a package for this Python, and rattler-build runs the recipe's tests.

No channel is needed: `build_locally.py` makes one from this Python, gcc and wheels of PyPI.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from site_recipes import PACKAGING, VERSION
from sources import build_environment, make_sdist

if importlib.util.find_spec("rattler_build") is None:
    pytest.skip("needs rattler-build (pip install py-rattler-build)", allow_module_level=True)
import rattler_build

pytestmark = [
    pytest.mark.release,
    pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc"),
    pytest.mark.skipif(
        sysconfig.get_config_var("installed_base") == "/usr",
        reason="needs a Python that can be moved, not that of a distribution",
    ),
]


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The package that was built and whose tests passed."""
    folder = tmp_path_factory.mktemp("conda")
    sdist = make_sdist(folder / "dist")
    command = [sys.executable, PACKAGING / "conda" / "build_locally.py", "--quick"]
    command += ["--sdist", sdist, "--into", folder / "channel"]
    run = subprocess.run(
        command,
        env=build_environment(pip=True),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if run.returncode:
        pytest.fail(run.stdout[-8000:])
    return rattler_build.Package.from_file(Path(run.stdout.splitlines()[-1]))


def test_the_package_has_the_version_and_flavour(package):
    python = f"py{sys.version_info.major}{sys.version_info.minor}"
    assert package.version == VERSION
    assert package.build_string.startswith(f"cpu_{python}h")


def test_dependencies_come_from_the_recipe_and_from_what_it_was_built_with(package):
    names = {one.partition(" ")[0] for one in package.depends}
    recipe, exported = {"python", "numpy", "scipy"}, {"python_abi", "_openmp_mutex", "libgcc"}
    assert names == recipe | exported | {"__glibc"}
    # By run_exports of NumPy: what is compiled against NumPy 2 needs less than NumPy 3.
    assert any(one.startswith("numpy ") and "<3" in one for one in package.depends)


def test_the_package_has_what_others_compile_against(package):
    files = {str(path) for path in package.files}
    assert any(path.endswith("site-packages/autograd_cy/_C/tensor.pxd") for path in files)
    assert not [path for path in files if path.endswith((".c", ".fatbin"))]
