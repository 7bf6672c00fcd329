"""Ranks share the machine, and show lines and bars once."""

import pytest
from ranks import passes


@pytest.mark.parametrize("threads", ["", "3"])
def test_ranks_divide_processors_and_show_themselves_once(threads):
    pytest.importorskip("tqdm")
    text = passes("places", ranks=2, OMP_NUM_THREADS=threads)
    assert text.count("places alike") == 2
    assert "rank 0: a line" in text and "rank 1: a line" in text
    assert text.count("places alike a bar") == 1
    assert text.count("counted: 100%") == 1
