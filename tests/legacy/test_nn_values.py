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
    # The small number was added to the differences without their signs.
    distances = [n.PairwiseDistance(2) for n in (nn, theirs.nn)]
    near = numbers(4, 3)
    compare(*distances, [near + abs(numbers(4, 3)), near], "PairwiseDistance")
    pair = [numbers(5, 4), numbers(5, 3)]
    compare(nn.Bilinear(4, 3, 2), theirs.nn.Bilinear(4, 3, 2), pair, "Bilinear")
    cosines = [n.CosineSimilarity() for n in (nn, theirs.nn)]
    compare(*cosines, [numbers(4, 3), numbers(3, 4).reshape(4, 3)], "CosineSimilarity")


IMAGES = (
    ("LPPool2d", (2, 3, 2), abs(numbers(2, 3, 7, 8))),
    ("AdaptiveMaxPool1d", (3,), numbers(2, 3, 7)),
    ("AdaptiveMaxPool2d", ((2, 3),), numbers(2, 3, 7, 8)),
    ("AdaptiveAvgPool1d", (3,), numbers(2, 3, 7)),
    ("AdaptiveAvgPool2d", (4,), numbers(2, 3, 7, 8)),
    ("ReflectionPad2d", ((1, 2, 0, 3),), numbers(2, 3, 7, 8)),
    ("ReplicationPad2d", (2,), numbers(2, 3, 7, 8)),
    ("ReplicationPad3d", ((1, 2, 0, 3, 1, 1),), numbers(1, 2, 3, 4, 5)),
    ("PixelShuffle", (2,), numbers(2, 8, 3, 4)),
    ("UpsamplingNearest2d", (None, 3), numbers(2, 3, 4, 5)),
    ("UpsamplingBilinear2d", ((7, 9),), numbers(2, 3, 4, 5)),
    ("Softmax2d", (), numbers(2, 3, 4, 5)),
    ("RReLU", (0.1, 0.3), numbers(2, 3, 4, 5)),
    ("CrossMapLRN2d", (3, 0.5, 0.6, 2), numbers(2, 5, 3, 3)),
)


@pytest.mark.parametrize(("name", "options", "x"), IMAGES, ids=lambda x: str(x)[:30])
def test_images(name, options, x):
    other = {"CrossMapLRN2d": "LocalResponseNorm"}.get(name, name)
    made = getattr(nn, name)(*options), getattr(theirs.nn, other)(*options)
    compare(*(m.eval() for m in made), [x], name)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_the_way_back_from_the_largest_elements(dims):
    x = numbers(2, 3, *SPACES[dims])
    there, back = (
        getattr(nn, f"Max{what}{dims}d")(2, **options)
        for what, options in (("Pool", {"return_indices": True}), ("Unpool", {}))
    )
    ours = back(*there(variable(x)), output_size=x.shape)
    there, back = (
        getattr(theirs.nn, f"Max{what}{dims}d")(2, **options)
        for what, options in (("Pool", {"return_indices": True}), ("Unpool", {}))
    )
    assert_close(ours, back(*there(theirs.tensor(x)), output_size=x.shape), dims)


def test_windows_of_fractional_pooling():
    x, samples = numbers(2, 3, 9, 8), np.random.default_rng(0).random((2, 3, 2))
    for kernel, out in ((2, (5, 4)), ((3, 2), (4, 7)), (2, (1, 3))):
        rules = kernel, out, None, True
        ours = nn.FractionalMaxPool2d(*rules, legacy.from_numpy(samples))(variable(x, True))
        options = {"return_indices": True, "_random_samples": theirs.tensor(samples)}
        wanted = theirs.nn.FractionalMaxPool2d(kernel, out, **options)(theirs.tensor(x))
        assert_close(ours[0], wanted[0], rules)
        assert_close(ours[1], wanted[1], rules)
    drawn = [nn.FractionalMaxPool2d(2, output_ratio=0.6)(variable(x)) for _ in range(2)]
    assert drawn[0].size() == (2, 3, 5, 4) and not drawn[0].data.equal(drawn[1].data)
    for wrong in ({}, {"output_size": 2, "output_ratio": 0.5}):
        with pytest.raises(ValueError, match="either output_size or output_ratio"):
            nn.FractionalMaxPool2d(2, **wrong)
    with pytest.raises(ValueError, match="don't fit"):
        nn.FractionalMaxPool2d(2, output_size=9)(variable(x))


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_packed_sequences(name):
    x, lengths = numbers(5, 3, 4), [5, 3, 1]
    for first in (False, True):
        given = x.swapaxes(0, 1).copy() if first else x
        ours, other = (
            getattr(n, name)(4, 2, 2, bidirectional=True, batch_first=first).double()
            for n in (nn, theirs.nn)
        )
        for p, q in zip(ours.parameters(), other.parameters(), strict=True):
            p.data.copy_(legacy.from_numpy(q.detach().numpy().copy()))
        mine, its = variable(given, True), theirs.tensor(given, requires_grad=True)
        rnn, now = nn.utils.rnn, theirs.nn.utils.rnn
        packed = rnn.pack_padded_sequence(mine, lengths, first)
        out, state = ours(packed)
        assert packed.batch_sizes == [3, 2, 2, 1, 1] and isinstance(out, rnn.PackedSequence)
        padded, found = rnn.pad_packed_sequence(out, first)
        wanted, last = other(now.pack_padded_sequence(its, lengths, first))
        wanted = now.pad_packed_sequence(wanted, first)[0]
        assert found == lengths
        assert_close(padded, wanted, name)
        if name == "LSTM":
            state, last = state[1], last[1]
        assert_close(state, last, name)
        (padded.sum() + (state * state).sum()).backward()
        (wanted.sum() + (last * last).sum()).backward()
        assert_close(mine.grad, its.grad, name)


