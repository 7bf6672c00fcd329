"""The command that checks a release: its steps, what it refuses, how it goes on after a failure."""

import hashlib
import importlib.util
import re
import shutil
import subprocess
import sys

import pytest
from building import ROOT

CHANGELOG = """# Changelog

## [Unreleased]

## [1.2.0] - 2026-03-04

- Add this.
- Remove that.

## [1.1.0] - 2026-01-02

- Begin.
"""


def load(name, folder=ROOT):
    spec = importlib.util.spec_from_file_location(name, folder / "packaging" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


release = load("release")


def git(tree, *arguments):
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    run = ["git", *who, *arguments]
    return subprocess.run(run, cwd=tree, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def tree(tmp_path):
    """A small tree of version 1.2.0 with one recipe, without git."""
    root = tmp_path / "tree"
    files = {
        "autograd_cy/_version.py": '__version__ = "1.2.0"\nFOLLOWED = "2.13.0"\n',
        "autograd_cy/_as_torch/switch.py": '"2.13.0+autograd.cy.1.2.0"\n',
        "docs/coming-from-pytorch.md": "`2.13.0+autograd.cy.1.2.0`\n",
        "docs/install.md": "autograd_cy-1.2.0.tar.gz, autograd_cy/1.2.0-gfbf-2026.1\n",
        "CITATION.cff": 'cff-version: 1.2.0\nversion: "1.2.0"\ndate-released: "2026-03-04"\n',
        "CHANGELOG.md": CHANGELOG,
        "packaging/recipe.yaml": f"version: 1.2.0\nsha256: {'0' * 64}\n",
        ".gitignore": "/build/\n/dist/\n__pycache__/\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for name in ("fill.py", "release.py"):
        shutil.copy(ROOT / "packaging" / name, root / "packaging" / name)
    return root


@pytest.fixture
def repository(tree):
    """The small tree, committed."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    git(tree, "init", "-q")
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", "First")
    return tree


def of(tree, rehearse=False):
    candidate = release.Release(tree, tree / "dist", rehearse)
    candidate.python = sys.executable  # installs nothing
    return candidate


# --- steps --------------------------------------------------------------------------------------


def test_a_clean_tree_without_a_tag_passes(repository):
    assert release.check_tree(of(repository)) is None
    git(repository, "tag", "v1.1.0")
    assert release.check_tree(of(repository)) is None
    git(repository, "tag", "v1.2.0")
    with pytest.raises(release.Failed, match=r"the tag v1.2.0 exists: set the version"):
        release.check_tree(of(repository))


def test_files_that_are_not_committed_are_refused(repository):
    (repository / "new").write_text("")
    with pytest.raises(release.NotReady, match="1 files are not committed, such as new"):
        release.check_tree(of(repository))


def test_a_tree_without_git_is_refused(tree):
    with pytest.raises(release.Failed, match="no work tree of git"):
        release.check_tree(of(tree))


def test_versions_that_differ_are_refused(tree):
    assert release.check_versions(of(tree)) is None
    (tree / "CITATION.cff").write_text('version: "1.1.0"\n')
    (tree / "packaging" / "recipe.yaml").write_text(f"version: 1.1.0\nsha256: {'0' * 64}\n")
    with pytest.raises(release.Failed) as caught:
        release.check_versions(of(tree))
    assert not isinstance(caught.value, release.NotReady)
    assert str(caught.value) == (
        "CITATION.cff does not have 'version: \"1.2.0\"'; packaging/recipe.yaml does not name 1.2.0"
    )


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("## [1.2.0] - 2026-03-04", "## [1.2.0]", "has no line '## [1.2.0] - YYYY-MM-DD'"),
        ("2026-03-04", "2026-13-04", "has no line '## [1.2.0] - YYYY-MM-DD'"),
        ("2026-03-04", "2026-03-05", "CITATION.cff is not of 2026-03-05, as CHANGELOG.md is"),
        ("- Add this.\n- Remove that.\n", "", "CHANGELOG.md says nothing about 1.2.0"),
        ("[Unreleased]\n", "[Unreleased]\n\n- More.\n", "has lines under 'Unreleased'"),
    ],
)
def test_a_changelog_that_is_not_ready_is_refused(tree, before, after, message):
    assert release.check_changelog(of(tree)) is None
    (tree / "CHANGELOG.md").write_text(CHANGELOG.replace(before, after))
    with pytest.raises(release.NotReady) as caught:
        release.check_changelog(of(tree))
    assert message in str(caught.value)


def test_notes_are_the_section_of_the_version(tree):
    release.write_notes(of(tree))
    notes = (tree / "dist" / "NOTES.md").read_text()
    assert notes == "# autograd_cy 1.2.0\n\n- Add this.\n- Remove that.\n"
    assert release.section(CHANGELOG, "1.1.0") == "- Begin."
    assert release.section(CHANGELOG, "1.0.0") == ""


def test_recipes_and_sums_are_of_the_sdist(tree):
    candidate = of(tree)
    for step in (release.fill_recipes, release.write_sums, release.check_metadata):
        with pytest.raises(release.Failed, match="run the step sdist first"):
            step(candidate)
    (tree / "dist").mkdir()
    candidate.sdist.write_bytes(b"sources")
    release.write_sums(candidate)
    checksum = hashlib.sha256(b"sources").hexdigest()
    sums = (tree / "dist" / "SHA256SUMS").read_text()
    assert sums == f"{checksum}  autograd_cy-1.2.0.tar.gz\n"
    release.fill_recipes(candidate)
    recipe = (tree / "dist" / "recipes" / "recipe.yaml").read_text()
    assert recipe == f"version: 1.2.0\nsha256: {checksum}\n"


def test_the_copy_of_a_tree_has_what_git_knows_or_would_add(repository):
    (repository / "new").write_text("")
    (repository / "build").mkdir()
    (repository / "build" / "output").write_text("")
    copy = repository.parent / "copy"
    release.copy_tree(of(repository), copy)
    names = {path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file()}
    listed = git(repository, "ls-files").split()
    assert names == {*listed, "new"}


def test_the_copy_of_a_tree_without_git_has_no_outputs(tree):
    for name in ("build/output", "ext/build/flags.py", "a.so"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("")
    copy = tree.parent / "copy"
    release.copy_tree(of(tree), copy)
    assert (copy / "ext/build/flags.py").exists()
    assert not (copy / "build").exists() and not (copy / "a.so").exists()


# --- the command --------------------------------------------------------------------------------


def options(start=None):
    return type("Options", (), {"start": start})


def test_steps_are_chosen_by_name_or_from_one_on():
    def names(*arguments):
        return [step.name for step in release.choose(*arguments)]

    assert names(options(), "") == release.NAMES
    assert names(options(), "notes tree") == ["tree", "notes"]
    # A tree that has changed meanwhile is noticed.
    assert names(options("recipes"), "") == ["tree", "recipes", "notes", "sums"]
    for arguments in ((options(), "nodes"), (options("nodes"), "")):
        with pytest.raises(SystemExit, match="there is no step nodes; the steps are tree versions"):
            release.choose(*arguments)
    with pytest.raises(SystemExit, match="give --from or STEPS, not both"):
        release.choose(options("notes"), "tree")


def steps_of(monkeypatch, **results):
    """Steps that return their result, or raise it."""

    def step(result):
        def run(_):
            if isinstance(result, Exception):
                raise result
            return result

        return run

    steps = [
        release.Step(name, f"about {name}", name == "b", step(results[name])) for name in results
    ]
    monkeypatch.setattr(release, "NAMES", list(results))
    return steps


def lines_of(candidate, rows, quick=False):
    return [" ".join(line.split()) for line in release.report(candidate, rows, quick).splitlines()]


def test_a_failure_stops_and_says_how_to_go_on(monkeypatch, repository):
    candidate = of(repository)
    steps = steps_of(monkeypatch, a="fine", b=release.Failed("too bad"), c=None)
    rows = release.run_steps(candidate, steps, quick=False)
    assert lines_of(candidate, rows)[1:] == [
        "autograd_cy 1.2.0",
        "",
        "a passed (0 s) fine",
        "b FAILED (0 s) too bad",
        "c not run",
        "",
        "The step b failed. To go on: .ci/release --from b",
        "After a change of the sources, all steps count again: .ci/release",
    ]
    again = release.run_steps(candidate, steps_of(monkeypatch, a="fine", b=None, c=None)[1:], False)
    text = release.report(candidate, again, False)
    assert "passed before    fine" in text
    assert 'git tag -a v1.2.0 -m "autograd_cy 1.2.0"' in text  # all have passed


def test_what_passed_before_counts_for_its_commit_alone(monkeypatch, repository):
    steps = steps_of(monkeypatch, a="fine", b=None, c=None)
    release.run_steps(of(repository), steps[:1], quick=False)
    assert release.passed_before(of(repository)) == {"a": "fine"}
    (repository / "new").write_text("")
    assert release.passed_before(of(repository)) == {}  # nor is anything noted
    release.run_steps(of(repository), steps, quick=False)
    git(repository, "add", "-A")
    assert release.passed_before(of(repository)) == {}
    git(repository, "commit", "-q", "-m", "Second")
    assert release.passed_before(of(repository)) == {}


@pytest.mark.parametrize("text", ["", "[1]", "{}", '{"commit": 1}', '{"steps": {"tree": ""}}'])
def test_half_a_record_of_steps_counts_for_nothing(repository, text):
    path = repository / release.JOURNAL
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert release.passed_before(of(repository)) == {}


def test_a_date_that_is_none_is_a_failure(monkeypatch, repository):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "today")
    with pytest.raises(release.Failed, match="SOURCE_DATE_EPOCH=today is no time in seconds"):
        of(repository).epoch()


def test_new_files_have_to_be_checked_again(repository):
    candidate = of(repository)
    for name in ("tree", "sdist", "wheels", "metadata", "recipes", "sums"):
        release.note(candidate, name, "")
    release.note(candidate, "wheels", "")
    assert set(release.passed_before(candidate)) == {"tree", "sdist", "wheels", "recipes"}
    release.note(candidate, "sdist", "")
    assert set(release.passed_before(candidate)) == {"tree", "sdist"}
    assert {*release.READ_BY, *sum(release.READ_BY.values(), ())} <= set(release.NAMES)


def test_the_end_names_the_steps_that_were_left_out(monkeypatch, repository):
    candidate = of(repository)
    steps = steps_of(monkeypatch, a=None, b=None, c=None)
    lines = lines_of(candidate, release.run_steps(candidate, steps, quick=True), quick=True)
    assert lines[3:] == [
        "a passed (0 s)",
        "b left out about b",
        "c passed (0 s)",
        "",
        "A release needs these steps, too:",
        'STEPS="b" .ci/release',
    ]
    assert not [line for line in lines if "twine" in line]


def test_a_rehearsal_is_no_release(monkeypatch, repository):
    candidate = of(repository, rehearse=True)
    steps = steps_of(monkeypatch, a=release.NotReady("a tag"), b=None, c=None)
    rows = release.run_steps(candidate, steps, quick=True)
    assert [row.result for row in rows.values()] == ["not ready", "left out", "passed"]
    assert lines_of(candidate, rows, quick=True)[3] == "a not ready (0 s) a tag"
    assert lines_of(candidate, rows, quick=True)[-1] == (
        "A rehearsal: nothing here is a release. Steps left: a b"
    )
    strict = release.run_steps(of(repository), steps, quick=True)
    assert [row.result for row in strict.values()] == ["FAILED"]
    assert not (repository / "build").exists()


def test_a_command_that_fails_is_a_failure(tree, capfd):
    with pytest.raises(release.Failed, match="status 3 of sh -c 'exit 3'"):
        of(tree).call("sh", "-c", "exit 3")
    assert capfd.readouterr().out == "$ sh -c 'exit 3'\n\n"
    with pytest.raises(release.Failed, match="status 1"):
        of(tree).call("sh", "-c", "seq 50; exit 1", quiet=True)
    assert capfd.readouterr().out.splitlines()[1:] == [str(number) for number in range(11, 51)]
    of(tree).call("sh", "-c", "seq 50", quiet=True)
    assert capfd.readouterr().out == "$ sh -c 'seq 50'\n"
    with pytest.raises(release.Failed, match="no/such can't be run: No such file"):
        of(tree).call(tree / "no" / "such")


WHEELS = """#!/bin/sh
while [ $# -gt 1 ]; do [ "$1" = --into ] && into=$2; shift; done
mkdir -p "$into" && printf %s "{contents}" > "$into/autograd_cy-1.2.0-cp311-cp311-linux.whl"
"""


@pytest.mark.parametrize(("contents", "equal"), [("same", True), ("$into", False)])
def test_a_wheel_is_built_twice(tree, contents, equal):
    candidate = of(tree)
    script = tree / "packaging" / "wheels" / "build"
    script.parent.mkdir()
    script.write_text(WHEELS.replace("{contents}", contents))
    script.chmod(0o755)
    (tree / "dist").mkdir()
    candidate.sdist.write_bytes(b"")
    with pytest.raises(release.Failed, match="run the step wheels first"):
        release.make_wheel_again(candidate)
    assert release.make_wheels(candidate) == "1 wheels"
    if equal:
        assert release.make_wheel_again(candidate) == "autograd_cy-1.2.0-cp311-cp311-linux.whl"
    else:
        with pytest.raises(release.Failed, match=r"two builds of autograd_cy-1.2.0.* differ"):
            release.make_wheel_again(candidate)


def test_the_wheels_of_the_release_are_tested_if_they_are_there(monkeypatch, tree):
    calls = []
    this = of(tree)
    monkeypatch.setattr(this, "call", lambda *words, **variables: calls.append((words, variables)))
    release.test_packaging(this)
    assert "RELEASE_FILES" not in calls[-1][1]
    (tree / "dist").mkdir()
    (tree / "dist" / "autograd_cy-1.2.0-cp311-cp311-linux.whl").touch()
    release.test_packaging(this)
    words, variables = calls[-1]
    assert variables["RELEASE_FILES"] == str(tree / "dist")
    folders = {path.parent.relative_to(ROOT).as_posix() for path in marked("release")}
    assert folders == {word for word in words if word.startswith("tests/")}


def marked(name):
    """Files with tests that have a mark."""
    paths = (ROOT / "tests").rglob("test_*.py")
    return [path for path in paths if re.search(rf"\bpytest\.mark\.{name}\b", path.read_text())]


def test_an_interpreter_with_all_tools_is_used_as_it_is():
    assert release.is_installed("pytest>=8") and release.is_installed("numpy")
    assert not release.is_installed("numpy>=1000") and not release.is_installed("no_such_package")
    required = release.requirements(ROOT)
    assert "setuptools>=77" in required and "twine>=6" in required


# --- fill.py ------------------------------------------------------------------------------------


def test_a_new_version_is_written_everywhere(tree):
    fill = load("fill", tree)
    fill.set_version("1.3.0", "2026-05-06")
    fresh = of(tree)
    assert fresh.version == "1.3.0"
    assert release.check_versions(fresh) is None
    citation = (tree / "CITATION.cff").read_text()
    assert citation == 'cff-version: 1.2.0\nversion: "1.3.0"\ndate-released: "2026-05-06"\n'
    page = (tree / "docs" / "install.md").read_text()
    assert page == "autograd_cy-1.3.0.tar.gz, autograd_cy/1.3.0-gfbf-2026.1\n"
    text = (tree / "CHANGELOG.md").read_text()
    assert text.startswith("# Changelog\n\n## [Unreleased]\n\n## [1.3.0] - 2026-05-06\n")
    fill.set_version("1.3.0", "2026-05-06")  # a second time changes nothing
    assert (tree / "CHANGELOG.md").read_text() == text
