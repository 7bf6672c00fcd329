"""The part of its machine that this process may use, and the libraries that it has loaded.

Used by `info` and `doctor`; nothing here is imported with the package.  The thread budget itself is
in threads.py.
"""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

from autograd_cy._environment import threads as _threads

OPENMP_LIBRARIES = re.compile(r"lib(gomp|omp|iomp5)[^a-z][^/]*$")
BLAS_LIBRARIES = re.compile(r"lib(\w*openblas\w*|mkl_rt|mkl_core|blis|armpl|flexiblas|c?blas)[-.]")


def processors() -> int:
    """Processors of the machine."""
    return os.cpu_count() or 1


def usable() -> int:
    """Threads that can run at once, whatever OMP_NUM_THREADS says."""
    return _threads.default_num_threads(environ={})


def loaded_libraries(pattern: re.Pattern) -> list[str]:
    """Shared objects of this process whose file name matches, each file once (Linux)."""
    fields = (line.split(maxsplit=5) for line in _read("/proc/self/maps").splitlines())
    paths = {field[5] for field in fields if len(field) == 6}
    matches = [path for path in paths if pattern.match(path.rpartition("/")[2])]
    return sorted({os.path.realpath(path) for path in matches})


def openmp_runtimes() -> list[str]:
    """OpenMP runtimes in this process; more than one means more than one pool of threads."""
    return loaded_libraries(OPENMP_LIBRARIES)


def processor_name() -> str:
    """Marketing name of the processor."""
    match = re.search(r"^(?:model name|Model)\s*:\s*(.+)$", _read("/proc/cpuinfo"), re.MULTILINE)
    return match[1].strip() if match else platform.processor() or platform.machine()


def _read(path: str) -> str:
    try:
        # Paths in /proc/self/maps have the bytes of their files.
        return Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
