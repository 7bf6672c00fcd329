"""Calls that reach a device's services, errors that they raise, and accounts of its memory."""

import pytest
from tracing import built, tracer  # noqa: F401 - fixtures

import autograd_cy as ag
from autograd_cy._C import devices
from autograd_cy.profiler._session import Session


def asked(tracer):
    return [call[0] for call in tracer.traced()]


def reads(call):
    before = devices.host_reads()
    call()
    return devices.host_reads() - before


def recorded(call, **options):
    """The columns of a session around ``call()``."""
    session = Session(**options)
    session.start()
    try:
        call()
    finally:
        columns = session.stop()
    return columns


READS = {
    "item": lambda x: x[0].item(),
    "float": lambda x: float(x[0]),
    "bool": lambda x: bool(x[0]),
    "tolist": lambda x: x.tolist(),
    "cpu": lambda x: x.cpu(),
    "numpy": lambda x: x.numpy(force=True),
    "repr": lambda x: repr(x),
    "copy_": lambda x: ag.zeros(3).copy_(x),
    "copy_ of another dtype": lambda x: ag.zeros(3, dtype=ag.float64).copy_(x),
    "to": lambda x: x.to("cpu", non_blocking=False),
    "iteration": lambda x: [float(y) for y in x[:1]],
    "format": lambda x: f"{x[0]:.1f}",
    "in a container": lambda x: str([x[:1]]),
}


@pytest.mark.parametrize("name", READS)
def test_the_host_waits_for_the_stream_and_counts(tracer, name):
    s = ag.Stream("tracer:1")
    with s:
        x = ag.ones(3, device="tracer:1")
        tracer.traced()
        assert reads(lambda: READS[name](x)) == 1
        calls = [call for call in tracer.traced() if call[0] in ("synchronize", "copy")]
    assert [call[:3] for call in calls] == [
        ("synchronize", 1, s.stream_id),
        ("copy", 1, s.stream_id),
    ]


@pytest.mark.parametrize("name", READS)
def test_an_error_of_earlier_work_is_raised_by_the_read(tracer, name):
    x = ag.ones(3, device="tracer:0")
    tracer.fail("synchronize", IndexError("index 7 is out of bounds"))
    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        READS[name](x)
    tracer.fail()
    assert x.tolist() == [1, 1, 1]


def test_nothing_else_reads(tracer):
    def work():
        x = ag.ones(3).to("tracer:0", non_blocking=True)
        y = (x + x).requires_grad_()
        z = ag.zeros_like(x).copy_(y + x)
        z.backward(x)
        assert z.shape == (3,) and y.grad is not None
        y.grad.add_(x)
        ag.accelerator._streams.Stream("tracer:0").synchronize()

    assert reads(work) == 0


def test_non_blocking_reaches_the_service(tracer):
    def copies(call):
        tracer.traced()
        call()
        return [call[3] for call in tracer.traced() if call[0] == "copy"]

    x, there = ag.ones(3), ag.ones(3, device="tracer:0")
    net = ag.nn.Linear(2, 2)
    for wanted in (False, True):
        for call in (
            lambda: x.to("tracer:0", non_blocking=wanted),
            lambda: x.to("tracer:0", ag.float64, wanted),
            lambda: there.copy_(x, non_blocking=wanted),
            lambda: there.copy_(x, wanted),
            lambda: there.copy_(x.double(), non_blocking=wanted),
            lambda: there.to("cpu", non_blocking=wanted),
            lambda: ag.zeros(3).copy_(there, non_blocking=wanted),
            lambda: x.cuda("tracer:0", wanted),
        ):
            assert copies(call) == [wanted]
        net.cpu()
        assert copies(lambda: net.to("tracer:0", non_blocking=wanted)) == [wanted] * 2
    assert reads(lambda: there.to("cpu", non_blocking=True)) == 0


def test_non_blocking_copies_of_values_that_are_not_as_they_lie(tracer):
    x = ag.tensor([1 + 2j, 3 - 4j])
    assert x.conj().to("tracer:0", non_blocking=True).cpu().tolist() == [1 - 2j, 3 + 4j]
    there = ag.zeros(2, dtype=ag.complex64).to("tracer:0")
    there.copy_(x.conj(), non_blocking=True)
    assert there.tolist() == [1 - 2j, 3 + 4j]
    # The host turns the values of this one: it can't go on before they are there.
    assert reads(lambda: ag.zeros(2, dtype=ag.complex64).conj().copy_(there, True)) == 1


SERVICES = {
    "allocate": lambda x: ag.empty(5, device="tracer:0"),
    "copy": lambda x: x.clone(),
    "cast": lambda x: x.double(),
    "fill": lambda x: ag.ones(3, device="tracer:0"),
    "elementwise": lambda x: x + x,
    "synchronize": lambda x: x.tolist(),
    "stream_new": lambda x: ag.Stream("tracer:0"),
    "event_record": lambda x: x.to("tracer:1"),
    "event_wait": lambda x: x.to("tracer:1"),
}


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("error", [RuntimeError, MemoryError, KeyboardInterrupt])
def test_what_a_service_raises_comes_out_and_nothing_leaks(tracer, service, error):
    x = ag.ones(3, device="tracer:0")
    before, live = tracer.state(), ag.memory_summary("tracer:0")["live_bytes"]
    tracer.fail(service, error("broken"))
    with pytest.raises(error, match="broken"):
        SERVICES[service](x)
    assert tracer.state() == before
    assert ag.memory_summary("tracer:0")["live_bytes"] == live
    tracer.fail()
    SERVICES[service](x)
    assert (x + x).tolist() == [2, 2, 2]


