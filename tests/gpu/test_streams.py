"""Streams, events, faults and errors that come late."""

import struct
import threading

import pytest
from conftest import REAL
from core_scripts import told
from emulator import build, control

import autograd_cy as torch
from autograd_cy._C import cuda_driver, cuda_launch, cuda_streams


@pytest.fixture(autouse=True)
def _started():
    emulated("late")
    torch.cuda.init()


def emulated(order, seed=1):
    if not REAL:
        control.order(order, seed)


# --- streams and events ---------------------------------------------------------------------------


def test_streams_have_handles_and_launchers_of_pycuda():
    s = torch.cuda.Stream()
    launcher = cuda_streams.launcher_of(s)
    assert launcher.handle == s.cuda_stream == cuda_streams.handle_of_stream(s) != 0
    assert torch.cuda.default_stream().cuda_stream == 0
    assert cuda_streams.launcher_of(torch.cuda.default_stream()) is None


def test_a_stream_that_goes_is_used_again_with_its_work():
    y = torch.zeros(1000, device="cuda")
    torch.cuda.synchronize()
    s = torch.cuda.Stream()
    handle = s.cuda_stream
    with torch.cuda.stream(s):
        y.add_(2)
    e = s.record_event()
    del s
    t = torch.cuda.Stream()
    assert t.cuda_stream == handle
    e.synchronize()
    assert y[0].item() == 2.0


def test_live_streams_are_different_ones():
    streams = [torch.cuda.Stream() for _ in range(5)]
    assert len({s.cuda_stream for s in streams}) == 5
    kept = cuda_streams.cached_counts()["streams"]
    del streams
    assert cuda_streams.cached_counts()["streams"] == kept + 5


@pytest.mark.emulated
def test_a_stream_that_waits_for_another_sees_what_it_wrote():
    for waits in (True, False):
        s = torch.cuda.Stream()
        x, y = torch.zeros(1000, device="cuda"), torch.zeros(1000, device="cuda")
        torch.cuda.synchronize()
        x.add_(5)
        if waits:
            s.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(s):
            torch.mul(x, 1, out=y)
            assert y[0].item() == (5.0 if waits else 0.0)
        torch.cuda.synchronize()


@pytest.mark.emulated
def test_query_and_synchronize_of_streams_and_events():
    s = torch.cuda.Stream()
    e = torch.cuda.Event()
    assert s.query() and e.query()
    with torch.cuda.stream(s):
        x = torch.ones(100, device="cuda") + 1
        e.record()
    assert not e.query()
    before = control.counts()
    e.synchronize()
    assert control.spent(before)["event_synchronizations"] == 1
    assert e.query() and s.query()
    s.synchronize()
    assert x[0].item() == 2.0


def test_events_measure_time():
    a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    a.record()
    x = torch.ones(100000, device="cuda")
    for _ in range(5):
        x = x + 1
    b.record()
    b.synchronize()
    assert a.elapsed_time(b) > 0
    with pytest.raises(ValueError, match="enable_timing"):
        torch.cuda.Event().elapsed_time(b)


def test_an_event_can_be_recorded_again_and_is_kept_when_it_goes():
    e = torch.cuda.Event()
    s, t = torch.cuda.Stream(), torch.cuda.Stream()
    e.record(s)
    handle = e.cuda_event
    e.record(t)
    assert e.cuda_event == handle != 0
    kept = cuda_streams.cached_counts()["events"]
    del e
    assert cuda_streams.cached_counts()["events"] == kept + 1
    f = torch.cuda.Event()
    f.record(s)
    assert f.cuda_event == handle


def test_the_stream_of_another_thread_can_be_waited_for():
    found = []

    def work():
        s = torch.cuda.Stream()
        with torch.cuda.stream(s):
            x = torch.arange(1000.0).to("cuda") * 2
            found.append((x, s.record_event()))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    x, e = found[0]
    torch.cuda.current_stream().wait_event(e)
    assert (x + 1)[:3].tolist() == [1.0, 3.0, 5.0]


