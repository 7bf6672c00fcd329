"""A module for another processor is refused; its first instruction may be an unknown one."""

import shutil
import subprocess
import sysconfig

import programs
import pytest
from building import ROOT

from ext.build import flags

MODULE = """
#include <Python.h>
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "package.loops"};
PyMODINIT_FUNC PyInit_loops(void) { return PyModuleDef_Init(&definition); }
"""
TRY = """
try:
    import loops
    print("imported")
except ImportError as error:
    print(error)
"""
LACKING = "package.loops: this build of the module is for processors with xop, which this one lacks"


def compiled(folder, *extra):
    """Return whether a compiler makes the module with flags of the build and others."""
    (folder / "loops.c").write_text(MODULE)
    headers = sysconfig.get_paths()["include"]
    words = ["cc", *"-shared -fPIC loops.c -o loops.so".split(), f"-I{headers}", *extra]
    words += [str(ROOT / word) if word.endswith(".h") else word for word in flags.ASKS_PROCESSOR]
    return not subprocess.run(words, cwd=folder, timeout=60, capture_output=True).returncode


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize(("flag", "printed"), [("-O1", "imported"), ("-mxop", LACKING)])
def test_a_module_asks_the_processor_first(tmp_path, flag, printed):
    # Instructions of processors that are no longer made.
    if not compiled(tmp_path, flag):
        pytest.skip(f"the compiler has no {flag}")
    run = programs.run("-c", TRY, cwd=tmp_path)
    assert run.stdout.startswith(printed), run.stderr
