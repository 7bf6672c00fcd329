"""autograd_cy.cuda where GPUs can't be used: names of torch's, answers, and what is missing."""

import importlib.util
import inspect
import pickle
import subprocess
import sys
import warnings
import zipfile

import pytest
from grouping import each

import autograd_cy as ag
from autograd_cy.cuda import _core, _start

cuda = ag.cuda
MISSING = "this build has no kernels; or use device='cpu'"
# What the modules of torch's import, and isn't about GPUs.
NOT_THEIRS = set(
    "Any Callable DEVICE_REQUIREMENT Device NewType Optional PYTORCH_RELEASES_CODE_CC "
    "TYPE_CHECKING cast classproperty importlib lru_cache os platform threading torch traceback "
    "warnings".split()
)


@pytest.fixture(autouse=True)
def without(monkeypatch):
    """Make a process in which no GPU can be used, whatever this machine has."""
    if _core.registered():
        pytest.skip("a GPU is in use in this process")
    monkeypatch.setattr(_start, "why_not", lambda: MISSING)


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


def test_every_name_of_torch_works_or_says_what_to_do_instead(torch):
    names = {n for n in dir(torch.cuda) if not n.startswith("_")} - NOT_THEIRS
    # Modules that need no name of their own.
    names -= {"green_contexts", "AcceleratorError"}
    for name in sorted(names):
        found = getattr(cuda, name)
        assert found is not None, name
    listed = {n for n in torch.cuda.__all__ if n in cuda.__all__}
    assert len(listed) > 90


def test_signatures_begin_as_torchs(torch):
    wrong = []
    for name in cuda.__all__:
        theirs, ours = getattr(torch.cuda, name, None), getattr(cuda, name)
        if theirs is None or inspect.ismodule(ours) or not callable(ours):
            continue
        try:
            wanted = [p for p in inspect.signature(theirs).parameters.values() if p.kind < 4]
        except ValueError:
            continue  # tensor types
        found = inspect.signature(ours).parameters
        for p in wanted:
            if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
                continue
            own = found.get(p.name)
            if own is None or (own.default is p.empty) != (p.default is p.empty):
                wrong.append((name, p.name))
    assert wrong == []


ANSWERS = (
    "is_available() device_count() is_initialized() is_bf16_supported() is_tf32_supported() "
    "get_arch_list() get_gencode_flags() memory_allocated() max_memory_allocated() "
    "memory_reserved() max_memory_reserved() memory_stats() memory_stats_as_nested_dict() "
    "host_memory_stats() host_memory_stats_as_nested_dict() empty_cache() manual_seed(3) "
    "manual_seed_all(3) seed() seed_all() get_rng_state_all() set_rng_state_all([]) "
    "default_generators set_stream(None) set_device(-1) memory_allocated('cpu') has_half "
    "has_magma FloatTensor.is_cuda BoolTensor.__name__ list_gpu_processes()"
).split()


@each("call", ANSWERS)
def test_questions_are_answered_as_by_torch(torch, call):
    state = ag.get_rng_state()
    assert eval(f"cuda.{call}") == eval(f"torch.cuda.{call}")
    assert ag.equal(ag.get_rng_state(), state)


def test_nothing_happens_where_torch_raises_for_want_of_a_build():
    assert cuda.reset_peak_memory_stats() is cuda.reset_accumulated_memory_stats() is None
    assert cuda.reset_peak_host_memory_stats() is cuda.reset_accumulated_host_memory_stats() is None
    assert "device ID 0" in cuda.memory_summary() and not cuda.is_current_stream_capturing()
    with cuda.device(None), cuda.device(-1), cuda.device_of(ag.ones(1)), cuda.stream(None):
        assert ag.ones(1).is_cpu
    assert cuda.device("cuda:1").idx == 1 and cuda.device_of(ag.ones(1)).idx == -1
    state = ag.get_rng_state()
    cuda.set_rng_state(state)
    with pytest.raises(TypeError, match="tensor of uint8"):
        cuda.set_rng_state(3)
    assert not isinstance(ag.ones(1), cuda.FloatTensor) and isinstance(ag.ones(1), ag.FloatTensor)
    assert pickle.loads(pickle.dumps(cuda.FloatTensor)) is cuda.FloatTensor
    assert not isinstance(ag.Stream("cpu"), cuda.Stream)
    assert issubclass(cuda.OutOfMemoryError, MemoryError) and str(cuda.CudaError(2))
    assert issubclass(ag.AcceleratorError, RuntimeError)


