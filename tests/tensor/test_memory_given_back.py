"""Memory goes back when its last user ends: blocks, buffers of others, what was lent to others."""

import gc
import os
import sys
from pathlib import Path

import programs
import pytest

import autograd_cy as ag

ROOT = Path(ag.__file__).parents[1]


def blocks():
    summary = ag.memory_summary()
    return summary["live_blocks"], summary["live_bytes"]


@pytest.fixture(params=[True, False], ids=["with cache", "without cache"])
def caching(request):
    ag.set_allocator_caching(request.param)
    yield
    ag.set_allocator_caching(True)


def test_a_block_is_counted_once_while_it_lives(caching):
    before = blocks()
    first, second = ag.empty(1000), ag.empty(10)
    window = first[1:]
    assert blocks()[0] == before[0] + 2
    del first
    assert blocks()[0] == before[0] + 2
    del window, second
    assert blocks() == before


def test_each_allocation_is_a_hit_or_a_miss_of_the_cache():
    ag.empty_cache()
    start = ag.memory_summary()
    t = ag.empty(1 << 16)
    missed = ag.memory_summary()
    assert (missed["hits"], missed["misses"]) == (start["hits"], start["misses"] + 1)
    del t
    t = ag.empty(1 << 16)
    hit = ag.memory_summary()
    assert (hit["hits"], hit["misses"]) == (start["hits"] + 1, start["misses"] + 1)
    assert t.numel() == 1 << 16


def test_memory_lent_to_others_ends_with_the_last_of_them():
    before = blocks()
    t = ag.zeros(1000)
    view = memoryview(t)
    other = memoryview(t)
    del t
    assert blocks()[0] == before[0] + 1
    view.release()
    assert blocks()[0] == before[0] + 1
    other.release()
    assert blocks() == before


def test_memory_borrowed_from_others_is_let_go():
    owner = bytearray(64)
    t = ag.frombuffer(owner, dtype=ag.uint8)
    with pytest.raises(BufferError):
        owner.extend(b"more")
    window = t[3:]
    del t
    with pytest.raises(BufferError):
        owner.extend(b"more")
    del window
    owner.extend(b"more")


@pytest.mark.parametrize("wrong", [{"offset": 64}, {"offset": -1}, {"count": 9}, {"offset": 3}])
def test_a_refused_loan_is_let_go(wrong):
    owner = bytearray(64)
    with pytest.raises(ValueError, match=r"offset|buffer length"):
        ag.frombuffer(owner, dtype=ag.float64, **wrong)
    owner.extend(b"more")


def test_an_array_that_was_shared_is_let_go():
    np = pytest.importorskip("numpy")
    array = np.zeros(10)
    before = sys.getrefcount(array)
    t = ag.from_numpy(array)
    assert sys.getrefcount(array) > before
    del t
    assert sys.getrefcount(array) == before


LOOP = """
import os
import autograd_cy as ag

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

ag.set_allocator_caching(CACHING)
ag.ones(1 << 20)
before = resident()
for _ in range(40):
    ag.ones(1 << 20)    # 4 MiB each, which the cache of 1 MiB does not take
assert resident() - before < 40 << 20, resident() - before
print("given back")
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
@pytest.mark.parametrize("caching", [True, False])
def test_blocks_that_are_not_kept_go_back_to_the_system(caching):
    env = os.environ | {"AUTOGRAD_CY_CACHE_MB": "1"}
    done = programs.run("-c", LOOP.replace("CACHING", str(caching)), cwd=ROOT, env=env)
    assert done.stdout.strip() == "given back", done.stderr


def test_the_cache_can_be_emptied_again_and_again():
    for _ in range(3):
        kept = [ag.ones(n) for n in (1, 100, 10_000)]
        del kept
        assert ag.memory_summary()["cached_bytes"] > 0
        ag.empty_cache()
        assert ag.memory_summary()["cached_bytes"] == 0


def of_gradient(x):
    x.grad = ag.ones(1000)


def of_base(x):
    return x[:10]


def of_attribute(x):
    x.note = ag.ones(1000)


def of_node(x):
    return x * ag.ones(1000)


def of_node_and_hook(x):
    y = x.exp()
    y.register_hook(lambda g: y)
    return y


def of_other_memory(x):
    view = x.detach()[:10]
    view.set_(ag.ones(1000))
    return view


@pytest.mark.parametrize(
    "make", [of_gradient, of_base, of_attribute, of_node, of_node_and_hook, of_other_memory]
)
def test_tensors_that_hold_themselves_go_with_all_that_they_hold(make):
    def held():
        x = ag.ones(1000, requires_grad=True)
        found = make(x)
        for t in (x, found):
            if t is not None:
                t.me = [t]

    gc.collect()
    before = blocks()
    for _ in range(3):
        held()
    for _ in range(3):  # an operand goes after the result whose history had it
        gc.collect()
    assert blocks() == before
