"""First and second derivatives of every operator as launches, run again on other values."""

import numpy as np
import pytest
from grouping import each
from helpers import cases, make, outputs, plain_bytes

import autograd_cy as ag
from autograd_cy._C.launch import capture


def differentiable(record):
    return (
        record.tests.samples
        and record.derivatives.differentiable
        and any(c in record.call.dtypes for c in "fc")
    )


def dtype_for(record):
    return "float64" if "f" in record.call.dtypes else "complex128"


def derivatives(call, tensors, weights):
    """Results of a call with their first and second derivatives."""
    ins = list(tensors)
    for i in call.moving:
        ins[i] = ins[i].detach().requires_grad_()
    results = [t for t in outputs(call(ins)) if t.requires_grad]
    wanted = [ins[i] for i in call.moving]
    if not results or not wanted:
        return []
    grad = ag.autograd.grad
    first = grad(results, wanted, weights, allow_unused=True, create_graph=True)
    first = [t for t in first if t is not None]
    again = [t for t in first if t.requires_grad]
    found = [*results, *first]
    if again:
        ones = [ag.ones_like(t) for t in again]
        found += [t for t in grad(again, wanted, ones, allow_unused=True) if t is not None]
    return found


def weights_for(call):
    """Return the factors of the results: fixed numbers."""
    rng = np.random.default_rng(1)
    ins = call.tensors()
    for i in call.moving:
        ins[i].requires_grad_()
    results = [t for t in outputs(call(ins)) if t.requires_grad]
    return [ag.from_numpy(np.asarray(rng.standard_normal(t.shape))).to(t.dtype) for t in results]


def replays(step, old, new, values):
    """The launches of a step, run again on poisoned memory and other values, give fresh bits."""
    kept = []
    program = capture(lambda: kept.extend(step(old)))
    with ag.no_grad():
        for t, value in zip(old, values):
            t.copy_(value)
    program.poison()
    program.replay_elsewhere(old)
    fresh = step(new)
    assert len(kept) == len(fresh)
    for got, expected in zip(kept, fresh):
        assert plain_bytes(got) == plain_bytes(expected)


@each("case", cases(differentiable))
def test_derivatives_run_again(case):
    name = dtype_for(case.record)
    call, other = make(case, name), make(case, name, seed=1)
    if not call.moving:
        return
    weights = weights_for(call)
    try:
        new = other.tensors()
        replays(lambda ins: derivatives(call, ins, weights), call.tensors(), new, new)
    except RuntimeError as error:  # what NumPy computes, and sizes that are values
        if "can't be captured" not in str(error):
            raise


@each("case", cases(lambda r: differentiable(r) and not r.name.startswith("_")))
def test_examples_of_vmap_run_again(case):
    name = dtype_for(case.record)
    call, other = make(case, name), make(case, name, seed=1)
    if not call.moving:
        return

    def step(ins):
        found = ag.func.vmap(lambda *xs: tuple(outputs(call(xs))))(*ins)
        return [t for t in found if isinstance(t, ag.Tensor)]

    def batched(tensors, others):
        return [ag.stack([a, b]) for a, b in zip(tensors, others)]

    old = batched(call.tensors(), other.tensors())
    new = batched(other.tensors(), call.tensors())
    try:
        expected = step(new)
    except (RuntimeError, NotImplementedError, ValueError, TypeError):
        return  # no rule, which test_op_vmap.py knows
    assert expected
    try:
        replays(step, old, new, new)
    except RuntimeError as error:
        if "can't be captured" not in str(error):
            raise


LAYERS = {
    "convolution and pools": lambda: ag.nn.Sequential(
        ag.nn.Conv2d(3, 4, 3, padding=1), ag.nn.BatchNorm2d(4), ag.nn.ReLU(), ag.nn.MaxPool2d(2),
        ag.nn.Conv2d(4, 6, 3), ag.nn.GroupNorm(2, 6), ag.nn.GELU(), ag.nn.AdaptiveAvgPool2d(1),
        ag.nn.Flatten(), ag.nn.Linear(6, 3),
    ),
    "transposed, strided and grouped": lambda: ag.nn.Sequential(
        ag.nn.Conv2d(3, 6, 3, 2, groups=3), ag.nn.InstanceNorm2d(6, affine=True), ag.nn.SiLU(),
        ag.nn.ConvTranspose2d(6, 3, 2, 2), ag.nn.AvgPool2d(3), ag.nn.Flatten(), ag.nn.LazyLinear(3)
        if hasattr(ag.nn, "LazyLinear") else ag.nn.AdaptiveAvgPool1d(3),
    ),
    "attention": lambda: ag.nn.Sequential(
        ag.nn.Flatten(2), ag.nn.Linear(64, 8), ag.nn.LayerNorm(8),
        ag.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True),
        ag.nn.Flatten(), ag.nn.Linear(24, 3),
    ),
}  # fmt: skip


class Recurrent(ag.nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.table = ag.nn.Embedding(7, 5)
        self.steps = kind(5, 6, num_layers=2, batch_first=True)
        self.last = ag.nn.Linear(6, 3)

    def forward(self, x):
        return self.last(self.steps(self.table(x))[0][:, -1])


for _kind in (ag.nn.RNN, ag.nn.GRU, ag.nn.LSTM):
    LAYERS[f"embedding and {_kind.__name__}"] = lambda kind=_kind: Recurrent(kind)


def inputs(net, seed):
    ag.manual_seed(seed)
    target = ag.randint(0, 3, (4,))
    if isinstance(net, Recurrent):
        return ag.randint(0, 7, (4, 6)), target
    return ag.randn(4, 3, 8, 8), target


@pytest.mark.parametrize("name", LAYERS)
def test_a_training_step_of_a_network_runs_again(name):
    """With momentum; statistics of batches go on from where they are, as parameters do."""

    def program_of():
        ag.manual_seed(3)
        net = LAYERS[name]()
        x, target = inputs(net, 5)
        optimizer = ag.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

        def step():
            optimizer.zero_grad()
            loss = ag.nn.functional.cross_entropy(net(x), target)
            loss.backward()
            optimizer.step()
            return loss

        step()
        return net, x, target, step

    net, x, target, step = program_of()
    again, y, other, plain = program_of()
    kept = []
    program = capture(lambda: kept.append(step()))
    plain()
    for seed in (6, 7):
        values, labels = inputs(net, seed)
        for old, new in ((x, values), (y, values), (target, labels), (other, labels)):
            old.copy_(new)
        program.poison()
        program.replay_elsewhere([x, target])
        expected = plain()
        assert plain_bytes(kept[0]) == plain_bytes(expected)
    state = again.state_dict()
    for key, value in net.state_dict().items():
        # A count of batches is a number that Python has raised, once.
        if not key.endswith("num_batches_tracked"):
            assert plain_bytes(value) == plain_bytes(state[key]), key
