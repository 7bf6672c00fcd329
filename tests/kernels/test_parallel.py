"""The thread budget and the parallel loops."""

import os
import sys
import threading

import numpy as np
import programs
import pytest
from endless import in_child

from autograd_cy._C import parallel
from autograd_cy._environment import threads as _threads

HAS_OPENMP = parallel.info()["openmp"]
with_openmp = pytest.mark.skipif(not HAS_OPENMP, reason="built without OpenMP")


@pytest.fixture
def threads():
    before = parallel.get_num_threads()
    yield parallel.set_num_threads
    parallel.set_num_threads(before)


@with_openmp
def test_team_grows_with_the_work(threads):
    threads(8)
    grain = 65536
    assert parallel._team_size(0) == 1
    assert parallel._team_size(grain - 1) == 1
    assert parallel._team_size(grain) == 2
    assert parallel._team_size(1.5 * grain) == 3
    assert parallel._team_size(100 * grain) == 8
    assert parallel._team_size(float("inf")) == 8


@pytest.mark.parametrize("work", [float("nan"), -1.0, float("-inf")])
def test_senseless_work_takes_one_thread(work, threads):
    threads(4)
    assert parallel._team_size(work) == 1


def test_one_thread_is_one_thread(threads):
    threads(1)
    assert parallel._team_size(1e12) == 1


@pytest.mark.parametrize("kind", ["static", "dynamic", "range"])
@pytest.mark.parametrize("n", [0, 1, 5, 64, 65, 1000, 4097])
@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_each_tile_runs_once(kind, n, count):
    visits, owners = np.zeros(n, "i4"), np.zeros(n, "i4")
    used = parallel._trace_loop(kind, visits, owners, count)
    assert np.all(visits == 1)
    assert 1 <= used <= count
    # Thousands would mean that a nested region asked for more than one thread.
    if used > 1:
        assert np.all(owners < used)


@with_openmp
def test_static_tiles_and_ranges_are_contiguous():
    for kind, unit in (("static", 1), ("range", 64)):
        visits, owners = np.zeros(1000, "i4"), np.zeros(1000, "i4")
        parallel._trace_loop(kind, visits, owners, 3)
        assert np.all(np.diff(owners) >= 0)
        assert np.all(np.flatnonzero(np.diff(owners)) % unit == unit - 1)


