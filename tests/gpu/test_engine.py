"""The tests of the engine with CUDA as default device, in a process of their own."""

import re

import on_cuda
import pytest


@pytest.mark.slow
def test_the_engine_on_cuda(capfd):
    """See `on_cuda`: all but what speaks of the CPU alone."""
    status = on_cuda.main(["-rf"])
    said = capfd.readouterr().out
    assert status == 0, said[-4000:]
    assert int(re.search(r"(\d+) passed", said)[1]) > 600
