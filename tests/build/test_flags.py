"""Flags, the OpenMP probe and the list of instruction sets, with pretended compilers."""

import os
import re

import pytest
from building import ROOT

from ext.build import extensions, flags, openmp, simd
from ext.build.probe import Probe, compiler_version
from ext.build.steps import read_depfile


class PretendedProbe:
    """Accepts what `accepts` returns true for, and remembers nothing."""

    version = "pretended cc 1.0"

    def __init__(self, accepts):
        self.accepts = accepts

    def compiles(self, wanted=(), source=""):
        return self.accepts(list(wanted), source)

    def links(self, wanted=(), link_flags=(), source=""):
        return self.accepts([*wanted, *link_flags], source)

    def first(self, *candidates):
        return next((c for c in candidates if self.compiles(c)), [])


@pytest.mark.parametrize("flag", flags.FORBIDDEN)
@pytest.mark.parametrize("variable", ["CFLAGS", "CPPFLAGS", "LDFLAGS", "CC"])
def test_unsafe_flag_is_refused_and_named(flag, variable):
    with pytest.raises(flags.FlagRefused, match=rf"{flag} \(from {variable}\) is refused"):
        flags.refuse_unsafe({variable: f"cc -O2 {flag} -g"})


def test_unsafe_flag_of_the_interpreter_is_refused():
    with pytest.raises(flags.FlagRefused, match="command of this Python"):
        flags.refuse_unsafe({}, ["gcc", "-Ofast"])


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("gcc -O2 -Iext/core -I/opt/include -L/opt/lib -Wall", "gcc -O2 -Iext/core -Wall"),
        ("/opt/gcc/bin/gcc-13 -isystem /opt/include -pthread", "gcc-13 -pthread"),
        ("ccache /usr/bin/gcc --sysroot=/opt/root -g0", "ccache gcc -g0"),
        ("gcc -ffile-prefix-map=/tmp/x=. -Wl,-rpath,/opt/lib -Wl,-O1", "gcc -Wl,-O1"),
        ("gcc -DNAME=value -std=c11", "gcc -DNAME=value -std=c11"),
    ],
)
def test_folders_of_the_machine_are_left_out_of_the_record_of_a_build(command, expected):
    assert " ".join(flags.without_folders(command.split())) == expected


@pytest.mark.parametrize("value", ["-O3 -march=native", "-fno-fast-math", "-Wl,-O1 -g", ""])
def test_safe_flags_pass(value):
    flags.refuse_unsafe({"CFLAGS": value})


def test_no_flag_of_ours_is_unsafe_or_native():
    probe = PretendedProbe(lambda wanted, source: True)
    ours = flags.common(probe, {}) + flags.link(probe, {})
    for kind in extensions.KINDS:
        ours += flags.of_kind(kind, openmp.OpenMP(("-fopenmp",)), probe, {})
    for target in simd.targets(probe, {}):
        ours += target.flags
    assert not [flag for flag in ours if flags.is_forbidden(flag)]
    assert "-march=native" not in ours
    assert "-march=native" in flags.common(probe, {"AUTOGRAD_CY_NATIVE": "1"})


def test_plain_modules_get_no_openmp_and_simd_modules_optimise_more():
    probe = PretendedProbe(lambda wanted, source: True)
    found = openmp.OpenMP(("-fopenmp",), ("-fopenmp",))
    assert flags.of_kind("plain", found, probe, {}) == [flags.CONTRACTION]
    assert flags.of_kind("openmp", found, probe, {}) == ["-fopenmp", flags.CONTRACTION]
    assert flags.of_kind("simd", found, probe, {})[:2] == ["-fopenmp", "-O3"]


def test_rejected_flags_are_left_out():
    probe = PretendedProbe(lambda wanted, source: not any("memset" in flag for flag in wanted))
    assert flags.MEMSET not in flags.common(probe, {})


def test_debug_turns_checks_and_assertions_on():
    probe = PretendedProbe(lambda wanted, source: True)
    debug = {"AUTOGRAD_CY_DEBUG": "1", "AUTOGRAD_CY_SANITIZE": "address,undefined"}
    common = flags.common(probe, debug)
    assert {"-O1", "-g", "-UNDEBUG", "-fsanitize=address,undefined"} <= set(common)
    assert "-DCYTHON_WITHOUT_ASSERTIONS=1" not in common
    assert flags.directives(debug)["boundscheck"] == "True"
    assert flags.directives({})["boundscheck"] == "False"
    assert flags.link(probe, debug) == ["-fsanitize=address,undefined"]


