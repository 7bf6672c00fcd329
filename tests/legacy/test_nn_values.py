"""Modules and optimizers of the Variable era compute what today's of the same name do in torch."""

import numpy as np
import pytest

import autograd_cy.legacy as legacy
from autograd_cy.legacy import nn, optim
from autograd_cy.legacy.autograd import Variable

theirs = pytest.importorskip("torch")

SPACES = {1: (7,), 2: (7, 8), 3: (5, 6, 4)}


def numbers(*size):
    return np.random.default_rng(sum(size) + len(size)).normal(size=size)


def variable(array, requires_grad=False):
    return Variable(legacy.from_numpy(array.copy()), requires_grad=requires_grad)


def assert_close(ours, other, what):
    ours = ours.data.numpy() if isinstance(ours, Variable) else np.asarray(ours)
    other = other.detach().numpy() if hasattr(other, "detach") else np.asarray(other)
    np.testing.assert_allclose(ours.reshape(other.shape), other, atol=1e-9, err_msg=str(what))


def compare(module, reference, arrays, what, pick=lambda result: result):
    """The result and all gradients, from the same parameters."""
    reference = reference.double()
    module.double()
    pairs = list(zip(module.parameters(), reference.parameters(), strict=True))
    for ours, other in pairs:
        assert tuple(ours.size()) == tuple(other.shape), what
        ours.data.copy_(legacy.from_numpy(other.detach().numpy().copy()))
    is_float = [array.dtype.kind == "f" for array in arrays]
    mine = [variable(a, f) for a, f in zip(arrays, is_float)]
    its = [theirs.tensor(a, requires_grad=f) for a, f in zip(arrays, is_float)]
    result, wanted = pick(module(*mine)), pick(reference(*its))
    assert_close(result, wanted, what)
    grad = numbers(*wanted.shape)
    result.backward(legacy.from_numpy(grad.reshape(tuple(result.size())).copy()))
    wanted.backward(theirs.tensor(grad))
    for ours, other in (*zip(mine, its), *pairs):
        if other.grad is not None:
            assert_close(ours.grad, other.grad, what)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_convolutions(dims):
    for kernel, stride, padding, dilation, groups in (
        (3, 1, 0, 1, 1),
        (3, 2, 1, 1, 2),
        (2, 1, 2, 2, 1),
    ):
        rules = kernel, stride, padding, dilation, groups
        x = [numbers(2, 4, *SPACES[dims])]
        name = f"Conv{dims}d"
        compare(getattr(nn, name)(4, 6, *rules), getattr(theirs.nn, name)(4, 6, *rules), x, rules)
        name = f"ConvTranspose{dims}d"
        args = 4, 6, kernel, stride, padding, int(stride > 1), groups, True, dilation
        compare(getattr(nn, name)(*args), getattr(theirs.nn, name)(*args), x, args)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_pooling(dims):
    x = [numbers(2, 3, *SPACES[dims])]
    for rules in (
        (2, None, 0, 1, False),
        (3, 2, 1, 1, True),
        (2, 3, 1, 1, True),
        (2, 2, 1, 2, False),
    ):
        kernel, stride, padding, dilation, ceil = rules
        name = f"MaxPool{dims}d"
        ours, other = (
            getattr(n, name)(kernel, stride, padding, dilation, True, ceil) for n in (nn, theirs.nn)
        )
        compare(ours, other, x, rules, lambda found: found[0])
        assert_close(ours(variable(x[0]))[1], other(theirs.tensor(x[0]))[1], rules)
        for inside in (True, False):
            args = kernel, stride, padding, ceil, inside
            name = f"AvgPool{dims}d"
            compare(getattr(nn, name)(*args), getattr(theirs.nn, name)(*args), x, args)


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_recurrent_layers(name):
    for options in (
        {},
        {"num_layers": 2},
        {"bidirectional": True, "num_layers": 2},
        {"bias": False},
        {"batch_first": True},
    ):
        made = [getattr(n, name)(3, 5, **options) for n in (nn, theirs.nn)]
        compare(*made, [numbers(4, 2, 3)], options, lambda found: found[0])
        compare(*made, [numbers(4, 2, 3)], options, lambda found: found[1][0])


def test_recurrent_cells():
    for name in ("RNNCell", "GRUCell"):
        made = [getattr(n, name)(3, 5) for n in (nn, theirs.nn)]
        compare(*made, [numbers(2, 3), numbers(2, 5)], name)
    relu = [n.RNNCell(3, 5, nonlinearity="relu") for n in (nn, theirs.nn)]
    compare(*relu, [numbers(2, 3), numbers(2, 5)], "relu")
    ours, other = (n.LSTMCell(3, 5) for n in (nn, theirs.nn))
    for mine, its in zip(ours.double().parameters(), other.double().parameters()):
        mine.data.copy_(legacy.from_numpy(its.detach().numpy().copy()))
    x, h, c = numbers(2, 3), numbers(2, 5), numbers(2, 5) + 1
    found = ours(variable(x), (variable(h), variable(c)))
    wanted = other(theirs.tensor(x), (theirs.tensor(h), theirs.tensor(c)))
    for a, b in zip(found, wanted):
        assert_close(a, b, "LSTMCell")


