"""The easyconfigs: what they say, EasyBuild's checks of style and dependencies, one whole build."""

import os
from pathlib import Path

import pytest
from site_recipes import (
    PACKAGING,
    VERSION,
    ZEROS,
    fill,
    lmod,
    lower_bounds,
    numbers,
    project,
    run,
    tool,
)
from sources import QUICK, make_sdist

from autograd_cy._environment import doctor
from ext.build import cuda

FOLDER = PACKAGING / "easybuild"
PATHS = sorted(FOLDER.glob("*.eb"))
WITH_MODULES = [path for path in PATHS if "SciPy-bundle" in path.read_text()]
SYSTEM = {"name": "system", "version": "system"}


def parameters(path):
    """Names and values of an easyconfig: a Python file with a few names of EasyBuild's."""
    names = {"SYSTEM": SYSTEM, "SOURCE_TAR_GZ": "%(name)s-%(version)s.tar.gz", "__builtins__": {}}
    exec(compile(path.read_text(), path, "exec"), names)
    return names


def file_name(settings):
    """The name that EasyBuild's robot looks for."""
    toolchain = settings["toolchain"]
    parts = [settings["name"], settings["version"]]
    if toolchain != SYSTEM:
        parts += [toolchain["name"], toolchain["version"]]
    suffix = settings.get("versionsuffix", "")
    versions = dict(one[:2] for one in settings.get("dependencies", ()))
    return "-".join(parts) + suffix.replace("%(cudaver)s", versions.get("CUDA", "")) + ".eb"


def of_package(settings):
    """The parameters of the package itself; in a bundle, they stand with the last extension."""
    return settings["exts_list"][-1][2] if "exts_list" in settings else settings


def environment(settings):
    """The variables in front of the command that installs."""
    words = of_package(settings)["preinstallopts"].split()
    return dict(word.split("=", 1) for word in words)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_names_versions_and_checksums_are_those_of_the_release(path):
    settings = parameters(path)
    assert path.name == file_name(settings)
    assert settings["version"] == VERSION
    assert of_package(settings)["checksums"] == [ZEROS]
    if "exts_list" in settings:
        assert settings["exts_list"][-1][:2] == ("autograd_cy", VERSION)
    else:
        assert settings["sources"] == ["%(name)s-%(version)s.tar.gz"]
    assert settings["sanity_check_commands"][0] == "autograd-cy doctor"


