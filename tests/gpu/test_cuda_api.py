"""autograd_cy.cuda by torch's names: devices, properties, streams, memory, generators, types."""

import copy
import io
import pickle
import re
import threading

import pytest
from emulator import control

import autograd_cy as ag

cuda = ag.cuda
two = pytest.mark.skipif("cuda.device_count() < 2", reason="needs two devices")


@pytest.fixture(scope="module", autouse=True)
def generators():
    """Default generators are there for good."""
    for i in range(cuda.device_count()):
        ag.rand(1, device=f"cuda:{i}")


@pytest.fixture(autouse=True)
def first_device():
    """Each test begins and ends with the first device."""
    cuda.set_device(0)
    yield
    cuda.set_device(0)
    cuda.synchronize()
    ag.zeros(1).pin_memory()  # lets go of pinned memory whose copies have ended


# --- devices ----------------------------------------------------------------------------------


def test_devices_are_counted_and_described():
    assert cuda.is_available() and cuda.device_count() >= 1
    cuda.init()
    assert cuda.is_initialized() and cuda.current_device() == 0
    found = cuda.get_device_properties(0)
    assert found.name == cuda.get_device_name() == cuda.get_device_name("cuda:0")
    assert (found.major, found.minor) == cuda.get_device_capability(ag.device("cuda"))
    assert found.total_memory == cuda.mem_get_info()[1] > 0
    assert found.warp_size == 32 and found.multi_processor_count > 0
    assert re.fullmatch(
        r"_CudaDeviceProperties\(name='.*', major=\d+, minor=\d+, total_memory=\d+MB, "
        r"multi_processor_count=\d+, uuid=[0-9a-f-]{36}, pci_bus_id=\d+, pci_device_id=\d+, "
        r"pci_domain_id=\d+, L2_cache_size=\d+MB\)",
        repr(found),
    )
    assert cuda.is_bf16_supported() and cuda.is_tf32_supported() == (found.major >= 8)
    assert cuda.ipc_collect() is None


def test_a_gpu_of_nvidias_is_none_of_others():
    assert not ag.xpu.is_available() and ag.xpu.device_count() == 0
    assert not ag.mps.is_available() and ag.mps.device_count() == 0
    assert not ag.backends.mps.is_available()
    state = cuda.get_rng_state()
    for seed in (ag.xpu.manual_seed, ag.xpu.manual_seed_all, ag.mps.manual_seed):
        seed(3)
    assert ag.equal(cuda.get_rng_state(), state)


@two
def test_the_current_device_is_of_a_thread_and_of_a_block():
    seen = []
    with cuda.device(1):
        assert cuda.current_device() == 1 and ag.ones(1, device="cuda").get_device() == 1
        thread = threading.Thread(target=lambda: seen.append(cuda.current_device()))
        thread.start()
        thread.join()
        with cuda.device(None), cuda.device(-1):
            assert cuda.current_device() == 1
        with cuda.device_of(ag.ones(1, device="cuda:0")):
            assert cuda.current_device() == 0
        with cuda.device_of(ag.ones(1)):
            assert cuda.current_device() == 1
        with pytest.raises(KeyError), cuda.device("cuda:0"):
            raise KeyError
        assert cuda.current_device() == 1
    assert seen == [0] and cuda.current_device() == 0
    cuda.set_device("cuda:1")
    assert str(ag.ones(1).cuda().device) == "cuda:1"
    cuda.set_device(-1)
    assert cuda.current_device() == 1
    assert cuda.can_device_access_peer(0, 1) in (True, False)
    assert not cuda.can_device_access_peer(1, 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda n: cuda.set_device(n),
        lambda n: cuda.device(n).__enter__(),
        lambda n: cuda.get_device_properties(n),
        lambda n: cuda.get_device_name(n),
        lambda n: cuda.memory_allocated(n),
        lambda n: cuda.mem_get_info(n),
        lambda n: cuda.synchronize(n),
        lambda n: cuda.Stream(n),
        lambda n: cuda.current_stream(n),
        lambda n: cuda.get_rng_state(n),
        lambda n: ag.ones(1).cuda(n),
        lambda n: ag.ones(1, device=n),
        lambda n: ag.accelerator.set_device_index(n),
    ],
)
def test_a_device_that_is_not_there_is_refused(call):
    n = cuda.device_count()
    with pytest.raises(RuntimeError, match=f"invalid device ordinal: no device 'cuda:{n}'"):
        call(n)
    assert cuda.current_device() == 0