def test_activations_and_layers():
    for name in (
        "Tanh Sigmoid LogSigmoid Softsign Tanhshrink ELU LeakyReLU Softplus Hardshrink Softshrink "
        "ReLU ReLU6 Hardtanh PReLU"
    ).split():
        compare(getattr(nn, name)(), getattr(theirs.nn, name)(), [numbers(4, 5) * 3], name)
    for name in "Softmax Softmin LogSoftmax".split():
        compare(getattr(nn, name)(), getattr(theirs.nn, name)(1), [numbers(4, 5)], name)
    compare(nn.Linear(3, 2), theirs.nn.Linear(3, 2), [numbers(4, 3)], "Linear")
    rows = [np.array([[1, 2], [2, 5]])]
    made = [n.Embedding(6, 3, padding_idx=2) for n in (nn, theirs.nn)]
    compare(*made, rows, "Embedding")
    distances = [n.PairwiseDistance(2) for n in (nn, theirs.nn)]
    compare(*distances, [numbers(4, 3), numbers(4, 3) * 2 + 1], "PairwiseDistance")


def test_batch_normalisation_and_its_running_statistics():
    for size in ((5, 3), (5, 3, 4)):
        made = [n.BatchNorm1d(3) for n in (nn, theirs.nn)]
        compare(*made, [numbers(*size)], size)
        assert_close(made[0].running_mean, made[1].running_mean, size)
        assert_close(made[0].running_var, made[1].running_var, size)
        compare(made[0].eval(), made[1].eval(), [numbers(*size)], size)
    compare(nn.BatchNorm2d(3), theirs.nn.BatchNorm2d(3), [numbers(2, 3, 4, 4)], "2d")


@pytest.mark.filterwarnings("ignore:reduction:UserWarning")  # of torch, for KLDivLoss
@pytest.mark.parametrize("average", [True, False])
def test_losses(average):
    reduction = "mean" if average else "sum"
    x, t = numbers(4, 5), numbers(5, 4).reshape(4, 5)
    cases = {
        "MSELoss": (x, t),
        "L1Loss": (x, t),
        "SmoothL1Loss": (x, 3 * t),
        "SoftMarginLoss": (x, np.sign(t)),
        "HingeEmbeddingLoss": (x, np.sign(t)),
        "KLDivLoss": (x, abs(t)),
        "BCELoss": (1 / (1 + np.exp(-x)), (t > 0) * 1.0),
        "NLLLoss": (x, np.array([0, 4, 2, 2])),
        "CrossEntropyLoss": (x, np.array([0, 4, 2, 2])),
    }
    for name, (given, target) in cases.items():
        ours, its = variable(given, True), theirs.tensor(given, requires_grad=True)
        loss = getattr(nn, name)(size_average=average)(ours, variable(target))
        wanted = getattr(theirs.nn, name)(reduction=reduction)(its, theirs.tensor(target))
        assert loss.size() == (1,)
        assert_close(loss, wanted, name)
        loss.backward()
        wanted.backward()
        assert_close(ours.grad, its.grad, name)
    weight = abs(numbers(5))
    loss = nn.NLLLoss(legacy.from_numpy(weight), average)(
        variable(x), variable(cases["NLLLoss"][1])
    )
    other = theirs.nn.NLLLoss(theirs.tensor(weight), reduction=reduction)
    assert_close(loss, other(theirs.tensor(x), theirs.tensor(cases["NLLLoss"][1])), "weights")
    three = x, t, np.sign(t)
    made = [
        n.MarginRankingLoss(0.1, **o)
        for n, o in ((nn, {"size_average": average}), (theirs.nn, {"reduction": reduction}))
    ]
    assert_close(made[0](*map(variable, three)), made[1](*map(theirs.tensor, three)), "ranking")
    three = x, t, np.array([1.0, -1, 1, -1])
    made = [
        n.CosineEmbeddingLoss(0.1, **o)
        for n, o in ((nn, {"size_average": average}), (theirs.nn, {"reduction": reduction}))
    ]
    assert_close(made[0](*map(variable, three)), made[1](*map(theirs.tensor, three)), "cosine")


OPTIMIZERS = (
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.1, "weight_decay": 0.1}),
    ("Adamax", {"lr": 0.1}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1}),
    ("Adadelta", {"lr": 0.5}),
    ("RMSprop", {"lr": 0.1}),
    ("RMSprop", {"lr": 0.1, "momentum": 0.5, "centered": True}),
    ("ASGD", {"lr": 0.1, "t0": 3}),
    ("Rprop", {"lr": 0.1}),
)


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS, ids=lambda x: str(x))
def test_optimizers_go_the_same_way(name, options):
    start = numbers(4, 3)
    p = nn.Parameter(legacy.from_numpy(start.copy()))
    q = theirs.nn.Parameter(theirs.tensor(start))
    one = getattr(optim, name)([p], **options)
    other = getattr(theirs.optim, name)([q], **options)
    for step in range(8):
        if step == 4:  # goes on from its state
            fresh = getattr(optim, name)([p], **options)
            fresh.load_state_dict(one.state_dict())
            one = fresh
        x = numbers(5, 4) + step
        one.zero_grad()
        other.zero_grad()
        variable(x).mm(p).tanh().sum().backward()
        (theirs.tensor(x) @ q).tanh().sum().backward()
        one.step()
        other.step()
    # Where the small number that keeps divisions finite is added differs by era.
    np.testing.assert_allclose(p.data.numpy(), q.detach().numpy(), atol=1e-6)
