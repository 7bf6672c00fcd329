"""The build of small sample modules: kinds, cimports, generated sources, what is rebuilt when."""

import textwrap
import zipfile

import pytest
from building import ROOT, build_inplace, run_python, set_modules, write

pytestmark = pytest.mark.slow

INFO = 'Module("info", "core/info.pyx")'

BOX_PXD = """
cdef class Box:
    cdef double value
    cdef double twice(self) noexcept nogil
"""
BOX_PYX = """
cdef class Box:
    def __init__(self, value):
        self.value = value
    cdef double twice(self) noexcept nogil:
        return 2 * self.value
"""
USER_PYX = """
from autograd_cy._C.box cimport Box
def twice(Box box):
    return box.twice()
"""
LOOP_PYX = """
from cython.parallel cimport prange
cdef extern from *:
    '''
    #include "scalar/scale.h"
    '''
    double scale(double) noexcept nogil
    const char* AUTOGRAD_CY_SIMD
def target():
    return AUTOGRAD_CY_SIMD.decode()
def total(int n):
    cdef double s = 0
    cdef int i
    for i in prange(n, nogil=True):
        s += scale(i)
    return s
"""
TEAMS_PYX = """
from cython.parallel cimport prange
cdef extern from *:
    '''
    #ifndef _OPENMP
    #define _OPENMP 0
    #endif
    '''
    int _OPENMP
def standard():
    return _OPENMP
def total(int n):
    cdef int i, s = 0
    for i in prange(n, nogil=True):
        s += i
    return s
"""
GENERATE = """
from pathlib import Path
def main(build_dir, pxd_dir):
    source = Path(build_dir, "made.pyx")
    text = "def answer():\\n    return 42\\n"
    if not source.exists() or source.read_text() != text:
        source.write_text(text)
    return [{"name": "made", "source": source, "kind": "plain"}]
"""


def ran(output: str) -> dict:
    """{module: [steps]} from the lines that the build prints."""
    lines = [line.strip() for line in output.splitlines() if line.startswith("  ")]
    found = {}
    for line in lines:
        name, steps = line.rpartition(" (")[0].split(": ")
        found[name] = [*found.get(name, []), *steps.split(", ")]
    return found


ALL = ["cython", "compile", "link"]


def test_kinds_cimports_and_rebuilds(small_tree):
    write(small_tree / "autograd_cy/_C/box.pxd", BOX_PXD)
    write(small_tree / "ext/core/box.pyx", BOX_PYX)
    write(small_tree / "ext/engine/user.pyx", USER_PYX)
    write(small_tree / "ext/kernels/loop.pyx", LOOP_PYX)
    header = small_tree / "ext/kernels/scalar/scale.h"
    write(header, "static inline double scale(double x) { return 2 * x; }\n")
    write(small_tree / "ext/codegen/generate.py", GENERATE)
    for name in ("ext/core/cpu.pyx", "autograd_cy/_C/cpu.pxd"):
        write(small_tree / name, (ROOT / name).read_text())
    entries = [
        'Module("cpu", "core/cpu.pyx")',
        'Module("box", "core/box.pyx")',
        'Module("user", "engine/user.pyx")',
    ]
    set_modules(small_tree, INFO, *entries, 'Module("loop", "kernels/loop.pyx", "simd")')

    first = ran(build_inplace(small_tree).stdout)
    assert all(first[name] == ALL for name in ("info", "cpu", "box", "user", "made"))
    assert first["loop"] == ["cython"]
    loops = {name for name in first if name.startswith("loop_")}
    assert "loop_base" in loops
    assert all(first[name] == ["compile", "link"] for name in loops)

    probe = """
        from autograd_cy._C import _build_info, cpu, made
        from autograd_cy._C.box import Box
        from autograd_cy._C.user import twice
        assert twice(Box(3)) == 6 and made.answer() == 42
        import importlib
        for name in cpu.supported_targets():
            if name in _build_info.BUILD["simd"]:
                module = importlib.import_module(f"autograd_cy._C.loop_{name}")
                assert module.target() == name
                assert module.total(10) == 90
    """
    run_python("-c", textwrap.dedent(probe), cwd=small_tree)

    assert ran(build_inplace(small_tree).stdout) == {}

    write(header, "static inline double scale(double x) { return 3 * x; }\n")
    again = ran(build_inplace(small_tree).stdout)
    assert set(again) == loops
    assert all(steps == ["compile", "link"] for steps in again.values())

    write(small_tree / "autograd_cy/_C/box.pxd", BOX_PXD + "    cdef double thrice\n")
    assert set(ran(build_inplace(small_tree).stdout)) == {"box", "user"}

    set_modules(small_tree, INFO, *entries)
    assert ran(build_inplace(small_tree).stdout) == {}
    assert not list((small_tree / "autograd_cy/_C").glob("loop_*"))


