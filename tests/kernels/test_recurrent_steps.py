"""The loops of recurrent layers: sizes at which products are packed, cut, or split over threads."""

import itertools
import signal
from pathlib import Path

import numpy as np
import programs
import pytest

import autograd_cy as ag
from autograd_cy import nn

KINDS = ["RNN", "GRU", "LSTM"]
# Few and many rows, gates that fill no vector, more inputs than are packed at once.
SIZES = [(5, 4, 3, 7), (6, 5, 3, 17), (3, 33, 20, 64), (4, 300, 3, 5), (4, 6, 5, 270)]


def loss_and_gradients(network, x, hx):
    """By the network, and by a loop over a cell with the same parameters."""
    outputs, state = network(x, hx)
    last = state[0] if isinstance(state, tuple) else state
    loss = outputs.square().sum() + last.sum()
    return loss, ag.autograd.grad(loss, [x, *network.parameters()])


def by_cells(network, x, hx):
    cell = getattr(nn, f"{type(network).__name__}Cell")(
        network.input_size, network.hidden_size, dtype=x.dtype
    )
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    for name in names:
        setattr(cell, name, nn.Parameter(getattr(network, f"{name}_l0").detach()))
    state = tuple([h[0] for h in hx]) if isinstance(hx, tuple) else hx[0]
    outputs = []
    for step in x.unbind(0):
        state = cell(step, state)
        outputs.append(state[0] if isinstance(state, tuple) else state)
    loss = ag.stack(outputs).square().sum() + outputs[-1].sum()
    return loss, ag.autograd.grad(loss, [x, *(getattr(cell, name) for name in names)])


def network_and_inputs(kind, sizes, dtype):
    steps, batch, inputs, hidden = sizes
    ag.manual_seed(0)
    network = getattr(nn, kind)(inputs, hidden, dtype=dtype)
    x = ag.randn(steps, batch, inputs, dtype=dtype, requires_grad=True)
    h = ag.randn(1, batch, hidden, dtype=dtype)
    return network, x, (h, ag.randn(1, batch, hidden, dtype=dtype)) if kind == "LSTM" else h


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_is_a_loop_over_its_cell(kind, sizes):
    for dtype, tolerance in ((ag.float64, 1e-11), (ag.float32, 2e-4)):
        given = network_and_inputs(kind, sizes, dtype)
        one, grads = loss_and_gradients(*given)
        other, expected = by_cells(*given)
        np.testing.assert_allclose(one.item(), other.item(), rtol=tolerance)
        for a, b in zip(grads, expected, strict=True):
            scale = max(1.0, b.abs().max().item())
            np.testing.assert_allclose(a.numpy(), b.numpy(), atol=tolerance * scale)


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_the_same_for_any_number_of_threads(kind):
    given = network_and_inputs(kind, (5, 64, 96, 128), ag.float32)
    before = ag.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 3):
            ag.set_num_threads(threads)
            loss, grads = loss_and_gradients(*given)
            found.append([loss.detach(), *grads])
    finally:
        ag.set_num_threads(before)
    for one, other in itertools.pairwise(found):
        assert all(ag.equal(a, b) for a, b in zip(one, other, strict=True))


def test_nan_stays_in_its_sequence():
    for kind in KINDS:
        network, x, hx = network_and_inputs(kind, (4, 6, 3, 8), ag.float32)
        x = x.detach()
        x[1, 2, 0] = float("nan")
        made = network(x, hx)[0]
        assert bool(made[1:, 2].isnan().all())
        assert not bool(made[:, [0, 1, 3, 4, 5]].isnan().any())
        assert not bool(made[0].isnan().any())


PROGRAM = """
import signal
import autograd_cy as ag

def handler(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, handler)
network = ag.nn.GRU(1, 384)
x = ag.zeros(300, 64, 1)
for number in range(2):
    network(x[:3])[0].sum().backward()
    loss = network(x[:150])[0].sum() if number else None
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    try:
        loss.backward() if number else network(x)
        print("finished")
    except KeyboardInterrupt:
        print("served")
    signal.setitimer(signal.ITIMER_REAL, 0)
assert network(x[:3])[0].isfinite().all()
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs signals by a timer")
def test_ctrl_c_is_served_between_steps():
    """Forward and backward, of packed matrices, in which no product looks for it."""
    root = Path(ag.__file__).parents[1]
    done = programs.run("-c", PROGRAM, cwd=root)
    assert done.stdout.split() == ["served", "served"], done.stdout + done.stderr[-800:]
