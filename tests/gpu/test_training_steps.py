"""Steps of a training that has begun: no copy to the host or back, no wait, no memory of the
driver, nothing by the host, few launches; and the CPU's losses, with the same bits in each run."""

import pytest
from borrowed import NAME, generators  # noqa: F401
from emulator import control
from networks import LSTM, MLP, NETWORKS, PIECES, EncoderWithDropout, ResNet18, Training

import autograd_cy as ag
from autograd_cy import nn
from autograd_cy._C import cuda_mirrors

STEPS = 50
WAYS = {
    "SGD": {"method": "SGD"},
    "AdamW": {"method": "AdamW"},
    "SGD clipped": {"method": "SGD", "clipping": True},
    "AdamW in float16": {"method": "AdamW", "mixed": ag.float16},
    "SGD clipped in bfloat16": {"method": "SGD", "clipping": True, "mixed": ag.bfloat16},
}
# What a step may count: all else would be a wait, a copy by the host or memory of the driver.
ALLOWED = {"launches", "products", "fills", "copies_within"}
each_network = pytest.mark.parametrize("kind", NETWORKS, ids=lambda kind: kind.__name__)
each_way = pytest.mark.parametrize("way", WAYS)


def launched(call):
    """Kernels, products, fills and copies within the device that a call puts on its stream."""
    before = control.counts()
    call()
    spent = control.spent(before)
    return sum(spent.get(key, 0) for key in ("launches", "products", "fills", "copies_within"))


@pytest.mark.emulated
@pytest.mark.cached
@each_way
@each_network
def test_a_step_waits_for_nothing(kind, way):
    training = Training(kind, NAME, **WAYS[way])
    training.step(0)
    training.step(1)
    cuda_mirrors.forget_calls()
    cuda_mirrors.show("error")
    before = control.counts()
    try:
        for number in range(2, 8):
            training.step(number)
        spent = control.spent(before)
    finally:
        cuda_mirrors.show()
    waiting = spent.pop("waiting", 0)
    assert set(spent) <= ALLOWED, spent
    assert spent["launches"] > 6 * 10 and spent["products"] > 0
    assert waiting > 100 or control.counts()["waiting"] == 0  # the device has run nothing yet
    assert not cuda_mirrors.host_calls()


@each_way
@each_network
def test_losses_are_those_of_the_cpu(kind, way):
    """By half types, one rounding of a sum is a larger one later; and of ResNet, whose norms have
    few elements, one of float32."""
    mixed = "mixed" in WAYS[way]
    options = WAYS[way] | ({"dtype": ag.float64} if kind is ResNet18 and not mixed else {})
    steps = 3 if kind is ResNet18 and mixed else STEPS
    expected = Training(kind, "cpu", **options).train(steps)
    found = [Training(kind, NAME, **options).train(steps).cpu()]
    with control.ordered("random", 4):
        found.append(Training(kind, NAME, **options).train(steps).cpu())
    assert ag.equal(*found)
    room = (2e-2 if mixed else 1e-5) * expected.abs().max()
    assert (found[0] - expected).abs().max() <= room
    last = (steps - 1) // PIECES * PIECES  # the first batch again
    assert expected[last] < expected[0] or not last


# --- how many launches -----------------------------------------------------------------------


@pytest.mark.emulated
@pytest.mark.parametrize(("kind", "most"), [(MLP, 26)])
def test_launches_of_a_network(kind, most):
    training = Training(kind, NAME)
    training.step()
    training.optimizer.zero_grad()
    assert launched(lambda: training.forward().backward()) <= most


def both_ways(module, x):
    """Forward and backward of a layer, whose gradients are made anew."""
    results = module(x)
    y = results[0] if isinstance(results, tuple) else results
    grad = ag.ones_like(y)

    def call():
        module.zero_grad()
        results = module(x)
        (results[0] if isinstance(results, tuple) else results).backward(grad)

    call()
    return launched(call)


@pytest.mark.emulated
def test_launches_of_an_encoder_layer_with_dropout():
    layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.1, batch_first=True).to(NAME)
    assert both_ways(layer, ag.rand(2, 6, 16, device=NAME, requires_grad=True)) <= 60


@pytest.mark.emulated
def test_launches_of_an_lstm_of_twenty_steps():
    cells = nn.LSTM(6, 8, batch_first=True).to(NAME)
    assert both_ways(cells, ag.rand(3, 20, 6, device=NAME, requires_grad=True)) <= 90


@pytest.mark.emulated
@pytest.mark.parametrize("kind", [MLP, ResNet18, LSTM])
@pytest.mark.parametrize("method", ["SGD", "AdamW"])
def test_launches_of_an_optimizer(kind, method):
    """Of few parameters and of many; and one writes the rate of a schedule."""
    training = Training(kind, NAME, method)
    training.step()
    training.forward().backward()
    assert launched(training.optimizer.step) <= 2
    assert launched(training.schedule.step) <= 1


@pytest.mark.emulated
@pytest.mark.parametrize("kind", [MLP, ResNet18, EncoderWithDropout])
def test_launches_of_clipping(kind):
    training = Training(kind, NAME)
    training.step()
    parameters = list(training.net.parameters())
    for p in parameters:
        p.grad = p.detach().clone()
    assert launched(lambda: nn.utils.clip_grad_norm_(parameters, 0.5)) <= 3


@pytest.mark.emulated
@pytest.mark.parametrize("capturable", [False, True])
def test_rates_are_written_without_a_copy(capturable):
    """Of parameters whose rate is a tensor of the device, and of numbers."""
    w = ag.ones(4, device=NAME, requires_grad=True)
    rate = ag.tensor(0.1, device=NAME) if capturable else 0.1
    optimizer = ag.optim.AdamW([w], lr=rate, capturable=capturable)
    schedule = ag.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)

    def step():
        optimizer.zero_grad()
        w.square().sum().backward()
        optimizer.step()
        schedule.step()

    for _ in range(2):
        step()
    before = control.counts()
    for _ in range(3):
        step()
    spent = control.spent(before)
    assert set(spent) - {"waiting"} <= ALLOWED, spent