@pytest.mark.parametrize("service", ["allocate", "elementwise", "copy"])
def test_a_service_that_raises_within_backward(tracer, service):
    x = ag.ones(3, device="tracer:0", requires_grad=True)
    y = (x + x) + x
    grad = ag.ones(3, device="tracer:0")
    before = tracer.state()
    tracer.fail(service, RuntimeError("broken"))
    if service == "copy":
        with pytest.raises(RuntimeError, match="broken"):
            x.to("tracer:1")
    else:
        with pytest.raises(RuntimeError, match="broken"):
            y.backward(grad, retain_graph=True)
        assert x.grad is None
    assert tracer.state() == before
    tracer.fail()
    y.backward(grad)
    assert x.grad.tolist() == [3, 3, 3]


def test_bytes_of_each_device_are_counted(tracer):
    ag.reset_peak_memory("tracer:1")
    before = ag.memory_summary("tracer:1")
    other = ag.memory_summary("tracer:0")
    host = ag.memory_summary()["live_bytes"]
    x = ag.empty(100, device="tracer:1")
    y = x[1:], x.detach(), x.data
    now = ag.memory_summary("tracer:1")
    assert {k: now[k] - before[k] for k in now} == {
        "live_bytes": 400,
        "live_blocks": 1,
        "peak_bytes": 400,
        "allocations": 1,
    }
    assert ag.memory_summary("tracer:0") == other
    assert ag.memory_summary()["live_bytes"] == host
    del x, y
    now = ag.memory_summary("tracer:1")
    assert now["live_bytes"] == before["live_bytes"]
    assert now["peak_bytes"] == before["live_bytes"] + 400
    ag.reset_peak_memory("tracer:1")
    assert ag.memory_summary("tracer:1")["peak_bytes"] == before["live_bytes"]


def test_transformed_functions_know_which_memory_is_their_own(tracer):
    old = ag.zeros(3, device="tracer:0")
    x = ag.ones(3, device="tracer:0")
    y, vjp = ag.func.vjp(lambda x: ag.zeros(3, device="tracer:0").copy_(x + x), x)
    assert y.tolist() == [2, 2, 2] and vjp(x)[0].tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="mutate"):
        ag.func.vjp(lambda x: old.copy_(x + x), x)


def test_the_profiler_sees_memory_of_devices_apart(tracer):
    x = ag.ones(100, device="tracer:1")
    results = []

    def run():
        for _ in range(2):
            results[:] = [x + x]

    columns = recorded(run, profile_memory=True)
    there = columns.mem_device != 0
    assert columns.mem_bytes[there].tolist() == [400, 400, -400]
    assert set(columns.mem_device[there] % 64) == {1}
    live = ag.memory_summary("tracer:1")["live_bytes"]
    assert columns.mem_total[there].tolist() == [live, live + 400, live]
    assert columns.mem_total[~there].max(initial=0) != live


def test_the_columns_of_operators_have_the_bytes_of_devices(tracer, tmp_path):
    x = ag.ones(100, device="tracer:1")
    with ag.autograd.profiler.profile(profile_memory=True) as session:
        y = x + x
    (row,) = [r for r in session.key_averages() if r.key == "aten::add"]
    assert (row.device_memory_usage, row.self_device_memory_usage) == (400, 400)
    assert (row.cpu_memory_usage, row.self_cpu_memory_usage) == (0, 0)
    (event,) = [e for e in session.function_events if e.name == "aten::add"]
    assert event.device_memory_usage == 400 and event.cpu_memory_usage == 0
    file = tmp_path / "trace.json"
    session.export_chrome_trace(str(file))
    text = file.read_text()
    assert '"Bytes": 400' in text and '"Device Id": 1' in text
    assert y.shape == (100,)


def test_results_lie_channels_last_where_the_device_says_so(tracer):
    """`bare` fills such results, `tracer` does not: memory is asked for in another order."""
    x = ag.ones(2, 3, 4, 4).contiguous(memory_format=ag.channels_last)
    for name, lays in (("bare:0", True), ("tracer:0", False)):
        there = x.to(name)
        tracer.traced()
        y = ag.nn.functional.pad(there, (1, 1))
        assert y.is_contiguous(memory_format=ag.channels_last)
        calls = [call for call in tracer.traced() if call[0] in ("constant_pad_nd", "copy")]
        # What was filled in C order is copied to the order of the operand.
        assert [call[0] for call in calls] == ["constant_pad_nd", "copy"][: 2 - lays]
        assert calls[0][3] == lays
