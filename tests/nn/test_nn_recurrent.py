"""Recurrent modules beside torch: parameters, texts, values, gradients, errors."""

import copy
import pickle

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import nn

STEPS, BATCH, INPUT, HIDDEN = 5, 3, 4, 6

NETWORKS = [
    ("RNN", {}),
    ("RNN", {"nonlinearity": "relu", "num_layers": 2}),
    ("RNN", {"bidirectional": True, "bias": False}),
    ("GRU", {}),
    ("GRU", {"num_layers": 2, "bidirectional": True}),
    ("GRU", {"batch_first": True, "bias": False}),
    ("LSTM", {}),
    ("LSTM", {"num_layers": 2, "bidirectional": True}),
    ("LSTM", {"batch_first": True, "bias": False, "bidirectional": True}),
    ("LSTM", {"proj_size": 3, "num_layers": 2, "bidirectional": True}),
    ("LSTM", {"proj_size": 2, "bias": False}),
]
INPUTS = ["batch", "single", "packed", "packed out of order"]


def each_network(test):
    return pytest.mark.parametrize(("kind", "options"), NETWORKS)(test)


def pair(torch, kind, options):
    """Return the network in both libraries."""
    theirs = getattr(torch.nn, kind)(INPUT, HIDDEN, dtype=torch.float64, **options)
    ours = getattr(nn, kind)(INPUT, HIDDEN, dtype=ag.float64, **options)
    ours.load_state_dict({k: ag.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    return theirs, ours


def tuple_of(state):
    return state if isinstance(state, tuple) else (state,)


@each_network
def test_names_and_texts_are_those_of_torch(kind, options):
    torch = pytest.importorskip("torch")
    theirs, ours = pair(torch, kind, options)
    assert repr(ours) == repr(theirs)
    shapes = {k: list(v.shape) for k, v in theirs.named_parameters()}
    assert {k: list(v.shape) for k, v in ours.named_parameters()} == shapes
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert ours._flat_weights_names == theirs._flat_weights_names
    assert [len(one) for one in ours.all_weights] == [len(one) for one in theirs.all_weights]
    assert ours.all_weights[0][0] is ours.weight_ih_l0
    for name in ours.__constants__:
        assert getattr(ours, name) == getattr(theirs, name)


@pytest.mark.parametrize("shape", INPUTS)
@pytest.mark.parametrize("given", [False, True])
@each_network
def test_outputs_and_gradients_are_those_of_torch(kind, options, given, shape):
    torch = pytest.importorskip("torch")
    theirs, ours = pair(torch, kind, options)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(STEPS, BATCH, INPUT))
    n = ours.num_layers * (2 if ours.bidirectional else 1)
    middle = () if shape == "single" else (BATCH,)
    sizes = [ours.proj_size or HIDDEN, HIDDEN][: 2 if kind == "LSTM" else 1]
    hx = [rng.normal(size=(n, *middle, size)) for size in sizes]
    if shape == "single":
        x = x[:, 0]
    elif options.get("batch_first"):
        x = x.swapaxes(0, 1)
    found = []
    for library, network in ((torch, theirs), (ag, ours)):
        inputs = [library.tensor(a, requires_grad=True) for a in (x.copy(), *hx)]
        data, state = inputs[0], tuple(inputs[1:])
        if shape.startswith("packed"):
            in_order = shape == "packed"
            lengths = [5, 3, 1] if in_order else library.tensor([2, 5, 3])
            data = library.nn.utils.rnn.pack_padded_sequence(
                data, lengths, options.get("batch_first", False), enforce_sorted=in_order
            )
        state = None if not given else state if kind == "LSTM" else state[0]
        output, state = network(data, state)
        parts = []
        if shape.startswith("packed"):
            parts = [output.batch_sizes, output.sorted_indices, output.unsorted_indices]
            output = output.data
        values = [output, *tuple_of(state)]
        loss = sum((k + 2) * v.pow(k + 2).sum() for k, v in enumerate(values))
        wanted = [*(inputs if given else inputs[:1]), *network.parameters()]
        grads = library.autograd.grad(loss, wanted)
        found.append([*values, *grads, *[p for p in parts if p is not None]])
    assert len(found[0]) == len(found[1])
    for a, b in zip(*found, strict=True):
        assert tuple(a.shape) == tuple(b.shape)
        np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), atol=1e-10)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("RNNCell", {}),
        ("RNNCell", {"nonlinearity": "relu", "bias": False}),
        ("GRUCell", {}),
        ("GRUCell", {"bias": False}),
        ("LSTMCell", {}),
        ("LSTMCell", {"bias": False}),
    ],
)
def test_cells_are_those_of_torch(kind, options):
    torch = pytest.importorskip("torch")
    theirs, ours = pair(torch, kind, options)
    assert repr(ours) == repr(theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    rng = np.random.default_rng(0)
    for batch in ((BATCH,), ()):
        x = rng.normal(size=(*batch, INPUT))
        hx = [rng.normal(size=(*batch, HIDDEN)) for _ in range(2 if kind == "LSTMCell" else 1)]
        for given in (False, True):
            found = []
            for library, cell in ((torch, theirs), (ag, ours)):
                inputs = [library.tensor(a, requires_grad=True) for a in (x, *hx)]
                state = tuple(inputs[1:]) if kind == "LSTMCell" else inputs[1]
                values = tuple_of(cell(inputs[0], state if given else None))
                loss = sum((k + 2) * v.pow(k + 2).sum() for k, v in enumerate(values))
                wanted = [*(inputs if given else inputs[:1]), *cell.parameters()]
                found.append([*values, *library.autograd.grad(loss, wanted)])
            for a, b in zip(*found, strict=True):
                assert tuple(a.shape) == tuple(b.shape)
                np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), atol=1e-12)


