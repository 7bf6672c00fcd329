"""Long chains: what a node costs beyond the tensor that it keeps, and how fast they are freed."""

import pytest

from benchmarks.programs import chains

NODES = 40_000


@pytest.fixture(scope="module")
def tensor():
    """Bytes of a tensor."""
    return chains.in_a_process("autograd_cy", "tensors", str(NODES))["bytes"]


@pytest.mark.slow
@pytest.mark.parametrize("name", chains.CHAINS)
def test_a_node_costs_at_most_400_bytes_and_is_freed_faster_than_made(name, tensor):
    found = chains.in_a_process("autograd_cy", name, str(NODES))
    keeps = chains.CHAINS[name][1]
    assert 50 < found["bytes"] - keeps * tensor <= 400, (found, tensor)
    assert 0 < found["free"] < found["make"], found
    assert 50 < tensor < 1000
