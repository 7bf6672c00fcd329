"""A device is a type and an index."""

import copy
import gc

import pytest
from tracing import built, tracer  # noqa: F401 - fixtures

import autograd_cy as ag
from autograd_cy._C import devices


def test_an_index_names_another_device(tracer):
    x = ag.ones(3, device="tracer:0")
    y = x.to("tracer:1")
    assert (str(x.device), str(y.device)) == ("tracer:0", "tracer:1")
    assert (x.get_device(), y.get_device()) == (0, 1)
    assert x.to("tracer:0") is x and y.to("tracer:0") is not y
    assert ag.device("tracer") != ag.device("tracer:0") == x.device
    assert ag.device("tracer", 1) == y.device
    assert ag.empty_like(y).device == y.device and ag.zeros_like(y).device == y.device
    assert y[1:].device == y.device and y.new_ones(2).device == y.device
    assert not y.is_cpu and not y.is_meta and not y.is_cuda


def test_without_an_index_it_is_the_current_one(tracer):
    x = ag.ones(3)
    assert str(x.to("tracer").device) == "tracer:0"
    assert str(ag.ones(3, device=ag.device("tracer")).device) == "tracer:0"
    with ag.Stream("tracer:1"):
        y = x.to("tracer")
        assert str(y.device) == "tracer:1" and y.to("tracer") is y
        assert str(ag.tensor([1.0], device="tracer").device) == "tracer:1"
    assert y.to("tracer") is not y


@pytest.mark.parametrize("text", ["tracer:2", "tracer:63", "tracer:64", "tracer:1000"])
def test_an_index_that_does_not_exist(tracer, text):
    words = rf"invalid device ordinal: no device '{text}', there are 'tracer:0' to 'tracer:1'; use"
    for call in (
        lambda: ag.ones(1, device=text),
        lambda: ag.ones(1).to(text),
        lambda: ag.nn.Linear(1, 1).to(text),
        lambda: ag.set_default_device(text),
        lambda: ag.device(text).__enter__(),
        lambda: ag.Event(text),
        lambda: ag.memory_summary(text),
    ):
        with pytest.raises(RuntimeError, match=words):
            call()
    assert ag.get_default_device() == ag.device("cpu")
    with pytest.raises(RuntimeError, match="must not be negative"):
        ag.device("tracer", -1)
    with pytest.raises(RuntimeError, match="Invalid device string"):
        ag.device("tracer:-1")


def test_there_may_be_64_of_a_type(tracer):
    tracer.set_count(64)
    x = ag.ones(2, device="tracer:63")
    assert str(x.device) == "tracer:63" and (x + x).tolist() == [2, 2]
    with ag.device("tracer:63"):
        assert ag.ones(1).get_device() == 63
    with pytest.raises(RuntimeError, match="no device 'tracer:64', there are .* 'tracer:63'"):
        ag.ones(2, device="tracer:64")


def test_devices_can_go(tracer):
    x, y = ag.ones(3, device="tracer:0"), ag.ones(3, device="tracer:1")
    tracer.set_count(1)
    with pytest.raises(RuntimeError, match="'tracer:1', there is 'tracer:0' alone"):
        ag.ones(1, device="tracer:1")
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        y.to("tracer:1")
    assert (x + x).tolist() == [2, 2, 2]
    tracer.set_count(0)
    with pytest.raises(RuntimeError, match="no device 'tracer:0', there is none now"):
        x.to("tracer")
    del x, y  # memory goes back all the same
    assert tracer.state()["blocks"] == 0
    tracer.fail("count", OSError("unplugged"))
    with pytest.raises(OSError, match="unplugged"):
        ag.ones(1, device="tracer")
    tracer.fail()
    tracer.set_count(2)
    assert ag.ones(1, device="tracer:1").tolist() == [1]


def test_a_device_that_goes_within_a_block(tracer):
    with ag.Stream("tracer:1"):
        tracer.set_count(1)
        with pytest.raises(RuntimeError, match="invalid device ordinal: no device 'tracer:1'"):
            ag.ones(1, device="tracer")
    assert ag.ones(1, device="tracer").tolist() == [1]


def test_a_default_device(tracer):
    with ag.device("tracer:1"):
        assert str(ag.ones(1).device) == "tracer:1" == str(ag.get_default_device())
        with ag.device("tracer"), ag.device("cpu"):
            assert ag.ones(1).is_cpu
        with ag.device("tracer"):
            assert str(ag.ones(1).device) == "tracer:0"
            with ag.Stream("tracer:1"):
                assert str(ag.ones(1).device) == "tracer:1"
    ag.set_default_device("tracer:1")
    try:
        assert str(ag.ones(1).device) == "tracer:1"
        with ag.device("meta"):
            assert ag.ones(1).is_meta
            ag.set_default_device("tracer")
        with ag.no_grad(), ag.Stream("tracer:1"):
            assert str(ag.ones(1).device) == "tracer:1"
        assert str(ag.ones(1).device) == "tracer:0"
    finally:
        ag.set_default_device(None)
    assert ag.ones(1).is_cpu


@pytest.mark.parametrize("modes", [ag.no_grad, ag.inference_mode, ag.enable_grad])
def test_modes_keep_the_default_device(tracer, modes):
    with ag.device("tracer:1"):
        with modes():
            assert str(ag.ones(1).device) == "tracer:1"
        assert ag.vmap(lambda x: x + ag.ones(1))(ag.ones(2, 1)).device.index == 1
        x = ag.ones(1, requires_grad=True)
        seen = []
        x.register_hook(lambda g: seen.append(str(ag.ones(1).device)))
        (x + 1).backward(ag.ones(1))
        assert seen == ["tracer:1"]