def test_arrival_of_a_pxd_rebuilds_its_module(small_tree):
    write(small_tree / "ext/core/lonely.pyx", "cdef int f():\n    return 1\n")
    set_modules(small_tree, INFO, 'Module("lonely", "core/lonely.pyx")')
    build_inplace(small_tree)
    write(small_tree / "autograd_cy/_C/lonely.pxd", "cdef int f()\n")
    assert set(ran(build_inplace(small_tree).stdout)) == {"lonely"}


def test_a_change_of_what_the_own_pxd_cimports_rebuilds(small_tree):
    write(small_tree / "autograd_cy/_C/base.pxd", "cdef enum:\n    SIZE = 3\n")
    write(small_tree / "autograd_cy/_C/shown.pxd", "from autograd_cy._C.base cimport SIZE\n")
    write(small_tree / "ext/core/shown.pyx", "def size():\n    return SIZE\n")
    set_modules(small_tree, INFO, 'Module("shown", "core/shown.pyx")')
    build_inplace(small_tree)
    write(small_tree / "autograd_cy/_C/base.pxd", "cdef enum:\n    SIZE = 4\n")
    assert set(ran(build_inplace(small_tree).stdout)) == {"shown"}
    probe = "from autograd_cy._C import shown; print(shown.size())"
    assert run_python("-c", probe, cwd=small_tree).stdout.strip() == "4"


def test_a_failed_step_leaves_nothing_that_passes_for_its_result(small_tree):
    good = "def f():\n    return 1\n"
    set_modules(small_tree, INFO, 'Module("mended", "core/mended.pyx")')
    write(small_tree / "ext/core/mended.pyx", good)
    build_inplace(small_tree)
    write(small_tree / "ext/core/mended.pyx", good + "cdef int g(:\n")
    assert build_inplace(small_tree, check=False).returncode
    write(small_tree / "ext/core/mended.pyx", good)
    build_inplace(small_tree)
    probe = "from autograd_cy._C import mended; print(mended.f())"
    assert run_python("-c", probe, cwd=small_tree).stdout.strip() == "1"


def test_serial_build_has_no_openmp(small_tree):
    write(small_tree / "ext/core/teams.pyx", TEAMS_PYX)
    set_modules(small_tree, INFO, 'Module("teams", "core/teams.pyx", "openmp")')
    probe = "from autograd_cy._C import teams; print(teams.standard(), teams.total(4))"
    build_inplace(small_tree)
    standard, total = run_python("-c", probe, cwd=small_tree).stdout.split()
    assert int(standard) > 0
    assert total == "6"
    build_inplace(small_tree, AUTOGRAD_CY_OPENMP=0)
    assert run_python("-c", probe, cwd=small_tree).stdout.split() == ["0", "6"]


def test_debug_build_checks_bounds(small_tree):
    source = "def third(list x):\n    cdef Py_ssize_t i = 2\n    return x[i]\n"
    write(small_tree / "ext/core/bounds.pyx", source)
    set_modules(small_tree, INFO, 'Module("bounds", "core/bounds.pyx")')
    build_inplace(small_tree, AUTOGRAD_CY_DEBUG=1)
    probe = "from autograd_cy._C import bounds; bounds.third([])"
    assert "IndexError" in run_python("-c", probe, cwd=small_tree, check=False).stdout


