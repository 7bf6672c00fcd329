"""The checks and the files of a release, in order, up to the point where a person publishes it.

::

    .ci/release                           # everything; hours
    .ci/release --quick                   # without the long steps, which the end lists
    .ci/release --from sdist              # go on after a failure
    STEPS="sdist metadata" .ci/release    # these steps only
    .ci/release --list                    # the steps
    .ci/release --rehearse --quick        # for a tree that is not ready: what is missing is listed

The files go into ``dist``, those of a rehearsal into ``build/rehearsal``. PYTHON chooses the
interpreter. Tools that it lacks (the extras `packaging`, `test` and `train`) are installed into
``build/release-tools``. CONTRIBUTING.md says what comes before and after.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TOOLS = ROOT / "build" / "release-tools"
# That of `train` has scikit-learn, beside which wheels are tested.
EXTRAS = ("packaging", "test", "train")
#: Scripts of .ci, which make environments of their own, except the last.
SCRIPTS = {
    "run": "all quick tests, linters, types, the commands of the README",
    "slow": "the slow tests, beside PyTorch",
    "gpu": "the CUDA backend on an emulated driver",
    "matrix": "every interpreter, compiler and NumPy of this machine",
    "cluster": "several processes, with Open MPI and with MPICH",
    "sanitize": "a debug build with sanitizers",
}
PASSED, FAILED, NOT_READY, LEFT_OUT = "passed", "FAILED", "not ready", "left out"
#: Steps whose files others read: after a new file, those have to pass again.
READ_BY = {
    "sdist": ("wheels", "again", "metadata", "packaging", "recipes", "sums"),
    "wheels": ("again", "metadata", "packaging", "sums"),
}
#: The steps that have passed, and the commit for which they have.
JOURNAL = Path("build", "release-steps.json")


class Failed(Exception):
    """A step that did not pass; the message says why."""


class NotReady(Failed):
    """A tree that is no release yet, which a rehearsal accepts."""


class Step(NamedTuple):
    """One step: its name, what it does in a few words, and whether it takes long."""

    name: str
    about: str
    long: bool
    run: Callable[[Release], str | None]


class Row(NamedTuple):
    """The result of a step, its seconds, and what it said."""

    result: str
    seconds: float
    said: str


class Release:
    """The tree that is released, and where its files go."""

    def __init__(self, root: Path, out: Path, rehearse: bool):
        self.root, self.out, self.rehearse = root, out, rehearse
        self.fill = load("fill", root / "packaging" / "fill.py")
        text = (root / self.fill.VERSION_FILE).read_text(encoding="utf-8")
        self.version = re.search(r'__version__ = "(.+)"', text)[1]

    @property
    def sdist(self) -> Path:
        """The source distribution."""
        return self.out / f"autograd_cy-{self.version}.tar.gz"

    @property
    def wheels(self) -> list[Path]:
        """The wheels of this version."""
        return sorted(self.out.glob(f"autograd_cy-{self.version}-*.whl"))

    @functools.cached_property
    def python(self) -> str:
        """The interpreter that has the tools."""
        required = requirements(self.root)
        if all(map(is_installed, required)):
            return sys.executable
        python = TOOLS / "bin" / "python"
        if not python.exists():
            self.call(sys.executable, "-m", "venv", TOOLS)
        # Nothing is installed if all is there.
        self.call(python, "-m", "pip", "-q", "install", *required)
        return str(python)

    @functools.cached_property
    def in_git(self) -> bool:
        """Return whether the tree is a work tree of git, and git is installed."""
        if shutil.which("git") is None:
            return False
        run = self.git("rev-parse", "--show-toplevel", check=False)
        return run.returncode == 0 and Path(run.stdout.strip()).resolve() == self.root.resolve()

    @property
    def commit(self) -> str:
        """The commit of a clean tree, else nothing."""
        if not self.in_git or self.git("status", "--porcelain").stdout:
            return ""
        return self.git("rev-parse", "HEAD").stdout.strip()

    def git(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run git in the tree, whoever owns it."""
        command = ["git", "-c", "safe.directory=*", *arguments]
        return subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=check)

    def call(self, *command: object, cwd: Path | None = None, quiet=False, **variables: str):
        """Run a command; raise `Failed` if it fails. `quiet`: show the output only then."""
        words = [str(word) for word in command]
        print(f"$ {shlex.join(words)}", flush=True)
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT} if quiet else {}
        options |= {"cwd": cwd or self.root, "env": os.environ | variables}
        try:
            run = subprocess.run(words, check=False, text=True, **options)
        except OSError as error:
            raise Failed(f"{words[0]} can't be run: {error.strerror}") from None
        if run.returncode:
            print(*(run.stdout or "").splitlines()[-40:], sep="\n", flush=True)
            raise Failed(f"status {run.returncode} of {shlex.join(words)}")

    def epoch(self) -> int:
        """The time that files of the release bear: SOURCE_DATE_EPOCH, or that of the commit."""
        flags = load("flags", ROOT / "ext" / "build" / "flags.py")
        try:
            date = flags.source_date()
        except flags.FlagRefused as error:
            raise Failed(str(error)) from None
        if date is not None:
            return date
        if self.in_git:
            return int(self.git("log", "-1", "--format=%ct").stdout)
        return int((self.root / "CHANGELOG.md").stat().st_mtime)


