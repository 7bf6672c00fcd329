"""Every name of nn, its functions and optim in March 2017, and each of them at work."""

import pytest

import autograd_cy.legacy as torch
from autograd_cy.legacy import nn, optim
from autograd_cy.legacy.autograd import Variable, gradcheck
from autograd_cy.legacy.nn import functional as F


def spread(*size, low=0.3):
    """Numbers of both signs, no two alike and none near 0, in an order that isn't theirs."""
    count = torch.ones(*size).numel()
    order = torch.LongTensor([(i * 1009) % count for i in range(count)])
    made = torch.DoubleTensor([low + i / count for i in range(count)])
    signs = torch.DoubleTensor([(-1) ** (i // 2) for i in range(count)])
    return (made * signs).index_select(0, order).view(*size)


def v(*size):
    return Variable(spread(*size), requires_grad=True)


def probabilities(*size):
    return Variable((spread(*size) * 2).sigmoid(), requires_grad=True)


def classes(*values):
    return Variable(torch.LongTensor(list(values)))


def signs(*size):
    return Variable(spread(*size).sign())


ACTIVATIONS = (
    "ELU Hardshrink Hardtanh LeakyReLU LogSigmoid LogSoftmax PReLU RReLU ReLU ReLU6 Sigmoid "
    "Softmax Softmin Softplus Softshrink Softsign Tanh Tanhshrink"
).split()
# (how it is made, the sizes or Variables that it is called with, the size of its first result)
MODULES = {
    **{name: ((), [(3, 4)], (3, 4)) for name in ACTIVATIONS},
    "Threshold": ((0.1, 2), [(3, 4)], (3, 4)),
    "Softmax2d": ((), [(2, 3, 2, 2)], (2, 3, 2, 2)),
    "Linear": ((4, 2), [(3, 4)], (3, 2)),
    "Bilinear": ((4, 3, 2), [(5, 4), (5, 3)], (5, 2)),
    "Conv1d": ((2, 4, 3, 2, 1), [(2, 2, 7)], (2, 4, 4)),
    "Conv2d": ((2, 4, 3, 1, 0, 1, 2), [(1, 2, 5, 4)], (1, 4, 3, 2)),
    "Conv3d": ((1, 2, 2), [(1, 1, 3, 3, 3)], (1, 2, 2, 2, 2)),
    "ConvTranspose1d": ((2, 3, 3, 2, 1, 1), [(2, 2, 4)], (2, 3, 8)),
    "ConvTranspose2d": ((2, 3, 4, 2, 1), [(1, 2, 3, 3)], (1, 3, 6, 6)),
    "ConvTranspose3d": ((1, 2, 2), [(1, 1, 2, 2, 2)], (1, 2, 3, 3, 3)),
    "MaxPool1d": ((2,), [(2, 3, 7)], (2, 3, 3)),
    "MaxPool2d": ((3, 2, 1), [(2, 1, 7, 7)], (2, 1, 4, 4)),
    "MaxPool3d": ((2,), [(1, 2, 4, 4, 4)], (1, 2, 2, 2, 2)),
    "AvgPool1d": ((2,), [(2, 3, 7)], (2, 3, 3)),
    "AvgPool2d": ((3, 2, 1), [(2, 1, 7, 7)], (2, 1, 4, 4)),
    "AvgPool3d": ((2,), [(1, 2, 4, 4, 4)], (1, 2, 2, 2, 2)),
    "MaxUnpool1d": ((2,), [(1, 1, 2), classes(1, 3).view(1, 1, 2)], (1, 1, 4)),
    "MaxUnpool2d": ((2,), [(1, 1, 1, 2), classes(1, 6).view(1, 1, 1, 2)], (1, 1, 2, 4)),
    "MaxUnpool3d": ((2,), [(1, 1, 1, 1, 1), classes(7).view(1, 1, 1, 1, 1)], (1, 1, 2, 2, 2)),
    "FractionalMaxPool2d": (
        (2, 3, None, False, torch.DoubleTensor([[[0.3, 0.6]]])),
        [(1, 1, 7, 6)],
        (1, 1, 3, 3),
    ),
    "LPPool2d": ((2, 2), [probabilities(1, 1, 4, 4)], (1, 1, 2, 2)),
    "AdaptiveMaxPool1d": ((3,), [(2, 2, 7)], (2, 2, 3)),
    "AdaptiveMaxPool2d": (((2, 3),), [(1, 2, 5, 7)], (1, 2, 2, 3)),
    "AdaptiveAvgPool1d": ((3,), [(2, 2, 7)], (2, 2, 3)),
    "AdaptiveAvgPool2d": (((2, 3),), [(1, 2, 5, 7)], (1, 2, 2, 3)),
    "BatchNorm1d": ((3,), [(5, 3)], (5, 3)),
    "BatchNorm2d": ((2,), [(3, 2, 2, 2)], (3, 2, 2, 2)),
    "BatchNorm3d": ((2,), [(2, 2, 2, 2, 2)], (2, 2, 2, 2, 2)),
    "InstanceNorm1d": ((2,), [(2, 2, 5)], (2, 2, 5)),
    "InstanceNorm2d": ((2, 1e-5, 0.1, True), [(2, 2, 3, 3)], (2, 2, 3, 3)),
    "InstanceNorm3d": ((2,), [(1, 2, 2, 2, 2)], (1, 2, 2, 2, 2)),
    "CrossMapLRN2d": ((3, 0.5), [(1, 4, 2, 2)], (1, 4, 2, 2)),
    "Dropout": ((0.5,), [(3, 4)], (3, 4)),
    "Dropout2d": ((0.5,), [(2, 3, 2, 2)], (2, 3, 2, 2)),
    "Dropout3d": ((0.5,), [(2, 3, 2, 2, 2)], (2, 3, 2, 2, 2)),
    "ReflectionPad2d": (((1, 2, 0, 1),), [(1, 1, 3, 3)], (1, 1, 4, 6)),
    "ReplicationPad2d": ((1,), [(1, 1, 3, 3)], (1, 1, 5, 5)),
    "ReplicationPad3d": ((1,), [(1, 1, 2, 2, 2)], (1, 1, 4, 4, 4)),
    "PixelShuffle": ((2,), [(1, 4, 2, 3)], (1, 1, 4, 6)),
    "UpsamplingNearest2d": ((None, 2), [(1, 2, 2, 3)], (1, 2, 4, 6)),
    "UpsamplingBilinear2d": (((5, 4),), [(1, 2, 2, 3)], (1, 2, 5, 4)),
    "Embedding": ((5, 3), [classes(1, 4, 1)], (3, 3)),
    "RNN": ((3, 2), [(4, 2, 3)], (4, 2, 2)),
    "LSTM": ((3, 2), [(4, 2, 3)], (4, 2, 2)),
    "GRU": ((3, 2), [(4, 2, 3)], (4, 2, 2)),
    "RNNBase": (("GRU", 3, 2), [(4, 2, 3)], (4, 2, 2)),
    "RNNCell": ((3, 2), [(4, 3), (4, 2)], (4, 2)),
    "GRUCell": ((3, 2), [(4, 3), (4, 2)], (4, 2)),
    "LSTMCell": ((3, 2), [(4, 3), (v(4, 2), v(4, 2))], (4, 2)),
    "RNNCellBase": ((3, 2), [(4, 3), (4, 2)], (4, 2)),
    "PairwiseDistance": ((2,), [(3, 4), probabilities(3, 4)], (3, 1)),
    "CosineSimilarity": ((), [(3, 4), probabilities(3, 4)], (3,)),
    "L1Loss": ((), [(3, 4), Variable(spread(3, 4) * 3)], (1,)),
    "MSELoss": ((False,), [(3, 4), Variable(spread(3, 4) * 3)], (1,)),
    "SmoothL1Loss": ((), [(3, 4), Variable(spread(3, 4) * 2.2)], (1,)),
    "KLDivLoss": ((), [(3, 4), Variable(spread(3, 4).abs())], (1,)),
    "BCELoss": ((), [probabilities(3, 4), Variable(spread(3, 4).sigmoid())], (1,)),
    "NLLLoss": ((None, False), [(3, 4), classes(0, 3, 1)], (1,)),
    "NLLLoss2d": ((), [(1, 3, 2, 2), classes(0, 2, 1, 0).view(1, 2, 2)], (1,)),
    "CrossEntropyLoss": ((), [(3, 4), classes(0, 3, 1)], (1,)),
    "HingeEmbeddingLoss": ((2,), [(3, 4), signs(3, 4)], (1,)),
    "SoftMarginLoss": ((), [(3, 4), signs(3, 4)], (1,)),
    "MultiMarginLoss": ((), [(3, 4), classes(0, 3, 1)], (1,)),
    "MultiLabelMarginLoss": ((), [(1, 4), classes(2, 0, -1, 1).view(1, 4)], (1,)),
    "MultiLabelSoftMarginLoss": ((), [(3, 4), Variable(spread(3, 4).gt(0).double())], (1,)),
    "MarginRankingLoss": ((0.1,), [(4,), probabilities(4), signs(4)], (1,)),
    "CosineEmbeddingLoss": ((), [(4, 3), probabilities(4, 3), signs(4)], (1,)),
    "TripletMarginLoss": ((), [(4, 3), probabilities(4, 3), v(4, 3) * 2], (1,)),
}
# These hold others, or have no formula of their own.
CONTAINERS = "Container DataParallel Module ModuleList Parameter ParameterList Sequential".split()
DRAWING = "Dropout Dropout2d Dropout3d RReLU".split()


def flat(given):
    for x in given:
        yield from x if isinstance(x, tuple) else (x,)


def first_of(result):
    return first_of(result[0]) if isinstance(result, tuple) else result


def made(name):
    """The module in double precision, and what it is called with."""
    options, inputs, size = MODULES[name]
    torch.manual_seed(0)
    module = getattr(nn, name)(*options).double()
    called = [v(*x) if isinstance(x, tuple) and isinstance(x[0], int) else x for x in inputs]
    return module, called, size


def test_the_modules_are_those_of_the_era():
    assert sorted({*MODULES, *CONTAINERS}) == sorted(
        name for name in nn.__all__ if name[0].isupper()
    )


@pytest.mark.parametrize("name", MODULES)
def test_a_module_runs_backward_and_prints(name):
    module, inputs, size = made(name)
    result = module(*inputs)
    out = first_of(result)
    assert isinstance(out, Variable) and out.requires_grad and tuple(out.size()) == size
    assert type(out.data) is torch.DoubleTensor
    out.sum().backward()
    for p in (*module.parameters(), *(x for x in flat(inputs) if x.requires_grad)):
        if p.creator is None:
            assert p.grad.size() == p.size() and p.grad.data.sum() == p.grad.data.sum()
    assert repr(module).startswith(name)


@pytest.mark.parametrize("name", MODULES)
def test_volatile_inputs_and_single_precision(name):
    module, inputs, size = made(name)
    module.float()

    def volatile(x):
        if isinstance(x, tuple):
            return tuple(map(volatile, x))
        data = x.data
        return Variable(
            data.float() if data.type() == "torch.DoubleTensor" else data, volatile=True
        )

    out = first_of(module(*map(volatile, inputs)))
    assert out.volatile and out.creator is None and tuple(out.size()) == size
    assert type(out.data) is torch.FloatTensor


@pytest.mark.parametrize("name", sorted(set(MODULES) - {"RReLU"}))
def test_the_gradients_of_a_module_are_those_of_differences(name):
    module, inputs, _ = made(name)
    variables = [x for x in flat(inputs) if x.requires_grad and x.creator is None]
    variables += list(module.parameters())

    def run(*_):
        torch.manual_seed(0)  # the same elements are dropped each time
        result = module(*inputs)
        return tuple(x for x in flat([result]) if not isinstance(x, tuple) and x.requires_grad)

    assert gradcheck(run, variables, eps=1e-6, atol=1e-5)


FUNCTIONS = {
    "adaptive_avg_pool1d": (v(1, 2, 7), 3),
    "adaptive_avg_pool2d": (v(1, 1, 5, 4), (2, 3)),
    "adaptive_max_pool1d": (v(1, 2, 7), 3),
    "adaptive_max_pool2d": (v(1, 1, 5, 4), (2, 3)),
    "avg_pool1d": (v(1, 2, 6), 2, 1, 1, True, False),
    "avg_pool2d": (v(1, 1, 4, 4), 2),
    "avg_pool3d": (v(1, 1, 2, 2, 4), 2),
    "batch_norm": (v(4, 2), torch.zeros(2).double(), torch.ones(2).double(), v(2), v(2), True),
    "bilinear": (v(3, 2), v(3, 4), v(2, 2, 4), v(2)),
    "binary_cross_entropy": (probabilities(3, 2), signs(3, 2) * 0.5 + 0.5),
    "conv1d": (v(1, 2, 5), v(3, 2, 2), v(3), 2, 1, 1, 1),
    "conv2d": (v(1, 2, 4, 4), v(2, 1, 2, 2), None, 1, 0, 1, 2),
    "conv3d": (v(1, 1, 3, 3, 3), v(1, 1, 2, 2, 2)),
    "conv_transpose1d": (v(1, 2, 3), v(2, 3, 2), v(3), 2, 0, 1, 1),
    "conv_transpose2d": (v(1, 1, 3, 3), v(1, 2, 2, 2)),
    "conv_transpose3d": (v(1, 1, 2, 2, 2), v(1, 1, 2, 2, 2)),
    "cosine_embedding_loss": (v(3, 2), probabilities(3, 2), signs(3), 0.1, False),
    "cosine_similarity": (v(3, 2), probabilities(3, 2), 1),
    "cross_entropy": (v(3, 4), classes(0, 3, 1), torch.DoubleTensor([1, 2, 3, 4]), False),
    "dropout": (v(3, 4), 0.5, False),
    "dropout2d": (v(1, 2, 2, 2), 0.5, False),
    "dropout3d": (v(1, 2, 2, 2, 2), 0.5, False),
    "elu": (v(3, 4), 2.0),
    "embedding": (classes(1, 0, 1), v(3, 2), 2),
    "fractional_max_pool2d": (
        v(1, 1, 6, 6),
        2,
        None,
        0.5,
        False,
        torch.DoubleTensor([[[0.3, 0.6]]]),
    ),
    "hardshrink": (v(3, 4), 0.4),
    "hardtanh": (v(3, 4), -0.5, 0.7),
    "hinge_embedding_loss": (v(3, 4), signs(3, 4), 2),
    "kl_div": (v(3, 4), Variable(spread(3, 4).abs())),
    "l1_loss": (v(3, 4), Variable(spread(3, 4) * 3)),
    "leaky_relu": (v(3, 4), 0.2),
    "linear": (v(3, 4), v(2, 4), v(2)),
    "log_softmax": (v(2, 3, 2, 2),),
    "logsigmoid": (v(3, 4),),
    "lp_pool2d": (probabilities(1, 1, 4, 4), 2, 2),
    "margin_ranking_loss": (v(4), probabilities(4), signs(4), 0.1),
    "max_pool1d": (v(1, 2, 6), 2, 1),
    "max_pool2d": (v(1, 1, 4, 4), 2),
    "max_pool3d": (v(1, 1, 2, 2, 4), 2),
    "max_unpool1d": (v(1, 1, 2), classes(1, 3).view(1, 1, 2), 2),
    "max_unpool2d": (v(1, 1, 1, 2), classes(1, 6).view(1, 1, 1, 2), 2, None, 0, (2, 4)),
    "max_unpool3d": (v(1, 1, 1, 1, 1), classes(7).view(1, 1, 1, 1, 1), 2),
    "mse_loss": (v(3, 4), Variable(spread(3, 4) * 3), False),
    "multi_margin_loss": (v(3, 4), classes(0, 3, 1), 2, 0.5),
    "multilabel_margin_loss": (v(1, 4), classes(2, 0, -1, 1).view(1, 4)),
    "multilabel_soft_margin_loss": (v(3, 4), signs(3, 4) * 0.5 + 0.5),
    "nll_loss": (v(3, 4), classes(0, 3, 1), None, False),
    "pad": (v(1, 1, 3, 3), (1, 2, 0, 1), "constant", 2),
    "pairwise_distance": (v(3, 4), probabilities(3, 4), 3),
    "pixel_shuffle": (v(1, 4, 2, 2), 2),
    "prelu": (v(3, 4), v(4)),
    "relu": (v(3, 4),),
    "relu6": (v(3, 4),),
    "rrelu": (v(3, 4), 0.2, 0.4),
    "sigmoid": (v(3, 4),),
    "smooth_l1_loss": (v(3, 4), Variable(spread(3, 4) * 2.2)),
    "soft_margin_loss": (v(3, 4), signs(3, 4), False),
    "softmax": (v(2, 3),),
    "softmin": (v(2, 3),),
    "softplus": (v(3, 4), 2, 1),
    "softshrink": (v(3, 4), 0.4),
    "softsign": (v(3, 4),),
    "tanh": (v(3, 4),),
    "tanhshrink": (v(3, 4),),
    "threshold": (v(3, 4), 0.4, 2),
    "triplet_margin_loss": (v(3, 2), probabilities(3, 2), v(3, 2) * 2, 1, 2, 1e-6, True),
    "upsample_bilinear": (v(1, 1, 2, 3), None, 2),
    "upsample_nearest": (v(1, 1, 2, 3), (4, 6)),
}


def test_the_functions_are_those_of_the_era():
    assert sorted(FUNCTIONS) == sorted(F.__all__)
    with pytest.raises(AttributeError, match="no attribute 'gelu'.*autograd_cy.nn.functional"):
        F.gelu


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_records_and_has_the_gradients_of_differences(name):
    args = FUNCTIONS[name]
    leaves = [x for x in args if isinstance(x, Variable) and x.requires_grad and x.creator is None]
    assert isinstance(getattr(F, name)(*args), Variable)
    assert gradcheck(lambda *_: getattr(F, name)(*args), leaves, eps=1e-6, atol=1e-5)


IN_PLACE = ("elu", "leaky_relu", "rrelu", "hardtanh", "relu", "relu6", "threshold", "dropout")


@pytest.mark.parametrize("name", IN_PLACE)
def test_the_variant_in_place_changes_its_input_and_differentiates_alike(name):
    options = {"threshold": (0.4, 0.2), "dropout": (0.5, True)}.get(name, ())
    found = []
    for inplace in (False, True):
        torch.manual_seed(1)
        x = v(3, 4)
        y = x * 2
        before = y.data.clone()
        out = getattr(F, name)(y, *options, inplace=inplace)
        assert (out is y) is inplace
        assert inplace or y.data.equal(before)
        (out * out).sum().backward()
        found.append((out.data.clone(), x.grad.data))
    assert found[0][0].equal(found[1][0])
    assert (found[0][1] - found[1][1]).abs().max() < 1e-12
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        getattr(F, name)(v(3), *options, inplace=True)


def test_modules_pass_in_place_on():
    for module in (nn.ELU(1, True), nn.LeakyReLU(0.2, inplace=True), nn.RReLU(inplace=True)):
        y = v(3, 4) * 1
        assert module(y) is y


OPTIMIZERS = "ASGD Adadelta Adagrad Adam Adamax LBFGS RMSprop Rprop SGD".split()


def test_the_optimizers_are_those_of_the_era():
    assert sorted(optim.__all__) == sorted([*OPTIMIZERS, "Optimizer"])


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_lowers_a_loss_and_goes_on_from_its_state(name):
    p = nn.Parameter(spread(3, 2))
    options = {"lr": 0.05} if name == "SGD" else {}
    optimizer = getattr(optim, name)([p], **options)

    def closure():
        optimizer.zero_grad()
        loss = ((p - 1) ** 2).sum()
        loss.backward()
        return loss

    first = optimizer.step(closure).data[0]
    other = getattr(optim, name)([p], **options)
    other.load_state_dict(optimizer.state_dict())
    optimizer = other
    for _ in range(5):
        last = optimizer.step(closure)
    assert last.data[0] < first
    if name == "LBFGS":
        assert last.data[0] < 1e-9
        with pytest.raises(TypeError, match="closure"):
            optimizer.step()
        with pytest.raises(ValueError, match="parameter groups"):
            optim.LBFGS([{"params": [p]}, {"params": [v(1)]}])


def test_the_other_names():
    from autograd_cy.legacy.backends import cudnn
    from autograd_cy.legacy.nn.modules.batchnorm import _BatchNorm
    from autograd_cy.legacy.nn.modules.conv import _ConvNd
    from autograd_cy.legacy.nn.modules.utils import _pair, _single, _triple
    from autograd_cy.legacy.nn.utils import clip_grad_norm
    from autograd_cy.legacy.nn.utils.rnn import PackedSequence
    from autograd_cy.legacy.utils import data

    assert (_single(1), _pair(2), _triple((1, 2, 3))) == ((1,), (2, 2), (1, 2, 3))
    assert issubclass(nn.BatchNorm2d, _BatchNorm) and issubclass(nn.ConvTranspose1d, _ConvNd)
    assert callable(clip_grad_norm) and PackedSequence._fields == ("data", "batch_sizes")
    for name in "DataLoader Dataset TensorDataset sampler dataset dataloader".split():
        assert hasattr(data, name)
    for name in (
        "calculate_gain constant kaiming_normal kaiming_uniform normal orthogonal sparse uniform "
        "xavier_normal xavier_uniform"
    ).split():
        assert callable(getattr(nn.init, name))
    cudnn.benchmark = True
    assert torch.backends.cudnn is cudnn and cudnn.version() is None
    x = torch.ones(2)
    assert not isinstance(x, torch.cuda.FloatTensor)
    torch.cuda.synchronize()
    for refused in (
        lambda: torch.cuda.FloatTensor(2),
        lambda: x.type(torch.cuda.FloatTensor),
        lambda: x.type("torch.cuda.FloatTensor"),
        lambda: x.pin_memory(),
        lambda: x.cuda(),
    ):
        with pytest.raises(RuntimeError, match="there is no GPU"):
            refused()


def test_a_module_without_a_gpu_is_parallel_to_itself():
    inner = nn.Linear(3, 2)
    outer = nn.DataParallel(inner, device_ids=[0, 1])
    x = Variable(torch.rand(4, 3))
    assert outer(x).data.equal(inner(x).data)
    assert list(outer.state_dict()) == ["module.weight", "module.bias"] and outer.module is inner
    assert nn.parallel.data_parallel(inner, x, range(2)).data.equal(inner(x).data)
    assert nn.parallel.data_parallel(inner, (x,), [0], module_kwargs={}).size() == (4, 2)
