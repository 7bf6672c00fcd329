"""Variable: a constructor that returns tensors."""

import pytest

import autograd_cy as torch
from autograd_cy.autograd import Variable


def test_every_tensor_is_a_variable():
    assert isinstance(torch.ones(1), Variable)
    assert isinstance(torch.nn.Parameter(torch.ones(1)), Variable)
    assert not isinstance(3, Variable)
    assert type(Variable(torch.ones(1))) is torch.Tensor


def test_a_variable_shares_memory_and_versions_but_no_history():
    y = torch.ones(2, requires_grad=True) * 2
    v = Variable(y)
    assert v is not y and v.data_ptr() == y.data_ptr()
    assert v.is_leaf and not v.requires_grad and v.grad_fn is None
    v.add_(1)
    assert v._version == y._version == 1


def test_requires_grad_makes_a_leaf_that_gets_gradients():
    t = torch.ones(2)
    v = Variable(t, requires_grad=True)
    (v * 3).sum().backward()
    assert v.grad.tolist() == [3.0, 3.0] and not t.requires_grad
    assert Variable(t, True).requires_grad
    assert not Variable(torch.nn.Parameter(t)).requires_grad


def test_nothing_makes_an_empty_tensor():
    assert Variable().shape == Variable(None).shape == (0,)


def test_volatile_warns_and_does_nothing():
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        v = Variable(torch.ones(1), volatile=True)
    assert (v.requires_grad_() * 2).requires_grad
    wrong = pytest.raises(ValueError, match="volatile and require_grad")
    with pytest.warns(UserWarning, match="volatile was removed"), wrong:
        Variable(torch.ones(1), requires_grad=True, volatile=True)


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got list"):
        Variable([1.0])
    with pytest.raises(RuntimeError, match="floating point and complex dtype can require"):
        Variable(torch.ones(1, dtype=torch.int64), requires_grad=True)
    with pytest.raises(TypeError):
        Variable(torch.ones(1), creator=None)
    with pytest.raises(TypeError, match="requires_grad must be a bool"):
        Variable(torch.ones(1), requires_grad=None)


def test_the_engine_is_reached_through_the_class():
    called = []
    x = torch.ones(1, requires_grad=True)

    def queue(grad):
        Variable._execution_engine.queue_callback(lambda: called.append(x.grad.item()))

    x.register_hook(queue)
    (x * 2).backward()
    assert called == [2.0]