@pytest.mark.parametrize(
    "call",
    [
        cuda.set_device,
        cuda.device,
        cuda.synchronize,
        cuda.Stream,
        cuda.memory_allocated,
        cuda.get_device_name,
        cuda.get_rng_state,
    ],
)
def test_a_device_of_another_type_is_refused(call):
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        call("cpu")


def test_numbers_and_names_mean_gpus():
    x = ag.ones(2)
    for place in (0, "cuda", "cuda:0", ag.device("cuda", 0), ag.device(0)):
        assert str(x.to(place).device) == "cuda:0"
        assert str(ag.zeros(1, device=place).device) == "cuda:0"
    y = x.cuda()
    assert y.is_cuda and not y.is_cpu and y.get_device() == 0 == ag.get_device(y)
    assert y.cuda() is y and y.cuda(0) is y and y.to(y) is y and x.to(y).is_cuda
    assert y.cpu().tolist() == [1, 1] and not x.is_cuda
    net = ag.nn.Linear(2, 1).cuda()
    assert net.weight.is_cuda and not net.cpu().weight.is_cuda
    ag.set_default_device("cuda")
    try:
        assert ag.ones(1).is_cuda and ag.nn.Linear(1, 1).bias.is_cuda
    finally:
        ag.set_default_device(None)
    with ag.device("cuda"):
        assert ag.randn(3).is_cuda
    acc = ag.accelerator
    assert acc.is_available() and acc.current_accelerator() == ag.device("cuda")
    assert acc.device_count() == cuda.device_count()


# --- tensor types -----------------------------------------------------------------------------


def test_tensor_types_make_tensors_and_know_them():
    x = cuda.FloatTensor([1, 2])
    assert x.type() == "autograd_cy.cuda.FloatTensor" and x.tolist() == [1, 2]
    assert isinstance(x, cuda.FloatTensor) and not isinstance(x, ag.FloatTensor)
    assert not isinstance(x.cpu(), cuda.FloatTensor) and not isinstance(x, cuda.DoubleTensor)
    assert cuda.LongTensor(2, 3).shape == (2, 3) and cuda.FloatTensor(x) is not x
    assert cuda.FloatTensor.is_cuda and not ag.FloatTensor.is_cuda
    assert x.new([3]).is_cuda and x.new(2).shape == (2,)
    with pytest.raises(RuntimeError, match="expects device type: cuda but device type: cpu"):
        cuda.FloatTensor([1], device="cpu")
    with pytest.raises(RuntimeError, match="expects device type: cuda but device type: cpu"):
        cuda.FloatTensor(ag.ones(1))


def test_type_moves_and_converts():
    x = ag.ones(2)
    for kind in ("torch.cuda.DoubleTensor", "autograd_cy.cuda.DoubleTensor", cuda.DoubleTensor):
        y = x.type(kind)
        assert (y.dtype, y.device.type, y.tolist()) == (ag.float64, "cuda", [1, 1])
    assert y.type("torch.FloatTensor").is_cpu and y.type(ag.FloatTensor).is_cpu
    assert y.type(ag.float32).is_cuda and y.type(cuda.DoubleTensor) is y
    z = x.type_as(y)
    assert z.is_cuda and z.dtype == ag.float64 and y.type_as(x).is_cpu
    with pytest.raises(ValueError, match="invalid type"):
        x.type("torch.cuda.NoTensor")
    with pytest.warns(UserWarning, match="deprecated"):
        ag.set_default_tensor_type("torch.cuda.FloatTensor")
    try:
        assert ag.ones(1).is_cuda
    finally:
        with pytest.warns(UserWarning, match="deprecated"):
            ag.set_default_tensor_type("torch.FloatTensor")
    assert ag.ones(1).is_cpu


# --- streams and events -----------------------------------------------------------------------