NEEDS = {
    "current_device": lambda: cuda.current_device(),
    "set_device": lambda: cuda.set_device(0),
    "device": lambda: cuda.device(0).__enter__(),
    "init": lambda: cuda.init(),
    "synchronize": lambda: cuda.synchronize(),
    "properties": lambda: cuda.get_device_properties(),
    "name": lambda: cuda.get_device_name(),
    "capability": lambda: cuda.get_device_capability(),
    "peer": lambda: cuda.can_device_access_peer(0, 1),
    "current_stream": lambda: cuda.current_stream(),
    "default_stream": lambda: cuda.default_stream(),
    "Stream": lambda: cuda.Stream(),
    "Event": lambda: cuda.Event(),
    "ExternalStream": lambda: cuda.ExternalStream(0),
    "mem_get_info": lambda: cuda.mem_get_info(),
    "fraction": lambda: cuda.set_per_process_memory_fraction(0.5),
    "alloc": lambda: cuda.caching_allocator_alloc(1),
    "initial_seed": lambda: cuda.initial_seed(),
    "get_rng_state": lambda: cuda.get_rng_state(),
    "ipc_collect": lambda: cuda.ipc_collect(),
    "sync_debug": lambda: cuda.get_sync_debug_mode(),
    "FloatTensor": lambda: cuda.FloatTensor([1]),
    "type": lambda: ag.ones(1).type("torch.cuda.FloatTensor"),
    "type of a class": lambda: ag.ones(1).type(cuda.FloatTensor),
    "x.cuda": lambda: ag.ones(1).cuda(),
    "x.cuda(1)": lambda: ag.ones(1).cuda(1),
    "x.to": lambda: ag.ones(1).to("cuda"),
    "x.to(0)": lambda: ag.ones(1).to(0),
    "factory": lambda: ag.ones(1, device="cuda:1"),
    "module": lambda: ag.nn.Linear(1, 1).cuda(),
    "Generator": lambda: ag.Generator(device="cuda"),
    "default device": lambda: ag.set_default_device("cuda"),
    "block": lambda: ag.device("cuda").__enter__(),
    "torch.Stream": lambda: ag.Stream("cuda"),
    "comm": lambda: cuda.comm.broadcast(ag.ones(1), [0]),
}


@each("call", list(NEEDS))
def test_what_needs_a_gpu_says_what_is_missing(call):
    with pytest.raises(RuntimeError, match="is not available: this build has no kernels"):
        NEEDS[call]()
    assert not cuda.is_initialized() and ag.ones(1).is_cpu


REFUSED = {
    "CUDAGraph()": "not recorded yet",
    "graphs.CUDAGraph()": "not recorded yet",
    "graph_pool_handle()": "not recorded yet",
    "make_graphed_callables(abs, ())": "not recorded yet",
    "MemPool()": "one cache of blocks",
    "memory_snapshot()": "use memory_stats",
    "cudart()": "pycuda.driver",
    "current_blas_handle()": "call the library",
    "nccl.all_reduce()": "use cuda.comm",
    "tunable.enable()": "leave it out",
    "sparse.FloatTensor()": "dense tensors",
}


@each("call", list(REFUSED))
def test_what_is_not_there_says_what_to_use(call):
    with pytest.raises(RuntimeError, match=f"no counterpart of torch.cuda.*{REFUSED[call]}"):
        eval(f"cuda.{call}")


def test_storages_of_a_gpu_are_not_made():
    with pytest.raises(RuntimeError, match="device 'cuda' is not available"):
        cuda.FloatStorage(2)
    assert cuda.FloatStorage.dtype is ag.float32 and not issubclass(cuda.FloatStorage, ag.Tensor)


def test_no_pointer_is_given_back_that_was_not_given_out():
    with pytest.raises(RuntimeError, match="invalid device pointer: 0x10"):
        cuda.caching_allocator_delete(16)


