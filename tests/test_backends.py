"""Switches of libraries that aren't here, and settings for what is always so."""

import contextlib
import importlib

import pytest
from call_tables import assert_refused

import autograd_cy as ag
from autograd_cy._C import cuda_launch


def test_libraries_answer_whether_they_are_there():
    answers = {
        name: getattr(ag.backends, name).is_available()
        for name in ("cudnn", "mps", "mkldnn", "mkl", "openmp")
    }
    assert not (answers["cudnn"] or answers["mps"] or answers["mkldnn"])
    assert {type(answer) for answer in answers.values()} == {bool}
    assert answers["openmp"] == ag._C.parallel.info()["openmp"]
    assert ag.backends.cudnn.version() is None
    assert not ag.backends.mps.is_built()
    # With kernels in the build, whether this machine has a GPU or not.
    assert ag.backends.cuda.is_built() == bool(cuda_launch.images())
    wanted = {"avx512": "AVX512", "avx2": "AVX2", "base": "DEFAULT"}[ag._C.cpu.selected_target()]
    assert ag.backends.cpu.get_cpu_capability() == wanted


@pytest.fixture
def switches():
    """The switches with their values, which come back afterwards."""
    cudnn, products = ag.backends.cudnn, ag.backends.cuda.matmul
    names = ("enabled", "benchmark", "benchmark_limit", "deterministic", "allow_tf32")
    before = {name: getattr(cudnn, name) for name in names}, products.allow_tf32
    yield before[0]
    for name, value in before[0].items():
        setattr(cudnn, name, value)
    products.allow_tf32 = before[1]


def test_switches_start_as_in_torch_and_take_what_it_takes(switches):
    torch = pytest.importorskip("torch")
    ours, theirs = ag.backends.cudnn, torch.backends.cudnn
    for name, value in switches.items():
        assert value == getattr(theirs, name), name
        other = not value if isinstance(value, bool) else 3
        setattr(ours, name, other)
        assert importlib.import_module("autograd_cy.backends.cudnn").__dict__[name] == other
    for name in ("enabled", "benchmark", "deterministic", "allow_tf32"):
        for module in (ours, theirs):
            with pytest.raises(RuntimeError, match="bool"):
                setattr(module, name, 1)
    for module in (ag.backends.cuda, torch.backends.cuda):
        with pytest.raises(RuntimeError, match="bool"):
            module.matmul.allow_tf32 = 1
        with pytest.raises(AttributeError, match="Unknown attribute"):
            module.matmul.other = True
    ag.backends.cuda.matmul.allow_tf32 = True
    assert ag.backends.cuda.matmul.allow_tf32 is True


def test_flags_last_for_a_block_even_if_it_fails(switches):
    cudnn = ag.backends.cudnn
    block = contextlib.ExitStack()
    block.enter_context(cudnn.flags(enabled=False, benchmark=True))
    assert cudnn.benchmark and not cudnn.enabled
    with pytest.raises(ZeroDivisionError), block:
        _ = 1 / 0
    assert {name: getattr(cudnn, name) for name in switches} == switches
    with pytest.raises(RuntimeError, match="deterministic is bool"):
        cudnn.flags(benchmark=True, deterministic=1)
    assert {name: getattr(cudnn, name) for name in switches} == switches


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("use_deterministic_algorithms", 1),
        ("use_deterministic_algorithms", "x"),
        ("set_deterministic_debug_mode", "often"),
        ("set_deterministic_debug_mode", 3),
        ("set_deterministic_debug_mode", 1.5),
        ("set_float32_matmul_precision", 3),
    ],
)
def test_settings_refuse_what_torch_refuses(call, value):
    torch = pytest.importorskip("torch")
    with pytest.raises((TypeError, RuntimeError)) as theirs:
        getattr(torch, call)(value)
    with pytest.raises(theirs.type):
        getattr(ag, call)(value)


