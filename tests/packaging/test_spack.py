"""The recipe of Spack, executed by a stand-in: it agrees with pyproject.toml and the build."""

import importlib
import re
import subprocess
import sys

import pytest
from site_recipes import PACKAGING, VERSION, ZEROS, fill, lower_bounds, project
from stand_in_for_spack import EnvironmentModifications, Spec, read

from autograd_cy._environment import doctor
from ext.build import cuda, openmp

REPOSITORY = PACKAGING / "spack" / "spack_repo" / "autograd_cy"
PATH = REPOSITORY / "packages" / "py_autograd_cy" / "package.py"


def python(*arguments):
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.PIPE)


RECIPE, RECORD = read(PATH, make_jobs=3, python=python)


def dependencies(condition=""):
    """{name: (versions, types)} of what is needed under one condition."""
    parts = ((spec.partition("@"), when, types) for spec, when, types in RECORD.dependencies)
    return {
        name: (versions, types) for (name, _, versions), when, types in parts if when == condition
    }


def environment(spec):
    env = EnvironmentModifications()
    RECIPE(spec).setup_build_environment(env)
    return env.variables


def test_folders_and_class_have_the_names_that_spack_looks_for():
    text = (REPOSITORY / "repo.yaml").read_text()
    assert re.search(r"^  namespace: (\w+)$", text, re.M)[1] == REPOSITORY.name
    assert re.search(r"^  api: v2\.\d$", text, re.M)
    assert REPOSITORY.parent.name == "spack_repo"  # Spack looks for this name in the path
    words = PATH.parent.name.split("_")
    assert RECIPE.__name__ == "".join(word.capitalize() for word in words)


def test_version_and_address_are_those_of_the_release():
    assert RECORD.versions == {VERSION: ZEROS}
    assert RECIPE.url() == fill.PYPI.format(version=VERSION)


def test_description_license_and_maintainers_are_there():
    assert RECORD.licenses == [project()["project"]["license"]]
    assert RECORD.maintainers
    assert RECIPE.__doc__
    assert all(one["description"] for name, one in RECORD.variants.items() if name != "cuda_arch")


def test_dependencies_are_those_of_the_project():
    build = lower_bounds(project()["build-system"]["requires"])
    running = lower_bounds(project()["project"]["dependencies"])
    needed = dependencies()
    assert needed.pop("c") == ("", ("build",))
    python_versions, types = needed.pop("python")
    assert {"build", "run"} <= set(types)
    low, _, high = python_versions.partition(":")
    assert low == lower_bounds(["python" + project()["project"]["requires-python"]])["python"]
    named = " ".join(project()["project"]["classifiers"])
    assert high == max(re.findall(r"Python :: (3\.\d+)", named), key=lambda one: int(one[2:]))
    assert needed == {
        f"py-{name}": (f"{low}:", ("build", "run") if name in running else ("build",))
        for name, low in build.items()
    }


def test_gpus_need_nvcc_and_pycuda():
    needed = dependencies("+cuda")
    oldest = ".".join(map(str, cuda.OLDEST))
    assert RECORD.variants["cuda"]["default"] is False
    assert (f"cuda@{oldest}:", "+cuda") in [one[:2] for one in RECORD.dependencies]
    assert needed["py-pycuda"] == ("", ("run",))
    assert needed["cxx"] == ("", ("build",))


def test_the_variant_mpi_needs_mpi4py_and_a_launcher():
    assert RECORD.variants["mpi"]["default"] is False
    bound = lower_bounds(project()["project"]["optional-dependencies"]["mpi"])["mpi4py"]
    assert dependencies("+mpi") == {"py-mpi4py": (f"{bound}:", ("run",)), "mpi": ("", ("run",))}
    assert environment(Spec(frozenset({"openmp", "mpi"}))) == environment(Spec())


def test_architectures_that_the_build_refuses_conflict():
    refused = {
        spec.partition("=")[2] for spec, when, msg in RECORD.conflicts if when == "+cuda" and msg
    }
    for arch in RECIPE.cuda_arch_values:
        try:
            cuda.archs([int(arch)] if arch.isdigit() else [], {"AUTOGRAD_CY_CUDA_ARCHS": arch})
        except cuda.FlagRefused:
            assert arch in refused
        else:
            assert arch not in refused


def test_only_linux_is_offered():
    assert {"platform=darwin", "platform=windows"} <= {spec for spec, _, _ in RECORD.conflicts}


@pytest.mark.parametrize("threads", [True, False])
def test_the_variant_openmp_switches_threads(threads):
    assert RECORD.variants["openmp"]["default"] is True
    variables = environment(Spec(on=frozenset({"openmp"} if threads else ())))
    assert variables["MAX_JOBS"] == "3"
    assert variables["AUTOGRAD_CY_CUDA"] == "0"
    assert ("AUTOGRAD_CY_OPENMP" in variables) != threads
    if not threads:
        assert openmp.find(None, variables) == openmp.OpenMP()


@pytest.mark.parametrize("archs", [("none",), ("80", "90"), ("100",)])
def test_the_variant_cuda_gives_the_build_nvcc_and_architectures(archs):
    spec = Spec(on=frozenset({"openmp", "cuda"}), cuda_arch=archs, prefixes={"cuda": "/cuda"})
    variables = environment(spec)
    assert variables["AUTOGRAD_CY_CUDA"] == "1"
    assert variables["CUDA_HOME"] == "/cuda"
    chosen = cuda.archs((80, 90, 100), variables)
    assert chosen.machines == ((80, 90) if archs == ("none",) else tuple(map(int, archs)))
    assert chosen.ptx


def test_all_variables_are_known_to_the_build():
    specs = (Spec(on=frozenset()), Spec(frozenset({"cuda"}), ("80",), {"cuda": "/cuda"}))
    names = {name for spec in specs for name in environment(spec)}
    known = {f"{doctor.PREFIX}{name}" for name in doctor.VARIABLES}
    assert names <= known | {"MAX_JOBS", "CUDA_HOME"}


def test_the_modules_that_an_installation_imports_are_there():
    assert "autograd_cy" in RECIPE.import_modules
    for name in RECIPE.import_modules:
        importlib.import_module(name)


@pytest.mark.parametrize("name", [name for name in dir(RECIPE) if name.startswith("test_")])
def test_what_spack_test_runs_passes_here(name):
    method = getattr(RECIPE(Spec()), name)
    assert method.__doc__  # Spack prints it
    method()


def test_a_filled_recipe_has_the_checksum_of_the_sdist(tmp_path):
    sdist = tmp_path / f"autograd_cy-{VERSION}.tar.gz"
    sdist.write_bytes(b"any")
    fill.fill(sdist, tmp_path / "filled")
    _, record = read(tmp_path / "filled" / PATH.relative_to(PACKAGING))
    assert record.versions == {VERSION: fill.hashlib.sha256(b"any").hexdigest()}


def test_a_recipe_that_is_filled_with_an_address_has_it_instead_of_that_of_pypi(tmp_path):
    sdist = tmp_path / f"autograd_cy-{VERSION}.tar.gz"
    sdist.write_bytes(b"any")
    fill.fill(sdist, tmp_path / "filled", sdist.as_uri())
    recipe, _ = read(tmp_path / "filled" / PATH.relative_to(PACKAGING))
    assert recipe.url == sdist.as_uri()
    assert not hasattr(recipe, "pypi")
