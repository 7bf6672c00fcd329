"""Memory of GPUs: reuse without the driver, streams, running out of it, figures, pinned memory."""

import gc
import os
import threading

import pytest
from conftest import REAL
from core_scripts import told
from emulator import control

import autograd_cy as torch
from autograd_cy._C import cuda_memory

MB = 1 << 20

pytestmark = pytest.mark.skipif(
    "AUTOGRAD_CY_NO_CUDA_MEMORY_CACHING" in os.environ, reason="tests the cache of memory"
)


def stats(device=0):
    return cuda_memory.stats(device)


@pytest.fixture(autouse=True)
def _clean():
    if not REAL:
        control.order("late")
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    cuda_memory.reset_peak(0)
    yield
    cuda_memory.set_limit(0, 0)
    if not REAL:
        control.limit(8 << 30)


def empty(nbytes, device="cuda"):
    return torch.empty(nbytes, dtype=torch.uint8, device=device)


# --- reuse ----------------------------------------------------------------------------------------


@pytest.mark.emulated
def test_a_block_is_used_again_without_a_call_of_the_driver():
    x = empty(5000)
    at = x.data_ptr()
    del x
    before = control.report()["calls_of"]
    for n in (5000, 4800, 5120):
        x = empty(n)
        assert x.data_ptr() == at
        del x
    called = control.report()["calls_of"]
    called = {k for k in called if called[k] != before.get(k, 0)}
    assert called <= {"cuCtxGetCurrent"}, called


@pytest.mark.emulated
def test_a_training_loop_allocates_from_the_driver_in_its_first_steps_alone():
    w = torch.ones(64, 32, device="cuda")
    x = torch.ones(64, 32, device="cuda")

    def step():
        v = w.detach().requires_grad_()
        y = v * x + 1
        (y * y).backward(torch.ones(64, 32, device="cuda"))
        return v.grad

    step()
    step()
    torch.cuda.synchronize()
    before = stats()["device_allocs"]
    for _ in range(10):
        step()
    assert stats()["device_allocs"] == before


@pytest.mark.parametrize("n", [1, 511, 512, 513, 1024, 5000, MB, MB + 1, 3 * MB + 7, 40 * MB])
def test_sizes_are_rounded_by_at_most_a_quarter(n):
    before = stats()["allocated_bytes"][0]
    x = empty(n)
    size = stats()["allocated_bytes"][0] - before
    assert size >= n and size % 64 == 0
    assert size <= max(512, n * 1.25 if n <= MB else n * 1.125 + 1)
    assert stats()["requested_bytes"][0] >= n
    del x
    assert stats()["allocated_bytes"][0] == before


def test_classes_are_in_order_and_hold_what_they_should():
    """Each size has a block at least as large, and larger sizes none that is smaller."""
    last = 0
    for n in [*range(1, 5000, 13), *(int(1.07**k) for k in range(125, 230))]:
        if n > 64 * MB:
            break
        before = stats()["allocated_bytes"][0]
        x = empty(n)
        size = stats()["allocated_bytes"][0] - before
        assert size >= max(n, last)
        last = size
        del x
    torch.cuda.empty_cache()


def test_empty_tensors_have_memory_that_can_be_given_back():
    for _ in range(3):
        x = torch.empty(0, device="cuda")
        assert x.tolist() == []
        del x


def test_memory_is_given_back_when_the_last_tensor_on_it_goes():
    x = empty(1000)
    y = x[10:]
    held = stats()["allocation"][0]
    del x
    assert stats()["allocation"][0] == held
    del y
    assert stats()["allocation"][0] == held - 1


def test_devices_have_memory_of_their_own():
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    a, b = stats(0)["allocation"][0], stats(1)["allocation"][0]
    x = empty(100, "cuda:1")
    assert stats(0)["allocation"][0] == a and stats(1)["allocation"][0] == b + 1
    del x
    torch.cuda.empty_cache()
    assert stats(1)["reserved_bytes"][0] == 0 or stats(1)["allocation"][0] > 0


# --- streams --------------------------------------------------------------------------------------


@pytest.mark.emulated
def test_a_block_of_a_busy_stream_is_not_given_to_another_one():
    s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        x = torch.ones(5000, device="cuda")
        y = x + 1
        at = x.data_ptr()
        del x
    other = torch.empty(5000, device="cuda")
    assert other.data_ptr() != at
    with torch.cuda.stream(s):
        again = torch.empty(5000, device="cuda")
    assert again.data_ptr() == at
    s.synchronize()
    assert y[0].item() == 2.0