def test_compiler_error_is_shown_with_its_command(small_tree):
    write(small_tree / "ext/core/broken.pyx", "cdef int f(:\n")
    set_modules(small_tree, INFO, 'Module("broken", "core/broken.pyx")')
    run = build_inplace(small_tree, check=False)
    assert run.returncode
    assert "broken.pyx:1:" in run.stdout
    assert "Traceback" not in run.stdout


def test_fast_math_stops_the_build(small_tree):
    run = build_inplace(small_tree, check=False, CFLAGS="-O2 -ffast-math")
    assert run.returncode
    assert "-ffast-math (from CFLAGS) is refused" in run.stdout
    assert "Traceback" not in run.stdout


def test_missing_openmp_stops_the_build_with_the_way_out(small_tree):
    # A compiler that knows nothing of OpenMP, made from the real one.
    cc = small_tree / "plain-cc"
    refuse = 'case "$*" in *-fopenmp*|*-qopenmp*|*" -mp "*) echo "no OpenMP" >&2; exit 1;; esac'
    write(cc, f'#!/bin/sh\n{refuse}\nexec cc "$@"\n')
    cc.chmod(0o755)
    run = build_inplace(small_tree, check=False, CC=str(cc))
    assert run.returncode
    assert "set AUTOGRAD_CY_OPENMP=0" in run.stdout
    assert "Traceback" not in run.stdout
    build_inplace(small_tree, CC=str(cc), AUTOGRAD_CY_OPENMP=0)


def test_editable_build_puts_the_modules_into_the_tree(small_tree):
    hook = "import os; from setuptools import build_meta as b; b.build_editable(os.getcwd())"
    run_python("-W", "ignore", "-c", hook, cwd=small_tree)
    (wheel,) = small_tree.glob("*.whl")
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".so")]
    run_python("-c", "from autograd_cy._C import _build_info, info", cwd=small_tree)


def test_unbuilt_tree_says_how_to_build(small_tree):
    run = run_python("-c", "import autograd_cy", cwd=small_tree, check=False)
    assert "ImportError: autograd_cy: the compiled modules are missing" in run.stdout
    assert "pip install -e ." in run.stdout


def test_the_helper_of_comprehensions_gives_its_reference_back_once():
    # What the process that runs Cython does; in another one, as Cython keeps what it has read.
    text = """
        from Cython.Compiler.Code import UtilityCode
        from ext.build.cython_runs import CORRECTION, WRONG, correct_helpers

        try:
            helper = UtilityCode.load_cached("ListCompAppendAndDecref", "Optimize.c")
        except ValueError:
            print("there is none")
        else:
            before = helper.impl.count(WRONG), helper.impl.count("Py_DECREF(x);")
            correct_helpers()
            assert WRONG not in helper.impl, helper.impl
            assert before[0] == 0 or helper.impl.count(CORRECTION) == before[1] == before[0]
            print("corrected")
    """
    said = run_python("-c", textwrap.dedent(text), cwd=ROOT).stdout
    assert said.strip() in ("corrected", "there is none")


def test_isinstance_of_several_classes_looks_whether_it_failed(tmp_path):
    # Also in another process, as this changes Cython for all of the process.
    (tmp_path / "kinds.pyx").write_text(
        "import decimal\n"
        "def several(x):\n    return isinstance(x, (bool, list, decimal.Decimal))\n"
        "def one(x):\n    return isinstance(x, decimal.Decimal)\n"
    )
    text = f"""
        import os
        from ext.build.cython_runs import _cython, correct_calls, is_uncorrected

        os.chdir({str(tmp_path)!r})
        for _ in range(2):      # what is corrected already is left alone
            correct_calls()
            assert _cython(["-3", "-o", "kinds.c", "kinds.pyx"]) == 0
        made = open("kinds.c", "rb").read()
        calls = [line for line in made.splitlines() if b"= PyObject_IsInstance(" in line]
        assert len(calls) == 2 and all(b"-1))" in line for line in calls), calls
        assert not is_uncorrected(made)
        assert is_uncorrected(made.replace(calls[0], calls[0].split(b"if")[0]))
        print("corrected")
    """
    assert run_python("-c", textwrap.dedent(text), cwd=ROOT).stdout.strip() == "corrected"