@pytest.mark.parametrize("seed", range(4))
def test_backward_follows_the_streams_of_forward(seed):
    emulated("random", seed)
    w = torch.full((500,), 3.0, device="cuda").requires_grad_()
    s, t = torch.cuda.Stream(), torch.cuda.Stream()
    s.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(s):
        a = w * 2
    t.wait_stream(s)
    with torch.cuda.stream(t):
        b = a * w
    torch.cuda.current_stream().wait_stream(t)
    for x, stream in ((w, s), (w, t), (a, t)):
        x.detach().record_stream(stream)
    (b + w).backward(torch.ones(500, device="cuda"))
    assert w.grad[:2].tolist() == [13.0, 13.0]


def test_a_second_device_has_streams_of_its_own():
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    s = torch.cuda.Stream("cuda:1")
    with torch.cuda.stream(s):
        assert torch.cuda.current_device() == 1
        x = torch.ones(100, device="cuda:1") + 1
        e = s.record_event()
    torch.cuda.current_stream("cuda:0").wait_event(e)
    assert torch.cuda.current_device() == 0
    assert x.to("cuda:0")[0].item() == 2.0
    s.synchronize()


# --- external streams -----------------------------------------------------------------------------


@pytest.fixture
def foreign():
    """A stream of another library."""
    import pycuda.driver as d

    stream = cuda_driver.call_in_context(0, d.Stream, 1)
    yield stream
    torch.cuda.synchronize()
    cuda_driver.call_in_context(0, lambda: stream.synchronize())