def test_parameters_start_within_their_bounds():
    for module in (nn.LSTM(4, 16, 2, proj_size=3), nn.GRUCell(4, 16), nn.RNN(4, 16)):
        for parameter in module.parameters():
            assert float(parameter.detach().abs().max()) <= 0.25
            assert float(parameter.detach().std()) > 0.1


def test_a_seed_repeats_them():
    ag.manual_seed(1)
    one = nn.LSTM(2, 3)
    ag.manual_seed(1)
    two = nn.LSTM(2, 3)
    assert all(ag.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))


def test_dropout_in_training_alone():
    network = nn.GRU(INPUT, HIDDEN, 2, dropout=0.5)
    x = ag.randn(STEPS, BATCH, INPUT)
    assert not ag.equal(network(x)[0], network(x)[0])
    network.eval()
    assert ag.equal(network(x)[0], network(x)[0])


def test_dropout_of_a_single_layer_warns():
    with pytest.warns(UserWarning, match="num_layers greater than 1"):
        nn.LSTM(2, 3, dropout=0.3)


def test_a_new_parameter_is_used():
    network = nn.RNN(INPUT, HIDDEN, bias=False)
    network.weight_ih_l0 = nn.Parameter(ag.zeros(HIDDEN, INPUT))
    assert network.all_weights[0][0] is network.weight_ih_l0
    assert ag.equal(network(ag.ones(2, 1, INPUT))[0], ag.zeros(2, 1, HIDDEN))


def test_an_attribute_in_place_of_a_parameter_is_used():
    for module, name in ((nn.RNN(INPUT, HIDDEN), "_l0"), (nn.RNNCell(INPUT, HIDDEN), "")):
        x = ag.randn(2, INPUT)
        expected = module(x)
        weight = getattr(module, f"weight_hh{name}").detach().clone()
        delattr(module, f"weight_hh{name}")
        object.__setattr__(module, f"weight_hh{name}", weight)
        made = module(x)
        if name:
            made, expected = made[0], expected[0]
        assert ag.equal(made, expected)


def test_copies_and_pickles_compute_the_same():
    network = nn.LSTM(INPUT, HIDDEN, 2, bidirectional=True)
    x = ag.randn(STEPS, BATCH, INPUT)
    expected = network(x)[0]
    for other in (copy.deepcopy(network), pickle.loads(pickle.dumps(network))):
        assert ag.equal(other(x)[0], expected)
        assert other.weight_ih_l0 is not network.weight_ih_l0


def test_conversion_of_dtypes():
    network = nn.GRU(INPUT, HIDDEN).double()
    output, h = network(ag.randn(STEPS, BATCH, INPUT, dtype=ag.float64))
    assert output.dtype is h.dtype is ag.float64


