"""Options of dropout, embeddings, sequences and losses: values and gradients."""

import pytest
from call_tables import names, same, wrong_numbers
from grouping import each

import autograd_cy

# What the calls speak of is in call_tables.py; the values are torch's.
CALLS = {
    "v(F.alpha_dropout(ones(3), 0.5, False))": [[3], "float32", [1.0, 1.0, 1.0]],
    "v(F.alpha_dropout(ones(3), 0.0, True))": [[3], "float32", [1.0, 1.0, 1.0]],
    "v(F.feature_alpha_dropout(ones(2, 3), 0.5, False))": [
        [2, 3],
        "float32",
        [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]],
    ],
    "v(F.feature_alpha_dropout(ones(2, 3), 0.0, True))": [
        [2, 3],
        "float32",
        [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]],
    ],
    "v(F.dropout2d(ones(1, 2, 1, 1), 0.0, True))": [[1, 2, 1, 1], "float32", [[[[1.0]], [[1.0]]]]],
    "v(F.dropout2d(ones(1, 2, 1, 1), 1.0, True))": [[1, 2, 1, 1], "float32", [[[[0.0]], [[0.0]]]]],
    "v(torch.feature_dropout(ones(1, 2, 1), 0.5, False))": [[1, 2, 1], "float32", [[[1.0], [1.0]]]],
    "v(torch.feature_dropout(ones(1, 2, 1), 0.0, True))": [[1, 2, 1], "float32", [[[1.0], [1.0]]]],
    "v(F.embedding_bag(t([0, 1, 1]), m(2, 2), t([0, 2]), padding_idx=-1, mode='sum'))": [
        [2, 2],
        "float32",
        [[0.0, 1.0], [0.0, 0.0]],
    ],
    "v(F.embedding_bag(t([0, 1, 1]), m(2, 2), t([0, 2]), padding_idx=-2, mode='mean'))": [
        [2, 2],
        "float32",
        [[2.0, 3.0], [2.0, 3.0]],
    ],
    "v(F.embedding_bag(t([0, 1, 1]), m(2, 2), t([0, 1]), padding_idx=0, mode='max'))": [
        [2, 2],
        "float32",
        [[0.0, 0.0], [2.0, 3.0]],
    ],
    "v(F.embedding(t([0, 1]), m(2, 2), padding_idx=-1))": [
        [2, 2],
        "float32",
        [[0.0, 1.0], [2.0, 3.0]],
    ],
    "g(lambda x: F.embedding(t([0, 1, 1]), x, padding_idx=-1).sum(), m22)": [
        [1.0, 1.0],
        [0.0, 0.0],
    ],
    "g(lambda x: F.embedding(t([0, 1, 1]), x, 0, scale_grad_by_freq=True).sum(), m22)": [
        [0.0, 0.0],
        [1.0, 1.0],
    ],
    "v(rnn.pad_sequence([ones(2), zeros(1)], padding_value=7.0))": [
        [2, 2],
        "float32",
        [[1.0, 0.0], [1.0, 7.0]],
    ],
    "v(rnn.pad_sequence([ones(2, 2), zeros(1, 2)], batch_first=True, padding_side='left'))": [
        [2, 2, 2],
        "float32",
        [[[1.0, 1.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]],
    ],
    "v(F.multilabel_margin_loss(t([[0.1, 0.2, 0.4, 0.8]]), t([[3, 0, -1, 1]]), reduction='sum'))": [
        [],
        "float32",
        0.85000002,
    ],
    "v(F.multilabel_margin_loss(t([0.1, 0.2, 0.4, 0.8]), t([3, 0, -1, 1])))": [
        [],
        "float32",
        0.85000002,
    ],
    "v(F.multi_margin_loss(t([[0.1, 0.2, 0.4]]), t([2]), p=2, weight=w3))": [[], "float32", 1.13],
    "v(F.multi_margin_loss(t([0.1, 0.2, 0.4]), t(2), reduction='none'))": [[], "float32", 0.5],
}


@each("call", CALLS, group=lambda name: name[:1])
def test_values(call):
    assert same(found := eval(call, names(autograd_cy)), CALLS[call]), found


def test_these_are_the_numbers_of_torch():
    assert not wrong_numbers(pytest.importorskip("torch"), CALLS)
