"""The commands of the Dockerfile and of the Apptainer definition run in a clean Debian root.

A container engine does more: it fetches the image and makes layers. These tests read both files as
an engine reads them, and run their commands word for word in roots that `debootstrap` made.
"""

from __future__ import annotations

import json
import re
import shlex
import string
from pathlib import Path

import pytest
from clean_root import PATH, Root, Roots, reason_to_skip
from site_recipes import PACKAGING, VERSION, run
from sources import PROGRAM, QUICK, build_requirements, make_sdist

CONTAINERS = PACKAGING / "containers"
DOCKERFILE = (CONTAINERS / "Dockerfile").read_text()
DEFINITION = (CONTAINERS / "autograd_cy.def").read_text()


@pytest.fixture(scope="module")
def roots(tmp_path_factory) -> Roots:
    if reason := reason_to_skip():
        pytest.skip(reason)
    return Roots(tmp_path_factory.mktemp("roots"), build_requirements())


@pytest.fixture(scope="module")
def context(tmp_path_factory) -> Path:
    """The folder in which a user runs docker or apptainer: it has dist/ with the sdist."""
    folder = tmp_path_factory.mktemp("context")
    make_sdist(folder / "dist")
    return folder


def instructions(text: str) -> list[tuple[str, str]]:
    """Return the instructions of a Dockerfile, each with its argument in one line."""
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    joined = re.sub(r"\\\n\s*", "", lines)
    return [tuple(line.split(maxsplit=1)) for line in joined.splitlines() if line.strip()]


class Docker:
    """Runs the instructions of a Dockerfile in clean roots."""

    def __init__(self, roots: Roots, context: Path, chosen: dict | None = None):
        self.roots, self.context = roots, context
        self.stages: dict[str, Root] = {}
        self.global_arguments: dict[str, str] = {}
        self.root: Root | None = None
        self.command: list[str] = []
        self.chosen = chosen or {}
        self.start({})

    def start(self, environment: dict) -> None:
        """Begin a stage."""
        self.environment, self.user, self.folder = environment, "root", "/"
        self.arguments: dict[str, str] = {}

    def expanded(self, text: str) -> str:
        """Put values in place of variables."""
        values = {"PATH": PATH} | self.global_arguments | self.arguments | self.environment
        return string.Template(text).substitute(values)

    def build(self, text: str) -> Root:
        """Run a whole file and return the root of its last stage."""
        for name, argument in instructions(text):
            getattr(self, f"do_{name.lower()}")(argument)
        return self.root

    def do_from(self, argument):
        image, _, name = self.expanded(argument).partition(" AS ")
        self.start({})
        self.root = self.roots.new(image)
        self.stages[name] = self.root

    def do_arg(self, argument):
        name, equals, value = argument.partition("=")
        if self.root is None:
            self.global_arguments[name] = value
        elif equals:
            self.arguments[name] = self.chosen.get(name, value)

    def do_env(self, argument):
        name, _, value = argument.partition("=")
        self.environment[name] = self.expanded(value)

    def do_copy(self, argument):
        match = re.fullmatch(r"(?:--from=(\w+) )?(\S+) (\S+)", argument)
        place = self.stages[match[1]].path if match[1] else self.context
        self.root.put(place / match[2].lstrip("/"), match[3], follow=not match[1])

    def do_user(self, argument):
        self.user = argument

    def do_workdir(self, argument):
        self.folder = argument

    def do_run(self, argument):
        self.run(["/bin/sh", "-c", argument], QUICK | self.roots.variables() | self.arguments)

    def do_cmd(self, argument):
        self.command = json.loads(argument)

    def run(self, command: list[str], more: dict | None = None) -> str:
        """Run a command as the container would."""
        environment = (more or {}) | self.environment
        return self.root.run(command, environment=environment, cwd=self.folder, user=self.user)


def definition_stages(text: str) -> list[tuple[dict[str, str], dict[str, str]]]:
    """Return (header, sections) of each stage of an Apptainer definition."""
    stages = []
    for part in re.split(r"(?m)^(?=Bootstrap:)", text)[1:]:
        head, *rest = re.split(r"(?m)^%", part)
        header = dict(re.findall(r"(?m)^(\w+):\s*(\S+)$", head))
        sections = {}
        for section in rest:
            title, _, body = section.partition("\n")
            sections[title.strip()] = body
        stages.append((header, sections))
    return stages


