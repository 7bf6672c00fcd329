"""``with torch.device(...)`` and set_default_device: where tensors are made if nobody says."""

import threading

import numpy as np
import pytest

import autograd_cy as ag

HOST = ag.ones(2)

MAKERS = {
    "zeros": lambda m: m.zeros(2),
    "ones": lambda m: m.ones(2),
    "full": lambda m: m.full((2,), 1.0),
    "empty": lambda m: m.empty(2),
    "empty_strided": lambda m: m.empty_strided((2,), (1,)),
    "eye": lambda m: m.eye(2),
    "arange": lambda m: m.arange(3),
    "linspace": lambda m: m.linspace(0, 1, 3),
    "logspace": lambda m: m.logspace(0, 1, 3),
    "tensor": lambda m: m.tensor([1.0]),
    "scalar_tensor": lambda m: m.scalar_tensor(1.0),
    "as_tensor": lambda m: m.as_tensor([1.0]),
    "as_tensor of an array": lambda m: m.as_tensor(np.ones(2)),
    "asarray": lambda m: m.asarray([1.0]),
    "rand": lambda m: m.rand(2),
    "randn": lambda m: m.randn(2),
    "randint": lambda m: m.randint(3, (2,)),
    "randperm": lambda m: m.randperm(3),
    "fftfreq": lambda m: m.fft.fftfreq(3),
    "device=None": lambda m: m.ones(2, device=None),
    "Linear": lambda m: m.nn.Linear(2, 2).weight,
    "BatchNorm2d": lambda m: m.nn.BatchNorm2d(2).running_mean,
}
ELSEWHERE = {
    "from_numpy": lambda m: m.from_numpy(np.ones(2)),
    "device=cpu": lambda m: m.ones(2, device="cpu"),
    "ones_like": lambda m: m.ones_like(m.ones(2, device="cpu")),
    "rand_like": lambda m: m.rand_like(m.ones(2, device="cpu")),
    "new_zeros": lambda m: m.ones(2, device="cpu").new_zeros(3),
    "new_tensor": lambda m: m.ones(2, device="cpu").new_tensor([1.0]),
    "sum": lambda m: m.ones(2, device="cpu").sum(),
    "number": lambda m: m.ones(2, device="cpu") * 2,
}


@pytest.mark.parametrize("name", MAKERS)
def test_tensors_are_made_on_the_device_of_the_block(name):
    with ag.device("meta"):
        assert MAKERS[name](ag).device == ag.device("meta")
    assert MAKERS[name](ag).device == ag.device("cpu")


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_has_a_device_stays_there(name):
    with ag.device("meta"):
        assert ELSEWHERE[name](ag).device == ag.device("cpu")


@pytest.mark.parametrize("name", [*MAKERS, *ELSEWHERE])
def test_blocks_choose_as_in_torch(name):
    torch = pytest.importorskip("torch")
    make = (MAKERS | ELSEWHERE)[name]
    with ag.device("meta"), torch.device("meta"):
        assert str(make(ag).device) == str(make(torch).device)


@pytest.mark.filterwarnings("ignore:To copy construct")
def test_tensors_are_moved_by_what_makes_tensors_of_them():
    with ag.device("meta"):
        assert ag.tensor(HOST).device.type == "meta"
        assert ag.as_tensor(HOST).device.type == "meta"
        assert ag.asarray(HOST).device.type == "meta"
        assert HOST.device.type == "cpu"
    assert ag.tensor(HOST).device.type == "cpu"
    assert ag.as_tensor(HOST) is HOST


def test_blocks_nest_and_one_device_may_be_entered_again():
    meta, cpu = ag.device("meta"), ag.device("cpu")
    with meta as entered:
        assert entered is meta
        with cpu:
            assert ag.ones(1).device == cpu == ag.get_default_device()
            with meta:
                assert ag.ones(1).device == meta
            assert ag.ones(1).device == cpu
        assert ag.ones(1).device == meta == ag.get_default_device()
    assert ag.ones(1).device == cpu == ag.get_default_device()


def test_an_error_leaves_the_block():
    with pytest.raises(ZeroDivisionError), ag.device("meta"):
        1 / 0
    assert ag.ones(1).device.type == "cpu"


def test_set_default_device_lasts_and_a_block_goes_first():
    ag.set_default_device("meta")
    try:
        assert ag.ones(1).device.type == "meta" == ag.get_default_device().type
        with ag.device("cpu"):
            assert ag.ones(1).device.type == "cpu"
        assert ag.ones(1).device.type == "meta"
        with ag.no_grad():
            assert ag.ones(1).device.type == "meta"
    finally:
        ag.set_default_device(None)
    assert ag.ones(1).device.type == "cpu" == ag.get_default_device().type


def test_each_thread_has_its_own():
    seen = []

    def look():
        seen.append(ag.ones(1).device.type)
        ag.set_default_device("meta")
        seen.append(ag.ones(1).device.type)

    with ag.device("meta"):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert seen == ["cpu", "meta"]
    assert ag.ones(1).device.type == "cpu"


def test_refusals():
    with pytest.raises(RuntimeError, match="nope"):
        ag.set_default_device("nope")
    with pytest.raises(TypeError):
        ag.set_default_device(3.5)
    with pytest.raises(RuntimeError, match="cuda.*not available"), ag.device("cuda"):
        pass
    with pytest.raises(RuntimeError, match="entered no device"):
        ag.device("meta").__exit__(None, None, None)
    assert ag.ones(1).device.type == "cpu"


def test_backward_in_a_block_is_of_the_device_of_its_tensors():
    x = ag.ones(3, requires_grad=True)
    with ag.device("meta"):
        y = (x.exp() * 2).cumsum(0).sum() + x.prod() + ag.nn.functional.softmax(x, 0)[0]
        y.backward()
    assert x.grad.device.type == "cpu"
    assert ag.isfinite(x.grad).all()


def test_a_module_is_made_without_memory_and_filled_later():
    with ag.device("meta"):
        net = ag.nn.Sequential(ag.nn.Linear(3, 4), ag.nn.ReLU(), ag.nn.Linear(4, 1))
    assert all(p.device.type == "meta" for p in net.parameters())
    net.to_empty(device="cpu")
    assert net(ag.zeros(2, 3)).shape == (2, 1)


def test_a_default_type_of_the_cpu_names_no_device():
    from autograd_cy._C.tensor import _get_modes

    before = _get_modes()
    with pytest.warns(UserWarning, match="deprecated"):
        ag.set_default_tensor_type("torch.FloatTensor")
    assert _get_modes() == before