def test_settings_are_kept():
    try:
        ag.use_deterministic_algorithms(True, warn_only=True)
        assert ag.are_deterministic_algorithms_enabled()
        assert ag.is_deterministic_algorithms_warn_only_enabled()
        assert ag.get_deterministic_debug_mode() == 1
        ag.set_deterministic_debug_mode("error")
        assert ag.get_deterministic_debug_mode() == 2
        assert not ag.is_deterministic_algorithms_warn_only_enabled()
        ag.set_float32_matmul_precision("medium")
        with pytest.warns(UserWarning, match="x is not one of 'highest', 'high', or 'medium'"):
            ag.set_float32_matmul_precision("x")
        assert ag.get_float32_matmul_precision() == "medium"
    finally:
        ag.set_deterministic_debug_mode("default")
        ag.set_float32_matmul_precision("highest")
    assert not ag.are_deterministic_algorithms_enabled()


def test_programs_that_choose_a_device_find_no_other():
    assert ag.accelerator.current_accelerator() is None
    assert ag.accelerator.current_accelerator(check_available=True) is None
    for place in (ag.accelerator, ag.xpu, ag.mps, ag.cuda):
        assert place.is_available() is False and place.device_count() == 0
    for place in (ag.xpu, ag.mps):
        with pytest.raises(AttributeError, match=r"has no attribute 'synchronize': .*on the CPU"):
            place.synchronize
    for call in ("synchronize", "current_stream", "current_device_index"):
        with pytest.raises(RuntimeError, match="accelerator device when none is available"):
            getattr(ag.accelerator, call)()
    state = ag.get_rng_state()
    for seed in (ag.xpu.manual_seed, ag.xpu.manual_seed_all, ag.mps.manual_seed):
        assert seed(3) is None
    assert ag.equal(ag.get_rng_state(), state)
    assert ag.xpu.empty_cache() is None and not ag.xpu.is_initialized()
    from autograd_cy.xpu import is_available

    assert is_available is ag.xpu.is_available


def test_threads_between_operations_are_asked_for_once(monkeypatch):
    monkeypatch.setattr("autograd_cy._environment.settings._interop_threads", None)
    assert ag.get_num_interop_threads() == 1
    for number, text in ((0, "expects a positive integer"), ("2", "expects an int, but got str")):
        with pytest.raises(RuntimeError, match=text):
            ag.set_num_interop_threads(number)
    ag.set_num_interop_threads(2)
    assert ag.get_num_interop_threads() == 2
    with pytest.raises(RuntimeError, match="cannot set number of interop threads after"):
        ag.set_num_interop_threads(2)


def test_denormal_numbers_are_never_flushed():
    assert ag.set_flush_denormal(True) is ag.set_flush_denormal(False) is False
    with pytest.raises(RuntimeError, match="flush_denormal expects a bool, but got int"):
        ag.set_flush_denormal(1)


# call: (type of error, words of its message)
REFUSED = {
    "torch.set_deterministic_debug_mode([])": (TypeError, "debug_mode must be str or int"),
    "torch.backends.cuda.nosuch": (AttributeError, "nosuch"),
    "setattr(torch.backends.cuda.matmul, 'nosuch', 1)": (AttributeError, "nknown attribute"),
}


def test_settings_that_are_not_there_are_refused():
    assert_refused(REFUSED, {"torch": ag})


def test_switches_of_kernels_of_attention_are_kept():
    cuda, names = ag.backends.cuda, ("flash", "mem_efficient", "math", "cudnn")
    enabled = [getattr(cuda, f"{name}_sdp_enabled") for name in names]
    assert all(one() for one in enabled)
    for name, one in zip(names, enabled, strict=True):
        getattr(cuda, f"enable_{name}_sdp")(False)
        assert one() is False
        getattr(cuda, f"enable_{name}_sdp")(True)
    with pytest.warns(FutureWarning, match="sdpa_kernel"):
        with cuda.sdp_kernel(enable_flash=False, enable_cudnn=False):
            assert [one() for one in enabled] == [False, True, True, False]
    assert all(one() for one in enabled)


def test_the_switch_of_layers_without_gradients_is_kept():
    mha = ag.backends.mha
    assert mha.get_fastpath_enabled() is True
    mha.set_fastpath_enabled(False)
    assert mha.get_fastpath_enabled() is False
    mha.set_fastpath_enabled(True)
