"""The conda recipe, rendered for each variant by rattler-build, says what pyproject.toml says."""

from __future__ import annotations

import hashlib
import re

import pytest
from site_recipes import PACKAGING, ROOT, VERSION, fill, project
from sources import requirements_by_name

rattler_build = pytest.importorskip(
    "rattler_build", reason="needs rattler-build (pip install py-rattler-build)"
)
pytestmark = pytest.mark.slow

PROJECT = project()
CONDA = PACKAGING / "conda"
VARIANTS = CONDA / "variants.yaml"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
CUDA = ("None", "12.9", "13.0")


def render(recipe, variants=VARIANTS) -> list[dict]:
    """Return the rendered recipe of each variant, with the variant under ``variant``."""
    platform = rattler_build.PlatformConfig(target_platform="linux-64")
    rendered = rattler_build.Stage0Recipe.from_file(recipe).render(
        rattler_build.VariantConfig.from_file(variants),
        rattler_build.RenderConfig(platform=platform),
    )
    return [one.recipe.to_dict() | {"variant": one.variant} for one in rendered]


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    path = tmp_path_factory.mktemp("sdist") / f"autograd_cy-{VERSION}.tar.gz"
    path.write_bytes(b"an archive, as far as its checksum is concerned")
    return path


@pytest.fixture(scope="module")
def recipes(sdist, tmp_path_factory):
    """The variants of the recipe as a release fills it."""
    folder = tmp_path_factory.mktemp("recipes")
    fill.fill(sdist, folder)
    return render(folder / "conda" / "recipe.yaml")


@pytest.fixture(scope="module")
def recipes_of_mpi(sdist, tmp_path_factory):
    """The variants of the package that adds MPI."""
    folder = tmp_path_factory.mktemp("recipes")
    fill.fill(sdist, folder)
    return render(folder / "conda" / "mpi" / "recipe.yaml", CONDA / "mpi" / "variants.yaml")


def specs(requirements) -> dict[str, str]:
    """Return {name: bound} of conda's requirements such as ``numpy >=1.23``."""
    return {name: bound for name, _, bound in (one.partition(" ") for one in requirements)}


def bounds(requirements) -> dict[str, str]:
    """Return {name: bound} of those requirements that have one."""
    return {name: bound for name, bound in requirements.items() if bound}


def test_each_python_is_built_with_each_cuda(recipes):
    pairs = [
        (one["variant"]["python"].partition(".*")[0], one["variant"]["cuda_compiler_version"])
        for one in recipes
    ]
    assert sorted(pairs) == sorted((python, cuda) for python in PYTHONS for cuda in CUDA)
    classifiers = " ".join(PROJECT["project"]["classifiers"])
    assert tuple(re.findall(r"Python :: (3\.\d+)", classifiers)) == PYTHONS


def test_build_strings_differ_and_name_python_and_cuda(recipes):
    strings = set()
    for one in recipes:
        python = one["variant"]["python"].partition(".*")[0].replace(".", "")
        cuda = one["variant"]["cuda_compiler_version"].partition(".")[0]
        flavour = "cpu" if cuda == "None" else f"cuda{cuda}"
        assert re.fullmatch(rf"{flavour}_py{python}h\w+_\d+", one["build"]["string"])
        strings.add(one["build"]["string"])
    assert len(strings) == len(recipes)


def test_solvers_prefer_builds_for_gpus(recipes):
    numbers = {True: set(), False: set()}
    for one in recipes:
        numbers[one["variant"]["cuda_compiler_version"] == "None"].add(one["build"]["number"])
        assert one["build"]["string"].endswith(f"_{one['build']['number']}")
    assert min(numbers[False]) > max(numbers[True])


