"""Indices, losses and shapes under vmap, with what their options say."""

import pytest
from call_tables import names, same, wrong_numbers
from grouping import each

import autograd_cy

# What the calls speak of is in call_tables.py; the values are torch's.
CALLS = {
    "v(func.vmap(lambda x: zeros(3).index_add(0, t([0, 2]), x))(ones(2, 2)))": [
        [2, 3],
        "float32",
        [[1.0, 0.0, 1.0], [1.0, 0.0, 1.0]],
    ],
    "v(func.vmap(lambda x: x.index_add(0, t(1), t([2.0])))(zeros(2, 3)))": [
        [2, 3],
        "float32",
        [[0.0, 2.0, 0.0], [0.0, 2.0, 0.0]],
    ],
    "v(func.vmap(lambda x, k: x.index_select(0, k))(m(2, 3), t([[0, 2], [1, 1]])))": [
        [2, 2],
        "float32",
        [[0.0, 2.0], [4.0, 4.0]],
    ],
    "v(func.vmap(lambda x, k: x.index_add(0, k, x[:2]))(m(2, 3), t([[0, 2], [1, 1]])))": [
        [2, 3],
        "float32",
        [[0.0, 1.0, 3.0], [3.0, 11.0, 5.0]],
    ],
    "v(func.vmap(lambda x, k: F.nll_loss(x, k))(m(2, 2, 3), t([[0, 2], [1, 1]])))": [
        [2],
        "float32",
        [-2.5, -8.5],
    ],
    "v(func.vmap(lambda x, k: F.nll_loss(x, k, w3))(m(2, 2, 3), t([[0, 2], [1, 1]])))": [
        [2],
        "float32",
        [-3.75, -8.5],
    ],
    "v(func.vmap(lambda x: F.nll_loss(x, t([0, -100]), w3))(m(2, 2, 3)))": [
        [2],
        "float32",
        [0.0, -6.0],
    ],
    "v(func.vmap(func.grad(lambda x, k: F.nll_loss(x, k, w3)))(m(2, 2, 3), t([[0, 2], [1, 1]])))": [
        [2, 2, 3],
        "float32",
        [[[-0.25, 0.0, 0.0], [0.0, 0.0, -0.75]], [[0.0, -0.5, 0.0], [0.0, -0.5, 0.0]]],
    ],
    "v(func.vmap(lambda x: F.mse_loss(x, zeros(3)))(m(2, 3)))": [
        [2],
        "float32",
        [1.6666666, 16.666666],
    ],
    "v(func.vmap(lambda x: F.mse_loss(x, zeros(()), reduction='sum'))(torch.arange(2.0)))": [
        [2],
        "float32",
        [0.0, 1.0],
    ],
    "v(func.vmap(lambda x: x.unflatten(0, (2, 2)))(m(2, 4)))": [
        [2, 2, 2],
        "float32",
        [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]]],
    ],
}


@each("call", CALLS, group=lambda name: name[:1])
def test_values(call):
    assert same(found := eval(call, names(autograd_cy)), CALLS[call]), found


def test_these_are_the_numbers_of_torch():
    assert not wrong_numbers(pytest.importorskip("torch"), CALLS)


def test_losses_do_not_look_at_values_of_examples():
    """Values of examples would be branches; shared values are checked."""
    ag, F = autograd_cy, autograd_cy.nn.functional
    x, y, var = ag.zeros(2, 3), ag.ones(2, 3), ag.tensor([[1.0, 4, 2], [1.0, 1, 4]])
    found = ag.vmap(F.gaussian_nll_loss)(x, y, var)
    each = [F.gaussian_nll_loss(*row) for row in zip(x, y, var, strict=True)]
    assert found.allclose(ag.stack(each))
    with pytest.raises(ValueError, match="var has negative"):
        ag.vmap(F.gaussian_nll_loss, (0, 0, None))(x, y, -var[0])
    labels = ag.tensor([[0, 2, -1], [1, -1, 0]])
    found = ag.vmap(F.multilabel_margin_loss)(var, labels)
    each = [F.multilabel_margin_loss(*row) for row in zip(var, labels, strict=True)]
    assert found.allclose(ag.stack(each))
    with pytest.raises(RuntimeError, match="is out of range"):
        ag.vmap(F.multilabel_margin_loss, (0, None))(var, labels[0] + 1)
