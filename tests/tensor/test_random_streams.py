"""The numbers that a seed stands for: the same in every release, in every dtype."""

import pytest

import autograd_cy as ag

NORMAL = [-0.12151797595769197, -0.08187420978979552, 1.7764243349886797, -0.5473441428090104]
EXPONENTIAL = [0.9186773300170898, 0.028151335194706917, 3.9399378299713135, 0.23905982077121735]
EPS = {ag.float16: 2**-10, ag.bfloat16: 2**-7, ag.float32: 1e-6, ag.float64: 1e-14}


@pytest.mark.parametrize("dtype", EPS)
def test_normal_numbers_stay_the_same(dtype):
    drawn = ag.randn(4, dtype=dtype, generator=ag.Generator().manual_seed(0))
    assert drawn.tolist() == pytest.approx(NORMAL, rel=EPS[dtype])


@pytest.mark.parametrize("dtype", EPS)
def test_normal_numbers_are_moved_and_stretched(dtype):
    source = dtype if dtype == ag.float64 else ag.float32
    plain = ag.randn(200, dtype=source, generator=ag.Generator().manual_seed(3)).double()
    drawn = ag.empty(200, dtype=dtype)
    drawn.normal_(3.0, 0.5, generator=ag.Generator().manual_seed(3))
    assert drawn.tolist() == pytest.approx((3 + 0.5 * plain).tolist(), rel=2 * EPS[dtype])


def test_exponential_numbers_stay_the_same():
    drawn = ag.empty(4).exponential_(generator=ag.Generator().manual_seed(0))
    assert drawn.tolist() == pytest.approx(EXPONENTIAL, rel=1e-6)


def test_whole_numbers_start_at_zero_unless_told_otherwise():
    assert ag.randint(1, (50,)).tolist() == [0] * 50
    assert ag.randint_like(ag.ones(50), 1).tolist() == [0] * 50
    assert set(ag.randint(2, (200,)).tolist()) == {0, 1}
    assert set(ag.randint_like(ag.ones(200), 2).tolist()) == {0, 1}
    assert set(ag.randint(1, 3, (200,)).tolist()) == {1, 2}
    assert set(ag.randint_like(ag.ones(200), 1, 3).tolist()) == {1, 2}