def test_lengths_that_do_not_fit_are_refused():
    pack, x = nn.utils.rnn.pack_padded_sequence, variable(numbers(5, 3, 4))
    for lengths, message in (
        ([3, 5, 1], "decreasing order"),
        ([5, 3, 0], "greater than 0"),
        ([5, 3], "expected 3"),
        ([6, 3, 1], "more than the 5 steps"),
    ):
        with pytest.raises(ValueError, match=message):
            pack(x, lengths)
    with pytest.raises(TypeError, match="expected a Variable"):
        pack(x.data, [5, 3, 1])
    with pytest.raises(RuntimeError, match="Expected hidden size"):
        nn.GRU(4, 2).double()(x, variable(numbers(1, 2, 2)))
    with pytest.raises(RuntimeError, match="must be equal to input_size"):
        nn.GRU(3, 2).double()(x)
    with pytest.raises(RuntimeError, match="doesn't match hidden batch size"):
        nn.GRUCell(4, 2).double()(variable(numbers(3, 4)), variable(numbers(2, 2)))


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_normalisation_of_each_sample(dims):
    name = f"InstanceNorm{dims}d"
    made = (
        getattr(nn, name)(3, affine=True),
        getattr(theirs.nn, name)(3, affine=True, track_running_stats=True),
    )
    x = numbers(2, 3, *SPACES[dims])
    compare(*made, [x], name)
    assert_close(made[0].running_var, made[1].running_var, name)
    compare(*(m.eval() for m in made), [x], name)


def test_embedding_counts():
    made = [n.Embedding(6, 3, scale_grad_by_freq=True) for n in (nn, theirs.nn)]
    compare(*made, [np.array([[1, 2, 2], [2, 5, 1]])], "scale_grad_by_freq")


def test_losses_of_several_classes():
    x, t = numbers(3, 4), numbers(4, 3).reshape(3, 4)
    which = np.array([[2, 0, -1, 1], [3, -1, 0, 0], [0, 1, 2, 3]])
    for average in (True, False):
        how = {"reduction": "mean" if average else "sum"}
        for name, target, options in (
            ("MultiMarginLoss", np.array([1, 0, 3]), {}),
            ("MultiMarginLoss", np.array([1, 0, 3]), {"p": 2, "margin": 0.5}),
            ("MultiLabelMarginLoss", which, {}),
        ):
            made = (
                getattr(nn, name)(size_average=average, **options),
                getattr(theirs.nn, name)(**how, **options),
            )
            compare(*made, [x, target], name)
        loss = nn.MultiLabelSoftMarginLoss(size_average=average)(
            variable(x), variable(1.0 * (t > 0))
        )
        other = theirs.nn.functional.binary_cross_entropy_with_logits
        assert_close(loss, other(theirs.tensor(x), theirs.tensor(1.0 * (t > 0)), **how), "soft")
    images, labels = numbers(2, 3, 4, 5), np.arange(40).reshape(2, 4, 5) % 3
    compare(nn.NLLLoss2d(), theirs.nn.NLLLoss(), [images, labels], "NLLLoss2d")
    three = [numbers(4, 3) + 9, numbers(4, 3), numbers(3, 4).reshape(4, 3) - 9]
    for swap in (False, True):
        made = [n.TripletMarginLoss(20, eps=0, swap=swap) for n in (nn, theirs.nn)]
        compare(*made, three, swap)


@pytest.mark.parametrize("options", [{}, {"max_iter": 4}, {"lr": 0.3, "history_size": 2}])
def test_quasi_newton_steps(options):
    matrix, shift = numbers(4, 4), numbers(4)
    ends = []
    for n, make, param in (
        (optim, variable, lambda a: nn.Parameter(legacy.from_numpy(a))),
        (theirs.optim, theirs.tensor, lambda a: theirs.nn.Parameter(theirs.tensor(a))),
    ):
        p, q = param(numbers(4).copy()), param(np.ones(1))
        optimizer, calls, m, b = n.LBFGS([p, q], **options), [], make(matrix), make(shift)

        def closure():
            optimizer.zero_grad()
            r = m.mv(p)
            loss = r.dot(r) + (p * b).sum() + (p**4).sum() + (q**2).exp().sum()
            calls.append(loss)
            loss.backward()
            return loss

        for _ in range(3):
            optimizer.step(closure)
        ends.append((p.data.tolist() + q.data.tolist(), len(calls)))
    assert ends[0][1] == ends[1][1]
    np.testing.assert_allclose(ends[0][0], ends[1][0], atol=1e-9)


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
