"""Arguments that are numbers: a tensor that requires grad is none, NumPy's numbers are."""

import numpy as np
import pytest

import autograd_cy as ag
import autograd_cy.nn.functional as F
from autograd_cy import nn

X = ag.tensor([[-1.0, 2.0]])

TAKEN = {
    "leaky_relu": lambda a: F.leaky_relu(X, a),
    "elu": lambda a: F.elu(X, a),
    "softplus": lambda a: F.softplus(X, a),
    "hardtanh": lambda a: F.hardtanh(X, a, 0.75),
    "threshold": lambda a: F.threshold(X, a, 1.0),
    "add": lambda a: ag.add(X, X, alpha=a),
    "addcmul": lambda a: ag.addcmul(X, X, X, value=a),
    "baddbmm": lambda a: ag.baddbmm(X[None], X[None].mT, X[None], beta=a),
    "dropout": lambda a: F.dropout(X, a),
    "layer_norm": lambda a: F.layer_norm(X, (2,), eps=a),
    "huber_loss": lambda a: F.huber_loss(X, X + 3, delta=a),
    "margin_ranking_loss": lambda a: F.margin_ranking_loss(X, X, X.sign(), margin=a),
    "cross_entropy": lambda a: F.cross_entropy(X, ag.tensor([1]), label_smoothing=a),
    "attention": lambda a: F.scaled_dot_product_attention(X, X, X, scale=a),
    "norm": lambda a: ag.linalg.vector_norm(X, a),
    "var": lambda a: ag.var(X, correction=a),
    "embedding": lambda a: F.embedding(ag.tensor([0]), X.clone(), max_norm=a),
}


@pytest.mark.parametrize("name", TAKEN)
def test_no_gradient_is_lost_by_a_tensor_that_stands_for_a_number(name):
    call = TAKEN[name]
    plain = call(ag.tensor(0.5))
    if name != "dropout":
        assert ag.equal(plain, call(0.5))
    learned = nn.Parameter(ag.tensor(0.5))
    for tensor in (learned, learned * 1):
        with pytest.raises(TypeError, match=r"must be \w.*, not Tensor that requires grad.*detach"):
            call(tensor)
    assert call(learned.detach()).shape == plain.shape


def test_numbers_of_numpy_are_numbers():
    assert nn.LayerNorm(np.int64(2)).normalized_shape == (2,)
    assert nn.RMSNorm(np.int32(2)).weight.shape == (2,)
    assert nn.LayerNorm(np.array([3, 2])).weight.shape == (3, 2)
    layer = nn.Conv2d(1, 1, np.array([2, 1]), stride=np.array([1, 2]))
    assert layer(ag.ones(1, 1, 4, 4)).shape == (1, 1, 3, 2)
    x = ag.rand(2, 4, 3)
    want = F.local_response_norm(x, 2)
    assert ag.equal(F.local_response_norm(x, np.uint8(2)), want)
    with pytest.raises(TypeError):
        F.local_response_norm(x, 2.0)


@pytest.mark.parametrize("norm", [np.float32(0.5), ag.tensor(0.5), 2**64, np.float64(0.5)])
def test_a_largest_norm_is_any_number(norm):
    weight = ag.tensor([[3.0, 4.0], [0.0, 1.0]])
    got = F.embedding(ag.tensor([0]), weight, max_norm=norm)
    want = min(float(norm), 5.0)
    assert abs(float(got.norm()) - want) < 1e-5 and ag.equal(got[0], weight[0])


def test_indices_beside_a_largest_norm_are_a_tensor():
    with pytest.raises(TypeError, match=r"argument 'input' \(position 1\) must be Tensor, not nd"):
        F.embedding(np.array([1]), ag.ones(3, 2), max_norm=1.0)


def test_a_padding_that_is_no_int_is_refused_by_every_mode():
    for mode in ("zeros", "reflect", "circular"):
        with pytest.raises(TypeError):
            nn.Conv2d(1, 1, 3, padding=1.5, padding_mode=mode)(ag.ones(1, 1, 5, 5))
    layer = nn.Conv2d(1, 1, 3, padding=np.int64(1), padding_mode="reflect")
    assert layer(ag.ones(1, 1, 5, 5)).shape == (1, 1, 5, 5)