def test_requirements_are_those_of_pyproject(recipes):
    build = requirements_by_name(PROJECT["build-system"]["requires"])
    run = requirements_by_name(PROJECT["project"]["dependencies"])
    assert set(build) == {"setuptools", "cython", "numpy", "scipy"}
    for one in recipes:
        host = specs(one["requirements"]["host"])
        assert {"python", "pip", "libgomp"} <= set(host)
        assert bounds({k: v for k, v in host.items() if k != "cuda-version"}) == build
        needed = specs(one["requirements"]["run"])
        assert {name: needed[name] for name in run} == run
        extra = set(needed) - set(run) - {"python"}
        cuda = one["variant"]["cuda_compiler_version"] != "None"
        assert extra == ({"__cuda", "cuda-version", "pycuda"} if cuda else set())
        assert "pycuda" in requirements_by_name(PROJECT["project"]["optional-dependencies"]["cuda"])
    for test in recipes[0]["tests"]:
        for name, bound in specs(test.get("requirements", {}).get("run", [])).items():
            assert name.startswith("gcc_") or bound == build[name]


def test_nvcc_takes_part_exactly_where_the_build_asks_for_it(recipes):
    for one in recipes:
        version = one["variant"]["cuda_compiler_version"]
        compilers = specs(one["requirements"]["build"])
        cuda = version != "None"
        assert one["build"]["script"]["env"] == {"AUTOGRAD_CY_CUDA": "1" if cuda else "0"}
        assert ("gxx_linux-64" in compilers) == cuda
        assert compilers.get("cuda-nvcc_linux-64") == (f"{version}.*" if cuda else None)
        host = specs(one["requirements"]["host"])
        assert host.get("cuda-version") == (f"=={version}" if cuda else None)
        if cuda:
            major = int(version.partition(".")[0])
            needed = specs(one["requirements"]["run"])
            assert needed["cuda-version"] == f">={major},<{major + 1}"


def test_packages_compiled_against_it_keep_to_the_minor_version(recipes):
    for one in recipes:
        (export,) = one["requirements"]["run_exports"]["weak"]
        pin = export["pin_subpackage"]
        assert (pin["name"], pin["upper_bound"]) == ("autograd_cy", "x.x")


def test_source_is_the_one_that_fill_names(recipes, sdist):
    checksum = hashlib.sha256(sdist.read_bytes()).hexdigest()
    for one in recipes:
        assert one["package"] == {"name": "autograd_cy", "version": VERSION}
        assert one["source"] == [{"url": fill.PYPI.format(version=VERSION), "sha256": checksum}]


def test_the_recipe_of_the_tree_has_no_checksum_yet():
    one, *_ = render(CONDA / "recipe.yaml")
    assert one["source"][0]["sha256"] == fill.NO_CHECKSUM


def test_license_and_summary_are_those_of_pyproject(recipes):
    about, project = recipes[0]["about"], PROJECT["project"]
    assert about["license"] == project["license"]
    assert about["license_file"] == project["license-files"]
    assert about["summary"] == project["description"]


def test_the_recipe_tests_what_a_user_does(recipes):
    tests = recipes[0]["tests"]
    (imports,) = (test["python"]["imports"] for test in tests if "python" in test)
    assert "autograd_cy" in imports
    lines = [line for test in tests for line in test.get("script", [])]
    assert {"autograd-cy doctor", "python use.py"} <= set(lines)
    files = [test["files"]["source"] for test in tests if "files" in test]
    assert files == [["tests/build/downstream/"]]
    assert (ROOT / "tests/build/downstream/use.py").is_file()


def test_the_package_of_mpi_adds_mpi4py_with_one_mpi(recipes_of_mpi):
    bound = requirements_by_name(PROJECT["project"]["optional-dependencies"]["mpi"])["mpi4py"]
    assert {one["variant"]["mpi"] for one in recipes_of_mpi} == {"mpich", "openmpi"}
    for one in recipes_of_mpi:
        mpi = one["variant"]["mpi"]
        assert one["package"] == {"name": "autograd_cy-mpi", "version": VERSION}
        assert one["build"]["string"] == f"mpi_{mpi}_{one['build']['number']}"
        assert one["build"]["noarch"] == "generic"
        assert specs(one["requirements"]["run"]) == {
            "autograd_cy": f"=={VERSION}",
            "mpi4py": bound,
            "mpi": f"* {mpi}",
        }
