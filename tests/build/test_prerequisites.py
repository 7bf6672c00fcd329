"""The obstacles to a build on a cluster, one at a time, each with its own cure."""

import fcntl
import os
import shutil

import pytest
from building import build_inplace, run_python, set_modules, write

from ext.build import builder, flags, guard, prerequisites
from ext.build.extensions import declared
from ext.build.probe import Probe

needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")


def script(path, text):
    """A program at `path` that the shell runs."""
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


def probe_of(cc, ld=None):
    return Probe([cc], [ld or cc, "-shared"])


def test_a_compiler_that_does_not_start_is_not_taken_for_missing_openmp():
    with pytest.raises(prerequisites.Missing, match="module load gcc") as caught:
        prerequisites.require_compiler(probe_of("/no/such/compiler"))
    assert "`/no/such/compiler` does not compile an empty program" in str(caught.value)
    assert "OpenMP" not in str(caught.value)


def test_a_compiler_that_fails_is_quoted(tmp_path):
    cc = script(tmp_path / "cc", "echo licence server unreachable >&2; exit 3\n")
    with pytest.raises(prerequisites.Missing, match="licence server unreachable"):
        prerequisites.require_compiler(probe_of(cc))


@needs_cc
def test_missing_python_headers_have_their_own_message(tmp_path):
    with pytest.raises(prerequisites.Missing, match=r"apt install python3\.\d+-dev"):
        prerequisites.require_python_header(probe_of("cc"), [tmp_path])
    prerequisites.require_python_header(probe_of("cc"), builder.include_dirs())


@needs_cc
def test_an_honest_compiler_passes():
    prerequisites.require_compiler(probe_of("cc"))
    flags.refuse_hidden(probe_of("cc"))


@needs_cc
@pytest.mark.parametrize("flag", ["-ffast-math", "-ffinite-math-only", "-Ofast"])
def test_fast_math_of_a_compiler_wrapper_is_refused(tmp_path, flag):
    cc = script(tmp_path / "cc", f'exec cc {flag} "$@"\n')
    with pytest.raises(flags.FlagRefused, match="does fast math though no flag says so"):
        flags.refuse_hidden(probe_of(cc))


@needs_cc
def test_flush_to_zero_at_link_time_is_refused(tmp_path):
    ld = script(tmp_path / "ld", 'exec cc -ffast-math "$@"\n')
    probe = probe_of("cc", ld)
    if not probe.flushes_denormals():
        pytest.skip("this compiler's -ffast-math does not change the process when linking")
    with pytest.raises(flags.FlagRefused, match="denormal numbers zero in the whole process"):
        flags.refuse_hidden(probe)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_tree_that_cannot_be_written_to_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(prerequisites.Missing, match="cannot write to"):
        prerequisites.require_writable(tmp_path / "build")


def test_a_build_folder_that_is_a_file_is_named(tmp_path):
    (tmp_path / "build").write_text("")
    with pytest.raises(prerequisites.Missing, match="is a file, or a link to nothing"):
        prerequisites.require_writable(tmp_path / "build")


def test_a_file_system_without_locks_does_not_stop_the_build(tmp_path, monkeypatch, capsys):
    def refuse(handle, operation):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with builder.locked(tmp_path / "build"):
        pass
    assert "building without a lock" in capsys.readouterr().out


@needs_cc
def test_the_guard_names_what_newer_compilers_refuse(tmp_path):
    good, bad = tmp_path / "good.c", tmp_path / "bad.c"
    good.write_text("int f(int *p);\nint f(int *p) { return *p; }\n")
    bad.write_text("struct a *g(struct b *p);\nstruct a *g(struct b *p) { return p; }\n")
    assert guard.refused([good]) == []
    (said,) = guard.refused([good, bad])
    assert said.startswith("bad.c:")
    assert "incompatible" in said


def test_cold_modules_are_those_of_their_layers_and_headers(tmp_path):
    def module(layer, *lines):
        path = tmp_path / layer / "some.pyx"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(["# cython: language_level=3", *lines, ""]))
        return declared(path, f"{layer}/some.pyx")

    assert not module("kernels").cold
    for layer in ("core", "engine", "composites", "shape_rules", "cuda", "distributed"):
        assert module(layer).cold
        assert module(layer, "# build: plain -ffp-contract=off").cold
        assert not module(layer, "# build: plain hot").cold
        assert not module(layer, "# build: openmp").cold
    assert module("core", "# build: plain hot").flags == ()
    assert module("kernels", "# build: plain cold").cold
    assert module("kernels", "# build: simd cold").cold
    assert not module("kernels", "# build: simd").cold
    found = module("core", "# build: openmp cold -ffp-contract=off")
    assert (found.kind, found.cold, found.flags) == ("openmp", True, ("-ffp-contract=off",))


def test_optimisation_level_replaces_those_of_modules():
    class Accepting:
        version = "pretended cc 1.0"

        def compiles(self, wanted=(), source=""):
            return True

        def links(self, wanted=(), link_flags=(), source=""):
            return True

        def first(self, *candidates):
            return candidates[0]

    quick = {"AUTOGRAD_CY_OPT": "0"}
    assert flags.common(Accepting(), quick)[0] == "-O0"
    assert flags.of_module(("-O1", "-ffp-contract=off"), Accepting(), quick) == [
        "-ffp-contract=off"
    ]
    assert flags.of_module(("-O1",), Accepting(), {}) == ["-O1"]
    assert flags.of_cold("plain", Accepting(), quick) == []
    assert flags.of_cold("simd", Accepting(), {"AUTOGRAD_CY_DEBUG": "1"}) == []
    assert flags.of_cold("plain", Accepting(), {})[0] == "-O1"
    assert flags.of_cold("simd", Accepting(), {})[0] == "-O2"
    assert flags.ONCE in flags.common(Accepting(), {})
    assert flags.ONCE not in flags.common(Accepting(), {"AUTOGRAD_CY_DEBUG": "1"})
    assert flags.common(Accepting(), {})[0] == "-O2"
    with pytest.raises(flags.FlagRefused, match="AUTOGRAD_CY_OPT=fast is no level"):
        flags.opt_level({"AUTOGRAD_CY_OPT": "fast"})


@pytest.mark.slow
def test_hidden_fast_math_stops_the_build(small_tree):
    cc = script(small_tree / "wrapped-cc", 'exec cc -ffast-math "$@"\n')
    run = build_inplace(small_tree, check=False, CC=cc)
    assert run.returncode
    assert "does fast math though no flag says so" in run.stdout
    assert "Traceback" not in run.stdout


@pytest.mark.slow
def test_an_absent_compiler_stops_the_build_with_its_name(small_tree):
    run = build_inplace(small_tree, check=False, CC="/nonexistent/gcc")
    assert run.returncode
    assert "`/nonexistent/gcc` does not compile an empty program" in run.stdout
    assert "Traceback" not in run.stdout


@pytest.mark.slow
def test_after_a_failed_build_stubs_are_not_taken_for_modules_of_another_python(small_tree):
    write(small_tree / "autograd_cy/_C/info.pyi", "")
    set_modules(small_tree, 'Module("info", "core/absent.pyx")')
    assert build_inplace(small_tree, check=False).returncode
    run = run_python("-c", "import autograd_cy", cwd=small_tree, check=False)
    assert "the compiled modules are missing" in run.stdout
    assert "another Python" not in run.stdout
