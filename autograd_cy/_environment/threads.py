"""How many threads this process should use, and the environment of the OpenMP runtime.

Plain Python, read by the compiled module `_C.parallel` when it is loaded.  The number of threads
comes from OMP_NUM_THREADS, else from the smaller of the affinity mask and the cgroup's CPU quota:
the number of processors of the node says little inside a job of a batch system or a container.
"""

from __future__ import annotations

import os
import sys

# libgomp's idle threads spin for milliseconds by default, and with any other pool of threads on
# the node each hand-over then waits for a time slice.  This many rounds keep the start of a
# parallel region at 1 us and bound the damage.
SPIN_COUNT = "10000"

_RUNTIMES = {"libgomp": "libgomp", "libomp": "libomp", "libiomp5": "libiomp5"}
_VERSIONS = {
    200505: "2.5",
    200805: "3.0",
    201107: "3.1",
    201307: "4.0",
    201511: "4.5",
    201811: "5.0",
    202011: "5.1",
    202111: "5.2",
    202411: "6.0",
}


def prepare_environment() -> bool:
    """Set GOMP_SPINCOUNT unless the user chose a waiting policy; True if it was set.

    Must run before the first compiled module is loaded: libgomp reads its environment once.  It
    does nothing when another package has loaded libgomp earlier, and other runtimes ignore it.
    Child processes inherit the setting.
    """
    if "GOMP_SPINCOUNT" in os.environ or "OMP_WAIT_POLICY" in os.environ:
        return False
    # os.environ calls putenv(), so C code loaded later sees it.
    os.environ["GOMP_SPINCOUNT"] = SPIN_COUNT
    return True


def default_num_threads(environ=None, root: str = "/") -> int:
    """The number of threads to start with.

    Parameters
    ----------
    environ : mapping, optional
        Where OMP_NUM_THREADS is looked up; `os.environ` by default.
    root : str
        Where /proc and /sys are found; tests put a made-up tree here.
    """
    environ = os.environ if environ is None else environ
    asked = _first_number(environ.get("OMP_NUM_THREADS", ""))
    if asked is not None:
        return asked
    quota = cpu_quota(root)
    usable = affinity()
    return usable if quota is None else max(1, min(usable, int(quota)))


def affinity() -> int:
    """How many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cpu_quota(root: str = "/") -> float | None:
    """The processors that the cgroups (v1 or v2) of this process allow, or None without a limit."""
    if not sys.platform.startswith("linux"):
        return None
    found = None
    for line in _read(os.path.join(root, "proc/self/cgroup")).splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            limits = map(_quota_v2, _upwards(root, ("", "unified"), path))
        elif "cpu" in controllers.split(","):
            limits = map(_quota_v1, _upwards(root, ("cpu", controllers, "cpu,cpuacct"), path))
        else:
            continue
        for limit in limits:
            if limit is not None and (found is None or limit < found):
                found = limit
    return found


def limits() -> dict:
    """What bounds the number of threads, for `parallel.info()`."""
    return {
        "affinity": affinity(),
        "quota": cpu_quota(),
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS"),
        "GOMP_SPINCOUNT": os.environ.get("GOMP_SPINCOUNT"),
        "OMP_WAIT_POLICY": os.environ.get("OMP_WAIT_POLICY"),
    }


def runtime_name(path: str) -> str:
    """The short name of an OpenMP library, as in `libgomp`."""
    name = os.path.basename(path)
    for prefix, short in _RUNTIMES.items():
        if name.startswith(prefix):
            return short
    return name


def openmp_version(date: int) -> str | None:
    """The version of the OpenMP standard for the date in `_OPENMP`; None for 0."""
    return _VERSIONS.get(date, str(date)) if date else None


def _first_number(text: str) -> int | None:
    # A list gives one number for each level of nesting; ours is the outermost.
    first = text.split(",")[0].strip()
    if not first.isdigit() or int(first) < 1:
        return None
    return int(first)


def _upwards(root: str, mounts: tuple[str, ...], path: str):
    """The folders of a cgroup and its parents under the mounts that exist; limits add up."""
    for mount in dict.fromkeys(mounts):
        base = os.path.join(root, "sys/fs/cgroup", mount)
        if not os.path.isdir(base):
            continue
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for depth in range(len(parts), -1, -1):
            yield os.path.join(base, *parts[:depth])


def _quota_v2(folder: str) -> float | None:
    fields = _read(os.path.join(folder, "cpu.max")).split()
    if len(fields) != 2 or fields[0] == "max":
        return None
    return _ratio(*fields)


def _quota_v1(folder: str) -> float | None:
    quota = _read(os.path.join(folder, "cpu.cfs_quota_us")).strip()
    return _ratio(quota, _read(os.path.join(folder, "cpu.cfs_period_us")).strip())


def _ratio(quota: str, period: str) -> float | None:
    try:
        used, whole = int(quota), int(period)
    except ValueError:
        return None
    return used / whole if used > 0 and whole > 0 else None


def _read(path: str) -> str:
    try:
        with open(path) as handle:
            return handle.read()
    except OSError:
        return ""