def load(name: str, path: Path):
    """Import one file; the folders of recipes are no packages."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def requirements(root: Path) -> list[str]:
    """Return what the build and the extras of a release require."""
    reader = load("requirements", root / "ext" / "build" / "requirements.py")
    return [*reader.build_requirements(), *reader.extra_requirements(*EXTRAS)]


def is_installed(requirement: str) -> bool:
    """Return whether this interpreter has a package in a version that is wanted."""
    try:
        from packaging.requirements import Requirement

        wanted = Requirement(requirement)
        version = importlib.metadata.version(wanted.name)
    except ImportError:  # no such package, or none that reads versions
        return False
    return wanted.specifier.contains(version, prereleases=True)


# --- steps --------------------------------------------------------------------------------------


def check_tree(release: Release) -> None:
    """The tree is clean, and the version has no tag."""
    if not release.in_git:
        raise NotReady("the tree is no work tree of git")
    problems = []
    changed = release.git("status", "--porcelain").stdout.splitlines()
    if changed:
        problems.append(f"{len(changed)} files are not committed, such as {changed[0][3:]}")
    tag = f"v{release.version}"
    if release.git("tag", "--list", tag).stdout.strip():
        problems.append(f"the tag {tag} exists: set the version by packaging/fill.py --version")
    if problems:
        raise NotReady("; ".join(problems))


def check_versions(release: Release) -> None:
    """Files that name the version name this one."""
    version, problems = release.version, []
    for name, pattern in release.fill.MENTIONS.items():
        if pattern.format(version=version) not in (release.root / name).read_text(encoding="utf-8"):
            problems.append(f"{name} does not have {pattern.format(version=version)!r}")
    for path in release.fill.recipes():
        if version not in path.read_text(encoding="utf-8") and version not in path.name:
            problems.append(f"{path.relative_to(release.root)} does not name {version}")
    if problems:
        raise Failed("; ".join(problems))


def check_changelog(release: Release) -> None:
    """The version has a section with a date, and nothing waits above it."""
    text = (release.root / "CHANGELOG.md").read_text(encoding="utf-8")
    problems = []
    date = section_date(text, release.version)
    if date is None:
        problems.append(f"CHANGELOG.md has no line '## [{release.version}] - YYYY-MM-DD'")
    elif f'date-released: "{date}"' not in (release.root / "CITATION.cff").read_text(
        encoding="utf-8"
    ):
        problems.append(f"CITATION.cff is not of {date}, as CHANGELOG.md is")
    elif not section(text, release.version):
        problems.append(f"CHANGELOG.md says nothing about {release.version}")
    if section(text, "Unreleased"):
        problems.append("CHANGELOG.md has lines under 'Unreleased'")
    if problems:
        raise NotReady("; ".join(problems))


def run_script(name: str, release: Release) -> None:
    """Run a script of .ci."""
    script = release.root / ".ci" / name
    # `run` rehearses a release, whose steps are not those of this one.
    variables = {"STEPS": ""}
    if name == "sanitize":  # makes no environment of its own
        variables["PYTHON"] = release.python
    release.call(script, **variables)


def make_sdist(release: Release) -> str:
    """Make the source distribution twice, from copies of the tree, with equal bytes."""
    archives = []
    with tempfile.TemporaryDirectory() as work:
        for number in ("first", "second"):
            folder = Path(work, number)
            copy_tree(release, folder / "tree")
            release.call(
                *(release.python, "-W", "ignore", "-m", "build", "--sdist", "--no-isolation"),
                *("--outdir", folder, folder / "tree"),
                cwd=folder,
                quiet=True,
                SOURCE_DATE_EPOCH=str(release.epoch()),
            )
            (path,) = folder.glob("*.tar.gz")
            if path.name != release.sdist.name:
                raise Failed(f"the sdist is called {path.name}, not {release.sdist.name}")
            archives.append(path.read_bytes())
        if archives[0] != archives[1]:
            raise Failed("two source distributions of one tree differ")
        release.out.mkdir(parents=True, exist_ok=True)
        release.sdist.write_bytes(archives[0])
    return f"{release.sdist.name}, {len(archives[0]) / 1e6:.1f} MB, twice the same"


def copy_tree(release: Release, folder: Path) -> None:
    """Copy the files of the tree; of one in git, those that git knows, or would add."""
    if not release.in_git:
        left_out = shutil.ignore_patterns(
            "build", "dist", "*.so", "__pycache__", ".git", "*.egg-info", "_build_info.py"
        )

        def ignore(place: str, names: list[str]) -> set[str]:
            # ext/build and tests/build are sources.
            ours = {"build"} if Path(place).resolve() != release.root.resolve() else set()
            return left_out(place, names) - ours

        shutil.copytree(release.root, folder, ignore=ignore)
        return
    listed = release.git("ls-files", "-z", "--cached", "--others", "--exclude-standard").stdout
    for name in filter(None, listed.split("\0")):
        source = release.root / name
        if source.is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / name)


def make_wheels(release: Release) -> str:
    """Make the wheels, one for each interpreter of this machine."""
    require_sdist(release)
    build_wheels(release, release.out)
    if not release.wheels:
        raise Failed(f"there is no wheel of {release.version} in {release.out}")
    return f"{len(release.wheels)} wheels"


def make_wheel_again(release: Release) -> str:
    """Make one wheel again in another folder, with equal bytes."""
    require_sdist(release)
    if not release.wheels:
        raise Failed(f"there is no wheel in {release.out}: run the step wheels first")
    minor = re.sub(r".*-cp3(\d+)-.*", r"3.\1", release.wheels[0].name)
    with tempfile.TemporaryDirectory() as work:
        again = Path(work, "again")
        build_wheels(release, again, "--work", Path(work, "work"), "--python", minor)
        for wheel in again.glob("*.whl"):
            first = release.out / wheel.name
            if first.read_bytes() != wheel.read_bytes():
                raise Failed(f"two builds of {wheel.name} differ")
    return wheel.name


def build_wheels(release: Release, into: Path, *options: object) -> None:
    """Run the script that builds wheels from the sdist."""
    release.call(
        *(release.root / "packaging" / "wheels" / "build", "--sdist", release.sdist),
        *("--into", into, *options),
        PYTHON=release.python,
        SOURCE_DATE_EPOCH=str(release.epoch()),
    )


def require_sdist(release: Release) -> None:
    """Raise `Failed` unless the sdist is there."""
    if not release.sdist.exists():
        raise Failed(f"there is no {release.sdist}: run the step sdist first")


def check_metadata(release: Release) -> str:
    """Check pyproject.toml, what PyPI shows, and the contents of wheels."""
    require_sdist(release)
    python = release.python
    release.call(python, "-m", "validate_pyproject", "pyproject.toml")
    files = [release.sdist, *release.wheels]
    release.call(python, "-m", "twine", "check", "--strict", *files)
    if release.wheels:
        release.call(python, "-m", "check_wheel_contents", *release.wheels)
    return f"{len(files)} files"


def test_packaging(release: Release) -> None:
    """Test the wheels, and build and install by the recipes of package managers."""
    # Tests import the package of the tree.
    release.call(
        *(release.python, "-W", "ignore", "setup.py", "-q", "build_ext", "--inplace"),
        AUTOGRAD_CY_CUDA="0",
    )
    release.call(
        *(release.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "release"),
        *("tests/packaging", "tests/build"),
        SOURCE_DATE_EPOCH=str(release.epoch()),
        **({"RELEASE_FILES": str(release.out)} if release.wheels else {}),
    )


def fill_recipes(release: Release) -> str:
    """Write the address and the checksum of the sdist into copies of the recipes."""
    require_sdist(release)
    folder = release.out / "recipes"
    shutil.rmtree(folder, ignore_errors=True)
    copies = release.fill.fill(release.sdist, folder)
    left = [
        path.name for path in copies if release.fill.NO_CHECKSUM in path.read_text(encoding="utf-8")
    ]
    if left:
        raise Failed(f"recipes without a checksum: {', '.join(left)}")
    return f"{len(copies)} files in {folder.name}/"


def write_notes(release: Release) -> str:
    """Cut the notes of this version out of the changelog."""
    notes = section((release.root / "CHANGELOG.md").read_text(encoding="utf-8"), release.version)
    if not notes:
        raise NotReady(f"CHANGELOG.md says nothing about {release.version}")
    release.out.mkdir(parents=True, exist_ok=True)
    (release.out / "NOTES.md").write_text(
        f"# autograd_cy {release.version}\n\n{notes}\n", encoding="utf-8"
    )
    return f"NOTES.md, {len(notes.splitlines())} lines"


def write_sums(release: Release) -> str:
    """Write the checksums of what is published, in the form that `sha256sum --check` reads."""
    require_sdist(release)
    files = [release.sdist, *release.wheels]
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (release.out / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")
    return f"SHA256SUMS, {len(lines)} files"


def section(text: str, version: str) -> str:
    """Return what a changelog says about a version, without the heading."""
    pattern = rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## \[|\Z)"
    match = re.search(pattern, text, re.M | re.S)
    return match[1].strip() if match else ""


def section_date(text: str, version: str) -> str | None:
    """Return the date of a version in a changelog, or None if it has none."""
    match = re.search(rf"^## \[{re.escape(version)}\] - (\S+)$", text, re.M)
    try:
        return str(datetime.date.fromisoformat(match[1])) if match else None
    except ValueError:
        return None


STEPS = (
    Step("tree", "a clean tree, no tag of this version", False, check_tree),
    Step("versions", "the same version in all files", False, check_versions),
    Step("changelog", "a dated section, nothing unreleased", False, check_changelog),
    *(
        Step(name, about, True, functools.partial(run_script, name))
        for name, about in SCRIPTS.items()
    ),
    Step("sdist", "the source distribution, twice with equal bytes", False, make_sdist),
    Step("wheels", "a wheel for each interpreter of this machine", True, make_wheels),
    Step("again", "one wheel again, with equal bytes", True, make_wheel_again),
    Step("metadata", "twine, check-wheel-contents, validate-pyproject", False, check_metadata),
    Step("packaging", "tests marked `release`: wheels, recipes, Arm", True, test_packaging),
    Step("recipes", "recipes with the checksum of the sdist", False, fill_recipes),
    Step("notes", "the notes of this version", False, write_notes),
    Step("sums", "SHA256SUMS", False, write_sums),
)
NAMES = [step.name for step in STEPS]


# --- the command --------------------------------------------------------------------------------


def by_hand(release: Release) -> str:
    """Return what a person does after all steps have passed."""
    version, out = release.version, os.path.relpath(release.out, release.root)
    files = " ".join(f"{out}/{path.name}" for path in (release.sdist, *release.wheels))
    return f"""Left to do by hand:

  1. git tag -a v{version} -m "autograd_cy {version}" && git push --follow-tags
  2. python -m twine upload {files}
  3. a release of the tag at the host of the repository: {out}/NOTES.md, {out}/SHA256SUMS
  4. conda-forge: {out}/recipes/conda in a pull request to the feedstock
  5. EasyBuild: {out}/recipes/easybuild in a pull request to easybuild-easyconfigs
  6. Spack: {out}/recipes/spack in a pull request to spack-packages; before, with Spack itself:
     spack style, spack audit packages
