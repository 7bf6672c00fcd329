"""Line coverage of Cython: the lines that count, the settings, the table, and a small build."""

import json
import re
import textwrap
from types import SimpleNamespace

import pytest
from building import ROOT, build_inplace, run_python, set_modules, write

from ext.build import builder, coverage, flags

ON = {"AUTOGRAD_CY_COVERAGE": "1"}
# As Cython writes them: lines of a function with the GIL and without it, of an included file in
# its own function and in one of another file, and of generated sources.
C_FILE = """
static const char* const __pyx_f[] = {
  "ext/core/box.pyx",
  "ext/core/scales.pxi",
  "build/generated/operators.pxi",
};
  __Pyx_TraceStartFunc("total", __pyx_f[0], 3, 1, 0, 0, __PYX_ERR(0, 3, __pyx_L1_error));
  __Pyx_TraceLine(4,12,0,__PYX_ERR(0, 4, __pyx_L1_error))
    __Pyx_TraceLine(9,30,1,__PYX_ERR(0, 9, __pyx_L5_error))
  __Pyx_TraceStartGen("each", __pyx_f[1], 6, 1, 0, 0, __PYX_ERR(1, 6, __pyx_L1_error));
  __Pyx_TraceLine(7,3,0,__PYX_ERR(1, 7, __pyx_L1_error))
  __Pyx_TraceLine(8,3,0,__PYX_ERR(2, 8, __pyx_L1_error))
  __Pyx_TraceStartFunc("mul", __pyx_f[2], 6, 1, 0, 0, __PYX_ERR(2, 6, __pyx_L1_error));
  __Pyx_TraceLine(7,3,0,__PYX_ERR(2, 7, __pyx_L1_error))
  __Pyx_TraceStartFunc("PyInit_box", __pyx_f[0], 1, 2, 0, 0, __PYX_ERR(0, 1, __pyx_L1_error));
  __Pyx_TraceLine(6,3,0,__PYX_ERR(1, 6, __pyx_L1_error))
  __Pyx_TraceLine(3,3,0,__PYX_ERR(0, 3, __pyx_L1_error))
"""
BOX = """
include "scales.pxi"
cdef class Box:
    cdef double value
    def __init__(self, value):
        self.value = value
    def scaled(self, by):
        if by < 0:
            raise ValueError(
                "negative")
        with nogil:
            self.value = scale(self.value)
        return checked(self.value * by)
def never():
    return other()
"""
SCALES = """
cdef double scale(double x) noexcept nogil:
    return 2 * x
cdef double checked(double x) except? -1:
    if x > 1e6:
        raise OverflowError
    return x
# The import runs the line of each `def`: that of `other` has the number of a line of `never`.




# line 13

cdef double other() except? -1:
    return 1
"""


def test_the_switch_asks_cython_and_c_for_calls_of_the_tracer():
    directives = flags.directives(ON)
    assert directives["linetrace"] == "True"
    assert "linetrace" not in flags.directives({})
    compiler = SimpleNamespace(version="cc 1", compiles=lambda *_: False, first=lambda *_: [])
    assert set(flags.COVERAGE) <= set(flags.common(compiler, ON))
    assert not set(flags.COVERAGE) & set(flags.common(compiler, {}))


def test_such_builds_have_a_folder_of_their_own():
    folders = [builder.build_folder(e) for e in ({}, {"AUTOGRAD_CY_DEBUG": "1"}, ON)]
    assert [folder.parent.name for folder in folders] == ["release", "debug", "coverage"]
    assert len({folder.name for folder in folders}) == 1


def test_lines_that_hold_the_gil_count(tmp_path):
    (tmp_path / "box.c").write_text(C_FILE)
    (tmp_path / "other.c").write_text(C_FILE.replace("TraceLine(4,", "TraceLine(5,"))
    lines = coverage.traced_lines(sorted(tmp_path.glob("*.c")))
    assert lines.all == {"ext/core/box.pyx": [3, 4, 5], "ext/core/scales.pxi": [7]}
    assert lines.at_import == {"ext/core/box.pyx": [3]}


def test_settings_leave_out_what_the_build_writes(tmp_path):
    lines = coverage.settings(tmp_path / "data", cython=True).splitlines()
    assert "plugins = ext.build.coverage" in lines and "    ext/core" in lines
    omitted = [line.strip() for line in lines[lines.index("omit =") + 1 : lines.index("[report]")]]
    assert "autograd_cy/nn/functional/_from_records.py" in omitted
    omitted = [name for name in omitted if name and name != coverage.SHARED_SOURCE]
    assert not [name for name in omitted if not (ROOT / name).exists()]
    assert "autograd_cy/nn/module.py" not in omitted
    python = coverage.settings(tmp_path / "data", cython=False)
    assert "plugins" not in python and "ext/core" not in python