@pytest.mark.emulated
def test_a_block_of_a_stream_with_nothing_left_to_do_is_taken():
    s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        x = torch.ones(5000, device="cuda")
        at = x.data_ptr()
        del x
    s.synchronize()
    taken, before = stats()["taken"], control.counts()
    other = torch.empty(5000, device="cuda")
    assert other.data_ptr() == at and stats()["taken"] == taken + 1
    assert "waits" not in control.spent(before)


@pytest.mark.emulated
@pytest.mark.parametrize("recorded", [True, False])
def test_record_stream_keeps_memory_until_the_other_stream_has_used_it(recorded):
    """Without it the values are those of who got the memory next."""
    s = torch.cuda.Stream()
    x = torch.ones(5000, device="cuda")
    s.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(s):
        y = x + 1
    if recorded:
        x.record_stream(s)
    del x
    z = torch.full((5000,), 7.0, device="cuda")
    torch.cuda.current_stream().synchronize()
    s.synchronize()
    assert y[0].item() == (2.0 if recorded else 8.0)
    assert z[0].item() == 7.0


@pytest.mark.parametrize("seed", range(5))
def test_values_are_right_in_every_order_of_work(seed):
    if not REAL:
        control.order("random", seed)
    streams = [torch.cuda.Stream() for _ in range(3)]
    results = []
    base = torch.arange(1000.0).to("cuda")
    for k in range(30):
        s = streams[k % 3]
        s.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(s):
            t = base + float(k)
            u = t * 2
            del t
            v = u - float(k)
        del u
        v.record_stream(torch.cuda.current_stream())
        torch.cuda.current_stream().wait_stream(s)
        results.append(v + 0)
        del v
    for k, r in enumerate(results):
        assert r[:3].tolist() == [float(k), k + 2.0, k + 4.0]


def test_memory_of_an_external_stream_is_kept_for_it():
    import pycuda.driver as d

    from autograd_cy._C import cuda_driver

    foreign = cuda_driver.call_in_context(0, d.Stream)
    e = torch.cuda.ExternalStream(foreign.handle)
    with torch.cuda.stream(e):
        x = torch.ones(5000, device="cuda")
        y = x + 1
        at = x.data_ptr()
        del x
        again = torch.empty(5000, device="cuda")
        assert again.data_ptr() == at
    e.synchronize()
    assert y[0].item() == 2.0
    del again, y
    reserved = stats()["reserved_bytes"][0]
    torch.cuda.empty_cache()
    assert stats()["reserved_bytes"][0] < reserved
    cuda_driver.call_in_context(0, lambda: foreign.synchronize())


# --- out of memory --------------------------------------------------------------------------------


@pytest.mark.emulated
def test_out_of_memory_gives_the_cache_back_and_tries_again():
    control.limit(64 * MB)
    x = empty(40 * MB)
    del x
    before = stats()
    y = empty(50 * MB)
    after = stats()
    assert y.numel() == 50 * MB
    assert after["retries"] == before["retries"] + 1 and after["ooms"] == before["ooms"]
    assert after["synchronisations"] == before["synchronisations"] + 1


@pytest.mark.emulated
def test_out_of_memory_takes_a_block_of_a_busy_stream_and_waits_on_the_device():
    s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        x = torch.ones(8 * MB, device="cuda")
        y = x + 1
        del x
    control.limit(stats()["reserved_bytes"][0] + MB)
    before = control.counts()
    z = torch.full((8 * MB,), 5.0, device="cuda")
    spent = control.spent(before)
    assert spent["waits"] == 1 and "synchronizations" not in spent
    assert (z[0].item(), z[-1].item()) == (5.0, 5.0)
    s.synchronize()
    assert (y[0].item(), y[-1].item()) == (2.0, 2.0)


@pytest.mark.emulated
def test_out_of_memory_says_the_figures_in_torchs_words():
    control.limit(64 * MB)
    x = empty(20 * MB)
    with pytest.raises(torch.cuda.OutOfMemoryError) as caught:
        empty(100 * MB)
    text = str(caught.value)
    for words in (
        "CUDA out of memory. Tried to allocate 100.00 MiB. GPU 0 has a total capacity of 64.00 MiB",
        "is free.",
        "20.00 MiB is allocated by",
        "but unallocated",
    ):
        assert words in text, text
    assert isinstance(caught.value, RuntimeError) and isinstance(caught.value, MemoryError)
    assert stats()["ooms"] >= 1
    assert x.numel() == 20 * MB
    y = empty(20 * MB)
    assert y.numel() == 20 * MB


