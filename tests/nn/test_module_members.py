"""Members of modules that change their place or kind: children, buffers, loaded values."""

import pytest

import autograd_cy as ag
from autograd_cy import nn


def test_a_child_of_a_list_is_replaced_by_index():
    first, second, third = nn.ReLU(), nn.Tanh(), nn.Sigmoid()
    modules = nn.ModuleList([first, second])
    modules[0] = third
    assert list(modules) == [third, second]
    modules[-1] = first
    assert list(modules) == [third, first]
    with pytest.raises(IndexError):
        modules[2] = second
    assert list(modules) == [third, first]


def test_a_child_of_a_sequence_is_replaced_by_index():
    modules = nn.Sequential(nn.ReLU(), nn.Tanh())
    modules[1] = nn.Linear(2, 2, bias=False)
    assert list(modules.state_dict()) == ["1.weight"]


def test_the_last_registration_says_whether_a_buffer_is_saved():
    module = nn.Module()
    module.register_buffer("mean", ag.zeros(2), persistent=False)
    assert list(module.state_dict()) == []
    module.register_buffer("mean", ag.ones(2))
    assert list(module.state_dict()) == ["mean"]
    module.register_buffer("mean", ag.ones(2), persistent=False)
    assert list(module.state_dict()) == []
    assert module.mean.tolist() == [1, 1]


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(ag.ones(2))
        self.register_buffer("shift", ag.zeros(2))


def test_loading_assigns_buffers_and_parameters_themselves():
    module = Scaled()
    state = {"scale": nn.Parameter(ag.full((2,), 3.0)), "shift": ag.full((2,), 5.0)}
    module.load_state_dict(state, assign=True)
    assert module.scale is state["scale"]
    assert module.shift is state["shift"]
    module.load_state_dict({"scale": ag.zeros(2), "shift": ag.ones(2)}, assign=True)
    assert isinstance(module.scale, nn.Parameter)
    assert module.scale.tolist() == [0, 0]
    assert module.shift.tolist() == [1, 1]
    assert list(module._buffers) == ["shift"]


def test_loading_copies_into_the_tensors_that_are_there():
    module = Scaled()
    scale, shift = module.scale, module.shift
    module.load_state_dict({"scale": ag.full((2,), 3.0), "shift": ag.full((2,), 5.0)})
    assert module.scale is scale
    assert module.shift is shift
    assert (scale.tolist(), shift.tolist()) == ([3, 3], [5, 5])
