"""The commands of the page for machines without network, word for word, in a network namespace."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from site_recipes import PACKAGING, VERSION
from sources import PROGRAM, QUICK, build_environment, build_requirements, make_sdist

PAGE = (PACKAGING / "containers" / "README.md").read_text()


def namespace() -> list[str] | None:
    """Return the command that runs another one without network, or None if this is not allowed."""
    for options in (["--net"], ["--user", "--map-root-user", "--net"]):
        command = ["unshare", *options]
        try:
            run = subprocess.run([*command, "true"], capture_output=True, check=False)
        except OSError:
            return None
        if not run.returncode:
            return command
    return None


ALONE = namespace()
needs_namespace = pytest.mark.skipif(ALONE is None, reason="needs namespaces of networks")


def block(name: str) -> str:
    """Return the commands of the page's code block that follows a mark."""
    return re.search(rf"<!-- ci:{name} -->\n```bash\n(.*?)```", PAGE, re.S)[1]


class Site:
    """A folder with an environment of Python and the sdist of this tree."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.sdist = make_sdist(folder / "dist")
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)

    def run(self, text: str, *, network: bool, check: bool = True) -> str:
        """Run commands in the folder; without network, pip's settings of this machine are off."""
        environment = build_environment(pip=network, AUTOGRAD_CY_CUDA=0, **QUICK)
        if not network:
            environment["PIP_CONFIG_FILE"] = "/dev/null"
        environment["PATH"] = f"{self.folder}/venv/bin:{environment['PATH']}"
        command = ["bash", "-euo", "pipefail", "-c", text]
        run = subprocess.run(
            command if network else [*ALONE, *command],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if check and run.returncode:
            pytest.fail(f"{text}ended with {run.returncode}:\n{run.stdout[-6000:]}")
        return run.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Site:
    return Site(tmp_path_factory.mktemp("site"))


@pytest.mark.slow
def test_the_page_downloads_what_a_build_needs():
    (line, *_) = block("folder").splitlines()
    assert re.findall(r'"(.+?)"', line) == build_requirements()


@pytest.mark.release
@needs_namespace
def test_a_namespace_has_no_network(site):
    said = site.run("pip download --retries 0 --no-deps six", network=False, check=False)
    assert "No matching distribution found for six" in said


@pytest.mark.release
@needs_namespace
def test_an_installation_without_network_says_what_is_missing(site):
    said = site.run("pip install --retries 0 dist/*.tar.gz", network=False, check=False)
    message = re.search(r"`(No matching distribution .*?)`", PAGE)[1]
    assert message in said
    assert not list(site.folder.glob("venv/lib/*/site-packages/autograd_cy"))


@pytest.mark.release
@needs_namespace
def test_a_folder_of_wheels_is_enough(site):
    site.run(block("folder"), network=True)
    site.run(block("offline"), network=False)
    (site.folder / "program.py").write_text(PROGRAM)
    said = site.run(
        "python program.py && autograd-cy --version && autograd-cy doctor", network=False
    )
    assert VERSION in said


@pytest.mark.release
@needs_namespace
def test_a_prepared_environment_is_enough(site):
    # After the test above, NumPy and SciPy are there. What compiles is looked for before it runs.
    command = re.search(r"^(pip install --no-build-isolation .*) \.$", PAGE, re.M)[1]
    dry = f"{command} --dry-run --force-reinstall dist/*.tar.gz"
    said = site.run(dry, network=False, check=False)
    assert "Some build dependencies for" in said
    assert "setuptools>=77" in said
    needed = " ".join(f"'{one}'" for one in build_requirements())
    site.run(f"pip install --no-index --find-links wheels {needed}", network=False)
    said = site.run(dry, network=False)
    assert f"Would install autograd_cy-{VERSION}" in said