def test_openmp_message_names_the_way_out():
    probe = PretendedProbe(lambda wanted, source: False)
    with pytest.raises(openmp.OpenMPMissing, match="set AUTOGRAD_CY_OPENMP=0") as caught:
        openmp.find(probe, {})
    assert "pretended cc 1.0" in str(caught.value)
    assert not openmp.find(probe, {"AUTOGRAD_CY_OPENMP": "0"}).enabled


def test_openmp_of_clang_on_macos_is_found():
    probe = PretendedProbe(lambda wanted, source: "-Xpreprocessor" in wanted)
    assert openmp.find(probe, {}).link_flags == ("-lomp",)


def test_simd_targets_follow_processor_and_compiler():
    def names(accepts):
        return [target.name for target in simd.targets(PretendedProbe(accepts), {})]

    assert names(lambda wanted, source: True) == ["base", "avx2", "avx512"]
    assert names(lambda wanted, source: not wanted and not source) == ["base"]
    assert names(lambda wanted, source: "-march=skylake-avx512" not in wanted) == ["base", "avx2"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("avx2", ["base", "avx2"]), ("base", ["base"]), ("avx512, avx2", ["base", "avx2", "avx512"])],
)
def test_simd_targets_can_be_chosen(text, expected):
    probe = PretendedProbe(lambda wanted, source: True)
    found = simd.targets(probe, {"AUTOGRAD_CY_SIMD": text})
    assert [target.name for target in found] == expected
    with pytest.raises(simd.UnknownTarget, match="has sse9, but only knows base, avx2, avx512"):
        simd.targets(probe, {"AUTOGRAD_CY_SIMD": f"sse9,{text}"})


def test_the_base_gets_less_effort_only_beside_better_sets():
    probe = PretendedProbe(lambda wanted, source: True)
    among = simd.targets(probe, {})
    assert [simd.is_fallback(target, among) for target in among] == [True, False, False]
    alone = simd.targets(probe, {"AUTOGRAD_CY_SIMD": "base"})
    assert not simd.is_fallback(alone[0], alone)


def test_job_count_follows_max_jobs_and_affinity():
    assert flags.job_count({"MAX_JOBS": "3"}) == 3
    assert flags.job_count({"MAX_JOBS": "0"}) == 1
    if hasattr(os, "sched_getaffinity"):
        assert flags.job_count({}) == len(os.sched_getaffinity(0))


def test_probe_remembers_answers_until_the_compiler_changes(tmp_path):
    cache = tmp_path / "probes.json"
    probe = Probe(["cc"], ["cc", "-shared"], cache)
    assert probe.compiles(["-O2"])
    assert not probe.compiles(["-no-such-flag"])
    assert not probe.compiles((), "not C")
    assert Probe(["cc"], ["cc", "-shared"], cache).answers == probe.answers
    assert Probe(["cc", "-O1"], ["cc", "-shared"], cache).answers == {}


def test_missing_compiler_is_not_a_crash():
    assert "not found" in compiler_version(["/no/such/compiler"])
    assert not Probe(["/no/such/compiler"], ["/no/such/compiler"]).compiles()


def test_depfile_keeps_files_of_the_tree_only(tmp_path):
    path = tmp_path / "x.d"
    path.write_text("out.o: a.c \\\n  sub/b\\ c.h /usr/include/stdio.h \\\n  ../outside.h\n")
    assert read_depfile(path, tmp_path) == ["a.c", "sub/b c.h"]


def test_public_pxd_need_no_header_of_ours():
    """Users compile against the installed .pxd, and ext/ is not installed."""
    ours = {path.name for path in (ROOT / "ext").rglob("*.h")}
    for path in extensions.PACKAGE_DIR.glob("*.pxd"):
        named = re.findall(r'cdef extern from "([^"]+)"', path.read_text())
        assert not ours & {name.rpartition("/")[2] for name in named}, path.name


def test_modules_have_sources_and_unique_names():
    names = [module.name for module in extensions.MODULES]
    assert len(set(names)) == len(names)
    assert all(module.path.is_file() for module in extensions.MODULES)
    with pytest.raises(ValueError, match="kind is one of"):
        extensions.Module("x", "x.pyx", "fast")
