"""Methods and factories that are no records of the table are seen, with their arguments."""

import numpy as np
import pytest
from recordings import assert_nested, names_of, recorded

import autograd_cy as ag

X = ag.ones(1, 3)
# A call on a copy of `[[1, 1, 1]]`: (its event, sizes of the arguments, values of those that
# are no tensors).
LIKE = [[1, 3]]
CALLS = {
    "t.new_empty(2)": ("aten::new_empty", [*LIKE, []], [None, [2]]),
    "t.new_zeros(2)": ("aten::new_zeros", [*LIKE, []], [None, [2]]),
    "t.new_ones(2)": ("aten::new_ones", [*LIKE, []], [None, [2]]),
    "t.new_full((2,), 3.0)": ("aten::new_full", [*LIKE, [], []], [None, [2], 3.0]),
    "t.new_empty_strided((2,), (1,))": (
        "aten::new_empty_strided",
        [*LIKE, [], []],
        [None, [2], [1]],
    ),
    "t.new_tensor([1.0])": ("autograd_cy::new_tensor", LIKE, [None]),
    "t.transpose_(0, 1)": ("aten::transpose_", [*LIKE, [], []], [None, 0, 1]),
    "t.swapaxes_(0, 1)": ("aten::transpose_", [*LIKE, [], []], [None, 0, 1]),
    "t.t_()": ("aten::t_", LIKE, [None]),
    "t.squeeze_()": ("aten::squeeze_", [*LIKE, []], [None, None]),
    "t.squeeze_(0)": ("aten::squeeze_", [*LIKE, []], [None, 0]),
    "t.unsqueeze_(0)": ("aten::unsqueeze_", [*LIKE, []], [None, 0]),
    "t.as_strided_((2,), (1,))": ("aten::as_strided_", [*LIKE, [], [], []], [None, [2], [1], None]),
    "t.resize_(3)": ("aten::resize_", [*LIKE, []], [None, [3]]),
    "t.resize_as_(X)": ("aten::resize_as_", LIKE * 2, [None, None]),
    "t.set_(X)": ("aten::set_", LIKE, [None]),
    "t.set_()": ("aten::set_", LIKE, [None]),
    "t.detach_()": ("aten::detach_", LIKE, [None]),
    "t.fill_diagonal_(2.0)": ("aten::fill_diagonal_", [*LIKE, [], []], [None, 2.0, False]),
    "t.copy_(X)": ("aten::copy_", [*LIKE * 2, []], [None, None, False]),
    "t.zero_()": ("aten::zero_", LIKE, [None]),
    "t.fill_(2)": ("aten::fill_", [*LIKE, []], [None, 2]),
    "t.uniform_()": ("aten::uniform_", [*LIKE, [], [], []], [None, 0.0, 1.0, None]),
    "t.normal_()": ("aten::normal_", [*LIKE, [], [], []], [None, 0.0, 1.0, None]),
    "t.random_(3)": ("aten::random_", [*LIKE, [], [], [], []], [None, 0, 2, 1, None]),
    "t.exponential_()": ("aten::exponential_", [*LIKE, [], []], [None, 1.0, None]),
    "t.bernoulli_()": ("aten::bernoulli_", [*LIKE, [], []], [None, 0.5, None]),
    "ag.bernoulli(t)": ("aten::bernoulli", [*LIKE, []], [None, None]),
    "ag.bernoulli(t, 0.5)": ("aten::bernoulli", [*LIKE, []], [None, 0.5]),
    "ag.normal(t, X)": ("aten::normal", LIKE * 2, [None, None]),
    "ag.rand_like(t)": ("aten::rand_like", LIKE, [None]),
    "ag.randn_like(t)": ("aten::randn_like", LIKE, [None]),
    "ag.randint_like(t, 3)": ("aten::randint_like", [*LIKE, []], [None, 3]),
    "ag.zeros_like(t)": ("aten::zeros_like", LIKE, [None]),
    "ag.ones_like(t)": ("aten::ones_like", LIKE, [None]),
    "ag.empty_like(t)": ("aten::empty_like", LIKE, [None]),
    "ag.full_like(t, 2.0)": ("aten::full_like", [*LIKE, []], [None, 2.0]),
    "ag.randint(0, 3, (2,))": ("aten::randint", [[], [], []], [0, 3, [2]]),
    "ag.rand(2)": ("aten::rand", [[]], [2]),
    "ag.randn(2)": ("aten::randn", [[]], [2]),
    "ag.arange(3)": ("aten::arange", [[]], [3]),
    "ag.linspace(0, 1, 3)": ("aten::linspace", [[], [], []], [0, 1, 3]),
    "ag.logspace(0, 1, 3)": ("aten::logspace", [[], [], [], []], [0, 1, 3, 10.0]),
    "ag.full((2,), 3.0)": ("aten::full", [[], []], [[2], 3.0]),
    "ag.eye(2)": ("aten::eye", [[], []], [2, None]),
    "ag.zeros(2)": ("aten::zeros", [[]], [2]),
    "ag.ones(2)": ("aten::ones", [[]], [2]),
    "ag.randperm(3)": ("aten::randperm", [[]], [3]),
    "ag.scalar_tensor(2)": ("aten::scalar_tensor", [[]], [2]),
    "ag.empty_strided((2,), (1,))": ("aten::empty_strided", [[], []], [[2], [1]]),
}


def run(call, t):
    """(the result, the tensor that the call is on) with the same random numbers each time."""
    ag.manual_seed(0)
    return eval(call, {"ag": ag, "t": t, "X": X}), t


@pytest.mark.parametrize("prefix", ["t.", "ag."])
def test_a_call_is_seen_with_its_arguments_and_does_the_same(prefix):
    wrong = {}
    for call, (name, sizes, values) in CALLS.items():
        if not call.startswith(prefix):
            continue
        plain, got = run(call, X.clone()), []
        t = X.clone()
        columns = recorded(lambda c=call, t=t, g=got: g.append(run(c, t)), record_shapes=True)
        assert_nested(columns)
        names = names_of(columns)
        if name not in names:
            wrong[call] = names
            continue
        found = columns.shapes[columns.shape[names.index(name)]]
        if (list(found[0]), list(found[1])) != (sizes, values):
            wrong[call] = found
        for one, other in zip(plain, got[0]):
            if tuple(one.shape) != tuple(other.shape) or one.stride() != other.stride():
                wrong[call] = one.shape, other.shape
            elif "empty" not in call and "resize" not in call:
                np.testing.assert_array_equal(one.numpy(), other.numpy())
    assert not wrong