@with_openmp
@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65, 128, 129, 192, 193, 1000, 4097])
@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_as_many_threads_as_there_are_pieces(n, count):
    for kind in ("static", "dynamic", "range"):
        visits, owners = np.zeros(n, "i4"), np.zeros(n, "i4")
        pieces = max(-(-n // 64) if kind == "range" else n, 1)
        used = parallel._trace_loop(kind, visits, owners, count)
        assert used == min(count, pieces) and visits.tolist() == [1] * n
        owners %= 1000  # of one thread, what else would be in the thousands is no matter
        if n and kind == "static":
            assert len(set(owners.tolist())) == used
        if n and kind == "range":  # equal parts, in multiples of 64
            part = ((n + used - 1) // used + 63) // 64 * 64
            assert np.bincount(owners).tolist() == [min(part, n - at) for at in range(0, n, part)]


@with_openmp
def test_budgets_of_one_and_of_two(threads):
    for count in (1, 2, 3):
        threads(count)
        assert parallel._team_size(1e12) == count == parallel.get_num_threads()
        assert parallel._team_size(1) == 1
    assert parallel._set_thread_override(1) == 0
    try:
        assert parallel.get_num_threads() == parallel._team_size(1e12) == 1
        assert parallel._set_thread_override(-3) == 1
        assert parallel.get_num_threads() == 3
        assert parallel._set_thread_override(10**6) == 0
        assert parallel.get_num_threads() == most()
    finally:
        parallel._set_thread_override(0)
    threads(10**6)
    assert parallel.get_num_threads() == most()
    assert parallel.info()["affinity"] == len(os.sched_getaffinity(0))


def most():
    return min(max(4 * os.cpu_count(), 64), parallel.info()["thread_limit"])


def test_loops_are_refused():
    with pytest.raises(ValueError, match="differ in length"):
        parallel._trace_loop("static", np.zeros(3, "i4"), np.zeros(4, "i4"), 2)
    with pytest.raises(ValueError, match="unknown kind 'other'"):
        parallel._trace_loop("other", np.zeros(3, "i4"), np.zeros(3, "i4"), 2)


def test_budget_is_checked():
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="positive"):
            parallel.set_num_threads(wrong)
    for wrong in (2.0, "2", None, True):
        with pytest.raises(TypeError, match="expected an int"):
            parallel.set_num_threads(wrong)


@with_openmp
def test_override_is_seen_by_its_thread_alone(threads):
    threads(4)
    assert parallel._set_thread_override(2) == 0
    try:
        assert parallel.get_num_threads() == 2
        seen = []
        other = threading.Thread(target=lambda: seen.append(parallel.get_num_threads()))
        other.start()
        other.join()
        assert seen == [4]
    finally:
        assert parallel._set_thread_override(0) == 2
    assert parallel.get_num_threads() == 4


def test_forked_child_has_one_thread(threads):
    threads(4)
    visits, owners = np.zeros(1000, "i4"), np.zeros(1000, "i4")
    parallel._trace_loop("static", visits, owners, 4)

    def work():
        assert parallel.get_num_threads() == 1 and parallel._team_size(1e12) == 1
        # Asking for threads all the same must not hang.
        assert parallel._trace_loop("dynamic", visits, owners, 4) == 1
        assert parallel.info()["forked_child"]

    assert in_child(work, 10) == 0
    assert not parallel.info()["forked_child"]


def test_info_describes_the_runtime():
    found = parallel.info()
    assert found["threads"] == parallel.get_num_threads()
    assert found["affinity"] >= 1
    if HAS_OPENMP:
        assert found["runtime"].startswith("lib")
        assert found["version"]


# The number of threads to start with.


def tree(root, files):
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return str(root)


V2 = {
    "proc/self/cgroup": "0::/job/step\n",
    "sys/fs/cgroup/job/cpu.max": "250000 100000\n",
    "sys/fs/cgroup/job/step/cpu.max": "max 100000\n",
}
V1 = {
    "proc/self/cgroup": "12:memory:/x\n4:cpu,cpuacct:/job/step\n0::/\n",
    "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us": "-1\n",
    "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": "100000\n",
    "sys/fs/cgroup/cpu,cpuacct/job/step/cpu.cfs_quota_us": "150000\n",
    "sys/fs/cgroup/cpu,cpuacct/job/step/cpu.cfs_period_us": "100000\n",
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="cgroups are a Linux matter")
@pytest.mark.parametrize(
    ("files", "quota"),
    [
        (V2, 2.5),
        (V1, 1.5),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000"}, 0.5),
        ({"proc/self/cgroup": "0::/a\n"}, None),
        ({"proc/self/cgroup": "junk", "sys/fs/cgroup/cpu.max": "junk"}, None),
        ({}, None),
    ],
)
def test_quota_of_cgroups(tmp_path, files, quota):
    assert _threads.cpu_quota(tree(tmp_path, files)) == quota


def test_default_follows_environment_then_limits(tmp_path, monkeypatch):
    monkeypatch.setattr(_threads, "affinity", lambda: 8)
    free = tree(tmp_path / "free", {})
    assert _threads.default_num_threads({}, free) == 8
    assert _threads.default_num_threads({"OMP_NUM_THREADS": "3"}, free) == 3
    assert _threads.default_num_threads({"OMP_NUM_THREADS": "4,2"}, free) == 4
    for junk in ("", "0", "-1", "many"):
        assert _threads.default_num_threads({"OMP_NUM_THREADS": junk}, free) == 8
    if sys.platform.startswith("linux"):
        assert _threads.default_num_threads({}, tree(tmp_path / "v2", V2)) == 2
        assert _threads.default_num_threads({}, tree(tmp_path / "v1", V1)) == 1


@pytest.mark.parametrize("given", [{}, {"GOMP_SPINCOUNT": "7"}, {"OMP_WAIT_POLICY": "passive"}])
def test_spin_count_is_set_unless_the_user_chose(given):
    script = (
        "import os; from autograd_cy._environment import threads as _threads\n"
        "_threads.prepare_environment()\n"
        "print(os.environ.get('GOMP_SPINCOUNT'))"
    )
    names = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
    environ = {k: v for k, v in os.environ.items() if k not in names} | given
    out = programs.run("-c", script, env=environ).stdout.strip()
    assert out == (_threads.SPIN_COUNT if not given else str(given.get("GOMP_SPINCOUNT")))


@with_openmp
def test_thread_number_of_the_environment_is_taken():
    script = "from autograd_cy._C import parallel; print(parallel.get_num_threads())"
    environ = os.environ | {"OMP_NUM_THREADS": "3"}
    out = programs.run("-c", script, env=environ).stdout
    assert out.strip() == "3"