@pytest.mark.emulated
def test_out_of_memory_in_forward_and_backward_leaves_all_as_before():
    w = torch.ones(2 * MB, device="cuda").requires_grad_()  # 8 MiB

    def step():
        y = w * 2
        z = y * w
        z.backward(torch.ones(2 * MB, device="cuda"))

    step()
    wanted = w.grad[:2].tolist()
    seen = set()
    for limit in range(16, 72, 4):
        w.grad = None
        gc.collect()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        live = stats()["allocation"][0]
        control.limit(limit * MB)
        try:
            step()
            seen.add("done")
        except torch.cuda.OutOfMemoryError as error:
            seen.add("forward" if "step" in str(error) else "failed")
        control.limit(8 << 30)
        w.grad = None
        gc.collect()
        assert stats()["allocation"][0] == live
        step()
        assert w.grad[:2].tolist() == wanted
    assert seen == {"done", "failed"}


@pytest.mark.emulated
def test_a_fraction_limits_what_tensors_have():
    control.limit(1000 * MB)
    torch.cuda.set_per_process_memory_fraction(0.1)
    x = empty(60 * MB)
    with pytest.raises(torch.cuda.OutOfMemoryError, match=r"100\.00 MiB allowed"):
        empty(60 * MB)
    del x
    y = empty(90 * MB)
    del y
    torch.cuda.set_per_process_memory_fraction(1.0)
    assert empty(200 * MB).numel() == 200 * MB


@pytest.mark.emulated
def test_a_driver_without_pools_allocates_plainly():
    out = told(
        """
        sys.path.insert(0, "tests/gpu")
        from emulator import control
        from autograd_cy._C import cuda_memory
        control.fail("cuMemPoolCreate", code=801)
        x = torch.arange(6.0).to("cuda")
        y = x + 1
        print(y.tolist(), cuda_memory.pooled(0))
        del x, y
        torch.cuda.empty_cache()
        print(control.counts()["live_allocations"], cuda_memory.stats(0)["reserved_bytes"][0])
        print(control.report()["calls_of"].get("cuMemAllocFromPoolAsync", 0), control.broken())
        """
    )
    assert out.splitlines() == ["[1.0, 2.0, 3.0, 4.0, 5.0, 6.0] False", "0 0", "0 []"]


@pytest.mark.emulated
def test_without_a_cache_each_block_comes_from_the_driver():
    out = told(
        """
        sys.path.insert(0, "tests/gpu")
        from emulator import control
        x = torch.arange(6.0).to("cuda")
        before = control.counts()
        for i in range(3):
            y = x + 1
            del y
        spent = control.spent(before)
        print(spent["allocations"], spent["frees"])
        print((x * 2).tolist(), control.broken())
        """,
        AUTOGRAD_CY_NO_CUDA_MEMORY_CACHING=1,
    )
    assert out.splitlines() == ["3 3", "[0.0, 2.0, 4.0, 6.0, 8.0, 10.0] []"]


# --- figures --------------------------------------------------------------------------------------


def test_figures_of_memory():
    torch.cuda.reset_peak_memory_stats()
    base = torch.cuda.memory_allocated()
    x, y = empty(MB), empty(2 * MB)
    assert torch.cuda.memory_allocated() == base + 3 * MB
    del y
    assert torch.cuda.memory_allocated() == base + MB
    assert torch.cuda.max_memory_allocated() == base + 3 * MB
    assert torch.cuda.memory_reserved() >= base + 3 * MB
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.max_memory_allocated() == base + MB
    found = torch.cuda.memory_stats()
    assert found["allocated_bytes.all.current"] == base + MB
    assert found["segment.all.current"] >= 2
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() < base + 3 * MB
    free, total = torch.cuda.mem_get_info()
    assert 0 < free <= total
    assert "GPU" in torch.cuda.memory_summary()
    assert x.numel() == MB


@pytest.mark.emulated
def test_empty_cache_gives_all_free_memory_back_to_the_driver():
    s = torch.cuda.Stream()
    kept = empty(MB)
    with torch.cuda.stream(s):
        x = torch.ones(MB, device="cuda")
        y = x + 1
        del x, y
    z = empty(3 * MB)
    del z
    free = torch.cuda.mem_get_info()[0]
    live = control.counts()["live_allocations"]
    torch.cuda.empty_cache()
    assert torch.cuda.mem_get_info()[0] >= free + 3 * MB + 8 * MB
    assert control.counts()["live_allocations"] < live
    assert stats()["reserved_bytes"][0] == stats()["allocated_bytes"][0]
    assert kept.numel() == MB


def test_figures_refuse_a_device_that_cant_be():
    for call in (cuda_memory.stats, cuda_memory.reset_peak, cuda_memory.limit):
        with pytest.raises(ValueError, match="from 0 to 63"):
            call(64)


# --- pinned memory --------------------------------------------------------------------------------


