"""The text of the kernel module: complete, repeatable, written only when it changes."""

import os
import re
from collections import Counter

from ext.codegen.kernel_loops import generate, ids_text, module_text
from ext.codegen.kernel_specs import SPECS


def test_text_is_the_same_every_time():
    assert module_text(SPECS) == module_text(list(SPECS))
    assert ids_text(SPECS) == ids_text(SPECS)


def test_unchanged_files_keep_their_time(tmp_path):
    pyx, pxd = tmp_path / "kern.pyx", tmp_path / "kernel_ids.pxd"
    generate(SPECS, str(pyx), str(pxd))
    for path in (pyx, pxd):
        os.utime(path, (1, 1))
    generate(SPECS, str(pyx), str(pxd))
    assert {pyx.stat().st_mtime, pxd.stat().st_mtime} == {1}
    generate(SPECS[:-1], str(pyx), str(pxd))
    assert pyx.stat().st_mtime != 1


def test_every_loop_is_written_once_and_used():
    text = module_text(SPECS)
    written = re.findall(r"^cdef void (\w+)\(char\*\* p", text, re.MULTILINE)
    assert len(written) == len(set(written))
    mentioned = Counter(re.findall(r"\w+", text))
    assert [name for name in written if mentioned[name] < 2] == []


def test_numbers_follow_the_list():
    numbers = dict(re.findall(r"^    K_(\w+) = (\d+)", ids_text(SPECS), re.MULTILINE))
    assert numbers.pop("COUNT") == str(len(SPECS))
    assert list(numbers) == [spec.name.upper() for spec in SPECS]
