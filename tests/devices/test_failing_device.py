"""Bad input to a device, services that fail, a device that is lost: a clear error, and then on."""

import copy
import gc

import pytest
from proof import NAME, bits, current

import autograd_cy as ag
from autograd_cy import nn


def network():
    ag.manual_seed(1)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def step(net, x):
    net.zero_grad()
    loss = (net(x) * net(x)).mean()
    loss.backward()
    return [bits(p.grad) for p in net.parameters()]


def trained():
    """A network on the device, an input, and the gradients that it must have."""
    net, x = network(), ag.arange(6.0).reshape(2, 3)
    return copy.deepcopy(net).to(NAME), x.to(NAME), step(net, x)


pytestmark = pytest.mark.filterwarnings(  # of memory that is given back while services fail
    "ignore::pytest.PytestUnraisableExceptionWarning"
)
SERVICES = (
    "allocate",
    "elementwise",
    "kernels",
    "fill",
    "cast",
    "copy",
    "event_record",
    "event_wait",
)


def calls_of(late, action, service):
    """Count the services that an action calls."""
    count = 0
    while True:
        late.fail(count, service)
        try:
            action()
        except RuntimeError as error:
            if str(error) != f"hostdevice: {service} failed":
                raise
            count += 1
        else:
            return count
        finally:
            late.recover()


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_that_fails_in_the_middle_of_a_step(late, service):
    """Whichever call it is, the error is its own, nothing is left, and the next step is right."""
    net, x, expected = trained()
    side = ag.Stream(NAME)

    def action():
        if service.startswith("event"):
            with side:
                y = net(x).sum()
            net.zero_grad()
            y.backward()
        else:
            step(net, x)

    action()
    net.zero_grad()
    gc.collect()
    late.run_all()
    before = late.state()
    count = calls_of(late, action, service)
    assert count > 0 or service in ("cast", "copy")
    net.zero_grad()
    gc.collect()
    late.run_all()
    after = late.state()
    assert {k: after[k] for k in ("blocks", "events")} == {
        k: before[k] for k in ("blocks", "events")
    }
    assert step(net, x) == expected


def test_an_error_leaves_the_tensors_as_they_are(late):
    x, y = ag.ones(3, device=NAME), ag.ones(3, device=NAME)
    version = x._version
    late.fail(0, "elementwise")
    with pytest.raises(RuntimeError, match="elementwise failed"):
        x.add_(y)
    assert x._version == version
    assert x.tolist() == [1.0, 1.0, 1.0]


def test_a_device_that_is_lost(late):
    """All that asks it for something raises; what lets go of it doesn't; others go on."""
    net, x, expected = trained()
    other = network()
    loss = net(x).sum()
    late.fail(5, on=True)
    with pytest.raises(RuntimeError, match="failed"):
        loss.backward()
    for action in (
        lambda: x + 1,
        lambda: x.cpu(),
        lambda: x.to(f"{NAME}:1"),
        lambda: ag.ones(2, device=NAME),
        lambda: ag.Stream(NAME),
        lambda: current().synchronize(),
        lambda: x.sum().item(),
        lambda: net(x),
    ):
        with pytest.raises(RuntimeError, match="failed"):
            action()
    assert "late" in str(x.device) and x.shape == (2, 3)
    del loss
    gc.collect()
    assert step(other, ag.arange(6.0).reshape(2, 3)) == expected  # the CPU is not concerned
    late.recover()
    assert step(net, x) == expected


def test_a_device_that_has_gone(late):
    late.present_devices(1)
    for action in (
        lambda: ag.ones(2, device=f"{NAME}:1"),
        lambda: ag.ones(2).to(f"{NAME}:1"),
        lambda: ag.Stream(f"{NAME}:1"),
    ):
        with pytest.raises(RuntimeError, match="1"):
            action()
    assert ag.ones(2, device=f"{NAME}:0").tolist() == [1.0, 1.0]


@pytest.mark.parametrize("index", [2, 7, 63])
def test_an_index_that_does_not_exist(late, index):
    with pytest.raises(RuntimeError, match=rf"{index}"):
        ag.zeros(1).to(f"{NAME}:{index}")


MIXED = {
    "add": lambda a, b: a + b,
    "mm": lambda a, b: a @ b,
    "cat": lambda a, b: ag.cat([a, b]),
    "where": lambda a, b: ag.where(a > 0, a, b),
    "add_": lambda a, b: a.add_(b),
    "gather": lambda a, b: a.gather(0, (b * 0).long()),
    "index": lambda a, b: a[(b[0] * 0).long()],
    "linear": lambda a, b: nn.functional.linear(a, b),
    "out": lambda a, b: ag.exp(a, out=b),
}


