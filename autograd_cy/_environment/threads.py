"""The number of threads that this process should use, and the environment of the OpenMP runtime.

Plain Python, read by the compiled module `_C.parallel` when it is loaded.  The number of threads
comes from OMP_NUM_THREADS, else from the smaller of the affinity mask and the cgroup's CPU quota:
the number of processors of the node says little inside a job of a batch system or a container. The
mask is that from before OpenMP bound the first thread to one processor (OMP_PROC_BIND).
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

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


# Any of these lets OpenMP bind the thread that loads it to a processor, or to a few.
_BINDING = ("OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY")

_spin_count_is_ours = False
_before: set[int] | None = None  # processors of this thread before OpenMP was loaded
_bound: set[int] | None = None  # and behind that, if they became fewer
_counted = 0  # processors that OpenMP counts then


def prepare_environment() -> bool:
    """Set GOMP_SPINCOUNT unless the user chose a waiting policy; True if it was set.

    Must run before the first compiled module is loaded: libgomp reads its environment once.  It
    does nothing when another package has loaded libgomp earlier, and other runtimes ignore it.
    `runtime_loaded` takes it back, so that programs which are started later do not inherit it.
    """
    global _spin_count_is_ours
    _note_processors()
    if "GOMP_SPINCOUNT" in os.environ or "OMP_WAIT_POLICY" in os.environ:
        return False
    # os.environ calls putenv(), so C code loaded later sees it.
    os.environ["GOMP_SPINCOUNT"] = SPIN_COUNT
    _spin_count_is_ours = True
    return True


def runtime_loaded(counted: int) -> None:
    """Put things right when OpenMP has been loaded, which counts so many processors."""
    global _bound, _counted
    if _spin_count_is_ours:
        os.environ.pop("GOMP_SPINCOUNT", None)
    _counted = counted
    if _before is None:
        return
    now = os.sched_getaffinity(0)
    if now < _before:
        _bound = now
        # A forked child stays at one thread, which may run wherever its parent might.
        os.register_at_fork(after_in_child=_unbind)


def _note_processors() -> None:
    """Note the processors before OpenMP binds this thread to some of them."""
    global _before
    if not hasattr(os, "sched_getaffinity") or not any(os.environ.get(n) for n in _BINDING):
        return
    now = os.sched_getaffinity(0)
    wide = now | _of_threads(os.getpid())
    # A spawned process inherits what OpenMP bound its parent's first thread to; here it is about to
    # import the main module.
    process = sys.modules.get("multiprocessing.process")
    starting = process is not None and getattr(process.current_process(), "_inheriting", False)
    if starting and len(now) <= _PLACE:
        wide |= _of_threads(os.getppid())
    if wide > now:
        try:
            os.sched_setaffinity(0, wide)
        except OSError:
            wide = now
    _before = wide


# A process with more processors than these was not bound to one place.
_PLACE = 2


def _of_threads(pid: int) -> set[int]:
    """Return the processors that the threads of a process may run on, each some of them."""
    processors: set[int] = set()
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            processors |= os.sched_getaffinity(int(thread))
    except (OSError, ValueError):
        pass
    return processors


def _unbind() -> None:
    """Let this thread run on the processors from before, if it is as OpenMP bound it."""
    try:
        if _before is not None and os.sched_getaffinity(0) == _bound:
            os.sched_setaffinity(0, _before)
    except OSError:
        pass


@contextlib.contextmanager
def unbound() -> Iterator[None]:
    """Start processes inside of this that inherit the processors of this one, not those of OpenMP.

    A child that loads OpenMP counts and binds them itself.
    """
    if _bound is None or os.sched_getaffinity(0) != _bound:
        yield
        return
    _unbind()
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, _bound)


def requested_threads(environ=None) -> int | None:
    """Return the number of threads in OMP_NUM_THREADS, or None."""
    environ = os.environ if environ is None else environ
    return _first_number(environ.get("OMP_NUM_THREADS", ""))


def default_num_threads(environ=None, root: str = "/") -> int:
    """Return the number of threads to start with.

    Parameters
    ----------
    environ : mapping, optional
        Where OMP_NUM_THREADS is looked up; `os.environ` by default.
    root : str
        Where /proc and /sys are found; tests put a made-up tree here.
    """
    wanted = requested_threads(environ)
    if wanted is not None:
        return wanted
    quota = cpu_quota(root)
    usable = affinity()
    return usable if quota is None else max(1, min(usable, int(quota)))


def affinity() -> int:
    """Count the processors this process may run on, also where OpenMP bound its first thread."""
    if not hasattr(os, "sched_getaffinity"):
        return os.cpu_count() or 1
    now = os.sched_getaffinity(0)
    if _before is not None and now == _bound:
        # OMP_PLACES may leave some of them out.
        return max(len(now), min(len(_before), _counted))
    return len(now)


def cpu_quota(root: str = "/") -> float | None:
    """Return the processors that the cgroups (v1 or v2) of this process allow, None: all."""
    if not sys.platform.startswith("linux"):
        return None
    least = None
    for controllers, path in _cgroups(root):
        if not controllers:
            limits = map(_quota_v2, _upwards(root, ("", "unified"), path))
        elif "cpu" in controllers.split(","):
            limits = map(_quota_v1, _upwards(root, ("cpu", controllers, "cpu,cpuacct"), path))
        else:
            continue
        for limit in limits:
            if limit is not None and (least is None or limit < least):
                least = limit
    return least


def cgroup_path(root: str = "/") -> str:
    """Return a name for the cgroups of this process; those that share a quota have the same."""
    return "|".join(f"{names}:{path}" for names, path in sorted(_cgroups(root)))


def limits() -> dict:
    """Return the bounds on the number of threads, for `parallel.info()`."""
    return {
        "affinity": affinity(),
        "quota": cpu_quota(),
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS"),
        "GOMP_SPINCOUNT": SPIN_COUNT if _spin_count_is_ours else os.environ.get("GOMP_SPINCOUNT"),
        "OMP_WAIT_POLICY": os.environ.get("OMP_WAIT_POLICY"),
    }


def runtime_name(path: str) -> str:
    """Return the short name of an OpenMP library, as in `libgomp`."""
    name = os.path.basename(path)
    for prefix, short in _RUNTIMES.items():
        if name.startswith(prefix):
            return short
    return name


def openmp_version(date: int) -> str | None:
    """Return the version of the OpenMP standard for the date in `_OPENMP`; None for 0."""
    return _VERSIONS.get(date, str(date)) if date else None


def _first_number(text: str) -> int | None:
    # A list gives one number for each level of nesting; ours is the outermost.
    first = text.split(",")[0].strip()
    if not first.isdigit() or int(first) < 1:
        return None
    return int(first)


def _cgroups(root: str) -> Iterator[tuple[str, str]]:
    """Yield controllers and path of the cgroups of this process; that of v2 has no controllers."""
    for line in _read(os.path.join(root, "proc/self/cgroup")).splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers or number == "0":
            yield controllers, path


def _upwards(root: str, mounts: tuple[str, ...], path: str):
    """Yield the folders of a cgroup and its parents under the mounts that exist; limits add up."""
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
        # Paths in /proc/self/maps have the bytes of their files.
        with open(path, encoding="utf-8", errors="surrogateescape") as handle:
            return handle.read()
    except OSError:
        return ""


# --- libraries with threads of their own ---------------------------------------------------------

_PREFIXES = ("", "scipy_")
_SUFFIXES = ("", "64_", "_64", "64")
_OTHERS = (
    ("MKL_Set_Num_Threads", "MKL_Get_Max_Threads"),
    ("bli_thread_set_num_threads", "bli_thread_get_num_threads"),
)
_limit: int | None = None
_usual: dict[str, int] = {}  # what each library began with


def limit_libraries(number: int | None = None) -> None:
    """Let the BLAS libraries that are loaded use so many threads, or as many as was said last.

    None of them gets more than it began with.  Called again when SciPy, which brings a library of
    its own, was loaded.
    """
    global _limit
    if number is not None:
        _limit = number
    if _limit is None:
        return
    for path in _blas_libraries():
        functions = _functions_of(path)
        if functions is None:
            continue
        setter, getter = functions
        usual = _usual.setdefault(path, max(1, getter()))
        wanted = min(_limit, usual)
        if getter() != wanted:
            setter(wanted)


_functions: dict[str, Any] = {}  # path of a library -> what _functions_of has found


def _blas_libraries() -> list[str]:
    libraries: dict[str, None] = {}
    for line in _read("/proc/self/maps").splitlines():
        path = line[line.find("/") :] if "/" in line else ""
        name = path.rpartition("/")[2]
        if "openblas" in name or name.startswith(("libmkl_rt", "libblis")):
            libraries[path] = None
    return list(libraries)


def _functions_of(path: str):
    """Find what sets and what tells the number of threads of a loaded library, or None."""
    if path not in _functions:
        _functions[path] = _looked_up(path)
    return _functions[path]


def _looked_up(path: str):
    import ctypes

    try:
        library = ctypes.CDLL(path, mode=getattr(os, "RTLD_NOLOAD", 0) | os.RTLD_NOW)
    except OSError:
        return None
    names = [
        (f"{prefix}openblas_set_num_threads{suffix}", f"{prefix}openblas_get_num_threads{suffix}")
        for prefix in _PREFIXES
        for suffix in _SUFFIXES
    ]
    for set_name, get_name in [*names, *_OTHERS]:
        try:
            setter, getter = getattr(library, set_name), getattr(library, get_name)
        except AttributeError:
            continue
        setter.argtypes, setter.restype = [ctypes.c_long], None
        getter.argtypes, getter.restype = [], ctypes.c_int
        return setter, getter
    return None
