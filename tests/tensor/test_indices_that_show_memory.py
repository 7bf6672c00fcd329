"""The indices that give views, and those that copy."""

import numpy as np

import autograd_cy as ag


def test_one_place_is_shown_and_a_list_of_places_is_copied():
    x = ag.arange(12.0).reshape(3, 4)
    numbers = [1, np.int64(1), np.int8(1), np.uint8(1), np.array(1), ag.tensor(1),
               ag.tensor(1, dtype=ag.int32), ag.tensor(-2)]  # fmt: skip
    for i in numbers:
        for y, expected in ((x[i], [4, 5, 6, 7]), (x[:, i][:2], None), (x[i, 1:], [5, 6, 7])):
            assert y._is_view(), i
            assert expected is None or y.tolist() == expected
    for i in ([1], np.array([1]), ag.tensor([1]), True, ag.tensor(True), [True] * 3):
        assert not x[i]._is_view(), i
    x[np.int64(1)][0] = 100.0
    assert x[1, 0].item() == 100.0
