"""The text of the kernel module: complete, repeatable, written only when it changes."""

import os
import re
from collections import Counter
from pathlib import Path

import pytest

from autograd_cy._C.kern_base import KERNELS
from ext.codegen.kernel_loops import (
    SPACE,
    TYPES,
    module_text,
    numbers_text,
    write_if_changed,
)
from ext.codegen.kernel_specs import SPECS

ROOT = Path(__file__).resolve().parents[2]


def test_text_is_the_same_every_time():
    assert module_text(SPECS) == module_text(list(SPECS))


def test_unchanged_files_keep_their_time(tmp_path):
    path = tmp_path / "kern.pyx"
    assert write_if_changed(str(path), module_text(SPECS))
    os.utime(path, (1, 1))
    assert not write_if_changed(str(path), module_text(SPECS))
    assert path.stat().st_mtime == 1
    assert write_if_changed(str(path), module_text(SPECS[:-1]))
    assert path.stat().st_mtime != 1


def test_every_loop_is_written_once_and_used():
    text = module_text(SPECS)
    written = re.findall(r"^cdef void (\w+)\(char\*\* p", text, re.MULTILINE)
    assert len(written) == len(set(written))
    mentioned = Counter(re.findall(r"\w+", text))
    assert [name for name in written if mentioned[name] < 2] == []


def test_numbers_follow_the_list():
    numbers = dict(re.findall(r"^    K_(\w+) = (\d+)", numbers_text(SPECS), re.MULTILINE))
    assert list(numbers) == [spec.name.upper() for spec in SPECS]
    assert list(KERNELS) == [spec.name for spec in SPECS]


def test_the_table_has_room_as_the_generator_knows_it():
    text = (ROOT / "autograd_cy" / "_C" / "kernel_table.pxd").read_text()
    assert f"KERNEL_SPACE = {SPACE} " in text
    assert "loop_t loops[KERNEL_SPACE][DTYPES]" in text
    assert f" DTYPES = {len(TYPES)}\n" in (ROOT / "autograd_cy" / "_C" / "dtypes.pxd").read_text()
    with pytest.raises(ValueError, match="KERNEL_SPACE"):
        module_text(SPECS * (SPACE // len(SPECS) + 1))