class Apptainer:
    """Runs the sections of an Apptainer definition in clean roots."""

    def __init__(self, roots: Roots, context: Path):
        self.roots, self.context = roots, context
        self.stages: dict[str, Root] = {}

    def build(self, text: str) -> Root:
        """Run ``%files`` and ``%post`` of each stage, then ``%test`` of the last."""
        for header, sections in definition_stages(text):
            assert header["Bootstrap"] == "docker"
            root = self.stages[header["Stage"]] = self.roots.new(header["From"])
            for name, value in re.findall(r"(?m)^ +(\w+)=(.*)$", sections.get("arguments", "")):
                sections["post"] = sections["post"].replace(f"{{{{ {name} }}}}", value)
            for title, body in sections.items():
                if title.partition(" ")[0] == "files":
                    self._copy(root, title, body)
            self.script(root, sections["post"], QUICK | self.roots.variables())
        self.sections = sections
        self.script(root, sections["test"], {})
        return root

    def _copy(self, root, title, body):
        stage = title.partition("from ")[2]
        place = self.stages[stage].path if stage else self.context
        for line in filter(None, map(str.strip, body.splitlines())):
            source, target = line.split()
            root.put(place / source.lstrip("/"), target, follow=not stage)

    def script(self, root, body, environment, *arguments):
        """Run a section as Apptainer does: by /bin/sh, which stops at the first failure."""
        command = ["/bin/sh", "-ec", body, "section", *arguments]
        return root.run(command, environment=environment)


@pytest.mark.slow
def test_both_files_copy_the_sdist_of_this_version():
    name = f"autograd_cy-{VERSION}.tar.gz"
    for text in (DOCKERFILE, DEFINITION):
        assert set(re.findall(r"autograd_cy-[\w.]+?\.tar\.gz", text)) == {name}


@pytest.mark.slow
def test_both_files_start_from_the_same_image():
    (base,) = re.findall(r"^ARG BASE=(\S+)$", DOCKERFILE, re.M)
    headers = [header for header, _ in definition_stages(DEFINITION)]
    assert {header["From"] for header in headers} == {base}
    assert [header["Stage"] for header in headers] == ["build", "final"]


@pytest.mark.slow
def test_both_files_install_the_same_packages_of_debian():
    def packages(commands):
        lists = re.findall(r"apt-get install -y --no-install-recommends ([^&\n]+)", commands)
        return [set(names.split()) for names in lists]

    joined = "\n".join(argument for _, argument in instructions(DOCKERFILE))
    assert packages(joined) == packages(DEFINITION) != []


@pytest.mark.slow
@pytest.mark.parametrize(("mpi", "more"), [("", []), ("mpich", ["mpi4py", "mpich"])])
def test_both_files_install_mpi_where_it_is_chosen(mpi, more):
    (docker,) = (text for name, text in instructions(DOCKERFILE) if "pip wheel" in text)
    assert ("ARG", "MPI=") in instructions(DOCKERFILE)
    (_, sections), _ = definition_stages(DEFINITION)
    assert re.search(r"(?m)^ +MPI=$", sections["arguments"])
    post = sections["post"].replace("{{ MPI }}", mpi)
    for text in (f"MPI={mpi}\n{docker}", post):
        # What the shell makes of the lines, with a pip that prints its arguments.
        lines = text.replace("/opt/autograd_cy/bin/pip", "echo").replace("python3 -m venv", ":")
        text = re.sub(r"(?m)^ *apt-get .*$", "", lines)
        done = run("sh", "-ec", text, cwd=PACKAGING)
        lines = [line.split() for line in done.stdout.splitlines()]
        assert [line[0] for line in lines] == ["wheel", "install"]
        for line in lines:
            assert [word for word in line if word.startswith("mp")] == more


@pytest.mark.release
def test_the_dockerfile_builds_an_image_that_runs_as_a_user(roots, context):
    docker = Docker(roots, context)
    root = docker.build(DOCKERFILE)
    said = docker.run(docker.command)
    assert VERSION in said
    assert docker.run(["id", "-un"]).strip() == "user"
    assert docker.run(["python", "-c", PROGRAM]).strip() == "works"
    assert not list(root.path.glob("usr/bin/*gcc*")), "the image has a compiler"
    assert not (root.path / "wheels").exists()


@pytest.mark.release
def test_the_definition_builds_an_image_that_runs_programs(roots, context):
    apptainer = Apptainer(roots, context)
    root = apptainer.build(DEFINITION)
    (root.path / "program.py").write_text(PROGRAM)
    run = apptainer.sections["runscript"]
    assert apptainer.script(root, run, {}, "/program.py").strip() == "works"
    environment = apptainer.sections["environment"] + "\nautograd-cy --version"
    assert VERSION in apptainer.script(root, environment, {})
    assert not list(root.path.glob("usr/bin/*gcc*")), "the image has a compiler"


@pytest.mark.slow
def test_words_of_the_page_name_the_files():
    page = (CONTAINERS / "README.md").read_text()
    for line in re.findall(r"^(?:docker|apptainer) build .*$", page, re.M):
        words = shlex.split(line)
        assert [word for word in words if word.startswith("packaging/")]
        for word in words:
            if word.startswith("packaging/"):
                assert (PACKAGING.parent / word).is_file()