def test_files_of_a_gpu_are_refused_in_torchs_words(tmp_path):
    there, path = tmp_path / "cpu.pt", tmp_path / "gpu.pt"
    ag.save(ag.arange(3.0), there)
    with zipfile.ZipFile(there) as file, zipfile.ZipFile(path, "w") as made:
        for entry in file.infolist():
            name = b"X\x03\x00\x00\x00cpu"
            content = file.read(entry).replace(name, b"X\x06\x00\x00\x00cuda:1")
            made.writestr(entry.filename, content)
    with pytest.raises(
        RuntimeError,
        match="Attempting to deserialize object on a CUDA device but "
        r"torch.cuda.is_available\(\) is False.*map_location=torch.device\('cpu'\).*no kernels",
    ):
        ag.load(path)
    assert ag.load(path, map_location="cpu").tolist() == [0, 1, 2]
    assert ag.load(path, map_location={"cuda:1": "cpu"}).tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match="deserialize object on a CUDA device"):
        ag.load(path, map_location="cuda")


def test_mixed_precision_of_gpus_is_left_out_with_a_warning():
    with pytest.warns(UserWarning, match="CUDA is not available"), ag.autocast("cuda"):
        assert (ag.ones(1, 1) @ ag.ones(1, 1)).dtype == ag.float32
    with pytest.warns(UserWarning, match="CUDA is not available"):
        assert not ag.amp.GradScaler().is_enabled()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with ag.autocast("cuda", enabled=False):
            pass
        assert cuda.amp.amp_definitely_not_available()


def test_an_offered_gpu_is_the_accelerator_before_its_start(monkeypatch):
    monkeypatch.setattr(_start, "why_not", lambda: None)
    monkeypatch.setattr(_start, "device_count", lambda: 3)
    started = []

    def start():
        started.append(True)
        raise RuntimeError("started")

    monkeypatch.setattr(_start, "start", start)
    acc = ag.accelerator
    assert cuda.is_available() and cuda.device_count() == 3 == acc.device_count()
    assert acc.is_available() and acc.current_accelerator() == ag.device("cuda")
    assert ag.amp.is_autocast_available("cuda") and ag._C.creation._can_pin()
    assert cuda.memory_allocated() == acc.memory_allocated() == 0 and not cuda.is_initialized()
    cuda.manual_seed_all(3)
    ag.manual_seed(3)
    assert not started
    for call in (
        lambda: ag.ones(1).cuda(),
        lambda: ag.ones(1).to(0),
        lambda: ag.Stream(),
        lambda: acc.synchronize(),
        lambda: acc.current_device_index(),
        lambda: ag.ones(1).pin_memory(),
        lambda: ag.empty(1, pin_memory=True),
        lambda: cuda.current_device(),
        lambda: ag.Generator("cuda"),
    ):
        with pytest.raises(RuntimeError, match="started"):
            call()
    assert len(started) == 9


def test_utilization_is_asked_by_the_package_of_nvidia(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    for name in ("utilization", "memory_usage", "temperature", "power_draw", "clock_rate"):
        with pytest.raises(ModuleNotFoundError, match="nvidia-ml-py"):
            getattr(cuda, name)()
    assert cuda.list_gpu_processes().startswith("pynvml module not found")


def test_nothing_of_cuda_is_imported_before_it_is_asked_for():
    code = (
        "import sys, autograd_cy as ag\n"
        "(ag.ones(3, requires_grad=True) * 2).sum().backward()\n"
        "found = [m for m in sys.modules if 'pycuda' in m or 'cuda_' in m or '.cuda' in m]\n"
        "assert not found, found\n"
        "ag.cuda.manual_seed_all(3)\n"
        "assert 'pycuda' not in sys.modules\n"
        "late = [m for m in ('amp', 'comm', 'nvtx', 'profiler', 'monitoring', 'tensor_types')\n"
        "        if f'autograd_cy.cuda.{m}' in sys.modules]\n"
        "assert not late, late\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_pycuda_is_found_without_its_import():
    spec = importlib.util.find_spec("pycuda")
    cuda.is_available()
    assert spec is None or "pycuda.driver" not in sys.modules
