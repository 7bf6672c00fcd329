"""The module file, loaded by Lmod: paths of one Python, the module of Python, errors."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from site_recipes import PACKAGING, ROOT, VERSION, lmod, run

pytestmark = pytest.mark.slow

THIS = f"{sys.version_info[0]}.{sys.version_info[1]}"
OTHER = "3.10" if THIS != "3.10" else "3.11"
PYTHON_MODULE = """
prepend_path("PATH", "{folder}")
"""


def install(prefix, version, place="lib/python{}/site-packages"):
    """Put the tree's package into a prefix as pip would, by links."""
    folder = prefix / place.format(version)
    folder.mkdir(parents=True)
    (folder / "autograd_cy").symlink_to(ROOT / "autograd_cy")
    command = prefix / ("local/bin" if place.startswith("local") else "bin") / "autograd-cy"
    command.parent.mkdir(parents=True, exist_ok=True)
    command.write_text('#!/bin/sh\nexec python3 -m autograd_cy "$@"\n')
    command.chmod(0o755)
    return folder


@pytest.fixture
def site(tmp_path):
    """A folder with a module of Python, our module file, and nothing in its prefix."""
    modules = tmp_path / "modulefiles"
    shutil.copytree(PACKAGING / "modules", modules, ignore=shutil.ignore_patterns("*.md"))
    path = modules / "autograd_cy" / f"{VERSION}.lua"
    usual = f'local prefix = "/opt/autograd_cy/{VERSION}"'
    text = path.read_text()
    assert usual in text
    path.write_text(text.replace(usual, f'local prefix = "{tmp_path / "prefix"}"'))
    (modules / "python").mkdir()
    for version in (THIS, OTHER):
        text = PYTHON_MODULE.format(folder=Path(sys.executable).parent)
        (modules / "python" / f"{version}.lua").write_text(text)
    return tmp_path


def shell(site, script, check=True):
    """Run commands in bash with Lmod, which fails at the first error."""
    start = f"source {lmod()}/init/bash; module use {site}/modulefiles; set -e\n"
    return run("bash", "-c", start + script, cwd=site, check=check, PYTHONDONTWRITEBYTECODE=1)


def test_a_loaded_module_runs_the_installed_package(site):
    folder = install(site / "prefix", THIS)
    script = f"""
        module load python/{THIS} autograd_cy
        echo "PYTHONPATH=$PYTHONPATH"
        command -v autograd-cy
        autograd-cy doctor
        python -c 'import autograd_cy; print(autograd_cy.__file__)'
    """
    lines = shell(site, script).stdout.splitlines()
    assert f"PYTHONPATH={folder}" in lines
    assert str(site / "prefix" / "bin" / "autograd-cy") in lines
    assert str(folder / "autograd_cy" / "__init__.py") in lines


def test_it_loads_python_itself_and_takes_all_back(site):
    install(site / "prefix", THIS)
    script = """
        module load autograd_cy
        module -t list 2>&1
        module unload autograd_cy
        case ":$PATH:" in *:$HOME/prefix/*) exit 3;; esac
        test -z "${PYTHONPATH:-}"
        module -t list 2>&1 | grep -c python || true
    """
    lines = shell(site, script).stdout.split()
    assert f"autograd_cy/{VERSION}" in lines
    assert any(line.startswith("python/") for line in lines)
    assert lines[-1] == "0"


@pytest.mark.parametrize("version", [THIS, OTHER])
def test_of_several_pythons_it_takes_the_loaded_one(site, version):
    folders = {one: install(site / "prefix", one) for one in (THIS, OTHER)}
    script = f"""
        module load python/{version} autograd_cy
        echo "PYTHONPATH=$PYTHONPATH"
        module unload autograd_cy
        test -z "${{PYTHONPATH:-}}"
    """
    assert f"PYTHONPATH={folders[version]}" in shell(site, script).stdout.splitlines()


def test_of_several_pythons_none_is_guessed(site):
    for version in (THIS, OTHER):
        install(site / "prefix", version)
    (site / "modulefiles" / "python" / "3.99.lua").touch()
    done = shell(site, "module load python/3.99 autograd_cy", check=False)
    assert done.returncode
    assert "Load a module of one of them first" in " ".join(done.stdout.split())


def test_folders_of_debians_pip_are_used(site):
    folder = install(site / "prefix", THIS, "local/lib/python{}/dist-packages")
    script = f"""
        module load python/{THIS} autograd_cy
        echo "PYTHONPATH=$PYTHONPATH"
        command -v autograd-cy
    """
    lines = shell(site, script).stdout.splitlines()
    assert f"PYTHONPATH={folder}" in lines
    assert str(site / "prefix" / "local" / "bin" / "autograd-cy") in lines


def test_an_empty_prefix_is_one_error_with_the_way_out(site):
    done = shell(site, "module load autograd_cy", check=False)
    assert done.returncode
    assert f"pip install --prefix={site / 'prefix'} autograd_cy" in " ".join(done.stdout.split())


def test_help_and_whatis_need_no_installation(site):
    text = shell(site, "module help autograd_cy 2>&1; module whatis autograd_cy 2>&1").stdout
    assert "doctor" in text
    assert f"Version: {VERSION}" in text
    assert os.fspath(site) not in text


def test_another_version_takes_its_place(site):
    install(site / "prefix", THIS)
    folder = site / "modulefiles" / "autograd_cy"
    shutil.copy(folder / f"{VERSION}.lua", folder / "99.0.0.lua")
    script = f"""
        module load autograd_cy/{VERSION} 2>&1
        module load autograd_cy/99.0.0 >$HOME/messages 2>&1
        module -t list 2>&1
    """
    lines = shell(site, script).stdout.split()
    assert "autograd_cy/99.0.0" in lines
    assert f"autograd_cy/{VERSION}" not in lines
