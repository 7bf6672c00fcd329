"""A module for another instruction set is refused; its first instruction may be an unknown one."""

import shutil
import subprocess
import sysconfig

import programs
import pytest
from building import ROOT

MODULE = """
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


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize(
    ("answer", "printed"),
    [
        (1, "imported"),
        (0, "package.loops is compiled for wide, which this processor cannot run. The package"),
    ],
)
def test_a_module_asks_the_processor_first(tmp_path, answer, printed):
    (tmp_path / "loops.c").write_text(MODULE)
    headers = sysconfig.get_paths()["include"]
    words = f"-shared -fPIC loops.c -o loops.so -DAUTOGRAD_CY_SIMD_NEEDS()={answer}".split()
    words += [f"-I{headers}", "-include", str(ROOT / "ext/core/processor.h")]
    words += ['-DAUTOGRAD_CY_SIMD="wide"']
    subprocess.run(["cc", *words], cwd=tmp_path, check=True, timeout=60)
    run = programs.run("-c", TRY, cwd=tmp_path)
    assert run.stdout.startswith(printed), run.stderr
