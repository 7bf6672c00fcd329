"""`python -m ext.build --explain`: what a build would run, and why; no compiler is needed."""

import pytest
from building import ROOT, build_inplace, run_python, set_modules, write

from ext.build.explain import explain, touched
from ext.build.steps import Builder, Library, Unit


class Pretending(Builder):
    """Write the outputs of the tools and lists of what they would have read, without the tools."""

    reads: dict  # C file or object file: what its tool read

    def _run(self, command):
        if "-o" not in command:
            return
        output = self.root / command[command.index("-o") + 1]
        output.write_text("x" * 100)
        depfile = output.with_suffix(".d") if "-MMD" in command else output.with_suffix(".c.dep")
        names = " ".join(str(self.root / name) for name in self.reads.get(output.name, ()))
        depfile.write_text(f"{output.name}: {names}\n")


@pytest.fixture
def tree(tmp_path):
    for name in ("one.pyx", "two.pyx", "shared.pxd", "loops.h"):
        (tmp_path / name).write_text(name)
    return tmp_path


def builder_of(tree, flag="-O2"):
    made = Pretending(tree, tree / "out", ".so", ["compiler 1"], say=lambda text: None)
    made.reads = {"one.c": ["shared.pxd"], "two.c": ["shared.pxd"], "two_base.o": ["loops.h"]}

    def unit(name, *libraries):
        found = [Library(lib, ["cc", flag], ["ld"], []) for lib in libraries]
        return Unit(name, name, tree / f"{name}.pyx", tree / f"{name}.pxd", [], found)

    return made, [unit("one", "one"), unit("two", "two_base", "two_avx2")]


def explained(tree, **kwargs):
    return explain(*builder_of(tree, **kwargs))


def built(tree):
    made, units = builder_of(tree)
    made.build(units, 1)


def test_everything_is_pending_before_the_first_build_and_nothing_after(tree):
    found = explained(tree)
    assert found.translated == ["one", "two"]
    assert found.compiled == ["one", "two_base", "two_avx2"]
    assert found.pending["one"]["one"]["cython"] == ["it has not run yet"]
    built(tree)
    found = explained(tree)
    assert (found.pending, found.share) == ({}, 0.0)
    assert found.c_bytes == {"one": 100, "two": 100}
    assert found.text().startswith("0 of 2 units translated")


def test_a_changed_source_is_named_and_what_follows_from_it(tree):
    built(tree)
    (tree / "one.pyx").write_text("other")
    found = explained(tree)
    assert found.pending == {
        "one": {
            "one": {
                "cython": ["one.pyx changed"],
                "compile": ["its C file is made anew"],
                "link": ["its compile step runs"],
            }
        }
    }
    assert found.share == 0.5
    text = found.text()
    assert "one (0.00 MB of C): cython, compile, link\n    one.pyx changed\n" in text
    assert text.endswith("(50.0%); 1 of 3 modules compiled")


def test_a_header_compiles_again_and_translates_nothing(tree):
    built(tree)
    (tree / "loops.h").write_text("other")
    found = explained(tree)
    assert found.translated == []
    assert found.compiled == ["two_base"]
    assert found.pending["two"]["two_base"]["compile"] == ["loops.h changed"]


def test_what_arrives_and_what_goes_are_told_apart(tree):
    built(tree)
    (tree / "one.pxd").write_text("now there")
    (tree / "out" / "two_avx2.o").unlink()
    (tree / "shared.pxd").unlink()
    found = explained(tree)
    assert found.pending["one"]["one"]["cython"] == ["one.pxd is new", "shared.pxd is gone"]
    (tree / "shared.pxd").write_text("shared.pxd")
    found = explained(tree)
    assert found.pending["two"] == {
        "two_avx2": {"compile": ["out/two_avx2.o is gone"], "link": ["its compile step runs"]}
    }


def test_other_flags_are_a_reason(tree):
    built(tree)
    found = explained(tree, flag="-O0")
    assert found.translated == []
    assert len(found.compiled) == 3
    assert found.pending["one"]["one"]["compile"] == [
        "its command or a version of the tools changed"
    ]


def test_an_explanation_is_what_the_build_then_does(tree):
    built(tree)
    (tree / "shared.pxd").write_text("other")
    (tree / "loops.h").write_text("other")
    expected = explained(tree).pending
    made, units = builder_of(tree)
    lines = []
    made.say = lines.append
    made.build(units, 1)
    ran = {line.split(":")[0].strip(): line.split(": ")[1].split(" (")[0] for line in lines}
    said = {name: ", ".join(steps) for runs in expected.values() for name, steps in runs.items()}
    # A C file that comes out as it was is not compiled again: an explanation can't know that.
    assert set(ran) <= {*said, *expected}
    assert ran["two"] == "cython"
    assert ran["two_base"] == "compile"


def test_files_that_only_the_generator_reads_stand_for_what_it_writes():
    assert touched("ext/core/iterate.pyx") == ["ext/core/iterate.pyx"]
    assert touched(str(ROOT / "ext/core/iterate.pyx")) == ["ext/core/iterate.pyx"]
    assert "build/generated/ops_reduction.pyx" in touched("autograd_cy/ops/reduction.py")
    masks = touched("autograd_cy/ops/_masks.py")  # of the family indexing
    assert [file for file in masks if "ops_" in file] == ["build/generated/ops_indexing.pyx"]
    assert "build/generated/kern.pyx" in touched("ext/codegen/kernel_specs.py")


@pytest.mark.slow
def test_the_command_says_what_is_pending_and_what_would_be(small_tree):
    write(small_tree / "autograd_cy/_C/box.pxd", "cdef class Box:\n    cdef double value\n")
    write(small_tree / "ext/core/box.pyx", "cdef class Box:\n    pass\n")
    write(small_tree / "ext/core/user.pyx", "from autograd_cy._C.box cimport Box\n")
    modules = [f'Module("{name}", "core/{name}.pyx")' for name in ("info", "box", "user")]
    set_modules(small_tree, *modules)
    command = ("-m", "ext.build", "--explain")
    before = run_python(*command, cwd=small_tree).stdout
    assert "it has not run yet" in before
    assert not list(small_tree.glob("build/release/*/*.c"))
    build_inplace(small_tree)
    assert run_python(*command, cwd=small_tree).stdout.startswith("0 of 4 units translated")
    changed = ("--if-changed", "autograd_cy/_C/box.pxd")
    answer = run_python(*command, *changed, cwd=small_tree).stdout
    assert "2 of 4 units translated" in answer
    assert "user (" in answer
    assert "info (" not in answer
    assert run_python(*command, cwd=small_tree).stdout.startswith("0 of 4 units translated")
    missing = run_python(*command, "--if-changed", "nothing.pyx", cwd=small_tree, check=False)
    assert missing.returncode == 2
    assert "no such file" in missing.stdout