@pytest.mark.parametrize("name", MIXED)
def test_tensors_of_two_devices(late, name):
    a, b = ag.ones(2, 2, device=f"{NAME}:0"), ag.ones(2, 2, device=f"{NAME}:1")
    with pytest.raises(RuntimeError, match="device"):
        MIXED[name](a, b)
    assert a.tolist() == b.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_both_devices_are_named(late):
    a, b = ag.ones(2, device=f"{NAME}:0"), ag.ones(2, device=f"{NAME}:1")
    with pytest.raises(RuntimeError, match=f"{NAME}:0.*{NAME}:1"):
        a * b


def test_a_gradient_of_another_device(late):
    class Wrong(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g.to(f"{NAME}:1")

    x = ag.ones(2, device=f"{NAME}:0").requires_grad_()
    with pytest.raises(RuntimeError, match=f"expected device {NAME}:0 but got {NAME}:1"):
        Wrong.apply(x).sum().backward()
    with pytest.raises(RuntimeError, match="device"):
        x.grad = ag.ones(2, device=f"{NAME}:1")
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_a_stream_of_another_device(late):
    x = ag.ones(2, device=f"{NAME}:0")
    other = ag.Stream(f"{NAME}:1")
    with pytest.raises((RuntimeError, ValueError), match="device"):
        x.record_stream(other)
    with other:  # the current one of its own device: others stay as they are
        assert (x + 1).tolist() == [2.0, 2.0]
    assert x.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("bad", [None, 3, "late", ag.device("cpu")])
def test_what_is_no_stream(late, bad):
    with pytest.raises((TypeError, AttributeError, RuntimeError)):
        ag.accelerator.set_stream(bad)
    with pytest.raises((TypeError, AttributeError, RuntimeError)):
        ag.ones(1, device=NAME).record_stream(bad)
    with pytest.raises((TypeError, AttributeError, RuntimeError)):
        ag.Stream(NAME).wait_stream(bad)


VALUES = {
    "embedding": lambda p: nn.functional.embedding(ag.tensor([0, 5]).to(p), ag.ones(3, 2).to(p)),
    "gather": lambda p: ag.ones(3).to(p).gather(0, ag.tensor([1, 4]).to(p)),
    "index": lambda p: ag.ones(3, 2).to(p)[ag.tensor([0, -4]).to(p)],
    "index_select": lambda p: ag.ones(3).to(p).index_select(0, ag.tensor([3]).to(p)),
    "scatter": lambda p: ag.ones(3).to(p).scatter(0, ag.tensor([3]).to(p), 1.0),
    "nll_loss": lambda p: nn.functional.nll_loss(ag.ones(2, 3).to(p), ag.tensor([0, 3]).to(p)),
    "floor_divide": lambda p: ag.tensor([4, 5]).to(p) // ag.tensor([2, 0]).to(p),
    "remainder": lambda p: ag.tensor([4, 5]).to(p) % ag.tensor([2, 0]).to(p),
}


@pytest.mark.parametrize("name", VALUES)
def test_an_error_of_values_comes_with_the_next_synchronisation(late, name):
    with pytest.raises(Exception) as expected:
        VALUES[name]("cpu")
    x = ag.ones(3, device=NAME)
    VALUES[name](NAME)  # no error yet
    VALUES["embedding"](NAME)  # only the first one is told
    y = x * 2
    with pytest.raises(type(expected.value)) as error:
        current().synchronize()
    assert str(error.value) == str(expected.value)
    current().synchronize()  # once
    assert y.tolist() == [2.0, 2.0, 2.0]  # later work has run


def test_an_error_of_values_comes_with_a_read(late):
    VALUES["gather"](NAME)
    x = ag.ones(2, device=NAME)
    with pytest.raises(RuntimeError, match="index 4"):
        x.tolist()
    assert x.tolist() == [1.0, 1.0]


def test_the_other_device_has_no_error(late):
    VALUES["gather"](f"{NAME}:0")
    current(1).synchronize()
    with pytest.raises(RuntimeError, match="index 4"):
        current(0).synchronize()


def test_memory_that_is_not_to_be_had(late):
    x = ag.ones(10, device=NAME)
    late.limit(late.state()["bytes"] + 1000)
    with pytest.raises((MemoryError, RuntimeError), match="memory"):
        ag.ones(1000, device=NAME)
    with pytest.raises((MemoryError, RuntimeError), match="memory"):
        x.expand(1000, 10).clone()
    assert (x + 1).tolist() == [2.0] * 10
    late.limit()
    assert ag.ones(1000, device=NAME).sum().item() == 1000


def test_peak_memory_of_a_step_is_given_back(late):
    net, x, _ = trained()
    step(net, x)
    late.run_all()
    before = late.state()["blocks"]
    for _ in range(3):
        step(net, x)
    late.run_all()
    assert late.state()["blocks"] == before
