"""
Memory under limits: of a cgroup, of ``ulimit -v``, and what others need.

Each program runs in a process of its own under real limits; where there is no cgroup to write to,
the test says so.
"""

import contextlib
import os
import sys
import uuid
from pathlib import Path

import programs
import pytest

import autograd_cy as ag
from autograd_cy._C import storage
from autograd_cy._environment import memory

ROOT = Path(ag.__file__).parents[1]
MIB = 1 << 20
on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")


def said(text, *arguments, **environ):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("AUTOGRAD_CY_CACHE")}
    clean |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = programs.run("-c", text, *arguments, env=clean | environ, cwd=ROOT)
    assert done.returncode == 0, (done.returncode, done.stdout + done.stderr)
    return done.stdout.split()


GROWING = """
def grow(first, last):
    n = first
    while n < last:             # one tensor at a time, ever larger
        x = ag.ones(n // 4)
        del x
        n = int(n * 1.15)
"""


# --- ulimit -v ----------------------------------------------------------------------------------


@on_linux
def test_numpy_has_memory_where_addresses_are_limited():
    text = (
        """
import resource
most = 1_500_000_000
resource.setrlimit(resource.RLIMIT_AS, (most, most))
import autograd_cy as ag
import numpy as np
"""
        + GROWING
        + """
grow(8 << 20, 160 << 20)
limit = ag.memory_summary()["cache_limit"]
assert limit == most // 8, limit
assert ag.memory_summary()["cached_bytes"] <= limit
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
np.ones(int(0.7 * (most - used + ag.memory_summary()["cached_bytes"])) // 8)
print("done")
"""
    )
    assert said(text) == ["done"]


@on_linux
def test_a_limit_that_is_set_later_counts():
    text = (
        "import autograd_cy as ag\n"
        + GROWING
        + """
import resource
from autograd_cy._C import storage
grow(8 << 20, 160 << 20)
before = ag.memory_summary()["cached_bytes"]
assert before > 100 << 20, before
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
most = used + (64 << 20)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
storage._let_time_pass(1000)
x = ag.empty(1 << 20)
del x
after = ag.memory_summary()["cached_bytes"]
assert after <= (before + (64 << 20)) // 4, (before, after)
print("done")
"""
    )
    assert said(text) == ["done"]


@on_linux
def test_what_is_kept_gives_way_to_a_tensor_of_another_size():
    text = """
import resource
import autograd_cy as ag
sizes = [ag.empty(24 << 20, dtype=ag.uint8) for _ in range(8)]
a = ag.rand(64, 64).bfloat16() @ ag.rand(64, 64).bfloat16()
del sizes
assert ag.memory_summary()["cached_bytes"] > 100 << 20
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
most = used + (8 << 20)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
big = ag.empty(100 << 20, dtype=ag.uint8)           # of another size than any that is kept
del big
print("done")
"""
    assert said(text) == ["done"]


# --- cgroups ------------------------------------------------------------------------------------


def own_folder():
    """The folder of the cgroup that has the memory of this process, and the name of its limit."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        number, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            yield Path("/sys/fs/cgroup/memory") / path.lstrip("/"), "memory.limit_in_bytes"
        elif number == "0":
            for mount in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
                yield Path(mount) / path.lstrip("/"), "memory.max"


@contextlib.contextmanager
def group_of(size):
    """A cgroup with so much memory below that of this process, or a skip."""
    problem = "there is none"
    for folder, limit in own_folder():
        made = folder / f"autograd_cy_test_{uuid.uuid4().hex[:8]}"
        try:
            made.mkdir()
        except OSError as error:
            problem = error
            continue
        try:
            (made / limit).write_text(str(size))
            (made / "cgroup.procs").read_text()
        except OSError as error:
            problem = error
            made.rmdir()
            continue
        try:
            yield made
        finally:
            with contextlib.suppress(OSError):
                made.rmdir()
        return
    pytest.skip(f"no cgroup with a limit of memory can be made here: {problem}")


@on_linux
def test_a_process_is_not_killed_for_what_it_keeps():
    """
    A program with 260 MiB of its own data in a group of 512 MiB: an eighth of the machine would be
    too much to keep.
    """
    text = (
        """
import sys
with open(sys.argv[1] + "/cgroup.procs", "w") as file:
    file.write(str(__import__("os").getpid()))
import autograd_cy as ag
import numpy as np
limit = ag.memory_summary()["cache_limit"]
assert limit == (512 << 20) // 8, limit
from autograd_cy._C import storage
data = np.ones(260 << 17)
"""
        + GROWING
        + """
