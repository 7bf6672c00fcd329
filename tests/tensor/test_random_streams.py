"""The numbers that a seed stands for: the same in every release, in every dtype."""

import math

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


FLOATS = (ag.float16, ag.bfloat16, ag.float32, ag.float64)
# Every way to draw n numbers; sizes of the chunks that the generator moves by divide 64.
DRAWS = {
    "uniform": (FLOATS, lambda n, d, g: ag.rand(n, dtype=d, generator=g)),
    "normal": (FLOATS, lambda n, d, g: ag.randn(n, dtype=d, generator=g)),
    "exponential": (FLOATS, lambda n, d, g: ag.empty(n, dtype=d).exponential_(generator=g)),
    "bernoulli": (FLOATS, lambda n, d, g: ag.empty(n, dtype=d).bernoulli_(0.3, generator=g)),
    "bernoulli each": (
        FLOATS,
        lambda n, d, g: ag.bernoulli(ag.full((n,), 0.4, dtype=d), generator=g),
    ),
    "integer": (
        (ag.uint8, ag.int8, ag.int32, ag.int64, ag.float32),
        lambda n, d, g: ag.randint(100, (n,), dtype=d, generator=g),
    ),
    "complex": (
        (ag.complex64, ag.complex128),
        lambda n, d, g: ag.randn(n, dtype=d, generator=g),
    ),
}


@pytest.mark.parametrize("name", DRAWS)
def test_full_chunks_follow_each_other_without_a_gap(name):
    dtypes, draw = DRAWS[name]
    for dtype in dtypes:
        g = ag.Generator().manual_seed(7)
        parts = [draw(n, dtype, g) for n in (64, 128, 64)]
        whole = draw(256, dtype, ag.Generator().manual_seed(7))
        assert ag.cat(parts).tolist() == whole.tolist(), dtype


def chunk(name, dtype):
    """Return the number of results that the generator has for each step."""
    if name == "complex":
        return 256 // dtype.itemsize
    wide = name == "integer" or (dtype == ag.float64 and "bernoulli" not in name)
    return 32 if wide else 64


@pytest.mark.parametrize("name", DRAWS)
def test_a_chunk_once_begun_is_used_up(name):
    dtypes, draw = DRAWS[name]
    for dtype in dtypes:
        whole = draw(512, dtype, ag.Generator().manual_seed(7)).tolist()
        for n in (0, 1, 63, 64, 65, 127):
            g = ag.Generator().manual_seed(7)
            draw(n, dtype, g)
            start = -(-n // chunk(name, dtype)) * chunk(name, dtype)
            assert draw(64, dtype, g).tolist() == whole[start : start + 64], (dtype, n)


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 64, 100])
def test_a_permutation_uses_as_many_chunks_as_it_needs(n):
    g = ag.Generator().manual_seed(7)
    assert sorted(ag.randperm(n, generator=g).tolist()) == list(range(n))
    whole = ag.rand(512, generator=ag.Generator().manual_seed(7)).tolist()
    start = 64 * -(-n // 32)
    assert ag.rand(64, generator=g).tolist() == whole[start : start + 64]


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_range_leaves_out_its_end_and_reaches_the_number_before(dtype):
    steps = {ag.float16: (10, -24), ag.bfloat16: (7, -133), ag.float32: (23, -149)}
    bits, least = steps.get(dtype, (52, -1074))
    for end in (1.0, -1.0, 2.0, -2.0, 1.5, -1.5, 96.0, -96.0, 0.0):
        # The gap between numbers just below `end`: it doubles at the powers of two.
        exponent = math.frexp(end)[1] - 1
        inner = end > 0 and end == 2.0**exponent
        gap = 2.0 ** (exponent - bits - inner) if end else 2.0**least
        drawn = ag.empty(600, dtype=dtype)
        drawn.uniform_(end - 4 * gap, end, generator=ag.Generator().manual_seed(1))
        assert min(drawn.tolist()) >= end - 4 * gap, end
        assert max(drawn.tolist()) == end - gap, end
