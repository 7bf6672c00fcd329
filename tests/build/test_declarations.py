"""Runs of Cython that share what was read of a package write what a run of its own does."""

from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from building import ROOT, write

from ext.build.cython_runs import CythonRuns
from ext.build.extensions import PACKAGE, SHARED

pytestmark = pytest.mark.slow

pytest.importorskip("Cython", minversion="3.2")

# `far` reaches `near`, whose inline function uses what `base` has; `apart` uses more of it. What
# one reaches must not be seen in another: no names, no code, no marks that something is used.
SOURCES = {
    "pack/__init__.py": "",
    "pack/base.pxd": """
        from libc.math cimport sqrt
        cdef extern from "<limits.h>":
            '''
            #define PACK_BASE 1
            '''
            int INT_MAX
        cdef int one() noexcept nogil
        cdef int two() noexcept nogil
        cdef int three() noexcept nogil
        cdef class Box:
            cdef int value
            cdef int grown(self, int by)
        """,
    "pack/base.pyx": """
        cdef int one() noexcept nogil:
            return 1
        cdef int two() noexcept nogil:
            return 2
        cdef int three() noexcept nogil:
            return 3
        cdef class Box:
            cdef int grown(self, int by):
                return self.value + by
        """,
    "pack/near.pxd": """
        from pack.base cimport Box, one
        cdef inline int next_to(Box box) noexcept:
            return box.value + one()
        """,
    "pack/apart.pxd": """
        from pack.base cimport three, two
        cdef extern from "<limits.h>":
            '''
            #define PACK_APART 2
            '''
            int PACK_APART
        cdef inline int five() noexcept:
            return two() + three()
        """,
    "pack/far.pxd": """
        from pack.near cimport next_to
        cdef int farther(object x) except -1
        """,
    "pack/far.pyx": """
        from pack.base cimport Box
        from pack.near cimport next_to
        cdef int farther(object x) except -1:
            return next_to(x)
        def all_of(items):
            return [farther(item) for item in items]
        """,
    "pack/alone.pyx": """
        from pack.base cimport one
        def count(n):
            return n + one()
        """,
    "pack/broken.pxd": "cdef int farthest(missing x) except -1",
    "pack/broken.pyx": """
        cdef int farthest(x) except -1:
            return 1
        """,
    "pack/both.pyx": """
        from pack.apart cimport PACK_APART, five
        from pack.near cimport next_to
        from pack.base cimport Box
        def sums(Box box):
            return next_to(box) + five() + PACK_APART
        """,
}


def translated(root: Path, runs: CythonRuns, result: str, module: str, source: Path, *flags):
    """The lines of the C file, headers apart and in some order, and what it was made of."""
    c_file = root / result / f"{source.stem}.c"
    c_file.parent.mkdir(exist_ok=True, parents=True)
    given = ["--module-name", module, "-3", "-I", ".", *flags]
    status, said = runs.run([*given, "-M", "-o", str(c_file), str(source)])
    assert status == 0, said
    lines = c_file.read_text().splitlines()
    depfile = Path(f"{c_file}.dep").read_text().replace("\\\n", " ").split(": ", 1)[1]
    headers = sorted(line for line in lines if line.startswith("#include <"))
    others = [line for line in lines if not line.startswith("#include <")]
    return others, headers, {*depfile.split()}


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """The package, and {whether they share declarations: runs} in it."""
    folder = tmp_path_factory.mktemp("declarations")
    for name, text in SOURCES.items():
        write(folder / name, text)
    # The server is started in the folder of the package, and its own modules are in the tree.
    write(folder / "ext/__init__.py", f"__path__ = [{str(ROOT / 'ext')!r}]")
    with ExitStack() as stack:
        runs = {
            many: stack.enter_context(closing(CythonRuns(folder, many))) for many in (False, True)
        }
        yield folder, runs


def test_runs_that_share_declarations_see_only_those_they_reach(tree):
    folder, runs = tree
    found = {
        many: {
            name: translated(folder, runs[many], "c", f"pack.{name}", Path("pack", f"{name}.pyx"))
            for name in ("far", "alone", "both", "base")
        }
        for many in (False, True)
    }
    for name, alone in found[False].items():
        assert found[True][name] == alone, name
    assert any("next_to" in line for line in found[True]["far"][0])
    assert not any("PACK_APART" in line for line in found[True]["alone"][0])


def test_a_fault_in_a_declaration_is_said_by_the_runs_that_reach_it(tree):
    folder, runs = tree
    translated(folder, runs[True], "c", "pack.alone", Path("pack", "alone.pyx"))
    given = ["--module-name", "pack.broken", "-3", "-I", ".", "-M", "-o", "c/broken.c"]
    status, said = runs[True].run([*given, "pack/broken.pyx"])
    assert status != 0
    assert "broken.pxd:1:18: 'missing' is not a type identifier" in said


def test_modules_of_the_package_are_translated_as_alone(tmp_path):
    names = ["engine/node", "kernels/gemm_loops", "composites/shape_composites", "core/sealed"]
    flags = ["-I", "build/generated", "--shared", f"{PACKAGE}.{SHARED}"]
    found = []
    for many in (False, True):
        runs = CythonRuns(ROOT, many)
        try:
            found.append(
                [
                    translated(
                        tmp_path, runs, "c", f"{PACKAGE}.{Path(name).name}",
                        Path("ext", f"{name}.pyx"), *flags,
                    )
                    for name in names
                ]
            )  # fmt: skip
        finally:
            runs.close()
    for name, alone, shared in zip(names, *found, strict=True):
        assert shared == alone, name
