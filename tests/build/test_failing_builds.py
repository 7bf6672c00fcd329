"""A build that cannot go on ends with one message that has the way out; the next one goes on."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from building import ROOT, build_inplace, clean_environment, run_python, set_modules, write

from autograd_cy._environment import doctor
from ext.build import advice, builder, flags, prerequisites, simd
from ext.build.probe import Probe, compiler_version, read_json, write_json
from ext.build.steps import Builder, Library, StepFailed, Unit

needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")


def script(path, text):
    """A program at `path` that the shell runs."""
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


class PretendedProbe:
    """A compiler that accepts all but what has one of some words."""

    version = "pretended cc 1.0"

    def __init__(self, *refused):
        self.refused = refused

    def compiles(self, wanted=(), source=""):
        return not any(word in " ".join([*wanted, source]) for word in self.refused)

    def links(self, wanted=(), link_flags=(), source=""):
        return self.compiles([*wanted, *link_flags], source)

    def first(self, *candidates):
        return next((words for words in candidates if self.compiles(words)), [])


# Packages


def test_lower_bounds_are_those_of_the_build_system():
    bounds = prerequisites.lower_bounds()
    assert set(bounds) == {"setuptools", "cython", "numpy", "scipy"}
    text = '[build-system]\nrequires = ["a-b>=1.2"]\n[project]\nrequires = ["c>=3"]\n'
    assert prerequisites.lower_bounds(text) == {"a-b": "1.2"}
    prerequisites.require_packages("numpy")  # an environment for tests may have an old setuptools


def package(folder, name, text):
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('__version__ = "0.29.36"', "cython 3.2 or later: it is 0.29.36"),
        ('__version__ = "3.1.9rc1"', "cython 3.2 or later: it is 3.1.9rc1"),
        ("import absent_part", "cython 3.2 or later: it does not import (No module named"),
        ("raise ImportError('\\nof another Python\\nmore')", "does not import (of another Python)"),
    ],
)
def test_an_old_or_broken_package_is_named(tmp_path, monkeypatch, text, why):
    package(tmp_path, "Cython", text)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "Cython"]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(prerequisites.Missing) as caught:
        prerequisites.require_packages("cython", "numpy")
    assert why in str(caught.value)
    assert 'pip install "cython>=3.2")' in str(caught.value)
    assert "numpy" not in str(caught.value)
    sys.modules.pop("Cython", None)  # not by monkeypatch, which would put it back


def test_a_dead_link_in_place_of_a_folder_is_named(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    with pytest.raises(prerequisites.Missing, match="link is a file, or a link to nothing"):
        prerequisites.require_writable(tmp_path / "link")


def test_an_absent_package_is_named(monkeypatch):
    monkeypatch.setitem(prerequisites.MODULES, "cython", "no_such_module")
    with pytest.raises(prerequisites.Missing, match="cython 3.2 or later: it is not installed"):
        prerequisites.require_packages("cython")


# Switches


@pytest.mark.parametrize("value", ["four", "2.5", "-j4"])
def test_a_number_of_jobs_that_is_none(value):
    with pytest.raises(flags.FlagRefused, match=f"MAX_JOBS={value} is no number"):
        flags.job_count({"MAX_JOBS": value})


def test_numbers_of_jobs():
    assert flags.job_count({"MAX_JOBS": " 3 "}) == 3
    assert flags.job_count({"MAX_JOBS": "0"}) == 1
    assert flags.job_count({"MAX_JOBS": ""}) >= 1


@pytest.mark.parametrize("value", ["today", "-1", "1.5", str(1 << 32)])
def test_a_date_that_is_none(value):
    with pytest.raises(flags.FlagRefused, match=f"SOURCE_DATE_EPOCH={value} is no time in seconds"):
        flags.source_date({"SOURCE_DATE_EPOCH": value})


def test_dates():
    assert flags.source_date({"SOURCE_DATE_EPOCH": " 1700000000 "}) == 1700000000
    assert flags.source_date({"SOURCE_DATE_EPOCH": "0"}) == 0
    assert flags.source_date({"SOURCE_DATE_EPOCH": ""}) is None


@pytest.mark.parametrize("name", ["OPENMP", "DEBUG", "NATIVE", "COVERAGE"])
def test_switches_are_on_or_off(name):
    for value in ("", "0", "no", "Off", "1", "yes", "ON"):
        flags.refuse_mistyped({f"AUTOGRAD_CY_{name}": value})
    with pytest.raises(flags.FlagRefused, match=f"AUTOGRAD_CY_{name}=2 is neither 1 nor 0"):
        flags.refuse_mistyped({f"AUTOGRAD_CY_{name}": "2"})


@pytest.mark.parametrize(
    ("name", "meant"), [("CUDA_ARCH", "CUDA_ARCHS"), ("SIMDS", "SIMD"), ("SANITIZER", "SANITIZE")]
)
def test_names_close_to_a_switch_are_refused(name, meant):
    with pytest.raises(flags.FlagRefused, match=f"knows no .*_{name}; is .*_{meant} meant"):
        flags.refuse_mistyped({f"AUTOGRAD_CY_{name}": "1"})


def test_variables_of_the_package_and_of_its_tests_are_no_mistyped_switches():
    others = (*doctor.VARIABLES, "GPU", "GPU_SAMPLE", "MUTANTS", "EMULATED", "FUZZ_WORKER")
    flags.refuse_mistyped({f"AUTOGRAD_CY_{name}": "1" for name in others})


def test_jobs_are_limited_by_the_files_that_a_process_may_open(monkeypatch):
    for limit, jobs in ((40, 1), (64 + 4 * flags.FILES_OF_A_JOB, 4), (1 << 20, 99)):
        monkeypatch.setattr(flags.resource, "getrlimit", lambda which: (limit, limit))
        assert flags.job_count({"MAX_JOBS": "99"}) == jobs


@pytest.mark.parametrize("name", ["CC", "CFLAGS", "LDFLAGS"])
def test_a_quote_without_an_end(name):
    with pytest.raises(flags.FlagRefused, match=f"{name} cannot be split into words") as caught:
        flags.refuse_unsafe({name: "'-O2 -g"})
    assert "no closing quotation" in str(caught.value)


def test_instruction_sets_that_are_not_there():
    on_arm, old = PretendedProbe("__x86_64__"), PretendedProbe("skylake")
    assert simd.targets(on_arm, {}) == (simd.BASE,)
    assert simd.targets(on_arm, {"AUTOGRAD_CY_SIMD": "base"}) == (simd.BASE,)
    assert [target.name for target in simd.targets(old, {})] == ["base", "avx2"]
    for probe, words in ((on_arm, "the processor is no x86-64"), (old, "pretended cc 1.0")):
        with pytest.raises(
            simd.UnknownTarget, match="AUTOGRAD_CY_SIMD has avx512, which"
        ) as caught:
            simd.targets(probe, {"AUTOGRAD_CY_SIMD": "avx512"})
        assert words in str(caught.value)
    for probe in (on_arm, old, PretendedProbe()):
        with pytest.raises(simd.UnknownTarget, match="has AVX2, sse4, but only knows base, avx2"):
            simd.targets(probe, {"AUTOGRAD_CY_SIMD": "base,AVX2,sse4"})


def test_instruction_sets_by_commas_or_spaces():
    for value in ("avx2", " avx2 ", "base,avx2", "avx2 base", ",avx2,"):
        found = simd.targets(PretendedProbe(), {"AUTOGRAD_CY_SIMD": value})
        assert [target.name for target in found] == ["base", "avx2"]
    assert len(simd.targets(PretendedProbe(), {"AUTOGRAD_CY_SIMD": ""})) == 3


def test_sanitizers_that_the_compiler_lacks():
    switched = {"AUTOGRAD_CY_SANITIZE": "adress"}
    with pytest.raises(flags.FlagRefused, match="-fsanitize=adress, which AUTOGRAD_CY_SANITIZE"):
        flags.common(PretendedProbe("adress"), switched)
    assert "-fsanitize=adress" in flags.common(PretendedProbe(), switched)


def test_flags_for_this_processor_that_the_compiler_lacks():
    switched = {"AUTOGRAD_CY_NATIVE": "1"}
    assert "-mcpu=native" in flags.common(PretendedProbe("-march=native"), switched)
    with pytest.raises(flags.FlagRefused, match="AUTOGRAD_CY_NATIVE=1, but the compiler"):
        flags.common(PretendedProbe("=native"), switched)


@needs_cc
def test_a_path_with_spaces_must_be_quoted_twice(tmp_path, monkeypatch):
    cc = script(tmp_path / "a folder" / "gcc", 'exec cc "$@"\n')
    monkeypatch.setenv("CC", cc)
    with pytest.raises(prerequisites.Missing, match="CC has spaces: quote the path once more"):
        prerequisites.require_compiler(Probe(flags.compiler(), ["ld"]))
    monkeypatch.setenv("CC", f'"{cc}" -O1')
    assert flags.compiler() == [cc, "-O1"]
    prerequisites.require_compiler(Probe(flags.compiler(), ["ld"]))


@needs_cc
@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("exit 0", "it reports success, but writes no file"),
        ("printf '\\377 no' >&2; exit 1", r"\xff no"),
        ("printf '%05000d' 0 >&2; exit 1", "\n  " + "0" * prerequisites.LONG + "\n"),
    ],
)
def test_an_odd_compiler_has_one_message(tmp_path, text, part):
    cc = script(tmp_path / "odd-cc", text + "\n")
    with pytest.raises(prerequisites.Missing) as caught:
        prerequisites.require_compiler(Probe([cc], ["ld"]))
    assert part in str(caught.value)


@needs_cc
@pytest.mark.parametrize(
    ("variable", "linker", "part"),
    [
        ("LDFLAGS", "cc -shared -lno_such_library", "Look into LDFLAGS."),
        ("LDSHARED", "/no/such/linker", "Look into LDSHARED."),
        ("", "/no/such/linker", "Is binutils installed?"),
    ],
)
def test_a_linker_that_fails_is_not_taken_for_missing_openmp(monkeypatch, variable, linker, part):
    for name in ("LDFLAGS", "LDSHARED"):
        monkeypatch.setenv(name, "set" if name == variable else "")
    with pytest.raises(prerequisites.Missing, match="does not link an empty library") as caught:
        prerequisites.require_compiler(Probe(["cc", "-fPIC"], linker.split()))
    assert part in str(caught.value)
    assert f"The command was: {linker}" in str(caught.value)


# Compilers and their records


def test_the_version_is_that_of_the_compiler_behind_a_wrapper(tmp_path):
    wrapper = script(
        tmp_path / "ccache", 'if [ "$1" = --version ]; then echo cache; else "$@"; fi\n'
    )
    cc = script(tmp_path / "cc", "echo compiler 12.2\n")
    assert compiler_version([wrapper, cc, "-O2", "-g"]) == "compiler 12.2"
    assert compiler_version([cc]) == "compiler 12.2"
    assert compiler_version(["/no/such/cc", "-O2"]) == "not found: /no/such/cc"


@needs_cc
@pytest.mark.parametrize("half", ["", '{"compiler": ["gcc"', "[]", "\x00\x00"])
def test_half_a_record_of_answers_is_asked_again(tmp_path, half):
    cache = tmp_path / "probes.json"
    cache.write_text(half)
    probe = Probe(["cc"], ["cc", "-shared"], cache)
    assert probe.compiles(["-O1"])
    assert Probe(["cc"], ["cc", "-shared"], cache).answers == probe.answers != {}


def test_records_are_replaced_as_a_whole(tmp_path):
    path = tmp_path / "record.json"
    write_json(path, {"a": 1})
    with pytest.raises(TypeError):
        write_json(path, {"a": object()})
    assert read_json(path) == {"a": 1}
    assert os.listdir(tmp_path) == ["record.json"]


# Advice


@pytest.mark.parametrize(
    ("status", "output", "part"),
    [
        (1, "gcc: fatal error: Killed signal terminated program cc1", "MAX_JOBS=1"),
        (1, "cc1: out of memory allocating 65536 bytes", "MAX_JOBS=1"),
        (1, "virtual memory exhausted: Cannot allocate memory", "MAX_JOBS=1"),
        (1, "LLVM ERROR: out of memory", "MAX_JOBS=1"),
        (1, "the process that runs Cython ended", "MAX_JOBS=1"),
        (-9, "", "MAX_JOBS=1"),
        (137, "", "MAX_JOBS=1"),
        (1, "/tmp/ccA.s: fatal error: error writing: No space left on device", "TMPDIR"),
        (1, "OSError: [Errno 122] Disk quota exceeded", "TMPDIR"),
        (-11, "", "the compiler crashed by signal 11 (SIGSEGV)"),
        (134, "", "the compiler crashed by signal 6 (SIGABRT)"),
        (1, "x.c:1: internal compiler error: in f, at g.c:1", "the compiler crashed.\n"),
        (-15, "", "It was ended by signal 15"),
    ],
)
def test_advice_for_failures_of_tools(status, output, part):
    assert part in advice.advice(status, output)


@pytest.mark.parametrize("output", ["x.c:1: error: unknown type name", "", "killed_by: undeclared"])
def test_no_advice_for_errors_of_a_source(output):
    assert advice.advice(1, output) == ""


def test_advice_for_errors_of_files():
    full = OSError(errno.ENOSPC, "No space left on device", "build/x.c")
    assert "no space left on the disk" in advice.of_error(full)
    assert "build/x.c: No space left on device" in advice.of_error(full)
    read_only = OSError(errno.EROFS, "Read-only file system", "build/x.c")
    assert "cannot write to build/x.c (Read-only file system)" in advice.of_error(read_only)
    assert "MAX_JOBS" in advice.of_error(OSError(errno.ENOMEM, "Cannot allocate memory"))
    assert advice.of_error(FileNotFoundError(errno.ENOENT, "No such file", "x")) == ""


def test_commands_end_with_advice_instead_of_a_traceback():
    class Full:
        def run(self):
            raise OSError(errno.ENOSPC, "No space left on device", "build/x.c")

    class Broken:
        def run(self):
            raise FileNotFoundError(errno.ENOENT, "No such file", "x")

    class Refused:
        def run(self):
            raise StepFailed("This command failed")

    with pytest.raises(SystemExit, match="no space left on the disk"):
        builder.ending(Full)().run()
    with pytest.raises(SystemExit, match="This command failed"):
        builder.ending(Refused)().run()
    with pytest.raises(FileNotFoundError):
        builder.ending(Broken)().run()


# Builds that were ended in the middle, with programs in place of compilers


class Tools:
    """A unit without Cython: its C file is there, a script compiles and links it."""

    def __init__(self, folder):
        self.folder = folder
        self.source = folder / "unit.c"
        self.calls = folder / "calls"
        self.fail = folder / "fail"
        words = 'for last; do :; done\necho "$1" >> calls\ncat "$3" > "$last"\n'
        self.tool = script(folder / "tool", words + "[ ! -e fail ] || kill -9 $$\n")

    def build(self):
        """Return the steps that ran."""
        self.calls.write_text("")
        library = Library("unit", [self.tool, "compile"], [self.tool, "link", "--"], [])
        unit = Unit("unit", "unit", self.source, self.folder / "unit.pxd", [], [library])
        build = Builder(self.folder, self.folder, ".so", say=lambda text: None)
        stamp, compiled, linked = build._library_steps(unit, library)
        # The words of the script: step, ignored, source ... output.
        compiled.command[:] = [self.tool, "compile", "-", "unit.c", "unit.o"]
        linked.command[:] = [self.tool, "link", "-", "unit.o", "unit.so"]
        for step in (compiled, linked):
            build._run_step(stamp, step)
        return self.calls.read_text().split()


@pytest.fixture
def tools(tmp_path):
    found = Tools(tmp_path)
    found.source.write_text("one")
    assert found.build() == ["compile", "link"]
    assert found.build() == []
    return found


@pytest.mark.parametrize("name", ["unit.o", "unit.so"])
@pytest.mark.parametrize("content", ["", "on", "\x00\x00\x00"])
def test_a_truncated_result_is_made_anew(tools, name, content):
    (tools.folder / name).write_text(content)
    assert tools.build() == [{"unit.o": "compile", "unit.so": "link"}[name]]
    assert (tools.folder / "unit.so").read_text() == "one"
    assert tools.build() == []


@pytest.mark.parametrize("content", ["", "{", '{"compile": {"signature"', "[1]"])
def test_half_a_stamp_is_no_stamp(tools, content):
    (tools.folder / "unit.json").write_text(content)
    assert tools.build() == ["compile", "link"]


def test_after_a_killed_compilation_the_earlier_source_is_compiled_again(tools):
    tools.source.write_text("two")
    tools.fail.write_text("")
    with pytest.raises(StepFailed, match="MAX_JOBS=1"):
        tools.build()
    assert (tools.folder / "unit.o").read_text() == "two"  # passes for a result
    tools.fail.unlink()
    tools.source.write_text("one")
    assert tools.build() == ["compile"]
    assert (tools.folder / "unit.o").read_text() == "one"
    assert (tools.folder / "unit.so").read_text() == "one"


def test_steps_that_ended_are_not_repeated_after_a_killed_link(tools):
    tools.source.write_text("two")
    words = (tools.folder / "tool").read_text().replace("[ ! -e fail ]", '[ "$1" = compile ]')
    script(tools.folder / "tool", words.partition("\n")[2])
    with pytest.raises(StepFailed):
        tools.build()
    script(tools.folder / "tool", words.partition("\n")[2].replace("kill", ": kill"))
    assert tools.build() == ["link"]


def test_a_tool_that_writes_nothing_is_named(tools):
    tools.source.write_text("")
    with pytest.raises(StepFailed, match=r"reports success, but does not write unit\.o:\n.*tool"):
        tools.build()
    tools.source.write_text("two")
    assert tools.build() == ["compile", "link"]


@pytest.mark.parametrize(("status", "remains"), [(1, False), (137, True)])
def test_what_a_linker_does_not_take_is_compiled_again(tools, status, remains):
    """Unless memory was the reason: then the result of the compiler is right."""
    compile_command = ["sh", "-c", "cp unit.c unit.o"]
    library = Library("unit", compile_command, ["sh", "-c", f"exit {status}"], [])
    unit = Unit("unit", "unit", tools.source, tools.folder / "unit.pxd", [], [library])
    build = Builder(tools.folder, tools.folder, ".so", say=lambda text: None)
    with pytest.raises(StepFailed):
        build._compile(unit, library)
    assert ("compile" in read_json(tools.folder / "unit.json")) is remains


def test_copies_of_a_killed_build_are_removed(tmp_path):
    suffix = builder.sysconfig.get_config_var("EXT_SUFFIX")
    for name in (f"a{suffix}", f"b{suffix}", f".a{suffix}.123", "c.py"):
        (tmp_path / name).write_text("")
    builder._remove_stale(tmp_path, {tmp_path / f"a{suffix}"})
    assert sorted(os.listdir(tmp_path)) == [f"a{suffix}", "c.py"]


def test_a_second_build_says_that_it_waits(tmp_path, capsys):
    import threading

    entered = threading.Event()

    def second():
        with builder.locked(tmp_path):
            entered.set()

    with builder.locked(tmp_path):
        thread = threading.Thread(target=second)
        thread.start()
        while "waiting" not in (said := capsys.readouterr().out):
            assert not entered.is_set()
            time.sleep(0.001)
    thread.join()
    assert f"waiting for another build that uses {tmp_path}" in said


# Real commands


def refused(tree, *command, **environment):
    """Run a command of setup.py that must fail without a traceback; return its output."""
    run = run_python(
        "-W", "ignore", "setup.py", "-q", *command, cwd=tree, check=False, **environment
    )
    assert run.returncode not in (0, None), run.stdout
    assert "Traceback" not in run.stdout, run.stdout
    assert len(run.stdout.splitlines()) < 20, run.stdout
    return run.stdout


@pytest.mark.slow
def test_an_old_cython_stops_the_build(small_tree, tmp_path):
    package(tmp_path, "Cython", '__version__ = "0.29.36"')
    said = refused(small_tree, "build_ext", "--inplace", PYTHONPATH=tmp_path)
    assert "cython 3.2 or later: it is 0.29.36" in said
    assert not (small_tree / "build" / "release").exists()


@pytest.mark.slow
def test_an_old_setuptools_stops_every_command(small_tree, tmp_path):
    text = '__version__ = "59.6.0"\nsetup = None\n'
    package(tmp_path, "setuptools", text)
    said = refused(small_tree, "--version", PYTHONPATH=tmp_path)
    assert "setuptools 77 or later: it is 59.6.0" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value", "part"),
    [
        ("MAX_JOBS", "all", "MAX_JOBS=all is no number"),
        ("SOURCE_DATE_EPOCH", "today", "SOURCE_DATE_EPOCH=today is no time in seconds"),
        ("AUTOGRAD_CY_SIMD", "avx3", "AUTOGRAD_CY_SIMD has avx3, but only knows"),
        ("AUTOGRAD_CY_OPT", "fast", "AUTOGRAD_CY_OPT=fast is no level"),
        ("AUTOGRAD_CY_CUDA", "2", "AUTOGRAD_CY_CUDA=2 is not 0, 1 or auto"),
        ("AUTOGRAD_CY_SANITIZE", "adress", "AUTOGRAD_CY_SANITIZE asks for"),
        ("AUTOGRAD_CY_DEBUG", "2", "AUTOGRAD_CY_DEBUG=2 is neither 1 nor 0"),
        ("AUTOGRAD_CY_CUDA_ARCH", "90", "is AUTOGRAD_CY_CUDA_ARCHS meant?"),
        ("LDFLAGS", "-lno_such_library", "does not link an empty library"),
        ("CFLAGS", "'-O2", "CFLAGS cannot be split into words"),
        ("CFLAGS", "--no-such-flag", "does not compile an empty program"),
        ("CC", "/no/such/gcc", "`/no/such/gcc` does not compile an empty program"),
    ],
)
def test_a_wrong_switch_stops_the_build(small_tree, name, value, part):
    assert part in refused(small_tree, "build_ext", "--inplace", **{name: value})


def in_namespace(tree, mount, *command):
    """Run Python in `tree` after a mount that no other process sees."""
    unshare = ["unshare", "--mount", "--map-root-user"]
    if not shutil.which("unshare") or subprocess.run([*unshare, "true"], check=False).returncode:
        pytest.skip("namespaces are not allowed")
    # The folder is entered once more: what was mounted lies over it.
    words = [*unshare, "sh", "-c", f'{mount} && cd "$PWD" && exec "$0" "$@"', sys.executable]
    run = subprocess.run(
        [*words, "-W", "ignore", *command], cwd=tree, env=clean_environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    assert run.returncode
    assert "mount:" not in run.stdout, run.stdout
    assert "Traceback" not in run.stdout, run.stdout
    return run.stdout


@pytest.mark.slow
@pytest.mark.parametrize("command", ["egg_info", "build_py", "build_ext", "bdist_wheel"])
def test_a_read_only_tree_stops_every_command(small_tree, command):
    mount = "mount --bind . . && mount -o remount,ro,bind ."
    said = in_namespace(small_tree, mount, "setup.py", "-q", command)
    assert "(Read-only file system)" in said
    assert "build a copy of it in a folder of your own" in said


@pytest.mark.slow
def test_a_compiler_that_is_killed_for_memory(small_tree):
    # Probes are small; what Cython writes is not.
    words = 'for word; do case $word in */info.c) kill -9 $$;; esac; done\nexec cc "$@"\n'
    said = refused(small_tree, "build_ext", "--inplace", CC=script(small_tree / "killed-cc", words))
    assert "MAX_JOBS=1 needs the least" in said


@pytest.mark.slow
@pytest.mark.parametrize("size", ["16k", "600k"])
def test_a_full_disk(small_tree, size):
    (small_tree / "build").mkdir()
    mount = f"mount -t tmpfs -o size={size} none build"
    said = in_namespace(small_tree, mount, "setup.py", "-q", "build_ext")
    assert "no space left on the disk" in said


@pytest.mark.slow
def test_a_full_folder_of_temporary_files(small_tree):
    (small_tree / "tmp").mkdir()
    mount = "mount -t tmpfs -o size=4k none tmp && export TMPDIR=$PWD/tmp"
    said = in_namespace(small_tree, mount, "setup.py", "-q", "build_ext")
    assert "no space left on the disk" in said


@pytest.mark.slow
def test_an_empty_cc_is_no_compiler_that_was_chosen(small_tree):
    build_inplace(small_tree, CC="", LDFLAGS=" ")
    run_python("-c", "from autograd_cy._C import info", cwd=small_tree)


@pytest.mark.slow
def test_folders_with_spaces(small_tree, tmp_path):
    tree = tmp_path / "a folder with spaces" / "tree"
    shutil.copytree(small_tree, tree)
    cc = script(tree / "my cc", 'exec cc "$@"\n')
    (tree / "tmp dir").mkdir()
    build_inplace(tree, CC=f'"{cc}"', TMPDIR=tree / "tmp dir")
    run_python("-c", "from autograd_cy._C import info", cwd=tree)
    assert build_inplace(tree, CC=f'"{cc}"').stdout.count("compile") == 0


@pytest.mark.slow
def test_a_build_that_is_killed_goes_on(small_tree):
    write(small_tree / "ext/core/one.pyx", "def f():\n    return 1\n")
    set_modules(small_tree, 'Module("info", "core/info.pyx")', 'Module("one", "core/one.pyx")')
    build_inplace(small_tree)
    write(small_tree / "ext/core/one.pyx", "def f():\n    return 2\n")
    # The compiler writes half of its output, tells us, and waits to be killed with the build.
    words = (
        "for last; do case $last in */one.c) half=1;; esac; done\n"
        '[ -z "$half" ] || { echo half > "$last"; echo > reached; exec sleep 60; }\nexec cc "$@"\n'
    )
    cc = script(small_tree / "slow-cc", words)
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "setup.py", "-q", "build_ext", "--inplace"],
        cwd=small_tree, env=clean_environment(CC=cc), start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while not (small_tree / "reached").exists():
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    build_inplace(small_tree)
    probe = "from autograd_cy._C import one; print(one.f())"
    assert run_python("-c", probe, cwd=small_tree).stdout.strip() == "2"


@pytest.mark.slow
def test_damaged_results_of_a_build_are_made_anew(small_tree):
    build_inplace(small_tree)
    (folder,) = (small_tree / "build" / "release").iterdir()
    for end in (".c", ".o", builder.sysconfig.get_config_var("EXT_SUFFIX")):
        path = folder / f"info{end}"
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        build_inplace(small_tree)
        run_python("-c", "from autograd_cy._C import info; info.compiler()", cwd=small_tree)


def test_all_symptoms_are_on_the_page():
    """The table of docs/building.md, where users look, has the messages."""
    page = (ROOT / "docs" / "building.md").read_text()
    section = page.partition("## When a build fails")[2].partition("\n## ")[0]
    for part in (
        "does not compile an empty program",
        "cannot compile and link an OpenMP program",
        "Python.h of Python",
        "lacks what the build needs",
        "cannot write to",
        "ran out of memory",
        "no space left on the disk",
        "is refused: it breaks NaN",
        "the compiled modules are missing",
        "are not of one build",
        "No matching distribution found",
    ):
        assert part in section, part
