"""What this process may use of its machine: processors, quota, loaded libraries.

Reads /proc and /sys where they exist (Linux) and says None or nothing elsewhere.  Used by
`info` and `doctor`; nothing here is imported with the package.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
from pathlib import Path

OPENMP_LIBRARIES = re.compile(r"lib(gomp|omp|iomp5)[^a-z][^/]*$")
BLAS_LIBRARIES = re.compile(r"lib(\w*openblas\w*|mkl_rt|mkl_core|blis|armpl|flexiblas|c?blas)[-.]")


def processors() -> int:
    """Processors of the machine."""
    return os.cpu_count() or 1


def affinity() -> int:
    """Processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return processors()


def quota(root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")):
    """Processors' worth of time that the control group grants, or None without a limit."""
    limits = []
    for line in _read(own).splitlines():
        number, controllers, path = line.split(":", 2)
        if number == "0" and not controllers:
            limits += [_quota_v2(folder) for folder in _upwards(root, path)]
        elif "cpu" in controllers.split(","):
            for base in (root / "cpu", root / "cpu,cpuacct"):
                limits += [_quota_v1(folder) for folder in _upwards(base, path)]
    return min((limit for limit in limits if limit), default=None)


def _upwards(root: Path, path: str) -> list[Path]:
    """The group's folder and those above it; inside a container only the root may be visible."""
    parts = [part for part in path.split("/") if part and part != ".."]
    return [root.joinpath(*parts[:count]) for count in range(len(parts), -1, -1)]


def _quota_v2(folder: Path):
    words = _read(folder / "cpu.max").split()
    if len(words) == 2 and words[0] != "max":
        return int(words[0]) / int(words[1])
    return None


def _quota_v1(folder: Path):
    time, period = _read(folder / "cpu.cfs_quota_us"), _read(folder / "cpu.cfs_period_us")
    if time and period and int(time) > 0:
        return int(time) / int(period)
    return None


def usable() -> int:
    """Threads that can run at once: affinity, cut by the quota."""
    limit = quota()
    return affinity() if limit is None else max(1, min(affinity(), round(limit)))


def loaded_libraries(pattern: re.Pattern) -> list[str]:
    """Shared objects of this process whose file name matches, each file once."""
    paths = {line.split(maxsplit=5)[5] for line in _read("/proc/self/maps").splitlines()
             if len(line.split(maxsplit=5)) == 6}  # fmt: skip
    found = [path for path in paths if pattern.match(path.rpartition("/")[2])]
    return sorted({os.path.realpath(path) for path in found})


def openmp_runtimes() -> list[str]:
    """OpenMP runtimes in this process; more than one means more than one pool of threads."""
    return loaded_libraries(OPENMP_LIBRARIES)


def blas_libraries() -> list[dict]:
    """BLAS libraries in this process: file, configuration and threads where it says them."""
    return [{"file": path, **_ask_blas(path)} for path in loaded_libraries(BLAS_LIBRARIES)]


def _ask_blas(path: str) -> dict:
    with contextlib.suppress(OSError):
        library = ctypes.CDLL(path)
        answer = {}
        config = _symbol(library, "openblas_get_config")
        if config is not None:
            config.restype = ctypes.c_char_p
            answer["config"] = config().decode().strip()
        threads = _symbol(library, "openblas_get_num_threads")
        for name in ("MKL_Get_Max_Threads", "bli_thread_get_num_threads"):
            threads = threads or _symbol(library, name)
        if threads is not None:
            answer["threads"] = int(threads())
        return answer
    return {}


def _symbol(library, name: str):
    """The function, under the prefixes and suffixes that builds of OpenBLAS give it."""
    for spelling in (name, f"scipy_{name}", f"{name}64_", f"scipy_{name}64_"):
        with contextlib.suppress(AttributeError):
            return getattr(library, spelling)
    return None


def processor_name() -> str:
    """Marketing name of the processor."""
    match = re.search(r"^(?:model name|Model)\s*:\s*(.+)$", _read("/proc/cpuinfo"), re.MULTILINE)
    if match:
        return match[1].strip()
    import platform

    return platform.processor() or platform.machine()


def _read(path) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
