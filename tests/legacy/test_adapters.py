"""Functions that operators of today compute: what the rules of 2017 leave to them, and what not."""

import pytest

import autograd_cy as ag
import autograd_cy.legacy as torch
from autograd_cy.legacy.autograd import Variable
from autograd_cy.legacy.autograd import _functions as functions
from autograd_cy.legacy.autograd._functions.adapter import Adapter


def leaf(*values):
    return Variable(torch.FloatTensor(list(values)), requires_grad=True)


@pytest.mark.parametrize("mode", [ag.no_grad, ag.inference_mode])
@pytest.mark.parametrize(
    "compute",
    [
        lambda v: v * v,
        lambda v: v.exp(),
        lambda v: v.sum(),
        lambda v: v.norm(),
        lambda v: v.view(2, 1),
        lambda v: v.max(0)[0],
        lambda v: v.chunk(2)[0],
        lambda v: (v * 1).add_(v),
    ],
)
def test_modes_of_today_have_no_effect(mode, compute):
    v, same = leaf(1, 2), leaf(1, 2)
    compute(v).sum().backward()
    with mode():
        compute(same).sum().backward()
    assert same.grad.data.tolist() == v.grad.data.tolist()


@pytest.mark.parametrize("mode", [ag.no_grad, ag.inference_mode])
def test_functions_of_programs_run_backward_in_the_mode_of_the_call(mode):
    seen = []

    class Seen(torch.autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, grad):
            seen.append(ag.is_grad_enabled())
            return grad * 2

    Seen()(leaf(1)).backward()
    with mode():
        Seen()(leaf(1)).backward()
    assert seen == [True, False]


def test_gradients_carry_no_history_of_today():
    v = leaf(1, 2)
    (v * v).exp().sum().backward()
    assert not v.grad.data.requires_grad and v.grad.data.grad_fn is None


def test_the_divided_zero_has_no_gradient():
    for function in (
        functions.DivConstant(0, div_by_tensor=True),
        functions.PowConstant(0, tensor_power=True),
    ):
        v = leaf(0, 1, -1)
        function(v).sum().backward()
        assert v.grad.data.tolist() == [0, 0, 0]


def test_a_deviation_of_nothing_has_no_gradient_of_a_number():
    v = leaf(2, 2)
    v.std().backward()
    assert all(x != x for x in v.grad.data)


def test_writes_through_data_change_what_is_saved_unseen():
    v, w = leaf(1, 2), leaf(3, 4)
    product = v * w
    w.data.fill_(7)
    product.sum().backward()
    assert v.grad.data.tolist() == [7, 7]


def test_integers_have_gradients_of_integers():
    v = Variable(torch.LongTensor([1, 2]), requires_grad=True)
    (v * v + v).sum().backward()
    assert v.grad.data.tolist() == [3, 5] and isinstance(v.grad.data, torch.LongTensor)


def test_a_function_that_is_told_to_require_a_gradient_has_none_to_give():
    function = functions.Add()
    function.requires_grad = True
    out = function(Variable(torch.ones(2)), Variable(torch.ones(2)))
    assert out.requires_grad
    out.backward(torch.ones(2))


def test_an_instance_that_is_called_again_forgets_the_node():
    function = functions.Sum()
    v, w = leaf(1, 2), leaf(1, 2, 3)
    function(v)
    function(w).backward()
    assert v.grad is None and w.grad.data.tolist() == [1, 1, 1]


def test_most_functions_are_adapters():
    own = {"Index", "SetItem", "NoGrad", "Type", "CudaTransfer", "Eq", "Ne", "Gt", "Ge", "Lt", "Le"}
    own |= {"Multinomial", "Bernoulli", "Normal"}
    own |= {"Function", "InplaceFunction", "StochasticFunction"}
    found = {n for n in functions.__all__ if not issubclass(getattr(functions, n), Adapter)}
    assert found == own
