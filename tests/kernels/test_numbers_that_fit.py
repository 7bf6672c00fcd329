"""Numbers that a dtype can't hold are refused where torch refuses them, and fractions cut off."""

import pytest

import autograd_cy as ag

I8 = ag.tensor([1, 2, 3], dtype=ag.int8)
U8 = ag.tensor([1, 2, 3], dtype=ag.uint8)
HALF = ag.tensor([1.0, 2.0, 3.0], dtype=ag.float16)
SINGLE = ag.tensor([1.0, 2.0, 3.0])
MASK = ag.tensor([True, False, True])
PLACE = ag.tensor([0])
NAN = float("nan")
TOO_LARGE = {
    "clamp both": lambda: I8.clamp(-1000, 1000),
    "clamp min": lambda: I8.clamp(-1000),
    "clamp max": lambda: I8.clamp(max=1000),
    "clamp in place": lambda: I8.clamp_(-1000, 1000),
    "clamp_min": lambda: I8.clamp_min(-1000),
    "clamp_max": lambda: I8.clamp_max(1000),
    "clamp of halves": lambda: HALF.clamp(-1e300, 1e300),
    "full_like": lambda: ag.full_like(HALF, 1e300),
    "full": lambda: ag.full((2,), 1e300, dtype=ag.float32),
    "full of bfloat16": lambda: ag.full((2,), -1e39, dtype=ag.bfloat16),
    "full of complex": lambda: ag.full((2,), 1e300j, dtype=ag.complex64),
    "new_full": lambda: HALF.new_full((2,), 70000),
    "fill_": lambda: HALF.fill_(1e300),
    "fill_ of uint8": lambda: U8.fill_(-1.0),
    "masked_fill nan": lambda: I8.masked_fill(MASK, NAN),
    "masked_fill": lambda: I8.masked_fill(MASK, 1000),
    "masked_fill by a tensor": lambda: I8.masked_fill(MASK, ag.tensor(1000)),
    "masked_fill of uint8": lambda: U8.masked_fill(MASK, -1.0),
    "masked_fill in place": lambda: HALF.masked_fill_(MASK, 1e300),
    "index_fill": lambda: U8.index_fill(0, PLACE, -1.0),
    "index_fill in place": lambda: I8.index_fill_(0, PLACE, 1000),
    "where": lambda: ag.where(MASK, I8, 1000),
    "where, number first": lambda: ag.where(MASK, 1000, I8),
    "as_tensor": lambda: ag.as_tensor(-0.5, dtype=ag.uint8),
    "tensor": lambda: ag.tensor([-1.5], dtype=ag.uint8),
    "addcmul": lambda: ag.addcmul(SINGLE, SINGLE, SINGLE, value=1j),
    "addcdiv": lambda: SINGLE.addcdiv(SINGLE, SINGLE, value=1j),
    "addmm": lambda: ag.addmm(ag.ones(2, 2), ag.ones(2, 2), ag.ones(2, 2), beta=1j),
    "addmv": lambda: ag.addmv(ag.ones(2), ag.ones(2, 2), ag.ones(2), alpha=1j),
}


@pytest.mark.parametrize("call", TOO_LARGE.values(), ids=TOO_LARGE)
def test_numbers_that_overflow_are_refused_and_nothing_changes(call):
    with pytest.raises(RuntimeError, match="value cannot be converted to type .* without overflow"):
        call()
    for t in (I8, U8, HALF, SINGLE):
        assert t.tolist() == [1, 2, 3]


def test_numbers_that_fit_are_taken():
    infinity = float("inf")
    assert ag.full((1,), infinity, dtype=ag.float16).tolist() == [infinity]
    assert HALF.clamp(-infinity, infinity).tolist() == [1.0, 2.0, 3.0]
    assert HALF.clamp(max=60000).tolist() == [1.0, 2.0, 3.0]
    assert I8.clamp(1.5, 2.5).tolist() == [1.5, 2.0, 2.5]
    assert I8.clamp(-128, 127).tolist() == [1, 2, 3]
    assert I8.masked_fill(MASK, 1.5).tolist() == [1, 2, 1]
    assert U8.masked_fill(MASK, -1).tolist() == [255, 2, 255]
    assert MASK.masked_fill(MASK, 0.5).tolist() == [True, False, True]
    assert ag.where(MASK, I8, 100).tolist() == [1, 100, 3]
    assert ag.where(MASK, I8, 2.5).tolist() == [1.0, 2.5, 3.0]


def test_fractions_are_cut_off_before_they_multiply_integers():
    m, v = ag.tensor([[1, 2], [3, 4]]), ag.tensor([1, 2])
    assert ag.addcmul(v, v, v, value=1.9).tolist() == [2, 6]
    assert ag.addmm(m, m, m, alpha=0.5).tolist() == m.tolist()
    assert ag.addmm(m, m, m, beta=1.5).tolist() == (m + m @ m).tolist()
    assert ag.addmv(v, m, v, alpha=1.5, beta=2.5).tolist() == (2 * v + m @ v).tolist()
    assert ag.addbmm(m, m[None], m[None], alpha=1.5).tolist() == (m + m @ m).tolist()
    batch = m[None]
    assert ag.baddbmm(batch, batch, batch, alpha=1.5, beta=0.5).tolist() == (m @ m)[None].tolist()
    for result in (ag.addmv(v, m, v, alpha=1.5), ag.addmm(m, m, m, beta=1.5)):
        assert result.dtype == ag.int64


def test_addr_refuses_fractions_for_integers_and_stays_bool():
    m, v = ag.tensor([[1, 2], [3, 4]]), ag.tensor([1, 2])
    for name in ("alpha", "beta"):
        with pytest.raises(RuntimeError, match=f"argument {name} must not be a floating point"):
            ag.addr(m, v, v, **{name: 1.5})
    yes, no = ag.tensor([True, True]), ag.zeros(2, 2).bool()
    result = ag.addr(no, yes, yes, alpha=2)
    assert result.dtype == ag.bool
    assert result.tolist() == [[True, True], [True, True]]
    assert ag.addr(no, yes, yes, alpha=0).tolist() == no.tolist()
