"""Collectives in one, two and more ranks: beside NumPy, and what they refuse."""

import pytest
from ranks import passes


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_collective_gives_what_numpy_computes(ranks):
    assert passes("collectives", ranks=ranks).count("all alike") == ranks


@pytest.mark.parametrize("ranks", [2, 4])
def test_tensors_that_can_not_be_written_are_refused_before_data_move(ranks):
    assert passes("refused", ranks=ranks).count("refused") == ranks
