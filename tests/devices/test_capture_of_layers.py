"""Layers as launches: run again on other memory they give the bits of a fresh run."""

import pytest
from grouping import each
from helpers import family, launched_again, one_dtype

CASES = family("embedding", "padding", "pooling", "resampling", "softmax")


@each("case", CASES)
@pytest.mark.filterwarnings("ignore")
def test_layers_run_again(case):
    launched_again(case, one_dtype(case.record))
