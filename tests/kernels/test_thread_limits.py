"""
Threads that somebody else limits: OpenMP's binding and environment, omp_set_num_threads, libraries.

Each program runs in a process of its own under real limits.
"""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import programs
import pytest

import autograd_cy as ag
from autograd_cy._C import parallel
from autograd_cy._environment import threads as _threads

ROOT = Path(ag.__file__).parents[1]
INFO = parallel.info()
PROCESSORS = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
CLEAN = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("OMP_", "GOMP_", "KMP_", "OPENBLAS_", "MKL_"))
}

needs_gomp = pytest.mark.skipif(INFO["runtime"] != "libgomp", reason="libgomp is not used")
needs_two = pytest.mark.skipif(
    len(PROCESSORS) < 2 or _threads.default_num_threads({}) < 2, reason="needs two processors"
)
BINDINGS = [
    {"OMP_PROC_BIND": "true"},
    {"OMP_PROC_BIND": "close", "OMP_PLACES": "cores"},
    {"OMP_PROC_BIND": "spread", "OMP_PLACES": "threads"},
    {"OMP_PLACES": "threads"},
    {"GOMP_CPU_AFFINITY": " ".join(map(str, PROCESSORS))},
]


def said(text, *arguments, **environ):
    done = programs.run("-c", text, *arguments, env=CLEAN | environ, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.split()


def in_a_file(tmp_path, text, **environ):
    """As `said`, of a file that spawned processes can import."""
    path = tmp_path / "program.py"
    path.write_text(text)
    environ = CLEAN | {"PYTHONPATH": str(ROOT)} | environ
    done = subprocess.run(
        [sys.executable, str(path)], env=environ, text=True, capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.split()


# --- binding ------------------------------------------------------------------------------------


@needs_gomp
@needs_two
@pytest.mark.parametrize("environ", BINDINGS, ids=lambda e: "-".join(e))
def test_a_bound_first_thread_has_the_processors_of_the_process(environ):
    text = """
import os
before = os.sched_getaffinity(0)
import autograd_cy as ag
from autograd_cy._environment import threads
n = ag.get_num_threads()
x = ag.rand(1_000_000).sin().sum()
print(n, threads.affinity(), len(before))
pid = os.fork()
if not pid:
    os._exit(0 if os.sched_getaffinity(0) == before and ag.get_num_threads() == 1 else 1)
print(os.waitpid(pid, 0)[1])
"""
    count, usable, before, child = map(int, said(text, **environ))
    assert count == _threads.default_num_threads({})
    assert usable == before == len(PROCESSORS)
    assert child == 0


@needs_gomp
@needs_two
def test_places_that_leave_processors_out_are_taken_at_their_word():
    text = "import autograd_cy as ag; print(ag.get_num_threads())"
    place = "{" + str(PROCESSORS[0]) + "}"
    assert said(text, OMP_PLACES=place, OMP_PROC_BIND="true") == ["1"]


@needs_gomp
@needs_two
def test_who_binds_a_thread_itself_is_taken_at_its_word():
    text = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import autograd_cy as ag
from autograd_cy._environment import threads
print(ag.get_num_threads(), threads.affinity())
"""
    assert said(text) == ["1", "1"]
    assert said(text, OMP_PROC_BIND="true") == ["1", "1"]


CHILDREN = """
import os
import autograd_cy as ag
import multiprocessing
def child(i, *rest):
    queue = rest[0] if rest else i
    queue.put((ag.get_num_threads(), len(os.sched_getaffinity(0))))
if __name__ == "__main__":
    for method in ("spawn", "forkserver", "fork"):
        context = multiprocessing.get_context(method)
        queue = context.SimpleQueue()
        ag.multiprocessing.spawn(child, (queue,), start_method=method)
        print(method, *queue.get())
"""


@needs_gomp
@needs_two
def test_children_of_a_bound_process_have_its_processors(tmp_path):
    """Spawned ones bind themselves; forked ones stay at one thread, which may run anywhere."""
    found = in_a_file(tmp_path, CHILDREN, OMP_PROC_BIND="true")
    threads = str(_threads.default_num_threads({}))
    assert found[:3] == ["spawn", threads, "1"]
    assert found[6:] == ["fork", "1", str(len(PROCESSORS))]
    assert found[3:5] == ["forkserver", threads]


@needs_gomp
@needs_two
def test_a_child_that_python_spawns_finds_its_parents_processors(tmp_path):
    """Python's own spawn starts it; threads of the parent tell which processors there are."""
    text = """
import multiprocessing, threading
wait = threading.Event()
if __name__ == "__main__":
    thread = threading.Thread(target=wait.wait)      # of before OpenMP was loaded
    thread.start()
import autograd_cy as ag
def child(queue):
    queue.put(ag.get_num_threads())
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    print(queue.get())
    process.join()
    wait.set()
"""
    threads = str(_threads.default_num_threads({}))
    assert in_a_file(tmp_path, text, OMP_PROC_BIND="true") == [threads]


def test_a_quota_of_the_cgroup_bounds_bound_threads_too(tmp_path, monkeypatch):
    monkeypatch.setattr(_threads, "affinity", lambda: 8)
    quota = tmp_path / "sys/fs/cgroup/cpu.max"
    quota.parent.mkdir(parents=True)
    quota.write_text("300000 100000\n")
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/\n")
    if sys.platform.startswith("linux"):
        assert _threads.default_num_threads({}, str(tmp_path)) == 3


# --- the environment ----------------------------------------------------------------------------


@pytest.mark.parametrize("environ", [{}, {"GOMP_SPINCOUNT": "7"}, {"OMP_WAIT_POLICY": "passive"}])
def test_importing_changes_no_variable(environ):
    text = """
import os
before = dict(os.environ)
import autograd_cy as ag
assert dict(os.environ) == before, set(os.environ) ^ set(before)
import ctypes
get = ctypes.CDLL(None).getenv
get.restype = ctypes.c_char_p
print(get(b"GOMP_SPINCOUNT"))
"""
    value = environ.get("GOMP_SPINCOUNT")
    assert said(text, **environ) == [str(None if value is None else value.encode())]


# --- omp_set_num_threads ------------------------------------------------------------------------


@needs_gomp
@needs_two
def test_limits_that_others_set_hold():
    text = """
import ctypes, threading
import autograd_cy as ag
from autograd_cy._C import parallel
omp = ctypes.CDLL(parallel.info()["library"])
def seen():
    return ag.get_num_threads(), parallel._team_size(1e12)
usual = ag.get_num_threads()
assert seen() == (usual, usual)
omp.omp_set_num_threads(1)
assert seen() == (1, 1)
other = []
thread = threading.Thread(target=lambda: other.append(seen()))
thread.start()
thread.join()
assert other == [(usual, usual)], other         # the limit is that of one thread
ag.set_num_threads(2)                           # the last word
assert seen() == (2, 2)
omp.omp_set_num_threads(usual)
assert seen() == (2, 2)
omp.omp_set_num_threads(10 * usual)             # no more than was asked for here
assert seen() == (2, 2)
omp.omp_set_num_threads(1)
assert seen() == (1, 1)
ag.set_num_threads(64)
omp.omp_set_num_threads(usual)
assert seen() == (64, 64)
print("right")
"""
    assert said(text) == ["right"]


@needs_gomp
@needs_two
def test_threadpoolctl_limits_it():
    pytest.importorskip("threadpoolctl")
    text = """
import autograd_cy as ag
from threadpoolctl import threadpool_limits
usual = ag.get_num_threads()
with threadpool_limits(limits=1):
    print(ag.get_num_threads())
print(ag.get_num_threads() == usual)
"""
    assert said(text) == ["1", "True"]


# --- BLAS ---------------------------------------------------------------------------------------

LIBRARIES = """
import ctypes, os, re
import autograd_cy as ag
import numpy as np
def counts():
    found = []
    for path in {line.split()[-1] for line in open("/proc/self/maps") if "openblas" in line}:
        library = ctypes.CDLL(path)
        for name in ("scipy_openblas_get_num_threads64_", "scipy_openblas_get_num_threads",
                     "openblas_get_num_threads64_", "openblas_get_num_threads"):
            if hasattr(library, name):
                found.append(getattr(library, name)())
                break
    return found
"""


@needs_two
def test_the_number_of_threads_is_that_of_blas_too():
    """NumPy's, SciPy's that is loaded later, and what a forked child goes on with."""
    text = (
        LIBRARIES
        + """
before = counts()
ag.set_num_threads(1)
a = ag.eye(3, dtype=ag.float64)
ag.linalg.eigh(a), ag.linalg.inv(a), ag.linalg.svd(a)
one = counts()
pid = os.fork()
if not pid:
    ag.linalg.eigh(a)
    os._exit(0 if counts() == one else 1)
assert os.waitpid(pid, 0)[1] == 0
ag.set_num_threads(10**6)
again = counts()
assert set(one) <= {1}, one
assert again == before, (again, before)
print(len(one))
"""
    )
    if said(text) == ["0"]:
        pytest.skip("NumPy's BLAS is not OpenBLAS")


@needs_two
def test_a_library_that_is_loaded_later_gets_the_number_that_was_set():
    text = (
        LIBRARIES
        + """
from autograd_cy._interpreted import _host
ag.set_num_threads(1)
_host.expression("scipy.linalg", lambda module: module.det)(np.eye(3))
print(*set(counts()))
"""
    )
    assert set(said(text)) <= {"1"}


def test_blas_gets_no_more_threads_than_it_began_with(monkeypatch):
    """The library is made up."""
    state = [3]
    monkeypatch.setattr(_threads, "_blas_libraries", lambda: ["made up"])
    monkeypatch.setattr(_threads, "_usual", {})
    monkeypatch.setattr(_threads, "_limit", None)
    monkeypatch.setattr(
        _threads,
        "_functions_of",
        lambda path: (lambda n: state.__setitem__(0, n), lambda: state[0]),
    )
    _threads.limit_libraries()
    assert state == [3]
    for asked, got in ((8, 3), (2, 2), (1, 1), (8, 3)):
        _threads.limit_libraries(asked)
        assert state == [got]
    state[0] = 5
    _threads.limit_libraries()
    assert state == [3]


def test_what_is_no_library_has_no_threads(tmp_path):
    assert _threads._functions_of(str(tmp_path / "missing.so")) is None
    own = ctypes.pythonapi._name
    if own:
        assert _threads._functions_of(own) is None