def mixed(a, b):
    """Calls that each get tensors of two devices."""
    flat = a.reshape(4)
    index = ag.zeros(2, dtype=ag.int64, device="cpu").to(b.device)
    return {
        "add": lambda: a + b,
        "add_": lambda: a.add_(b),
        "mm": lambda: ag.mm(a, b),
        "cat": lambda: ag.cat((a, b)),
        "stack": lambda: ag.stack((a, b)),
        "where": lambda: ag.where(a.to(ag.bool), a, b),
        "linear": lambda: ag.nn.functional.linear(a, b),
        "mse_loss": lambda: ag.nn.functional.mse_loss(a, b),
        "index_select": lambda: ag.index_select(a, 0, index),
        "gather": lambda: ag.gather(flat, 0, index),
        "x[index]": lambda: a[index],
        "out": lambda: ag.add(a, a, out=b),
        "sum out": lambda: ag.sum(a, 0, out=b[0]),
        "conv": lambda: ag.nn.functional.conv2d(a[None, None], b[None, None]),
        "bmm": lambda: ag.bmm(a[None], b[None]),
        "masked_fill": lambda: a.masked_fill_(b.bool(), 1),
    }


def test_every_operator_refuses_two_indices(tracer):
    """The error says both, and nothing has changed."""
    a, b = (ag.ones(2, 2).to(f"tracer:{i}") for i in (0, 1))
    for name, call in mixed(a, b).items():
        with pytest.raises(RuntimeError) as error:
            call()
        text = str(error.value)
        assert "tracer:0" in text and "tracer:1" in text, (name, text)
    assert a.tolist() == b.tolist() == [[1, 1], [1, 1]]


def test_copies_between_indices_wait_on_both_sides(tracer):
    here, there = ag.Stream("tracer:0"), ag.Stream("tracer:1")
    x = ag.arange(3.0).to("tracer:0")
    before = devices.host_reads()
    with here, there:
        tracer.traced()
        y = x.to("tracer:1")
        calls = tracer.traced()
    assert [call[:3] for call in calls] == [
        ("allocate", 1, there.stream_id),
        ("event_record", 0, here.stream_id),
        ("event_wait", 1, there.stream_id),
        ("copy", 1, there.stream_id),
        ("event_record", 1, there.stream_id),
        ("event_wait", 0, here.stream_id),
    ]
    assert calls[2][3] != calls[5][3]
    assert devices.host_reads() == before
    assert y.tolist() == [0, 1, 2]
    x.copy_(y + y)
    assert x.tolist() == [0, 2, 4]


def test_copies_between_types_go_by_way_of_the_host(tracer):
    x = ag.arange(3.0).to("tracer:1")
    before = devices.host_reads()
    assert x.to("bare:0").tolist() == [0, 1, 2]
    assert devices.host_reads() == before + 2
    y = ag.zeros(3, device="bare:1")
    assert y.copy_(x).tolist() == [0, 1, 2]
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor"):
        y.copy_(ag.empty(3, device="meta"))
    assert ag.empty(3, device="meta").copy_(y).is_meta
    assert ag.empty(3, device="meta").copy_(y.to("meta").double()).is_meta


def test_gradients_go_back_to_the_device_of_the_source(tracer):
    x = ag.ones(3, device="tracer:1", requires_grad=True)
    x.to("tracer:0").backward(ag.ones(3, device="tracer:0"))
    assert str(x.grad.device) == "tracer:1" and x.grad.tolist() == [1, 1, 1]
    z = ag.zeros(3, device="tracer:0", requires_grad=True)
    y = ag.ones(3, device="tracer:1", requires_grad=True)
    (z + 0).copy_(y).backward(ag.ones(3, device="tracer:0"))
    assert str(y.grad.device) == "tracer:1" and y.grad.tolist() == [1, 1, 1]
    assert z.grad.tolist() == [0, 0, 0]


def test_nodes_know_type_and_index(tracer):
    x = ag.ones(3, device="tracer:1", requires_grad=True)
    y = x + x
    assert y.grad_fn._input_metadata[0].device == ag.device("tracer:1")
    with pytest.raises(RuntimeError, match="tracer:1 but got tracer:0"):
        y.backward(ag.ones(3, device="tracer:0"))
    with pytest.raises(RuntimeError, match="tracer:0|tracer:1"):
        x.grad = ag.ones(3, device="tracer:0")
    assert x.grad is None


def test_modules_move_to_an_index(tracer):
    net = ag.nn.Linear(2, 3)
    there = copy.deepcopy(net).to("tracer:1")
    assert {str(p.device) for p in there.parameters()} == {"tracer:1"}
    assert [p.tolist() for p in there.cpu().parameters()] == [p.tolist() for p in net.parameters()]
    there.to(device="tracer", dtype=ag.float32, non_blocking=True)
    assert {str(p.device) for p in there.parameters()} == {"tracer:0"}
    gc.collect()


def test_a_number_is_a_device_of_the_accelerator(tracer):
    assert ag.accelerator.current_accelerator() == ag.device("tracer")
    assert ag.device(1) == ag.device("tracer:1")
