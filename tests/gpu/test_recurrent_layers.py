"""Recurrent layers and cells on a GPU: values and gradients against the CPU, launches of a step."""

import numpy as np
import pytest
from emulator import control
from reducing import HALVES

import autograd_cy as torch

nn = torch.nn
KINDS = {"tanh": nn.RNN, "relu": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
ERRORS = {"float32": 2e-5, "float64": 1e-12, "float16": 4e-3, "bfloat16": 3e-2}
WAITS = {"copies_in", "copies_out", "synchronizations", "allocations"}
kinds = pytest.mark.parametrize("kind", KINDS)
dtypes = pytest.mark.parametrize("dtype", ["float32", "float64"])


def layer(kind, *sizes, dtype="float32", **options):
    torch.manual_seed(1)
    if kind == "relu":
        options["nonlinearity"] = "relu"
    return KINDS[kind](*sizes, **options).to(getattr(torch, dtype))


def numbers(*shape, seed=0):
    return torch.tensor(np.random.default_rng([seed, *shape]).normal(size=shape))


def close(found, expected, dtype):
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        assert a.shape == b.shape and a.stride() == b.stride() and a.dtype == b.dtype
        a, b = a.detach().cpu().double().numpy(), b.detach().double().numpy()
        np.testing.assert_allclose(a, b, rtol=ERRORS[dtype], atol=ERRORS[dtype])


def ran(net, device, x, states, weights, packed=None):
    """Results and all gradients; a gradient without weight is left out."""
    net = net.to(device)
    dtype = next(net.parameters()).dtype
    x = x.to(dtype).to(device).detach().requires_grad_()
    states = tuple(s.to(dtype).to(device).detach().requires_grad_() for s in states)
    inputs = x
    if packed is not None:
        inputs = nn.utils.rnn.pack_padded_sequence(x, packed, enforce_sorted=True)
    out, last = net(inputs, *((states if len(states) > 1 else states[0],) if states else ()))
    if packed is not None:
        out = out.data
    results = [out, *(last if isinstance(last, tuple) else (last,))]
    loss = 0
    for y, weight in zip(results, weights):
        if weight is not None:
            loss = loss + (y * weight.to(dtype).to(device)).sum()
    loss.backward()
    leaves = [x, *states, *net.parameters()]
    return [*results, *(v.grad for v in leaves if v.grad is not None)]


def compare(net, x, states, weights, dtype, packed=None):
    expected = ran(net, "cpu", x, states, weights, packed)
    net.zero_grad()
    close(ran(net, "cuda", x, states, weights, packed), expected, dtype)


def inputs_of(kind, steps, batch, size, state, hidden, layers=1):
    h = numbers(layers, batch, state, seed=1)
    states = (h, numbers(layers, batch, hidden, seed=2)) if kind == "lstm" else (h,)
    return numbers(steps, batch, size), states


@kinds
@dtypes
@pytest.mark.parametrize(("steps", "batch", "hidden"), [(1, 1, 1), (4, 3, 5), (3, 17, 33)])
def test_layers(kind, dtype, steps, batch, hidden):
    x, states = inputs_of(kind, steps, batch, 3, hidden, hidden)
    weights = [numbers(steps, batch, hidden, seed=3), *(torch.sin(s * 3) for s in states)]
    compare(layer(kind, 3, hidden, dtype=dtype), x, states, weights, dtype)


@kinds
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("batch_first", [True, False])
def test_two_layers_in_two_directions(kind, bias, batch_first):
    x, states = inputs_of(kind, 4, 3, 2, 5, 5, layers=4)
    net = layer(kind, 2, 5, 2, bias=bias, bidirectional=True, batch_first=batch_first)
    weights = [numbers(4, 3, 10, seed=3), *(torch.sin(s * 3) for s in states)]
    if batch_first:
        x, weights[0] = x.transpose(0, 1), weights[0].transpose(0, 1)
    compare(net, x, states, weights, "float32")


@kinds
@pytest.mark.parametrize("which", [(0,), (1,), (0, 1)])
def test_gradients_of_some_results(kind, which):
    x, states = inputs_of(kind, 3, 2, 2, 4, 4)
    weights = [numbers(3, 2, 4, seed=3), *(torch.sin(s * 3) for s in states)]
    weights = [w if k in which else None for k, w in enumerate(weights)]
    compare(layer(kind, 2, 4), x, states, weights, "float32")


@kinds
@dtypes
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("lengths", [[4, 3, 3, 1], [2, 2], [5], [3, 1]])
def test_packed_sequences(kind, dtype, lengths, bidirectional):
    ways = 1 + bidirectional
    x, states = inputs_of(kind, lengths[0], len(lengths), 2, 3, 3, layers=ways)
    net = layer(kind, 2, 3, dtype=dtype, bidirectional=bidirectional)
    weights = [numbers(sum(lengths), 3 * ways, seed=3), *(torch.sin(s * 3) for s in states)]
    compare(net, x, states, weights, dtype, torch.tensor(lengths))


@dtypes
@pytest.mark.parametrize("lengths", [None, [4, 3, 3, 1]])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_projections(dtype, lengths, bidirectional):
    ways = 1 + bidirectional
    x, states = inputs_of("lstm", 4, 4, 2, 3, 5, layers=ways)
    net = layer("lstm", 2, 5, dtype=dtype, bidirectional=bidirectional, proj_size=3)
    rows = (4, 4) if lengths is None else (sum(lengths),)
    weights = [numbers(*rows, 3 * ways, seed=3), *(torch.sin(s * 3) for s in states)]
    packed = None if lengths is None else torch.tensor(lengths)
    compare(net, x, states, weights, dtype, packed)


@kinds
@pytest.mark.parametrize("dtype", [*HALVES, "float32", "float64"])
def test_cells(kind, dtype):
    options = {"nonlinearity": kind} if kind in ("tanh", "relu") else {}
    cell = {"lstm": nn.LSTMCell, "gru": nn.GRUCell}.get(kind, nn.RNNCell)
    torch.manual_seed(1)
    net = cell(3, 6, **options).to(getattr(torch, dtype))
    found = []
    for device in ("cpu", "cuda"):
        net.zero_grad()
        net = net.to(device)
        dt = getattr(torch, dtype)
        x, h, c = (numbers(5, n, seed=n).to(dt).to(device).requires_grad_() for n in (3, 6, 6))
        made = net(x, (h, c)) if kind == "lstm" else (net(x, h),)
        sum((y * y.detach().cos()).sum() for y in made).backward()
        leaves = [x, h, *([c] if kind == "lstm" else []), *net.parameters()]
        found.append([*made, *(v.grad for v in leaves)])
    close(found[1], found[0], dtype)


@kinds
def test_an_empty_batch(kind):
    steps, batch, size, hidden = 3, 0, 2, 4
    x, states = inputs_of(kind, steps, batch, size, hidden, hidden)
    weights = [torch.ones(steps, batch, hidden, dtype=torch.float64)]
    compare(layer(kind, size, hidden), x, states, weights, "float32")


def test_strided_operands():
    x, states = inputs_of("gru", 3, 8, 6, 5, 5)
    net = layer("gru", 3, 5)
    x, states = x[:, ::2, 1::2], tuple(s[:, ::2] for s in states)
    compare(net, x, states, [numbers(3, 4, 5, seed=3)], "float32")


@kinds
def test_second_gradients(kind):
    found = []
    for device in ("cpu", "cuda"):
        net = layer(kind, 2, 3, dtype="float64").to(device)
        x, states = inputs_of(kind, 3, 2, 2, 3, 3)
        x = x.to(device).requires_grad_()
        states = tuple(s.to(device) for s in states)
        y = net(x, states if len(states) > 1 else states[0])[0]
        g = torch.autograd.grad((y**3).sum(), x, create_graph=True)[0]
        (g**2).sum().backward()
        found.append([y, g, x.grad])
    close(found[1], found[0], "float64")


@kinds
def test_the_same_bits_in_any_order_of_threads(kind):
    x, states = inputs_of(kind, 3, 5, 3, 4, 4)
    weights = [numbers(3, 5, 4, seed=3)]
    net = layer(kind, 3, 4)
    first = [v.detach().cpu() for v in ran(net, "cuda", x, states, weights)]
    for seed in range(2):
        with control.ordered("random", seed):
            net.zero_grad()
            again = [v.detach().cpu() for v in ran(net, "cuda", x, states, weights)]
        assert all(torch.equal(a, b) for a, b in zip(first, again))


@pytest.mark.emulated
@pytest.mark.cached
@kinds
def test_launches_of_twenty_steps(kind):
    net = layer(kind, 8, 16).to("cuda")
    x = torch.ones(20, 4, 8, device="cuda", requires_grad=True)
    g = torch.ones(20, 4, 16, device="cuda")
    for _ in range(3):
        net.zero_grad(set_to_none=True)
        x.grad = None
        before = control.counts()
        y = net(x)[0]
        y.backward(g)
        spent = control.spent(before)
        del y
    put = ("launches", "products", "fills", "copies_within")
    assert sum(spent.get(name, 0) for name in put) <= 90, spent
    assert not WAITS & set(spent)
