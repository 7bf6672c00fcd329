"""Collectives in one, two and more ranks beside NumPy."""

import pytest
from ranks import passes


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_collective_gives_what_numpy_computes(ranks):
    assert passes("collectives", ranks=ranks).count("all alike") == ranks