def test_streams_are_made_entered_and_compared():
    side = cuda.Stream()
    assert isinstance(side, cuda.Stream) and isinstance(side, ag.Stream)
    assert isinstance(cuda.current_stream(), cuda.Stream)
    assert not isinstance(ag.Stream("cpu"), cuda.Stream)
    assert isinstance(ag.Stream("cuda"), cuda.Stream) and isinstance(ag.Event("cuda"), cuda.Event)
    default = cuda.default_stream()
    assert cuda.current_stream() == default != side and default.cuda_stream == 0
    assert side.cuda_stream != 0 and side.device == ag.device("cuda:0")
    with cuda.stream(side) as nothing:
        assert cuda.current_stream() == side and nothing is None
        with cuda.stream(None):
            assert cuda.current_stream() is side
        x = ag.ones(100, device="cuda") * 2
    assert cuda.current_stream() == default
    default.wait_stream(side)
    assert (x + 1).sum().item() == 300
    cuda.set_stream(side)
    assert cuda.current_stream() is side
    cuda.set_stream(default)
    cuda.set_stream(None)
    assert cuda.current_stream() == default
    least, greatest = cuda.Stream.priority_range()
    assert greatest <= 0 <= least or greatest <= least == 0
    assert cuda.Stream(priority=-1).query() and cuda.Stream(0, 5).priority == 0


@two
def test_a_stream_makes_its_device_current():
    other = cuda.Stream(1)
    assert other.device_index == 1
    with cuda.stream(other):
        assert cuda.current_device() == 1 and cuda.current_stream() is other
        assert ag.ones(1, device="cuda").get_device() == 1
    assert cuda.current_device() == 0


def test_events_mark_places_and_measure_time():
    start, end = (cuda.Event(enable_timing=True) for _ in range(2))
    assert start.query() and start.cuda_event == 0
    start.record()
    x = ag.ones(1000, device="cuda") + 1
    end.record(cuda.current_stream())
    end.synchronize()
    assert end.query() and start.elapsed_time(end) >= 0 and start.cuda_event != 0
    assert x.sum().item() == 2000
    side, mark = cuda.Stream(), cuda.Event(blocking=True, interprocess=True)
    with cuda.stream(side):
        y = x + 1
        mark.record()
    mark.wait()
    assert y.sum().item() == 3000
    with pytest.raises(ValueError, match="enable_timing=True"):
        mark.elapsed_time(end)
    for call in (mark.ipc_handle, lambda: cuda.Event.from_ipc_handle(0, b"")):
        with pytest.raises(RuntimeError, match="not shared with other processes"):
            call()
    assert isinstance(side.record_event(), cuda.Event)


def test_a_stream_of_another_library_is_waited_for():
    import pycuda.driver as driver

    from autograd_cy._C import cuda_driver

    cuda.init()
    context = cuda_driver.primary_context(0)
    context.push()
    foreign = driver.Stream(1)
    context.pop()
    for external in (
        cuda.ExternalStream(foreign.handle),
        cuda.get_stream_from_external(foreign.handle, "cuda:0"),
    ):
        assert external.cuda_stream == foreign.handle and external.device.index == 0
        x = ag.ones(10, device="cuda") * 3
        external.wait_stream(cuda.current_stream())
        cuda.current_stream().wait_stream(external)
        external.synchronize()
        assert external.query() and x.sum().item() == 30


# --- memory -----------------------------------------------------------------------------------


def test_memory_is_counted():
    cuda.empty_cache()
    cuda.reset_peak_memory_stats()
    before = cuda.memory_allocated()
    x = ag.empty(1 << 18, device="cuda")
    assert cuda.memory_allocated() == before + (1 << 20) == cuda.memory_allocated("cuda:0")
    assert cuda.memory_reserved() >= cuda.memory_allocated()
    del x
    assert cuda.memory_allocated() == before
    assert cuda.max_memory_allocated() == before + (1 << 20)
    assert cuda.max_memory_reserved() >= cuda.max_memory_allocated()
    cuda.reset_peak_memory_stats()
    assert cuda.max_memory_allocated() == before
    assert cuda.memory_reserved() > before  # what is free is kept
    cuda.empty_cache()
    stats = cuda.memory_stats()
    assert list(stats) == sorted(stats) and stats["allocated_bytes.all.current"] == before
    nested = cuda.memory_stats_as_nested_dict()
    assert nested["allocated_bytes"]["all"]["current"] == before
    assert nested["num_ooms"] == stats["num_ooms"]
    cuda.reset_accumulated_memory_stats()
    assert cuda.memory_stats()["allocated_bytes.all.allocated"] == 0
    for old in (cuda.memory_cached, cuda.max_memory_cached):
        with pytest.warns(FutureWarning, match="has been renamed"):
            old()
    for old in (cuda.reset_max_memory_allocated, cuda.reset_max_memory_cached):
        with pytest.warns(FutureWarning, match="resets /all/ peak"):
            old()