"""


def choose(options: argparse.Namespace, wanted: str) -> list[Step]:
    """Return the steps that the command line and STEPS ask for."""
    names = wanted.split() or NAMES
    unknown = [name for name in (*names, options.start or NAMES[0]) if name not in NAMES]
    if unknown:
        raise SystemExit(f"release: there is no step {unknown[0]}; the steps are {' '.join(NAMES)}")
    if options.start and wanted:
        raise SystemExit("release: give --from or STEPS, not both")
    if options.start:
        # Of a changed tree, what was passed before says nothing.
        names = {"tree", *NAMES[NAMES.index(options.start) :]}
    return [step for step in STEPS if step.name in names]


def passed_before(release: Release) -> dict[str, str]:
    """Return what earlier calls noted: {step: what it said}, of those passed by this commit."""
    try:
        noted = json.loads((release.root / JOURNAL).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(noted, dict) or noted.get("commit") != release.commit:
        return {}
    return noted.get("steps", {})


def note(release: Release, name: str, said: str) -> None:
    """Note that a step has passed, if the tree is that of a commit."""
    if release.rehearse or not release.commit:
        return
    old = READ_BY.get(name, ())
    steps = {step: text for step, text in passed_before(release).items() if step not in old}
    steps[name] = said
    path = release.root / JOURNAL
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        json.dumps({"commit": release.commit, "steps": steps}, indent=1), encoding="utf-8"
    )


def run_steps(release: Release, steps: list[Step], quick: bool) -> dict[str, Row]:
    """Run the steps until one fails; return the result of each by its name."""
    rows = {}
    for step in steps:
        if quick and step.long:
            rows[step.name] = Row(LEFT_OUT, 0, step.about)
            continue
        print(f"\n== {step.name}: {step.about}", flush=True)
        begun, result = time.monotonic(), PASSED
        try:
            said = step.run(release) or ""
        except Failed as failure:
            accepted = release.rehearse and isinstance(failure, NotReady)
            result, said = NOT_READY if accepted else FAILED, str(failure)
        rows[step.name] = Row(result, time.monotonic() - begun, said)
        if result == FAILED:
            break
        if result == PASSED:
            note(release, step.name, said)
    return rows


def table(release: Release, rows: dict[str, Row]) -> list[str]:
    """Return a line for each step: its result now, or that of an earlier call."""
    before = passed_before(release)
    lines = []
    for name in NAMES:
        if name in rows and not (rows[name].result == LEFT_OUT and name in before):
            result, seconds, said = rows[name]
            result += "" if result == LEFT_OUT else f" ({seconds:.0f} s)"
        elif name in before:
            result, said = "passed before", before[name]
        else:
            result, said = "not run", ""
        lines.append(f"  {name:<10} {result:<16} {said}".rstrip())
    return lines


def report(release: Release, rows: dict[str, Row], quick: bool) -> str:
    """Return the table of results, and what comes next."""
    lines = [f"\nautograd_cy {release.version}", "", *table(release, rows), ""]
    failed = [name for name, row in rows.items() if row.result == FAILED]
    passed = {name for name, row in rows.items() if row.result == PASSED}
    missing = [name for name in NAMES if name not in passed | set(passed_before(release))]
    if failed:
        options = [f"--from {failed[0]}", *(["--quick"] if quick else [])]
        options += ["--rehearse"] if release.rehearse else []
        lines += [f"The step {failed[0]} failed. To go on: .ci/release {' '.join(options)}"]
        lines += ["After a change of the sources, all steps count again: .ci/release"]
    elif release.rehearse:
        lines += [f"A rehearsal: nothing here is a release. Steps left: {' '.join(missing)}"]
    elif missing:
        lines += ["A release needs these steps, too:", f'  STEPS="{" ".join(missing)}" .ci/release']
    else:
        lines += [by_hand(release)]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line of this file."""
    parser = argparse.ArgumentParser(prog=".ci/release", description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="leave the long steps out")
    parser.add_argument("--from", dest="start", metavar="STEP", help="begin with this step")
    parser.add_argument("--rehearse", action="store_true", help="the tree need not be ready")
    parser.add_argument("--list", action="store_true", help="list the steps")
    options = parser.parse_args(arguments)
    steps = choose(options, os.environ.get("STEPS", ""))
    if options.list:
        for step in steps:
            print(f"{step.name:<10} {step.about}{' (long)' if step.long else ''}")
        return 0
    out = ROOT / "build" / "rehearsal" if options.rehearse else ROOT / "dist"
    release = Release(ROOT, out, options.rehearse)
    rows = run_steps(release, steps, options.quick)
    print(report(release, rows, options.quick))
    return 1 if any(row.result == FAILED for row in rows.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