def test_pinned_memory_is_used_again():
    x = torch.ones(5000).pin_memory()
    assert x.is_pinned()
    at = x.data_ptr()
    del x
    before = cuda_memory.host_stats()
    y = torch.ones(5000).pin_memory()
    assert y.data_ptr() == at and y[17].item() == 1.0
    assert cuda_memory.host_stats()["device_allocs"] == before["device_allocs"]


@pytest.mark.emulated
def test_pinned_memory_of_a_copy_under_way_is_not_given_out():
    x = torch.arange(5000.0).pin_memory()
    at = x.data_ptr()
    before = control.counts()
    y = x.to("cuda", non_blocking=True)
    assert "synchronizations" not in control.spent(before)
    del x
    z = torch.zeros(5000).pin_memory()
    assert z.data_ptr() != at
    assert y.sum().item() == 12497500.0
    again = torch.zeros(5000).pin_memory()
    assert again.data_ptr() == at


@pytest.mark.emulated
def test_a_copy_to_pinned_memory_is_there_after_the_event():
    x = torch.arange(5000.0).to("cuda") + 1
    p = torch.zeros(5000).pin_memory()
    before = control.counts()
    p.copy_(x, non_blocking=True)
    e = torch.cuda.Event()
    e.record()
    assert "synchronizations" not in control.spent(before)
    assert p[0].item() == 0.0
    e.synchronize()
    assert p[:3].tolist() == [1.0, 2.0, 3.0]


@pytest.mark.emulated
def test_a_copy_from_plain_memory_was_read_when_it_returns():
    x = torch.arange(5000.0)
    y = x.to("cuda", non_blocking=True)
    x.zero_()
    assert y[4999].item() == 4999.0


@pytest.mark.emulated
def test_out_of_pinned_memory_gives_free_blocks_back_and_then_raises():
    x = torch.ones(5000).pin_memory()
    del x
    before = cuda_memory.host_stats()
    control.fail("cuMemHostAlloc", code=control.OUT_OF_MEMORY)
    y = torch.ones(100000).pin_memory()
    assert y.is_pinned()
    after = cuda_memory.host_stats()
    assert after["device_frees"] > before["device_frees"]
    control.fail("cuMemHostAlloc", code=control.OUT_OF_MEMORY, times=2)
    with pytest.raises(torch.cuda.OutOfMemoryError, match="leave pin_memory out"):
        torch.ones(300000).pin_memory()
    assert torch.ones(300000).pin_memory().is_pinned()


def test_free_pinned_memory_goes_back():
    x = torch.ones(3000).pin_memory()
    del x
    cuda_memory.empty_host_cache()
    found = cuda_memory.host_stats()
    assert found["segment"][0] == found["allocation"][0]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_a_loader_pins_its_batches(workers, seed):
    if seed is not None and not REAL:
        control.order("random", seed)
    torch.cuda.init()
    data = torch.utils.data.TensorDataset(torch.arange(40.0).reshape(20, 2))
    loader = torch.utils.data.DataLoader(data, batch_size=4, pin_memory=True, num_workers=workers)
    sums = []
    for (x,) in loader:
        assert x.is_pinned()
        sums.append(x.to("cuda", non_blocking=True) + 1)
        del x
    assert torch.cat([y.cpu() for y in sums]).flatten().tolist() == [k + 1.0 for k in range(40)]


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_saved_tensors_wait_in_pinned_memory(seed):
    if seed is not None and not REAL:
        control.order("random", seed)
    x = torch.arange(1000.0).to("cuda").requires_grad_()
    with torch.autograd.graph.save_on_cpu(pin_memory=True):
        y = x * x
        z = y * x
        del y
    w = torch.full((1000,), 9.0).pin_memory()
    z.backward(torch.ones(1000, device="cuda"))
    assert x.grad[:4].tolist() == [0.0, 3.0, 12.0, 27.0]
    assert w[0].item() == 9.0


# --- threads --------------------------------------------------------------------------------------


def test_threads_share_the_memory():
    errors = []

    def work(seed):
        try:
            for k in range(40):
                n = 100 + (seed * 37 + k * 101) % 3000
                x = torch.full((n,), float(k), device="cuda")
                y = (x + 1) * 2
                del x
                if k % 10 == 9:
                    assert y.tolist() == [2.0 * (k + 1)] * n
                    torch.cuda.empty_cache()
        except BaseException as error:
            errors.append(error)

    live = stats()["allocation"][0]
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors
    assert stats()["allocation"][0] == live


def test_pinned_memory_has_no_limit_of_its_own():
    with pytest.raises(ValueError, match="a device has a number from 0 to 63, not -1"):
        cuda_memory.set_limit(-1, MB)
    assert cuda_memory.limit(0) == 0
