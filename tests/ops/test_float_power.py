"""float_power: the wide dtype, whatever the operands are, and what it refuses."""

import pytest

import autograd_cy as ag


@pytest.mark.parametrize(
    ("base", "exponent", "dtype"),
    [
        (ag.tensor([2, 3], dtype=ag.int32), 2, ag.float64),
        (ag.tensor([2.0], dtype=ag.float16), ag.tensor(3), ag.float64),
        (ag.tensor([True]), ag.tensor([False]), ag.float64),
        (2, ag.tensor([3, 1]), ag.float64),
        (ag.tensor([2]), 1j, ag.complex128),
        (ag.tensor([2j]), 2, ag.complex128),
        (1j, ag.tensor([2.0]), ag.complex128),
    ],
)
def test_results_are_of_the_widest_dtype(base, exponent, dtype):
    result = ag.float_power(base, exponent)
    assert result.dtype == dtype
    values = [x.tolist() if isinstance(x, ag.Tensor) else x for x in (base, exponent)]
    values = [x if isinstance(x, list) else [x] * len(result) for x in values]
    assert result.tolist() == pytest.approx([complex(a) ** b for a, b in zip(*values)])


def test_gradients_come_back_in_the_dtype_of_the_input():
    x = ag.tensor([1.5, 2.0], dtype=ag.float32, requires_grad=True)
    ag.float_power(x, 3).sum().backward()
    assert x.grad.dtype == ag.float32 and x.grad.tolist() == [6.75, 12.0]


def test_out_and_in_place_must_be_of_the_wide_dtype():
    x, out = ag.tensor([2, 3]), ag.empty(2, dtype=ag.float64)
    assert ag.float_power(x, 2, out=out) is out and out.tolist() == [4.0, 9.0]
    with pytest.raises(RuntimeError, match="dtype double, but got float"):
        ag.float_power(x, 2, out=ag.empty(2))
    y = ag.tensor([2.0, 3.0], dtype=ag.float64)
    assert y.float_power_(2) is y and y.tolist() == [4.0, 9.0] and y._version == 1
    for narrow, exponent in ((x, 2), (ag.ones(2), 2), (y, 2j)):
        before = narrow.tolist()
        with pytest.raises(RuntimeError, match="float_power_ has dtype .* requires dtype"):
            narrow.float_power_(exponent)
        assert narrow.tolist() == before


def test_what_is_no_number_is_refused():
    for args in ((ag.ones(2), "2"), (ag.ones(2), None)):
        with pytest.raises(TypeError):
            ag.float_power(*args)
