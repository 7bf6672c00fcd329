"""Parametrizations on top of others: checked as the first, unsafe once one of them is."""

import pytest

import autograd_cy as ag
from autograd_cy import nn
from autograd_cy.nn.utils import parametrize


class Plain(nn.Module):
    def forward(self, x):
        return x * 2

    def right_inverse(self, x):
        return x / 2


class Other(Plain):
    """Its inverse has another shape, or another dtype."""

    def __init__(self, change):
        super().__init__()
        self.change = change

    def right_inverse(self, x):
        return self.change(x / 2)


CHANGES = {"shape": lambda x: x[:1], "dtype": lambda x: x.double()}


def test_a_second_parametrization_is_checked_as_the_first():
    for change in CHANGES.values():
        module = nn.Linear(2, 2)
        parametrize.register_parametrization(module, "weight", Plain())
        before = module.weight.detach().clone()
        with pytest.raises(ValueError, match="right_inverse"):
            parametrize.register_parametrization(module, "weight", Other(change))
        assert len(module.parametrizations.weight) == 1
        assert ag.equal(module.weight, before)


def test_a_chain_is_unsafe_once_one_of_its_parts_is():
    for order in ((False, False), (False, True), (True, False), (True, True)):
        module = nn.Linear(2, 2)
        for unsafe in order:
            parametrize.register_parametrization(module, "weight", Plain(), unsafe=unsafe)
        assert module.parametrizations.weight.unsafe is any(order)
        assert parametrize.is_parametrized(module, "weight")
        assert not parametrize.is_parametrized(module, "bias")
        assert parametrize.is_parametrized(module)
        assert not parametrize.is_parametrized(nn.Linear(2, 2), "weight")
