"""Calls of the era that few programs make: refused options, and forms beside the usual ones."""

import pickle

import numpy as np
import pytest

import autograd_cy.legacy as torch
from autograd_cy.legacy import nn, optim
from autograd_cy.legacy.autograd import Function, NestedIOFunction, Variable
from autograd_cy.legacy.autograd import _functions as functions
from autograd_cy.legacy.autograd.gradcheck import contiguous, make_jacobian
from autograd_cy.legacy.nn import functional as F


def var(*size, **flags):
    return Variable(torch.ones(*size), **flags)


class NoForms(NestedIOFunction):
    pass


class OnlyForward(NestedIOFunction):
    def forward_extended(self, x):
        return x * 2


def searched_along_a_line(v):
    def closure():
        loss = (v * v).sum()
        loss.backward()
        return loss

    optim.LBFGS([v], line_search_fn="wolfe").step(closure)


REFUSED = {
    "t_": (lambda: torch.ones(2).t_(), RuntimeError, "expects a 2D tensor"),
    "unsqueeze": (lambda: torch.Tensor().unsqueeze(0), RuntimeError, "empty tensor"),
    "renorm": (lambda: var(2).renorm(2, 0, 1), RuntimeError, "at least 2 dimensions"),
    "select": (lambda: var(2).select(3, 0), RuntimeError, "out of range"),
    "cuda": (lambda: var(2).cuda(devise=1), TypeError, "devise"),
    "addcmul": (lambda: var(2).addcmul(1, 2, 3, 4), TypeError, "got 4 arguments"),
    "key": (lambda: var(2)[torch.FloatTensor([1, 0])], TypeError, "ByteTensor or a LongTensor"),
    "tensor of a Variable": (lambda: torch.FloatTensor(var(2)), TypeError, "use .data"),
    "tensor of another type": (
        lambda: torch.FloatTensor(torch.ones(2).double()),
        TypeError,
        "a torch.FloatTensor",
    ),
    "fraction": (lambda: torch.ones(2).long().add(0.5), TypeError, "holds no fractions"),
    "round": (lambda: torch.ones(2).long().round(), TypeError, "round"),
    "gesv": (lambda: torch.gesv(torch.ones(2, 1), torch.ones(2, 3)), RuntimeError, "square"),
    "forward_extended": (lambda: NoForms()(var(2)), NotImplementedError, "forward_extended"),
    "backward_extended": (
        lambda: OnlyForward()(var(2, requires_grad=True)).sum().backward(),
        NotImplementedError,
        "backward_extended",
    ),
    "LeakyReLU in place": (
        lambda: F.leaky_relu(var(2), -0.1, inplace=True),
        RuntimeError,
        "slope above zero",
    ),
    "ELU": (lambda: F.elu(var(2), -1), RuntimeError, "alpha must not be negative"),
    "rrelu": (lambda: F.rrelu(var(2), 0.5, 0.1), ValueError, "in order"),
    "pad": (lambda: F.pad(var(1, 1, 2, 2), (1, 1, 1, 1), mode="wrap"), NotImplementedError, "wrap"),
    "upsample": (lambda: F.upsample_nearest(var(1, 1, 2, 2)), ValueError, "must be defined"),
    "upsample by a fraction": (
        lambda: F.upsample_nearest(var(1, 1, 2, 2), scale_factor=1.5),
        ValueError,
        "integer type",
    ),
    "nll": (
        lambda: F.nll_loss(var(2, 2, 2), Variable(torch.ones(2).long())),
        ValueError,
        "Expected 2 or 4 dimensions",
    ),
    "multi margin": (
        lambda: F.multi_margin_loss(var(2, 2), Variable(torch.ones(2).long()), p=3),
        ValueError,
        "only p == 1 and p == 2",
    ),
    "triplets of two sizes": (
        lambda: F.triplet_margin_loss(var(2, 2), var(2, 3), var(2, 2)),
        AssertionError,
        "sizes must be equal",
    ),
    "triplets of one dimension": (
        lambda: F.triplet_margin_loss(var(2), var(2), var(2)),
        AssertionError,
        "must be 2D",
    ),
    "triplets' margin": (
        lambda: F.triplet_margin_loss(var(2, 2), var(2, 2), var(2, 2), margin=-1),
        AssertionError,
        "margin should be positive",
    ),
    "tensors": (
        lambda: F.conv2d(torch.ones(1, 1, 2, 2), var(1, 1, 1, 1)),
        RuntimeError,
        "Variable",
    ),
    "fractional pooling": (
        lambda: F.fractional_max_pool2d(var(1, 1, 4, 4), 2),
        ValueError,
        "either output_size or output_ratio",
    ),
    "ratio of pooling": (
        lambda: F.fractional_max_pool2d(var(1, 1, 4, 4), 2, output_ratio=1.5),
        ValueError,
        "between 0 and 1",
    ),
    "Softmax": (lambda: nn.Softmax()(var(2, 2, 2)), AssertionError, "2D tensor"),
    "Softmax2d": (lambda: nn.Softmax2d()(var(2, 2)), AssertionError, "4D tensor"),
    "BatchNorm1d": (lambda: nn.BatchNorm1d(3)(var(4, 2)), RuntimeError, "expected 3 features"),
    "groups": (lambda: nn.Conv2d(4, 3, 1, groups=2), ValueError, "divisible by groups"),
    "MultiMarginLoss": (lambda: nn.MultiMarginLoss(p=3), ValueError, "only p == 1 and p == 2"),
    "its weight": (
        lambda: nn.MultiMarginLoss(weight=torch.ones(2, 2)),
        AssertionError,
        "one dimension",
    ),
    "padding": (lambda: nn.ReflectionPad2d((1, 2)), ValueError, "4 of them"),
    "hidden states": (
        lambda: nn.LSTM(2, 2)(var(1, 1, 2), (var(1, 1, 2),)),
        RuntimeError,
        "expected 2 hidden states",
    ),
    "dimensions of a sequence": (lambda: nn.GRU(2, 2)(var(1, 2)), RuntimeError, "3 dimensions"),
    "padding_idx": (lambda: nn.Embedding(3, 2, padding_idx=7), AssertionError, "padding_idx 7"),
    "Upsampling": (lambda: nn.UpsamplingNearest2d(), ValueError, "should be defined"),
    "Upsampling by a fraction": (
        lambda: nn.UpsamplingNearest2d(scale_factor=1.5),
        ValueError,
        "integer type",
    ),
    "line search": (
        lambda: searched_along_a_line(var(1, requires_grad=True)),
        RuntimeError,
        "line search",
    ),
    "NoGrad": (
        lambda: functions.NoGrad()(var(2, requires_grad=True)).backward(torch.ones(2)),
        RuntimeError,
        "doesn't require|does not require|require",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_release_refuses_is_refused(name):
    call, error, words = REFUSED[name]
    with pytest.raises(error, match=words):
        call()


def test_a_layer_that_let_its_buffers_go_says_so():
    v = var(1, 1, 3, 3, requires_grad=True)
    loss = F.conv2d(v, var(1, 1, 2, 2)).sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="retain_variables=True"):
        loss.backward()


FORMS = {
    "view_as": (lambda t: t.view_as(torch.ones(3, 2)), [[1, 2], [3, 4], [5, 6]]),
    "tril_": (lambda t: t.tril_(), [[1, 0, 0], [4, 5, 0]]),
    "and": (lambda t: t.byte().__iand__((t > 3).byte()), [[0, 0, 0], [0, 1, 0]]),
    "is_pinned": (lambda t: torch.ByteTensor([t.is_pinned()]), [0]),
    "power of a number": (lambda t: torch.pow(2, t), [[2, 4, 8], [16, 32, 64]]),
    "whole fraction": (lambda t: t.long() + 2.0, [[3, 4, 5], [6, 7, 8]]),
    "set_ of a storage": (lambda t: torch.FloatTensor().set_(t.storage()), [1, 2, 3, 4, 5, 6]),
    "modules": (lambda t: torch.ones(len(list(nn.Sequential(nn.ReLU()).modules()))), [1, 1]),
    "bmm": (lambda t: var(1, 2, 3).bmm(var(1, 3, 1)).data, [[[3], [3]]]),
    "ger": (lambda t: var(2).ger(var(1)).data, [[1], [1]]),
    "Cmin": (lambda t: Variable(t).min(var(2, 3) * 2).data, [[1, 2, 2], [2, 2, 2]]),
    "sub_": (lambda t: (Variable(t) * 1).sub_(1).data, [[0, 1, 2], [3, 4, 5]]),
    "lerp": (lambda t: Variable(t).lerp(Variable(t) * 3, 0.5).data, [[2, 4, 6], [8, 10, 12]]),
    "integers": (lambda t: (Variable(t.long()) - 1).data, [[0, 1, 2], [3, 4, 5]]),
    "quotients": (lambda t: (Variable(t.long()) / 2).data, [[0, 1, 1], [2, 2, 3]]),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_lesser_form_has_the_value_of_the_time(name):
    call, expected = FORMS[name]
    found = call(torch.FloatTensor([[1, 2, 3], [4, 5, 6]]))
    np.testing.assert_allclose(found.tolist(), expected, rtol=1e-6)


def test_losses_have_weights():
    torch.manual_seed(0)
    data, kinds = torch.rand(4, 3), Variable(torch.LongTensor([0, 2, 1, 1]))
    classes, ones = torch.FloatTensor([1, 2, 3]), Variable(torch.ones(4, 3))
    weights = classes.view(1, 3).expand(4, 3)
    seen = {}
    for name, loss, target, weight, plain in (
        ("NLL", nn.NLLLoss, kinds, classes, nn.NLLLoss()),
        ("CrossEntropy", nn.CrossEntropyLoss, kinds, classes, nn.CrossEntropyLoss()),
        ("MultiMargin", lambda weight: nn.MultiMarginLoss(weight=weight), kinds, classes, None),
        ("BCE", nn.BCELoss, ones, weights, nn.BCELoss()),
        ("SoftMargin", nn.MultiLabelSoftMarginLoss, ones, weights, nn.MultiLabelSoftMarginLoss()),
    ):
        v = Variable(data.clone(), requires_grad=True)
        found = loss(weight)(v, target)
        found.backward()
        assert v.grad.data.abs().sum() > 0
        seen[name] = found.data[0]
        assert plain is None or plain(v, target).data[0] != seen[name]
    by_hand = -(data.log() * weights).sum() / 12
    assert seen["BCE"] == pytest.approx(by_hand, rel=1e-5)


@pytest.mark.parametrize("name", ["mm", "bmm", "mv"])
def test_products_of_two_types_are_refused(name):
    sizes = {"mm": ((2, 2), (2, 2)), "bmm": ((1, 2, 2), (1, 2, 2)), "mv": ((2, 2), (2,))}
    a, b = (torch.ones(*size) for size in sizes[name])
    with pytest.raises(TypeError):
        getattr(Variable(a), name)(Variable(b.double()))


def test_a_function_derived_from_those_of_the_package_is_an_old_one():
    class Twice(functions.Add):
        def forward(self, a, b):
            return super().forward(a, b) * 2

        def backward(self, grad):
            return tuple(g * 2 for g in super().backward(grad))

    class Greater(functions.Gt):
        def forward(self, a, b):
            return (a > b).float()

    v = var(2, requires_grad=True)
    Twice()(v, var(2)).sum().backward()
    assert v.grad.data.tolist() == [2, 2]
    assert isinstance(Twice(), Function)
    w = var(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Greater.backward: missing gradient"):
        Greater()(w * 1, var(2)).sum().backward()


def test_storages_are_pickled_and_arrays_made_of_a_type():
    t = torch.FloatTensor([1, 2])
    storage = pickle.loads(pickle.dumps(t.storage()))
    assert type(storage) is torch.FloatStorage and list(storage) == [1, 2]
    assert t.__array__().dtype == np.float32 and t.__array__(np.float64).tolist() == [1, 2]


def test_helpers_of_gradcheck_leave_what_is_no_tensor():
    assert contiguous([3, "a"]) == [3, "a"]
    assert make_jacobian([3, None], 2) is None


def test_a_nested_function_gives_one_gradient_without_a_tuple():
    class Twice(NestedIOFunction):
        def forward_extended(self, x):
            return x * 2

        def backward_extended(self, grad):
            return grad * 2

    v = var(2, requires_grad=True)
    Twice()(v).sum().backward()
    assert v.grad.data.tolist() == [2, 2]


def test_a_value_that_needs_no_gradient_gets_none():
    v = var(2, requires_grad=True) * 1
    v[0] = Variable(torch.FloatTensor([5]))
    v.sum().backward()
    assert v.data.tolist() == [5, 1]


def test_names_of_the_package_are_listed():
    assert {"Variable", "FloatTensor", "addmm"} <= set(dir(torch))
    with pytest.raises(AttributeError, match="nothing_such"):
        _ = torch.nothing_such