def test_there_are_a_plain_one_one_for_mpi_one_for_gpus_and_one_of_the_system():
    settings = [parameters(path) for path in PATHS]
    names = [{one[0] for one in each.get("dependencies", ())} for each in settings]
    assert sorted(names, key=len) == [
        set(),
        {"Python", "SciPy-bundle"},
        {"Python", "SciPy-bundle", "mpi4py"},
        {"CUDA", "Python", "Python-bundle-PyPI", "SciPy-bundle", "Mako"},
    ]
    (with_cuda,) = [each["exts_list"] for each in settings if "exts_list" in each]
    assert [one[0] for one in with_cuda] == ["pytools", "pycuda", "autograd_cy"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_the_build_gets_the_variables_that_it_knows(path):
    settings = parameters(path)
    variables = environment(settings)
    known = {f"{doctor.PREFIX}{name}" for name in doctor.VARIABLES}
    assert set(variables) <= known | {"MAX_JOBS"}
    assert variables["MAX_JOBS"] == "%(parallel)s"
    with_cuda = any(one[0] == "CUDA" for one in settings.get("dependencies", ()))
    assert variables["AUTOGRAD_CY_CUDA"] == ("1" if with_cuda else "0")
    if with_cuda:
        archs = ",".join(one.replace(".", "") for one in settings["cuda_compute_capabilities"])
        text = variables["AUTOGRAD_CY_CUDA_ARCHS"].replace("%(cuda_int_comma_sep)s", archs)
        assert cuda.archs((80, 90), {"AUTOGRAD_CY_CUDA_ARCHS": text}) == cuda.archs((80, 90), {})


# --- With EasyBuild -------------------------------------------------------------------------------


def eb(tmp_path, *arguments, check=True, **environment):
    """Run eb with a configuration of its own."""
    command = tool("eb", "pip install easybuild pycodestyle")
    # Rich, if it is installed, would break lines.
    options = ["--modules-tool=Lmod", f"--prefix={tmp_path / 'eb'}", "--output-style=basic"]
    if os.geteuid() == 0:
        options.append("--allow-use-as-root-and-accept-consequences")
    environment["LMOD_CMD"] = lmod() / "libexec" / "lmod"
    return run(command, *options, *arguments, cwd=tmp_path, check=check, **environment)


def robot():
    """The folder of EasyBuild's own easyconfigs."""
    command = Path(tool("eb", "pip install easybuild"))
    return command.parents[1] / "easybuild" / "easyconfigs"


def exts(path):
    """{name: version} of the Python packages in an easyconfig."""
    return {one[0].lower(): one[1] for one in parameters_of_others(path)["exts_list"]}


class Constants(dict):
    """Names of an easyconfig; a constant that only EasyBuild knows is its own name."""

    def __missing__(self, name):
        return name


def parameters_of_others(path):
    """Names and values of one of EasyBuild's own easyconfigs."""
    names = Constants()
    exec(compile(path.read_text(), path, "exec"), {"__builtins__": {}}, names)
    return names


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_style(path, tmp_path):
    pytest.importorskip("pycodestyle", reason="eb --check-style needs it")
    assert "All style checks PASSed" in eb(tmp_path, "--check-style", path).stdout


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_the_robot_resolves_all_dependencies(path, tmp_path):
    text = eb(tmp_path, "--dry-run", "--robot", path).stdout
    settings = parameters(path)
    for name, version, *_ in [
        *settings.get("dependencies", ()),
        *settings.get("builddependencies", ()),
    ]:
        assert f"{name}-{version}" in text
    assert f"(module: {settings['name']}/{path.stem.removeprefix(settings['name'] + '-')})" in text


@pytest.mark.slow
def test_a_dependency_that_nobody_has_is_noticed(tmp_path):
    text = WITH_MODULES[0].read_text()
    copy = tmp_path / WITH_MODULES[0].name
    copy.write_text(text.replace("('Cython', '", "('Cython', '99."))
    done = eb(tmp_path, "--dry-run", "--robot", copy, check=False)
    assert done.returncode
    assert "Cython/99." in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("path", WITH_MODULES, ids=lambda path: path.name)
def test_the_modules_that_it_loads_are_new_enough(path):
    settings = parameters(path)
    versions = {}
    # foss is gfbf with MPI, and takes modules of both.
    toolchain = f"gfbf-{settings['toolchain']['version']}"
    for name, version, *_ in [*settings["dependencies"], *settings["builddependencies"]]:
        if name == "Python":
            (python,) = (robot() / "p" / "Python").glob(f"Python-{version}-GCCcore-*[0-9].eb")
            versions |= exts(python)
            assert numbers(version) >= (3, 10)
        elif name == "SciPy-bundle":
            versions |= exts(robot() / "s" / name / f"{name}-{version}-{toolchain}.eb")
        elif name == "Python-bundle-PyPI":
            continue
        elif name == "mpi4py":
            low = lower_bounds(project()["project"]["optional-dependencies"]["mpi"])[name]
            assert numbers(version) >= numbers(low)
        else:
            versions[name.lower()] = version
    for name, low in lower_bounds(project()["build-system"]["requires"]).items():
        assert numbers(versions[name]) >= numbers(low), name


TRAINING = PACKAGING / "reframe" / "src" / "train.py"


@pytest.mark.release
def test_a_build_from_an_sdist_gives_a_module_that_trains(tmp_path):
    """A quick build (level 0, one instruction set): the recipe is tested, not the compiler."""
    sdist = make_sdist(tmp_path / "dist")
    copies = fill.fill(sdist, tmp_path / "recipes")
    (recipe,) = [path for path in copies if path.name == f"autograd_cy-{VERSION}.eb"]
    eb(tmp_path, f"--sourcepath={sdist.parent}", recipe, **QUICK)
    script = f"""
        source {lmod()}/init/bash
        set -e
        module use {tmp_path}/eb/modules/all
        module load autograd_cy/{VERSION}
        autograd-cy doctor
        autograd-cy info
        python {TRAINING}
    """
    text = run("bash", "-c", script, cwd=tmp_path).stdout
    assert f"autograd_cy {VERSION}" in text
    assert str(tmp_path / "eb" / "software") in text
    assert float(text.partition("test accuracy: ")[2].split()[0]) > 0.95