def entry(covered, count):
    return {"summary": {"covered_lines": covered, "num_statements": count}}


def test_the_table_has_totals_by_folder_and_the_lowest_shares():
    files = {
        "autograd_cy/hub.py": entry(6, 8),
        "autograd_cy/nn/linear.py": entry(10, 10),
        "autograd_cy/nn/utils/clip.py": entry(1, 10),
        "autograd_cy/nn/empty.py": entry(0, 0),
        "autograd_cy/a.py": entry(1, 2),
        "ext/core/box.pyx": entry(2, 4),
    }
    assert [line.split() for line in coverage.table(files, least=2)] == [
        ["folder", "lines", "covered", "share"],
        ["autograd_cy", "10", "7", "70.0", "%"],
        ["autograd_cy/nn", "20", "11", "55.0", "%"],
        ["ext/core", "4", "2", "50.0", "%"],
        ["Cython", "4", "2", "50.0", "%"],
        ["Python", "30", "18", "60.0", "%"],
        [],
        ["least", "covered", "missing", "share"],
        ["autograd_cy/nn/utils/clip.py", "9", "10.0", "%"],
        ["ext/core/box.pyx", "2", "50.0", "%"],
    ]


@pytest.mark.slow
def test_lines_of_a_small_module(small_tree):
    pytest.importorskip("coverage")
    write(small_tree / "ext/core/box.pyx", BOX)
    write(small_tree / "ext/core/scales.pxi", SCALES)
    set_modules(
        small_tree, 'Module("info", "core/info.pyx")', 'Module("box", "core/box.pyx", "openmp")'
    )
    build_inplace(small_tree, **ON)
    (path,) = small_tree.glob("build/coverage/*/box.c")
    begun = re.findall(r'TraceStartFunc\("(\w+)"', path.read_text())
    assert "checked" in begun and "scale" not in begun  # the latter would wait for the GIL
    said = run_python("-m", "ext.build.coverage", "lines", cwd=small_tree, **ON).stdout
    assert "Cython sources are traced" in said
    program = """
        from autograd_cy._C.box import Box
        assert Box(2).scaled(3) == 12
    """
    write(small_tree / "program.py", program)
    settings = run_python("-m", "ext.build.coverage", "settings", cwd=small_tree).stdout
    write(small_tree / "settings", settings)
    options = ("--rcfile=settings",)
    run_python(
        "-m", "coverage", "run", *options, "program.py", cwd=small_tree, PYTHONPATH=small_tree
    )
    run_python("-m", "coverage", "combine", *options, cwd=small_tree)
    run_python("-m", "coverage", "json", *options, "-o", "lines.json", cwd=small_tree)
    files = json.loads((small_tree / "lines.json").read_text())["files"]

    def numbers(name, *texts):
        lines = textwrap.dedent({"box.pyx": BOX, "scales.pxi": SCALES}[name]).splitlines()
        return {lines.index(text) + 1 for text in texts}

    box, scales = files["ext/core/box.pyx"], files["ext/core/scales.pxi"]
    executed, missing = set(box["executed_lines"]), set(box["missing_lines"])
    assert executed >= numbers(
        *("box.pyx", "        self.value = value", "        if by < 0:"),
        "        return checked(self.value * by)",
    )
    assert missing == numbers("box.pyx", "            raise ValueError(", "    return other()")
    # Nothing can tell whether these have run.
    without = numbers("box.pyx", "            self.value = scale(self.value)")
    assert not without & (executed | missing)
    assert set(scales["executed_lines"]) == numbers("scales.pxi", "    if x > 1e6:", "    return x")
    assert set(scales["missing_lines"]) == numbers(
        "scales.pxi", "        raise OverflowError", "    return 1"
    )
    assert numbers("scales.pxi", "cdef double other() except? -1:") == numbers(
        "box.pyx", "    return other()"
    )


def test_structs_that_functions_show_to_the_tracer_are_found(tmp_path):
    write(
        tmp_path / "lists.c",
        "  __Pyx_TraceReturnCValue(__pyx_r, __pyx_convert__to_py_struct____pyx_t_5lists_Number, "
        "19, 0, 0);\n  __Pyx_TraceReturnCValue(__pyx_r, __Pyx_PyLong_From_int, 7, 0, 0);\n",
    )
    assert coverage.returned_structs(tmp_path / "lists.c") == ["lists.Number"]