for _ in range(3):
    grow(2 << 20, 90 << 20)
    storage._let_time_pass(1000)
    assert ag.memory_summary()["cached_bytes"] <= limit
more = np.ones(40 << 17)
print("done")
"""
    )
    with group_of(512 * MIB) as folder:
        assert said(text, str(folder)) == ["done"]


def tree(tmp_path, files):
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(tmp_path)


NONE = "9223372036854771712\n"  # how version 1 says it


@on_linux
@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "1000\n"}, 1000),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "1000\n"}, 1000),
        (
            {
                "proc/self/cgroup": "0::/a/b\n",
                "sys/fs/cgroup/a/memory.max": "1000\n",
                "sys/fs/cgroup/a/b/memory.max": "max\n",
            },
            1000,
        ),
        ({"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"}, None),
        (
            {
                "proc/self/cgroup": "4:memory:/job\n0::/\n",
                "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "2000\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": NONE,
            },
            2000,
        ),
        (
            {
                "proc/self/cgroup": "4:memory:/\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": NONE,
            },
            None,
        ),
        # In a container the path is often that of the host.
        (
            {
                "proc/self/cgroup": "4:memory:/docker/abc\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "3000\n",
            },
            3000,
        ),
        ({"proc/self/cgroup": "junk", "sys/fs/cgroup/memory.max": "junk"}, None),
        ({}, None),
    ],
)
def test_limit_of_cgroups(tmp_path, files, limit):
    found = memory.cgroup(tree(tmp_path, files))
    assert (None if found is None else found[0]) == limit
    if found is not None:
        assert found[1].endswith("/memory.stat")


# --- without a limit ----------------------------------------------------------------------------


def cached():
    return ag.memory_summary()["cached_bytes"]


@pytest.fixture
def fresh():
    ag.set_allocator_caching(True)
    ag.empty_cache()
    # What was alive before is forgotten.
    for _ in range(2):
        storage._let_time_pass(30_000)
        ag.empty(MIB)
    ag.empty_cache()
    yield
    ag.empty_cache()


@pytest.mark.usefixtures("fresh")
def test_large_blocks_that_are_not_used_go_back():
    old = [ag.empty(n * MIB) for n in (1, 2, 3)]
    small = [ag.empty(100) for _ in range(3)]
    del old, small
    kept = cached()
    assert kept >= 24 * MIB
    storage._let_time_pass(5_000)
    used = ag.empty(2 * MIB)  # comes from what is kept
    del used
    assert cached() == kept
    storage._let_time_pass(6_000)  # the others were not used for eleven seconds
    another = ag.empty(5 * MIB)
    assert 8 * MIB <= cached() < kept - 12 * MIB
    del another


@pytest.mark.usefixtures("fresh")
def test_what_is_used_again_and_again_is_kept():
    for _ in range(5):
        blocks = [ag.empty(n * MIB) for n in (1, 2, 3)]
        del blocks
        storage._let_time_pass(4_000)
    before = ag.memory_summary()["misses"]
    blocks = [ag.empty(n * MIB) for n in (1, 2, 3)]
    assert ag.memory_summary()["misses"] == before
    del blocks


@pytest.mark.usefixtures("fresh")
def test_no_more_is_kept_than_was_needed_lately():
    """Tensors of many sizes, one at a time: a program of 64 MiB does not keep gigabytes."""
    most = 0
    for n in range(8, 65):
        x = ag.empty(n * MIB, dtype=ag.uint8)
        del x
        most = max(most, cached())
    assert most <= 256 * MIB
    # Many at once were needed, so as much is kept.
    blocks = [ag.empty(32 * MIB, dtype=ag.uint8) for _ in range(20)]
    del blocks
    assert cached() >= min(20 * 32 * MIB, ag.memory_summary()["cache_limit"] - 32 * MIB)


def test_the_oldest_blocks_go_first():
    text = """
import autograd_cy as ag
from autograd_cy._C import storage
sizes = [10, 14, 20, 28]
blocks = {n: ag.empty(n << 20, dtype=ag.uint8) for n in sizes}
for n in (20, 10, 28, 14):
    del blocks[n]
    storage._let_time_pass(10)
# 72 MiB and what fills their classes are kept, of 100; another 40 are needed, and then kept.
x = ag.empty(40 << 20, dtype=ag.uint8)
del x
def is_kept(n):
    before = ag.memory_summary()["hits"]
    x = ag.empty(n << 20, dtype=ag.uint8)
    found = ag.memory_summary()["hits"] > before
    return found
print(*[n for n in (40, 14, 28, 10, 20) if is_kept(n)])
"""
    assert said(text, AUTOGRAD_CY_CACHE_MB="100") == ["40", "14", "28", "10"]