@pytest.mark.emulated
def test_kernels_for_an_external_stream_run_in_its_order(foreign):
    e = torch.cuda.ExternalStream(foreign.handle)
    x = torch.zeros(1000, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(e):
        y = x + 1
        y.mul_(3)
        z = y.clone()
        y.add_(1)
    assert e.cuda_stream == foreign.handle
    assert not e.query()
    foreign.synchronize()
    assert e.query()
    assert (y[0].item(), z[0].item()) == (4.0, 3.0)
    x.record_stream(e)


@pytest.mark.emulated
def test_work_of_ours_waits_for_an_external_stream_and_it_for_ours(foreign):
    e = torch.cuda.ExternalStream(foreign.handle)
    x = torch.zeros(1000, device="cuda")
    x.add_(2)
    e.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(e):
        y = x * 5
    torch.cuda.current_stream().wait_stream(e)
    z = y + 1
    assert z[0].item() == 11.0
    x.record_stream(e)
    y.record_stream(torch.cuda.current_stream())


def test_the_same_handle_is_the_same_stream(foreign):
    a, b = torch.cuda.ExternalStream(foreign.handle), torch.cuda.ExternalStream(foreign.handle)
    assert a == b and a.cuda_stream == b.cuda_stream
    with pytest.raises(RuntimeError, match="external stream"):
        cuda_streams.launcher_of(a)


def test_the_legacy_stream_is_the_default_one():
    for handle in (0, 1):
        assert torch.cuda.ExternalStream(handle) == torch.cuda.default_stream()


@pytest.mark.breaks
@pytest.mark.emulated
def test_a_handle_that_is_no_stream_is_an_error_of_the_driver():
    e = torch.cuda.ExternalStream(0xABCDE0)
    for call in (e.synchronize, e.query, e.record_event):
        with pytest.raises(RuntimeError, match="CUDA error: invalid resource handle"):
            call()
    assert (torch.ones(2, device="cuda") + 1).tolist() == [2.0, 2.0]


# --- faults ---------------------------------------------------------------------------------------


def divide():
    """An integer division by zero, which the kernel notes."""
    a = torch.tensor([6, 7, 8]).to("cuda")
    b = torch.tensor([2, 0, 4]).to("cuda")
    return a // b


SYNCHRONISATIONS = {
    "item": lambda q: q[0].item(),
    "cpu": lambda q: q.cpu(),
    "tolist": lambda q: q.tolist(),
    "stream": lambda q: torch.cuda.current_stream().synchronize(),
    "device": lambda q: torch.cuda.synchronize(),
    "accelerator": lambda q: torch.accelerator.synchronize(),
    "event": lambda q: torch.cuda.current_stream().record_event().synchronize(),
}


@pytest.mark.parametrize("by", SYNCHRONISATIONS)
def test_a_bad_value_is_raised_at_the_next_synchronisation_once(by):
    q = divide()
    later = q + 1
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        SYNCHRONISATIONS[by](q)
    assert q[0].item() == 3 and q[2].item() == 2
    assert later[0].item() == 4
    torch.cuda.synchronize()


def test_a_fault_of_one_device_is_not_told_by_another():
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    q = divide()
    torch.cuda.synchronize("cuda:1")
    assert torch.ones(2, device="cuda:1").tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        q.tolist()


def test_the_first_fault_is_the_one_that_is_raised():
    divide()
    divide()
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        torch.cuda.synchronize()
    torch.cuda.synchronize()


def test_a_fault_in_the_middle_of_backward_leaves_the_engine_usable():
    class Divides(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            divide()
            return g * 2

    x = torch.ones(3, device="cuda").requires_grad_()
    Divides.apply(x * 3).backward(torch.ones(3, device="cuda"))
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        x.grad.cpu()
    assert x.grad.tolist() == [6.0, 6.0, 6.0]
    x.grad = None
    (x * 2).backward(torch.ones(3, device="cuda"))
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


# --- errors of the driver -------------------------------------------------------------------------


@pytest.mark.breaks
@pytest.mark.emulated
@pytest.mark.parametrize(
    ("code", "words"),
    [
        (control.ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
        (control.LAUNCH_FAILED, "unspecified launch failure"),
        (710, "device-side assert triggered"),
    ],
)
def test_a_broken_context_says_torchs_words_at_every_use(code, words):
    x = torch.ones(3, device="cuda")
    y = torch.ones(3, requires_grad=True)
    torch.cuda.synchronize()
    control.break_context(0, code)
    uses = (
        lambda: x.cpu(),
        lambda: x + 1,
        lambda: torch.cuda.synchronize(),
        lambda: torch.cuda.current_stream().query(),
        lambda: torch.cuda.Event().record(),
        lambda: torch.empty(123457, device="cuda"),
        lambda: torch.ones(3).to("cuda"),
    )
    for use in uses:
        with pytest.raises(RuntimeError) as caught:
            use()
        text = str(caught.value)
        assert text.startswith("CUDA error: " + words), text
        assert "CUDA_LAUNCH_BLOCKING=1" in text and "asynchronously reported" in text
        assert caught.value.error_code == code
    (y * 2).sum().backward()
    assert y.grad.tolist() == [2.0, 2.0, 2.0]
    control.reset()
    assert (x + 1).tolist() == [2.0, 2.0, 2.0]


@pytest.mark.emulated
def test_launch_blocking_finds_the_launch():
    out = told(
        """
        sys.path.insert(0, "tests/gpu")
        from emulator import build, control
        x = torch.ones(3).to("cuda")
        y = x + 1
        before = control.counts()
        y = x * 2
        print(control.spent(before).get("synchronizations"))
        a, b = torch.tensor([1, 2]).to("cuda"), torch.tensor([0, 1]).to("cuda")
        try:
            a // b
            print("not found")
        except RuntimeError as error:
            print("found", error)
        torch.cuda.synchronize()
        control.fail("cuStreamSynchronize", code=control.ILLEGAL_ADDRESS)
        try:
            x + 1
        except RuntimeError as error:
            print(error)
        print((x + 1).tolist())
        """,
        CUDA_LAUNCH_BLOCKING=1,
    )
    lines = out.splitlines()
    assert lines[0] == "1"
    assert lines[1].startswith("found") and "ZeroDivisionError" in lines[1]
    assert "an illegal memory access" in lines[2] and "kernel 'add_f32'" in lines[2]
    assert lines[-1] == "[2.0, 2.0, 2.0]"


# --- launches -------------------------------------------------------------------------------------


def small(name, out, a, n, *, grid=(1, 1, 1), block=(64, 1, 1), stream=0, shared=0):
    """Launch a kernel of emulator/samples/small.cu."""
    kernel = cuda_launch.kernel_number("sample_small", name)
    arguments = struct.pack("QQQQQ", out.data_ptr(), a.data_ptr(), 0, n, 0)
    cuda_launch.launch_kernel(kernel, 0, stream, grid, block, arguments, shared)


@pytest.fixture
def xy():
    build.build_samples()
    x = torch.arange(64.0).to("cuda")
    return x, torch.zeros(64, device="cuda")


@pytest.mark.emulated
def test_a_kernel_is_launched_by_its_number(xy):
    x, y = xy
    small("add", y, x, 64)
    assert y[:3].tolist() == [1.0, 2.0, 3.0]
    s = torch.cuda.Stream()
    s.wait_stream(torch.cuda.current_stream())
    small("turn", y, x, 64, stream=s.stream_id, shared=256)
    s.synchronize()
    assert y[:3].tolist() == [63.0, 62.0, 61.0]


@pytest.mark.emulated
@pytest.mark.parametrize(
    "geometry",
    [
        {"grid": (2**31, 1, 1)},
        {"grid": (1, 65536, 1)},
        {"grid": (1, 1, 65536)},
        {"grid": (0, 1, 1)},
        {"block": (2048, 1, 1)},
        {"block": (0, 1, 1)},
        {"shared": 1 << 20},
    ],
)
def test_a_geometry_that_cant_be_is_refused(xy, geometry):
    x, y = xy
    with pytest.raises(RuntimeError, match="invalid configuration argument: .*kernel 'add'"):
        small("add", y, x, 64, **geometry)
    small("add", y, x, 64)
    assert y[0].item() == 1.0


@pytest.mark.emulated
def test_a_kernel_that_is_not_there(xy):
    x, y = xy
    with pytest.raises(RuntimeError, match="has no kernel 'nothing'.*install autograd_cy again"):
        small("nothing", y, x, 64)
    kernel = cuda_launch.kernel_number("nowhere", "add")
    with pytest.raises(RuntimeError, match="this build has no kernels 'nowhere'"):
        cuda_launch.launch_kernel(kernel, 0, 0, (1, 1, 1), (1, 1, 1), b"")
    with pytest.raises(IndexError, match="no kernel of number"):
        cuda_launch.launch_kernel(10**6, 0, 0, (1, 1, 1), (1, 1, 1), b"")


@pytest.mark.breaks
@pytest.mark.emulated
def test_a_kernel_that_faults_breaks_the_context_with_torchs_words(xy):
    x, y = xy
    small("write_at_null", y, x, 0)
    with pytest.raises(RuntimeError, match="CUDA error: an illegal memory access"):
        torch.cuda.synchronize()
    control.reset()


@pytest.mark.emulated
def test_a_launch_for_which_the_driver_has_no_memory_is_tried_again(xy):
    x, y = xy
    control.fail("cuLaunchKernel", code=control.OUT_OF_MEMORY)
    small("add", y, x, 64)
    assert y[0].item() == 1.0
    control.fail("cuLaunchKernel", code=control.OUT_OF_MEMORY, times=2)
    with pytest.raises(torch.cuda.OutOfMemoryError, match="CUDA out of memory"):
        small("add", y, x, 64)
    small("add", y, x, 64)
    assert y[0].item() == 1.0
