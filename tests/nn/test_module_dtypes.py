"""Module.to and its relatives: which parameters and buffers change their dtype."""

import pytest

import autograd_cy as ag
from autograd_cy import nn


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.real = nn.Parameter(ag.ones(2))
        self.turning = nn.Parameter(ag.ones(2, dtype=ag.complex64))
        self.register_buffer("phase", ag.ones(2, dtype=ag.complex64))
        self.register_buffer("count", ag.ones(2, dtype=ag.int64))


@pytest.mark.filterwarnings("ignore:Complex modules are a new feature")
@pytest.mark.parametrize("dtype", [ag.complex128, ag.complex64])
def test_to_a_complex_dtype_converts_what_is_floating_or_complex(dtype):
    module = Mixed().to(dtype)
    assert module.real.dtype is module.turning.dtype is module.phase.dtype is dtype
    assert module.count.dtype is ag.int64
    assert module.turning.tolist() == [1, 1] and module.turning.requires_grad


def test_double_leaves_complex_and_integers_alone():
    module = Mixed().double()
    assert module.real.dtype is ag.float64
    assert module.turning.dtype is module.phase.dtype is ag.complex64
    assert module.count.dtype is ag.int64


def test_a_memory_format_is_for_what_has_as_many_dimensions():
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(4, 2))
    net.to(ag.float64, memory_format=ag.channels_last)
    assert net[0].weight.is_contiguous(memory_format=ag.channels_last)
    assert not net[0].weight.is_contiguous()
    assert net[3].weight.is_contiguous()
    assert {p.dtype for p in net.parameters()} == {ag.float64}