def test_an_lstm_learns():
    ag.manual_seed(0)
    network, head = nn.LSTM(1, 8, batch_first=True), nn.Linear(8, 1)
    x = ag.randn(16, 6, 1)
    y = x.cumsum(1).tanh()
    optimizer = ag.optim.Adam([*network.parameters(), *head.parameters()], lr=0.02)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(head(network(x)[0]), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.2 * losses[0]


WRONG_NETWORKS = [
    (lambda m: m.LSTM(4, 5, dropout=1.5)),
    (lambda m: m.LSTM(4, 5, dropout=True)),
    (lambda m: m.LSTM(4, 5, proj_size=5)),
    (lambda m: m.LSTM(4, 5, proj_size=-1)),
    (lambda m: m.GRU(4, 5, proj_size=2)),
    (lambda m: m.RNN(4, 5, proj_size=2)),
    (lambda m: m.LSTM(4, 0)),
    (lambda m: m.LSTM(4, 5, 0)),
    (lambda m: m.LSTM(4, 5.0)),
    (lambda m: m.LSTM("a", 5)),
    (lambda m: m.LSTM(4, 5, 1, "x")),
    (lambda m: m.GRU(4, 5, 1.0)),
    (lambda m: m.GRU(4, 5, batch_first=1)),
    (lambda m: m.RNN(4, 5, nonlinearity="foo")),
    (lambda m: m.RNNBase("FOO", 4, 5)),
    (lambda m: m.GRU(4, 5, dropout="a")),
]


def z(t, *shape):
    return t.zeros(*shape)


WRONG_CALLS = [
    ("LSTM(4, 5, 2, bidirectional=True)", lambda t: (z(t, 4),)),
    ("LSTM(4, 5, 2)", lambda t: (z(t, 2, 3, 4), (z(t, 2, 5), z(t, 2, 5)))),
    ("LSTM(4, 5, 2)", lambda t: (z(t, 3, 4), (z(t, 2, 3, 5), z(t, 2, 3, 5)))),
    ("LSTM(4, 5, 2)", lambda t: (z(t, 2, 3, 4), (z(t, 1, 3, 5), z(t, 2, 3, 5)))),
    ("LSTM(4, 5, 2)", lambda t: (z(t, 2, 3, 4), (z(t, 2, 3, 5), z(t, 1, 3, 5)))),
    ("LSTM(4, 5, proj_size=3)", lambda t: (z(t, 2, 3, 4), (z(t, 1, 3, 5), z(t, 1, 3, 5)))),
    ("LSTM(4, 5)", lambda t: (z(t, 2, 3, 5),)),
    ("GRU(4, 5)", lambda t: (z(t, 2, 3, 4), z(t, 2, 2, 5))),
    ("GRU(4, 5)", lambda t: (z(t, 2, 3, 4), z(t, 2, 5))),
    ("GRU(4, 5)", lambda t: (z(t, 3, 4), z(t, 2, 3, 5))),
    ("GRU(4, 5)", lambda t: (z(t, 3),)),
    ("GRU(4, 5)", lambda t: (z(t, 0, 3, 4),)),
    ("RNN(4, 5)", lambda t: (z(t, 3),)),
    ("RNN(4, 5)", lambda t: (z(t, 2, 3, 4), z(t, 2, 5))),
    ("RNNCell(4, 5)", lambda t: (z(t, 1, 2, 4),)),
    ("RNNCell(4, 5)", lambda t: (z(t, 2, 4), z(t, 1, 2, 5))),
    ("RNNCell(4, 5, nonlinearity='foo')", lambda t: (z(t, 2, 4),)),
    ("GRUCell(4, 5)", lambda t: (z(t, 2, 3),)),
    ("GRUCell(4, 5)", lambda t: (z(t, 2, 4), z(t, 3, 5))),
    ("GRUCell(4, 5)", lambda t: (z(t, 2, 4), z(t, 2, 6))),
    ("LSTMCell(4, 5)", lambda t: (z(t, 2, 4), (z(t, 1, 2, 5), z(t, 2, 5)))),
    ("LSTMCell(4, 5)", lambda t: (z(t, 2, 4), (z(t, 2, 5), z(t, 1, 2, 5)))),
    ("LSTMCell(4, 5)", lambda t: (z(t, 2, 4), (z(t, 2, 5), z(t, 2, 6)))),
    ("LSTMCell(4, 5)", lambda t: (z(t, 2, 4), (z(t, 2, 5),))),
]


def refusal(call):
    with pytest.raises(Exception) as caught:
        call()
    return type(caught.value), str(caught.value)


@pytest.mark.parametrize("make", WRONG_NETWORKS)
def test_wrong_arguments_are_refused_like_in_torch(make):
    torch = pytest.importorskip("torch")
    assert refusal(lambda: make(nn)) == refusal(lambda: make(torch.nn))


@pytest.mark.parametrize(("module", "arguments"), WRONG_CALLS)
def test_wrong_inputs_are_refused_like_in_torch(module, arguments):
    torch = pytest.importorskip("torch")
    ours = refusal(lambda: eval(f"nn.{module}")(*arguments(ag)))
    theirs = refusal(lambda: eval(f"torch.nn.{module}", {"torch": torch})(*arguments(torch)))
    assert ours == theirs


def test_another_dtype_is_refused():
    with pytest.raises(ValueError, match=r"does not match weight dtype .*input\.to"):
        nn.LSTM(4, 5)(ag.zeros(2, 3, 4, dtype=ag.float64))


def test_states_follow_the_order_of_lengths():
    network = nn.GRU(2, 3)
    parts = [ag.randn(n, 2) for n in (2, 4, 1)]
    h = ag.randn(1, 3, 3)
    packed = nn.utils.rnn.pack_sequence(parts, enforce_sorted=False)
    output, state = network(packed, h)
    for k, (part, made) in enumerate(zip(parts, nn.utils.rnn.unpack_sequence(output), strict=True)):
        expected, last = network(part, h[:, k])
        np.testing.assert_allclose(made.detach().numpy(), expected.detach().numpy(), atol=1e-6)
        np.testing.assert_allclose(state[:, k].detach().numpy(), last.detach().numpy(), atol=1e-6)
