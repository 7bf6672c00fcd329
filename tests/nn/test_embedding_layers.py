"""nn.Embedding and nn.EmbeddingBag: construction, state, and beside torch."""

import numpy as np
import pytest
from call_tables import assert_given

import autograd_cy as torch
from autograd_cy import nn


def test_the_padding_row_begins_with_zeros_and_stays():
    layer = nn.Embedding(6, 4, padding_idx=-2)
    assert layer.padding_idx == 4 and layer.weight[4].tolist() == [0.0] * 4
    assert float(layer.weight.detach().abs().sum()) > 0
    layer(torch.tensor([4, 1, 4])).sum().backward()
    assert layer.weight.grad[4].tolist() == [0.0] * 4 and layer.weight.grad[1].tolist() == [1.0] * 4


def test_a_given_table_is_frozen_or_not():
    values = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    for cls in (nn.Embedding, nn.EmbeddingBag):
        assert not cls.from_pretrained(values).weight.requires_grad
        layer = cls.from_pretrained(values, freeze=False, padding_idx=1)
        assert layer.weight.requires_grad and layer.padding_idx == 1
        assert layer.weight.tolist() == values.tolist()
        with pytest.raises(AssertionError, match="2-dimensional"):
            cls.from_pretrained(torch.ones(3))
        with pytest.raises(AssertionError, match="Shape of weight"):
            cls(3, 2, _weight=values)
        with pytest.raises(AssertionError, match="must be within num_embeddings"):
            cls(3, 2, padding_idx=3)


EMBEDDINGS = [
    {},
    {"padding_idx": 2},
    {"padding_idx": -1, "scale_grad_by_freq": True},
    {"max_norm": 1.0},
    {"max_norm": 1.5, "norm_type": 1.0, "padding_idx": 0},
]
BAGS = [
    {},
    {"mode": "sum"},
    {"mode": "max"},
    {"mode": "sum", "padding_idx": 1},
    {"padding_idx": -2, "max_norm": 1.0},
    {"mode": "max", "padding_idx": 3},
    {"include_last_offset": True},
]


def beside(other, name, options, inputs):
    """Call both libraries' layers with the same table; compare result, table and its gradient."""
    theirs = getattr(other.nn, name)(6, 4, **options)
    ours = getattr(nn, name)(6, 4, **options)
    assert repr(ours) == repr(theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    ours.load_state_dict({k: torch.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    expected = theirs(*[other.tensor(x) for x in inputs])
    result = ours(*[torch.tensor(x) for x in inputs])
    (expected**2).sum().backward()
    (result**2).sum().backward()
    for a, b in [
        (result.detach(), expected.detach()),
        (ours.weight.detach(), theirs.weight.detach()),
        (ours.weight.grad, theirs.weight.grad),
    ]:
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)


def test_gradients_of_bags_are_divided_by_how_often_a_row_occurs():
    # torch's own division takes the count of another row where indices aren't sorted.
    layer = nn.EmbeddingBag(6, 2, mode="sum", scale_grad_by_freq=True)
    layer(torch.tensor([1, 2, 1, 5, 0, 1]), torch.tensor([0, 3])).sum().backward()
    assert layer.weight.grad[:, 0].tolist() == [1.0, 1.0, 1.0, 0.0, 0.0, 1.0]
    layer.weight.grad = None
    (
        layer(torch.tensor([1, 2, 1, 5, 0, 1]), torch.tensor([0, 3])) * torch.tensor([[1.0], [4.0]])
    ).sum().backward()
    assert layer.weight.grad[:, 0].tolist() == [4.0, 2.0, 1.0, 0.0, 0.0, 4.0]


@pytest.mark.parametrize("options", EMBEDDINGS)
def test_embedding_is_that_of_torch(options):
    other = pytest.importorskip("torch")
    for indices in ([[1, 2, 1], [5, 0, 2]], [], 3):
        beside(other, "Embedding", options, [np.array(indices, dtype="int64")])


@pytest.mark.parametrize("options", BAGS)
def test_embedding_bag_is_that_of_torch(options):
    other = pytest.importorskip("torch")
    offsets = [0, 2, 2, 6] if options.get("include_last_offset") else [0, 2, 2, 5]
    beside(other, "EmbeddingBag", options, [np.array([1, 2, 1, 5, 0, 3]), np.array(offsets)])
    beside(other, "EmbeddingBag", options, [np.array([[1, 1, 3], [4, 2, 0]])])


@pytest.mark.parametrize("options", [{}, {"include_last_offset": True}, {"mode": "max"}])
def test_bags_of_rows_are_known_without_data(options):
    for shape in ((2, 4), (3, 0)):
        layer = nn.EmbeddingBag(6, 3, device="meta", **options)
        found = layer(torch.zeros(shape, dtype=torch.int64, device="meta"))
        assert found.shape == (shape[0], 3) and found.device.type == "meta"


SHOWN = {
    "repr(nn.Embedding(2, 3, sparse=True))": "Embedding(2, 3, sparse=True)",
    "repr(nn.EmbeddingBag(2, 3, padding_idx=1))": (
        "EmbeddingBag(2, 3, mode='mean', padding_idx=1)"
    ),
}


def test_options_are_shown():
    assert_given(SHOWN, {"nn": nn})


def test_subclasses_that_draw_the_table_otherwise_empty_the_padding_row():
    for kind in (nn.Embedding, nn.EmbeddingBag):

        class Ones(kind):
            def reset_parameters(self):
                nn.init.ones_(self.weight)
                self._fill_padding_idx_with_zero()

        assert Ones(3, 2, padding_idx=1).weight.tolist() == [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]
        assert Ones(3, 2).weight.tolist() == [[1.0, 1.0]] * 3