def test_memory_has_a_table():
    x = ag.ones(1 << 20, device="cuda")
    whole, short = cuda.memory_summary(), cuda.memory_summary(0, abbreviated=True)
    assert len({len(line) for line in whole.splitlines()}) == 1
    assert "device ID 0" in whole and "Requested memory" in whole
    assert "Requested memory" not in short and "Allocated memory" in short
    assert "KiB" in whole or "MiB" in whole
    del x


def test_pinned_memory_is_counted():
    x = ag.ones(1000).pin_memory()
    assert x.is_pinned() and cuda.host_memory_stats()["allocated_bytes.current"] >= 4000
    assert cuda.host_memory_stats_as_nested_dict()["allocation"]["current"] >= 1
    del x
    cuda.reset_peak_host_memory_stats()
    cuda.reset_accumulated_host_memory_stats()
    assert cuda.host_memory_stats()["allocated_bytes.allocated"] == 0


def test_a_process_may_take_a_part_of_the_memory():
    assert cuda.get_per_process_memory_fraction() == 1.0
    total = cuda.mem_get_info()[1]
    cuda.set_per_process_memory_fraction(0.25)
    try:
        assert cuda.get_per_process_memory_fraction() == pytest.approx(0.25)
        with pytest.raises(cuda.OutOfMemoryError, match="out of memory"):
            ag.empty(total // 2, dtype=ag.uint8, device="cuda")
    finally:
        cuda.set_per_process_memory_fraction(1.0)
    for wrong, kind in ((2.0, ValueError), (-0.5, ValueError), (1, TypeError)):
        with pytest.raises(kind, match="fraction"):
            cuda.set_per_process_memory_fraction(wrong)


def test_other_libraries_get_memory():
    before = cuda.memory_allocated()
    side = cuda.Stream()
    one, other = cuda.caching_allocator_alloc(1000), cuda.caching_allocator_alloc(9, 0, side)
    assert one and other and cuda.memory_allocated() > before
    cuda.caching_allocator_delete(one)
    cuda.caching_allocator_delete(other)
    assert cuda.memory_allocated() == before
    with pytest.raises(RuntimeError, match="invalid device pointer"):
        cuda.caching_allocator_delete(one)
    assert cuda.get_allocator_backend() == "native"


# --- generators -------------------------------------------------------------------------------


def test_generators_are_seeded_and_put_back():
    ag.manual_seed(5)
    expected = ag.rand(4)
    assert ag.rand(4, device="cuda").tolist() == expected.tolist()
    cuda.manual_seed(7)
    assert cuda.initial_seed() == 7
    state, first = cuda.get_rng_state(), ag.rand(3, device="cuda").tolist()
    cuda.set_rng_state(state)
    assert ag.rand(3, device="cuda").tolist() == first
    cuda.manual_seed_all(7)
    states = cuda.get_rng_state_all()
    assert len(states) == cuda.device_count() and all(s.is_cpu for s in states)
    assert ag.rand(3, device="cuda").tolist() == first
    cuda.set_rng_state_all(states)
    with ag.random.fork_rng(devices=[0]):
        assert ag.rand(3, device="cuda").tolist() == first
    assert ag.rand(3, device="cuda").tolist() == first
    cuda.seed()
    one = cuda.initial_seed()
    cuda.seed_all()
    assert cuda.initial_seed() != one
    assert [g.device.index for g in cuda.default_generators] == [*range(cuda.device_count())]
    assert cuda.default_generators[0].device == ag.device("cuda:0")
    own = ag.Generator(device="cuda").manual_seed(3)
    a = ag.rand(2, device="cuda", generator=own)
    assert a.tolist() == ag.rand(2, generator=ag.Generator().manual_seed(3)).tolist()


@two
def test_a_device_that_nobody_used_is_seeded_without_its_start():
    ag.manual_seed(1)
    with ag.random.fork_rng():
        cuda.manual_seed_all(11)
        states = cuda.get_rng_state_all()
        here, there = (ag.rand(2, device=f"cuda:{i}").tolist() for i in (0, 1))
        assert here == there
        cuda.set_rng_state(states[0], 1)
        assert ag.rand(2, device="cuda:1").tolist() == here


# --- saving and copying -----------------------------------------------------------------------


def saved(x):
    buffer = io.BytesIO()
    ag.save(x, buffer)
    buffer.seek(0)
    return buffer


@pytest.mark.parametrize("device", ["cuda:0", pytest.param("cuda:1", marks=two)])
def test_files_come_back_where_they_were(device):
    x = {"a": ag.arange(6.0, device=device).reshape(2, 3).t(), "b": ag.ones(2)}
    x["c"] = x["a"][0]
    y = ag.load(saved(x))
    assert str(y["a"].device) == device and y["b"].is_cpu
    assert y["a"].stride() == (1, 3) and y["a"].tolist() == x["a"].tolist()
    y["a"].zero_()
    assert y["c"].tolist() == [0, 0]  # memory is shared as it was
    for where, wanted in (
        ("cpu", "cpu"),
        ("cuda", "cuda:0"),
        (ag.device("cuda:0"), "cuda:0"),
        ({device: "cpu"}, "cpu"),
        (lambda storage, location: storage, "cpu"),
        ("meta", "meta"),
    ):
        assert str(ag.load(saved(x), map_location=where)["a"].device) == wanted
    with pytest.raises(RuntimeError, match="deserialize object on CUDA device 63"):
        ag.load(saved(x), map_location="cuda:63")


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_stay_on_their_device(clone):
    x = ag.arange(4.0, device="cuda").requires_grad_()
    y = clone(x)
    assert y.is_cuda and y.requires_grad and y.tolist() == x.tolist()
    assert y.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
    p = clone(ag.nn.Parameter(ag.ones(2, device="cuda")))
    assert isinstance(p, ag.nn.Parameter) and p.is_cuda
    net = ag.nn.Sequential(ag.nn.Linear(3, 2), ag.nn.BatchNorm1d(2)).cuda()
    net2 = clone(net)
    assert all(p.is_cuda for p in net2.parameters()) and net2[1].running_mean.is_cuda
    batch = ag.randn(4, 3, device="cuda")
    assert net2(batch).tolist() == net(batch).tolist()


def test_states_of_modules_and_optimizers_are_loaded():
    def made(device):
        ag.manual_seed(0)
        net = ag.nn.Linear(3, 2).to(device)
        optimizer = ag.optim.Adam(net.parameters())
        return net, optimizer

    def step(net, optimizer):
        optimizer.zero_grad()
        net(ag.ones(4, 3, device=net.weight.device)).sum().backward()
        optimizer.step()

    net, optimizer = made("cuda")
    step(net, optimizer)
    file = saved({"net": net.state_dict(), "optimizer": optimizer.state_dict()})
    states = ag.load(file, map_location="cpu")
    for device in ("cuda", "cpu"):
        other, theirs = made(device)
        other.load_state_dict(states["net"])
        theirs.load_state_dict(states["optimizer"])
        assert theirs.state[other.weight]["exp_avg"].device.type == device
        step(other, theirs)
        assert other.weight.device.type == device
    step(net, optimizer)
    assert ag.allclose(other.weight, net.weight.cpu(), atol=1e-6)


# --- loading data, mixed precision ------------------------------------------------------------


def test_a_loader_pins_batches():
    loader = ag.utils.data.DataLoader(ag.arange(8.0).reshape(4, 2), batch_size=2, pin_memory=True)
    total = 0.0
    for batch in loader:
        assert batch.is_pinned()
        total += batch.to("cuda", non_blocking=True).sum().item()
    assert total == 28


def test_saved_tensors_wait_in_pinned_memory():
    x = ag.arange(4.0, device="cuda", requires_grad=True)
    with ag.autograd.graph.save_on_cpu(pin_memory=True):
        y = (x * x).sum()
    y.backward()
    assert x.grad.tolist() == [0, 2, 4, 6]


def test_autocast_and_scalers_are_of_gpus():
    a = ag.randn(4, 4, device="cuda", requires_grad=True)
    assert ag.amp.is_autocast_available("cuda")
    with ag.autocast("cuda"):
        assert ag.is_autocast_enabled("cuda") and (a @ a).dtype == ag.float16
        assert (a.cpu() @ a.cpu()).dtype == ag.float32
    with ag.autocast("cuda", dtype=ag.bfloat16):
        assert (a @ a).dtype == ag.bfloat16
    assert not cuda.amp.amp_definitely_not_available()
    optimizer, scaler = ag.optim.SGD([a], lr=1.0), ag.amp.GradScaler("cuda")
    assert scaler.is_enabled()
    before = a.detach().clone()
    scaler.scale(a.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert ag.allclose(a, before - 1)
    with pytest.warns(FutureWarning, match=r"torch\.amp\.autocast"):
        with cuda.amp.autocast():
            assert (a @ a).dtype == ag.float16


# --- several devices --------------------------------------------------------------------------


@two
def test_tensors_are_copied_to_several_devices():
    comm, x = cuda.comm, ag.arange(6.0)
    copies = comm.broadcast(x.cuda(), [0, 1])
    assert [c.get_device() for c in copies] == [0, 1] and copies[1].tolist() == x.tolist()
    assert comm.reduce_add(copies).tolist() == (x * 2).tolist()
    assert comm.reduce_add(copies, 1).get_device() == 1
    parts = comm.scatter(x, [0, 1], [2, 4])
    assert [p.tolist() for p in parts] == [[0, 1], [2, 3, 4, 5]] and parts[1].get_device() == 1
    assert comm.gather(parts).tolist() == x.tolist() and comm.gather(parts, destination=-1).is_cpu
    lists = comm.broadcast_coalesced([x, x + 1], [0, 1])
    assert [t.get_device() for t in lists[1]] == [1, 1]
    sums = comm.reduce_add_coalesced(lists)
    assert sums[1].tolist() == (2 * (x + 1)).tolist()
    out = [ag.empty(6, device=f"cuda:{i}") for i in (0, 1)]
    assert comm.broadcast(x, out=out)[1] is out[1] and out[1].tolist() == x.tolist()
    halves = [ag.empty(3, device=f"cuda:{i}") for i in (0, 1)]
    comm.scatter(x, out=halves)
    assert halves[1].tolist() == [3, 4, 5]
    whole = ag.empty(6, device="cuda")
    assert comm.gather(halves, out=whole) is whole and whole.tolist() == x.tolist()
    with pytest.raises(RuntimeError, match="Exactly one of 'devices' and 'out'"):
        comm.broadcast(x)
    with pytest.raises(RuntimeError, match="must not be specified when 'out'"):
        comm.gather(halves, destination=0, out=whole)
    with pytest.raises(RuntimeError, match="inputs to be on GPUs"):
        comm.reduce_add([x, x])
    with pytest.raises(RuntimeError, match="input 1 has invalid size"):
        comm.reduce_add([x.cuda(), x[:2].cuda()])


# --- other names ------------------------------------------------------------------------------


def test_modes_of_synchronising_are_refused():
    assert cuda.get_sync_debug_mode() == 0 and cuda.set_sync_debug_mode("default") is None
    with pytest.raises(RuntimeError, match="invalid value of debug_mode"):
        cuda.set_sync_debug_mode("loud")
    with pytest.raises(RuntimeError, match="host_reads"):
        cuda.set_sync_debug_mode(1)


@pytest.mark.emulated
def test_the_profiler_of_the_driver_is_started():
    before = control.counts()
    with cuda.profiler.profile():
        ag.ones(1, device="cuda")
    assert control.counts()["live_allocations"] >= before["live_allocations"]
